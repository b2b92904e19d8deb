//! Are blocks made slower than two in a second?
//!
//! Two blocks of three latent frames are about 24 pixel frames, what a viewer plays in a second. With larger blocks fewer do, so the finding
//! says whether a viewer was kept waiting, and is of low severity where none was.

use crate::Steps;
use crate::findings::prelude::*;
use crate::quantity::{rounded, rounded_percent};

pub(super) const RULE: Rule = Rule {
    id: "slow-blocks",
    category: Category::Streaming,
    checks: "blocks of frames are made too slowly to be watched as they come",
    limits: &["blocks_per_second"],
    saves: "the share of the time that has to go to reach the limit",
    of: &[Check::Run("blocks with their times", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let blocks = facts.diffusion.and_then(|found| found.blocks.as_ref());
    let Some(blocks) = blocks else {
        return Outcome::Unknown("no blocks of frames are known (record_block_computation)".into());
    };
    let Some(per_second) = blocks.loops_per_second.filter(|rate| rate.is_finite()) else {
        return Outcome::Unknown("no block said how long it took (computation_time)".into());
    };
    let limit = facts.thresholds.blocks_per_second;
    if per_second >= limit {
        return Outcome::Passed(format!("{} blocks a second", rounded(per_second)));
    }
    Outcome::Found(vec![finding(facts, blocks, per_second, limit)])
}

fn finding(facts: &Facts<'_>, blocks: &Steps, per_second: f64, limit: f64) -> Finding {
    let delivery = facts.diffusion.and_then(|found| found.delivery.as_ref());
    let missed = delivery.map(|delivery| delivery.deadlines_missed);
    let rate = Evidence::new("blocks a second", per_second, FigureUnit::PerSecond);
    let mut evidence = vec![rate.against(limit)];
    evidence.extend(missed.map(|n| Evidence::count("deliveries that came too late", n)));
    let frames = blocks.frames.map(|frames| frames.mean);
    evidence.extend(
        frames.map(|n| Evidence::new("mean latent frames of a block", n, FigureUnit::Count)),
    );
    let steady_ns = blocks.steady.as_ref().map(|steady| steady.total_ns);
    Finding {
        severity: if missed.is_some_and(|n| n > 0) { Severity::Medium } else { Severity::Low },
        issue: match missed {
            Some(0) => format!("{} blocks a second; no viewer was kept waiting", rounded(per_second)),
            _ => format!("{} blocks a second are below {}", rounded(per_second), rounded(limit)),
        },
        remedy: "Take fewer steps a block (a step-distilled model such as Self-Forcing has 4), bound the context of the KV cache \
                 (local_attn_size, sink tokens) so that blocks do not grow slower, torch.compile the transformer, and decode a block \
                 while the next one is made."
            .into(),
        evidence,
        saving: steady_ns.map(|ns| {
            Saving::of_time(
                None,
                ns,
                format!(
                    "the time of all blocks after the first; to reach {} a second, {} of it has to go",
                    rounded(limit),
                    rounded_percent(1.0 - per_second / limit)
                ),
            )
        }),
        confidence: if missed.is_some() { Confidence::High } else { Confidence::Medium },
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{blocks, check_made, check_run};
    use crate::{Delivery, Diffusion};
    use marey_testing::RunBuilder;

    const SECOND: u64 = 1_000_000_000;

    /// A first block of 1 s, then two of 800 ms: 3 in 2.6 s, 1.15 a second.
    fn slow() -> Diffusion {
        blocks(&[SECOND, SECOND / 5 * 4, SECOND / 5 * 4], Some(3))
    }

    #[test]
    fn three_blocks_in_more_than_two_seconds_are_slow() {
        let run = RunBuilder::new().finish(3 * SECOND);
        let Outcome::Found(found) = check_made(&RULE, &run, &slow()) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "1.2 blocks a second are below 2");
        let saving = found[0].saving.as_ref().unwrap();
        assert_eq!(saving.at_most_ns, Some(1_600_000_000));
    }

    #[test]
    fn it_matters_where_a_viewer_waited() {
        let run = RunBuilder::new().finish(3 * SECOND);
        let delivered = |deadlines_missed| Diffusion {
            delivery: Some(Delivery {
                playback_per_second: 16.0,
                real_time_factor: None,
                time_to_first_ns: SECOND,
                between: None,
                jitter_ns: None,
                each: vec![],
                deadlines_met: 1,
                deadlines_missed,
                stalled_ns: 0,
                frames_ahead_needed: 0,
            }),
            ..slow()
        };
        let severity = |missed| match check_made(&RULE, &run, &delivered(missed)) {
            Outcome::Found(found) => found[0].severity,
            other => panic!("{other:?}"),
        };
        assert_eq!(severity(1), Severity::Medium);
        assert_eq!(severity(0), Severity::Low);
    }

    #[test]
    fn two_blocks_a_second_are_not_below_two() {
        let run = RunBuilder::new().finish(3 * SECOND);
        let made = blocks(&[SECOND / 2, SECOND / 2], None);
        let expected = Outcome::Passed("2 blocks a second".into());
        assert_eq!(check_made(&RULE, &run, &made), expected);
    }

    #[test]
    fn without_blocks_or_their_time_nobody_can_tell() {
        let run = RunBuilder::new().finish(3 * SECOND);
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
        let mut made = blocks(&[SECOND], None);
        made.blocks.as_mut().unwrap().loops_per_second = None;
        assert!(matches!(check_made(&RULE, &run, &made), Outcome::Unknown(_)));
    }
}
