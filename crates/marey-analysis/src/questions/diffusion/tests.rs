mod blocks;

use super::*;
use marey::{
    BlockComputation, CacheEvent, CacheOutcome, DiffusionStep, Generation, ModelParameters,
    StreamingEvent,
};
use marey_testing::RunBuilder;
use proptest::prelude::*;

fn whole() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        Just(None),
        (0_u64..6).prop_map(Some),
        Just(Some(u64::MAX)),
        any::<u64>().prop_map(Some),
    ]
}

fn real() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        Just(None),
        (0_u8..9).prop_map(|n| Some(f64::from(n))),
        Just(Some(f64::NAN)),
        any::<f64>().prop_map(Some),
    ]
}

fn report() -> impl Strategy<Value = Generation> {
    prop_oneof![
        (whole(), real(), whole(), whole(), real()).prop_map(
            |(step, timestep, block_size, computation_ns, guidance_scale)| {
                Generation::Step(DiffusionStep {
                    step,
                    timestep,
                    block_size,
                    computation_ns,
                    guidance_scale,
                })
            }
        ),
        (whole(), whole(), whole(), whole()).prop_map(
            |(index, size, computation_ns, memory_bytes)| {
                Generation::Block(BlockComputation { index, size, computation_ns, memory_bytes })
            }
        ),
        (whole(), real(), real()).prop_map(|(count, flops_per_call, calls_per_step)| {
            Generation::Model(ModelParameters {
                name: "dit".into(),
                count,
                kind: None,
                flops_per_call,
                calls_per_step,
            })
        }),
        whole().prop_map(|frames| {
            Generation::Streaming(StreamingEvent { frames, ..StreamingEvent::default() })
        }),
    ]
}

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..1000, Just(u64::MAX), any::<u64>()]
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "denoising_step",
        "block",
        "vae_decode",
        "text_encoding",
        "kv_cache_commit",
        "cond",
        "uncond",
        "generate",
    ])
}

fn event() -> impl Strategy<Value = CacheEvent> {
    (time(), whole(), whole(), any::<bool>()).prop_map(|(at_ns, step, block, is_hit)| CacheEvent {
        at_ns,
        cache: "teacache".into(),
        outcome: if is_hit { CacheOutcome::Hit } else { CacheOutcome::Miss },
        step,
        block,
        score: None,
        threshold: None,
        held_bytes: None,
        attributes: vec![],
        session: None,
    })
}

/// All figures that are numbers are finite, and shares do not pass 1.
fn assert_sound(found: &Diffusion) {
    for rate in &found.rates {
        assert!(rate.per_second.is_finite() && rate.over_ns > 0, "{rate:?}");
    }
    let shares = [
        found.clean_passes.as_ref().and_then(|passes| passes.share_ratio),
        found.guidance.as_ref().and_then(|guidance| guidance.unconditional_ratio),
    ];
    for share in shares.into_iter().flatten() {
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
    if let Some(steps) = &found.steps {
        let loops = steps.each.iter().map(|step| step.loop_number).max();
        assert_eq!(loops, steps.n_loops.checked_sub(1));
        assert!(steps.outliers.iter().all(|index| *index < steps.each.len()));
    }
    if let Some(delivery) = &found.delivery {
        let n = delivery.deadlines_met + delivery.deadlines_missed;
        assert!(n < delivery.each.len() as u64);
    }
    if let Some(caching) = &found.caching {
        let steps = found.steps.as_ref().map_or(0, |steps| steps.each.len());
        assert_eq!(caching.n_cached + caching.n_computed, steps as u64);
    }
}

proptest! {
    #[test]
    fn any_run_has_sound_figures_or_none(
        mut reports in prop::collection::vec((time(), prop::option::of(0_u32..3), report()), 0..30),
        sections in prop::collection::vec((name(), name(), 0..1_u64 << 50, 0_u64..1000), 0..20),
        mut events in prop::collection::vec(event(), 0..10),
        n_sessions in 0_u64..3,
    ) {
        reports.sort_by_key(|(at_ns, _, _)| *at_ns);
        events.sort_by_key(|event| event.at_ns);
        let mut builder = RunBuilder::new();
        for session in 0..n_sessions {
            builder = builder.session("clip", session * 100, Some(session * 400), vec![]);
        }
        for (outer, inner, from, to) in sections {
            let (start_ns, end_ns) = (from.min(to), from.max(to));
            builder = builder.section(outer, start_ns, end_ns, |s| {
                s.iteration(inner, start_ns, end_ns, |_| {});
            });
        }
        for (at_ns, session, what) in reports {
            builder = builder.generation(at_ns, session, what);
        }
        builder = builder.with(|run| run.cache_events = events);
        let run = builder.finish(0);
        if let Some(found) = diffusion(&run, &Thresholds::default()) {
            assert_sound(&found);
        }
    }
}
