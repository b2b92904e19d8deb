//! Are blocks so large that a viewer waits long for the first frames?
//!
//! A block is seen when all of it is done. Smaller ones save no time over all; they come sooner.

use crate::findings::prelude::*;
use crate::quantity::rounded;
use crate::{StepPoint, Steps};

pub(super) const RULE: Rule = Rule {
    id: "large-blocks",
    category: Category::Diffusion,
    checks: "blocks of frames are so large that the first ones come late",
    limits: &["block_frames"],
    saves: "the wait for a block, by its frames; no time over all",
    of: &[Check::Run("blocks with their frames", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let blocks = facts.diffusion.and_then(|found| found.blocks.as_ref());
    let Some(blocks) = blocks else {
        return Outcome::Unknown("no blocks of frames are known (record_block_computation)".into());
    };
    let Some(frames) = blocks.frames else {
        return Outcome::Unknown("no block said how many frames it has (block_size)".into());
    };
    let limit = facts.thresholds.block_frames;
    if frames.mean <= limit {
        return Outcome::Passed(format!("{} latent frames on average", rounded(frames.mean)));
    }
    Outcome::Found(vec![finding(facts, blocks, frames.mean, limit)])
}

fn finding(facts: &Facts<'_>, blocks: &Steps, mean: f64, limit: f64) -> Finding {
    let is_streaming = facts.streaming.is_some();
    let frames = Evidence::new("mean latent frames of a block", mean, FigureUnit::Count);
    let mut evidence = vec![frames.against(limit)];
    let block_ns = blocks.steady.as_ref().map(|steady| steady.mean_ns);
    evidence
        .extend(block_ns.map(|ns| Evidence::new("mean block after the first", ns, FigureUnit::Ns)));
    evidence.extend(blocks.time_to_first_ns.map(|ns| Evidence::ns("time to the first block", ns)));
    Finding {
        // Where nobody watches, nobody waits.
        severity: if is_streaming { Severity::Medium } else { Severity::Low },
        issue: format!("Blocks have {} latent frames on average", rounded(mean)),
        remedy: "For a stream, make blocks of fewer latent frames (num_frame_per_block, 3 is common): the first frames come sooner \
                 and memory for a block is smaller. Each block more costs a pass that fills the KV cache."
            .into(),
        evidence,
        intervals: Finding::longest(blocks.each.iter().filter_map(StepPoint::time)),
        saving: Some(Saving {
            estimate_ns: None,
            at_most_ns: None,
            at_most_bytes: None,
            how: format!(
                "no time over all: the wait for a block falls to about {} of what it was, by its frames",
                crate::quantity::rounded_percent(limit / mean)
            ),
        }),
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{blocks, check_made, check_run};
    use marey::{Generation, StreamingEvent};
    use marey_testing::RunBuilder;

    #[test]
    fn blocks_of_twelve_frames_are_large() {
        let run = RunBuilder::new().finish(100);
        let Outcome::Found(found) = check_made(&RULE, &run, &blocks(&[20, 20], Some(12))) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "Blocks have 12 latent frames on average");
        assert_eq!(found[0].severity, Severity::Low);
        let saving = found[0].saving.as_ref().unwrap();
        assert_eq!(saving.at_most_ns, None);
        // 8 of 12 frames.
        assert!(saving.how.contains("66.7 %"), "{}", saving.how);
    }

    #[test]
    fn a_viewer_makes_it_matter_more() {
        let delivery = Generation::Streaming(StreamingEvent::default());
        let run = RunBuilder::new().generation(20, None, delivery).finish(100);
        let Outcome::Found(found) = check_made(&RULE, &run, &blocks(&[20, 20], Some(12))) else {
            panic!("not found");
        };
        assert_eq!(found[0].severity, Severity::Medium);
    }

    #[test]
    fn eight_frames_are_not_more_than_eight() {
        let run = RunBuilder::new().finish(100);
        let expected = Outcome::Passed("8 latent frames on average".into());
        assert_eq!(check_made(&RULE, &run, &blocks(&[20, 20], Some(8))), expected);
    }

    #[test]
    fn without_blocks_or_their_frames_nobody_can_tell() {
        let run = RunBuilder::new().finish(100);
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
        let unsaid = check_made(&RULE, &run, &blocks(&[20, 20], None));
        assert!(matches!(unsaid, Outcome::Unknown(_)));
    }
}
