//! Were frames dropped?
//!
//! ```text
//! delivered   94
//! dropped      6     6 of 100 are 6 %: more than 5 %, found
//! ```

use crate::findings::prelude::*;
use crate::quantity::rounded_percent;

pub(super) const RULE: Rule = Rule {
    id: "dropped-frames",
    category: Category::Streaming,
    checks: "more than a few frames were dropped",
    limits: &["dropped_frames_ratio"],
    saves: "none: frames that come are no time that goes",
    of: &[Check::Run("delivered and dropped frames", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let Some(streaming) = facts.streaming else {
        return Outcome::Unknown("no delivered frames were reported".into());
    };
    let Some((ratio, frames)) = streaming.drop_ratio.zip(streaming.frames) else {
        return Outcome::Unknown("no delivery said how many frames it had".into());
    };
    let limit = facts.thresholds.dropped_frames_ratio;
    if ratio <= limit {
        return Outcome::Passed(format!("{} of the frames were dropped", rounded_percent(ratio)));
    }
    let dropped = float(streaming.dropped_frames);
    let mut evidence = vec![
        Evidence::ratio("dropped share of frames", ratio).against(limit),
        Evidence::new("frames dropped", dropped, FigureUnit::Count),
        Evidence::count("frames delivered", frames),
    ];
    let rate = streaming.frames_per_second;
    evidence.extend(
        rate.map(|rate| Evidence::new("frames delivered a second", rate, FigureUnit::PerSecond)),
    );
    let encoding = streaming.encoding_mean_ns;
    evidence.extend(
        encoding.map(|ns| Evidence::new("mean time to encode a delivery", ns, FigureUnit::Ns)),
    );
    Outcome::Found(vec![Finding {
        severity: Severity::High,
        issue: format!("{} of the frames to be delivered were dropped", rounded_percent(ratio)),
        remedy: "Let the viewer hold more frames before it begins, or make them faster: fewer steps a block, a smaller VAE decoder \
                 (AutoencoderTiny), a lower resolution; encode and send in a thread of their own."
            .into(),
        evidence,
        // Frames that come are no time that goes.
        ..RULE.finding()
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::check_run;
    use marey::{Generation, Run, StreamingEvent};
    use marey_testing::RunBuilder;

    fn run(frames: Option<u64>, dropped: u64) -> Run {
        let delivery = StreamingEvent { frames, ..StreamingEvent::default() };
        RunBuilder::new()
            .generation(10, None, Generation::Streaming(delivery))
            .generation(20, None, Generation::DroppedFrames { count: dropped })
            .finish(40)
    }

    #[test]
    fn six_of_a_hundred_dropped_frames_are_found() {
        let Outcome::Found(found) = check_run(&RULE, &run(Some(94), 6)) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "6 % of the frames to be delivered were dropped");
        assert_eq!(found[0].evidence[1].figure.value.to_bits(), 6.0f64.to_bits());
    }

    #[test]
    fn five_of_a_hundred_are_not_more_than_five_percent() {
        let expected = Outcome::Passed("5 % of the frames were dropped".into());
        assert_eq!(check_run(&RULE, &run(Some(95), 5)), expected);
    }

    #[test]
    fn without_a_number_of_delivered_frames_nobody_can_tell() {
        assert!(matches!(check_run(&RULE, &run(None, 6)), Outcome::Unknown(_)));
        let run = RunBuilder::new().finish(40);
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
    }
}
