//! Are frames made slower than a viewer plays them?
//!
//! Delivered frames count where there are any. Otherwise it is the best of the rates that the diffusion analysis knows, pixel frames before
//! latent ones: what is too slow even so is too slow. Without a viewer that is of low severity, because nobody waits for a single frame; of
//! latent frames it is not sure either, because a VAE makes several pixel frames of one.

use crate::findings::prelude::*;
use crate::quantity::rounded;
use crate::{FrameKind, FrameRate};

pub(super) const RULE: Rule = Rule {
    id: "slow-frames",
    category: Category::Streaming,
    checks: "frames are made slower than a viewer plays them",
    limits: &["frames_per_second"],
    saves: "the share of the time that has to go to reach the limit",
    of: &[Check::Run("deliveries, or blocks with their frames", check)],
};

/// Pixel frames that a VAE makes of one latent frame, at most, in the models that are known.
const MOST_FRAMES_OF_ONE: f64 = 8.0;

/// A rate of frames, from wherever it is known.
struct Known {
    per_second: f64,
    over_ns: u64,
    what: String,
    kind: FrameKind,
    is_delivered: bool,
}

impl Known {
    /// What was counted, without what was not recorded apart, which evidence says.
    fn counted(&self) -> &str {
        self.what.split_once(';').map_or(&self.what, |(counted, _)| counted)
    }
}

fn check(facts: &Facts<'_>) -> Outcome {
    if facts.streaming.is_none() && makes_images(facts) {
        return Outcome::Unknown("each generation made one frame: an image".into());
    }
    let Some(rate) = delivered(facts).or_else(|| made(facts)) else {
        return Outcome::Unknown(
            "frames a second are not known; report blocks with their frames, or deliveries".into(),
        );
    };
    let limit = facts.thresholds.frames_per_second;
    if rate.per_second >= limit {
        return Outcome::Passed(format!("{} {}", rounded(rate.per_second), rate.what));
    }
    Outcome::Found(vec![finding(&rate, limit)])
}

fn delivered(facts: &Facts<'_>) -> Option<Known> {
    let streaming = facts.streaming?;
    Some(Known {
        per_second: streaming.frames_per_second?,
        over_ns: streaming.delivery_ns,
        what: "delivered frames a second".into(),
        kind: FrameKind::Pixel,
        is_delivered: true,
    })
}

/// No loop of steps made more than one frame, and nothing was made block by block.
fn makes_images(facts: &Facts<'_>) -> bool {
    facts.diffusion.is_some_and(|made| {
        let n_loops = made.steps.as_ref().map_or(0, |steps| steps.n_loops);
        let mut rates = made.rates.iter();
        made.blocks.is_none() && n_loops > 0 && rates.all(|rate| rate.frames <= n_loops)
    })
}

/// The best of the known rates.
fn made(facts: &Facts<'_>) -> Option<Known> {
    let rates = &facts.diffusion?.rates;
    let best_of = |kind| {
        let of_kind = rates.iter().filter(|rate| rate.kind == kind);
        let finite = of_kind.filter(|rate| rate.per_second.is_finite());
        finite.max_by(|a, b| a.per_second.total_cmp(&b.per_second))
    };
    let best: &FrameRate = best_of(FrameKind::Pixel).or_else(|| best_of(FrameKind::Latent))?;
    Some(Known {
        per_second: best.per_second,
        over_ns: best.over_ns,
        what: best.meaning.clone(),
        kind: best.kind,
        is_delivered: false,
    })
}

fn finding(rate: &Known, limit: f64) -> Finding {
    let is_latent = rate.kind == FrameKind::Latent;
    let confidence = if is_latent && rate.per_second * MOST_FRAMES_OF_ONE >= limit {
        Confidence::Low
    } else if rate.is_delivered {
        Confidence::High
    } else {
        Confidence::Medium
    };
    let at_limit_ns = whole(float(rate.over_ns) * (rate.per_second / limit).max(0.0));
    Finding {
        severity: if rate.is_delivered { Severity::High } else { Severity::Low },
        issue: format!("{} {} are below {}", rounded(rate.per_second), rate.counted(), rounded(limit)),
        remedy: "For real time, take a step-distilled causal model (4 steps a block and fewer), torch.compile the transformer with \
                 FlashAttention or SageAttention, a guidance-distilled model (one pass a step), a smaller decoder (AutoencoderTiny), \
                 or fewer pixels."
            .into(),
        evidence: vec![
            Evidence::new(rate.what.clone(), rate.per_second, FigureUnit::PerSecond).against(limit),
            Evidence::ns("time that they are counted over", rate.over_ns),
        ],
        saving: Some(Saving::of_time(
            None,
            rate.over_ns,
            format!(
                "the time that they are counted over; to reach {} a second, {} of it has to go",
                rounded(limit),
                crate::quantity::rounded_percent(
                    1.0 - float(at_limit_ns) / float(rate.over_ns).max(1.0)
                )
            ),
        )),
        confidence,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Diffusion;
    use crate::findings::rules::tests::{check_made, check_run};
    use marey::{Generation, Run, StreamingEvent};
    use marey_testing::RunBuilder;

    const SECOND: u64 = 1_000_000_000;

    fn rate(kind: FrameKind, per_second: f64, meaning: &str) -> FrameRate {
        FrameRate {
            kind,
            frames: 0,
            over_ns: 10 * SECOND,
            per_second,
            includes_text_encoding: None,
            includes_vae: None,
            meaning: meaning.into(),
        }
    }

    fn made(rates: Vec<FrameRate>) -> Diffusion {
        Diffusion { rates, ..Diffusion::default() }
    }

    /// Deliveries of 5 frames at 1 s, 2 s and so on, `gap_ns` apart.
    fn delivered(gap_ns: u64) -> Run {
        let delivery = |n: u64| {
            let event = StreamingEvent { frames: Some(5), ..StreamingEvent::default() };
            (SECOND + n * gap_ns, Generation::Streaming(event))
        };
        let mut builder = RunBuilder::new();
        for (at_ns, event) in (0..5).map(delivery) {
            builder = builder.generation(at_ns, None, event);
        }
        builder.finish(20 * SECOND)
    }

    #[test]
    fn images_are_no_slow_video() {
        // Three images, two steps of 100 ns each; the last loop of a video makes 16 frames.
        let run = |frames: u64| {
            let mut builder = RunBuilder::new();
            for n in 0..6_u64 {
                let step = marey::DiffusionStep {
                    step: Some(n % 2),
                    computation_ns: Some(100),
                    block_size: Some(frames),
                    ..marey::DiffusionStep::default()
                };
                builder = builder.generation((n + 1) * 100, None, Generation::Step(step));
            }
            let run = builder.finish(1_000_000_000);
            let made = crate::diffusion(&run, &marey::Thresholds::default());
            check_made(&RULE, &run, &made.unwrap_or_default())
        };
        let images = "each generation made one frame: an image".to_owned();
        assert_eq!(run(1), Outcome::Unknown(images));
        assert!(matches!(run(16), Outcome::Passed(_)), "{:?}", run(16));
    }

    #[test]
    fn five_delivered_frames_a_second_are_too_slow() {
        let Outcome::Found(found) = check_run(&RULE, &delivered(SECOND)) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "5 delivered frames a second are below 10");
        assert_eq!((found[0].severity, found[0].confidence), (Severity::High, Confidence::High));
        let saving = found[0].saving.as_ref().unwrap();
        assert_eq!(saving.at_most_ns, Some(4 * SECOND));
        assert!(saving.how.contains("50 %"), "{}", saving.how);
    }

    #[test]
    fn ten_delivered_frames_a_second_are_not_below_ten() {
        let expected = Outcome::Passed("10 delivered frames a second".into());
        assert_eq!(check_run(&RULE, &delivered(SECOND / 2)), expected);
    }

    #[test]
    fn without_a_viewer_slow_frames_are_of_low_severity() {
        let run = RunBuilder::new().finish(20 * SECOND);
        let rates = vec![
            rate(FrameKind::Latent, 20.0, "latent frames a second"),
            rate(FrameKind::Pixel, 3.0, "pixel frames a second, all included"),
            rate(FrameKind::Pixel, 4.0, "pixel frames a second of denoising"),
        ];
        let Outcome::Found(found) = check_made(&RULE, &run, &made(rates)) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "4 pixel frames a second of denoising are below 10");
        assert_eq!(found[0].severity, Severity::Low);
    }

    #[test]
    fn few_latent_frames_may_be_enough_pixel_frames() {
        let run = RunBuilder::new().finish(20 * SECOND);
        let confidence = |per_second| {
            let rates = vec![rate(FrameKind::Latent, per_second, "latent frames a second")];
            match check_made(&RULE, &run, &made(rates)) {
                Outcome::Found(found) => found[0].confidence,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(confidence(4.0), Confidence::Low);
        assert_eq!(confidence(1.0), Confidence::Medium);
    }

    #[test]
    fn what_was_not_recorded_apart_stands_in_the_evidence() {
        let run = RunBuilder::new().finish(20 * SECOND);
        let meaning = "latent frames in a second of blocks; text encoding and VAE decoding not recorded apart";
        let found = check_made(&RULE, &run, &made(vec![rate(FrameKind::Latent, 0.75, meaning)]));
        let Outcome::Found(found) = found else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "0.75 latent frames in a second of blocks are below 10");
        assert_eq!(found[0].evidence[0].what, meaning);
    }

    #[test]
    fn without_rates_nobody_can_tell() {
        let run = RunBuilder::new().finish(20 * SECOND);
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
        let nothing = check_made(&RULE, &run, &made(vec![]));
        assert!(matches!(nothing, Outcome::Unknown(_)));
    }
}
