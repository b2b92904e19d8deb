//! For each rule a run in which it finds something.

use std::collections::BTreeSet;

use marey::{
    BlockComputation, CacheEvent, CacheOutcome, DiffusionStep, Generation, LayerComputation,
    MemoryReading, MemorySource, ModelParameters, Run, SeriesInfo, StreamingEvent, Unit, Window,
};
use marey_analysis::findings::{Finding, RULES};
use marey_testing::RunBuilder;

use super::all;

const S: u64 = 1_000_000_000;
const GB: u64 = 1_000_000_000;

/// A rule with a run in which it finds something.
type Case = (&'static str, fn() -> Run);

const CASES: &[Case] = &[
    ("memory-pressure", || {
        gauges(&[("gpu.memory.used", 95.0), ("gpu.memory.total", 100.0)])
    }),
    ("swap-spill", || {
        counter("host.swap.out", 1e9, RunBuilder::new())
    }),
    ("kept-memory", kept_memory),
    ("fragmentation", || {
        torch(RunBuilder::new(), &[(S, 4 * GB, 10 * GB)]).finish(10 * S)
    }),
    ("low-gpu-utilization", || {
        gauge("gpu.utilization", 0.2, steps(4)).finish(10 * S)
    }),
    ("stage-bottleneck", || {
        RunBuilder::new()
            .section("vae_decode", 0, 8 * S, |_| {})
            .finish(10 * S)
    }),
    ("layer-bottleneck", layer_bottleneck),
    ("cpu-pressure", || {
        let system = growing("process.cpu.system", 0.0, RunBuilder::new());
        let used = growing("process.cpu.user", 2.0, system);
        counter("process.cpu.wait", 8.0, used)
    }),
    ("thermal-risk", || gauges(&[("gpu.temperature", 90.0)])),
    ("dropped-frames", || {
        let dropped = Generation::DroppedFrames { count: 5 };
        deliveries(S / 20)
            .generation(9 * S, None, dropped)
            .finish(10 * S)
    }),
    ("slow-frames", || deliveries(S).finish(10 * S)),
    ("slow-blocks", || blocks(3)),
    ("large-blocks", || blocks(12)),
    ("many-steps", || steps(40).finish(50 * S)),
    ("large-model", || {
        let model = ModelParameters {
            name: "transformer".into(),
            count: Some(12_000_000_000),
            ..ModelParameters::default()
        };
        RunBuilder::new()
            .generation(S, None, Generation::Model(model))
            .finish(10 * S)
    }),
    ("idle-gpus", idle_gpus),
    ("ssd-starvation", || {
        let load = RunBuilder::new().section("load", 0, 10 * S, |_| {});
        let load = growing("process.disk.read", 1e9, load);
        counter("pressure.io.some", 8.0, load)
    }),
    ("exposed-transfers", || {
        RunBuilder::new()
            .section("to_device", 0, 2 * S, |_| {})
            .finish(10 * S)
    }),
    ("synchronisation-points", || {
        let in_first_step = |run: RunBuilder| run.section("latents.item", S / 2, S, |_| {});
        in_first_step(steps(4)).finish(10 * S)
    }),
    ("launch-bound", launch_bound),
    ("eager-attention", || {
        RunBuilder::new()
            .section("sdpa_math", 0, 2 * S, |_| {})
            .finish(10 * S)
    }),
    ("step-outliers", || {
        // Four steps of a second, one of two, and one more of a second.
        steps_of(&[S, S, S, S, 2 * S, S]).finish(10 * S)
    }),
    ("late-compile", || {
        steps(4)
            .section("torch.compile", 2 * S, 3 * S, |_| {})
            .finish(10 * S)
    }),
    ("cache-never-hits", || cache(None, None)),
    ("cache-memory-for-nothing", || cache(Some(2 * GB), None)),
    ("strict-threshold", || cache(None, Some(0.09))),
    ("repeated-encoding", repeated_encoding),
    ("needless-offload", needless_offload),
    ("rank-skew", rank_skew),
    ("failed-window", || {
        let cut_off = Window {
            opened_ns: S,
            ..Window::default()
        };
        RunBuilder::new()
            .with(|run| run.windows.push(cut_off))
            .finish(10 * S)
    }),
];

/// Steps of one second each, from 0 on.
fn steps(n: usize) -> RunBuilder {
    steps_of(&vec![S; n])
}

/// Steps that follow one another from 0 on.
fn steps_of(durations: &[u64]) -> RunBuilder {
    let report = |(step, duration_ns): (u64, &u64)| DiffusionStep {
        step: Some(step),
        computation_ns: Some(*duration_ns),
        ..DiffusionStep::default()
    };
    let mut end_ns = 0;
    let reports = (0..).zip(durations).map(report);
    reports.fold(RunBuilder::new(), |builder, report| {
        end_ns += report.computation_ns.unwrap_or(0);
        builder.generation(end_ns, None, Generation::Step(report))
    })
}

/// Four blocks of one second each with as many latent frames.
fn blocks(frames: u64) -> Run {
    let report = |index| BlockComputation {
        index: Some(index),
        size: Some(frames),
        computation_ns: Some(S),
        memory_bytes: None,
    };
    (0..4)
        .fold(RunBuilder::new(), |builder, index| {
            builder.generation((index + 1) * S, None, Generation::Block(report(index)))
        })
        .finish(10 * S)
}

/// Five deliveries of one frame, `gap_ns` apart.
fn deliveries(gap_ns: u64) -> RunBuilder {
    let frame = StreamingEvent {
        frames: Some(1),
        ..StreamingEvent::default()
    };
    (1..=5).fold(RunBuilder::new(), |builder, n| {
        builder.generation(n * gap_ns, None, Generation::Streaming(frame.clone()))
    })
}

/// Readings that stay the same for ten seconds, of one GPU.
fn gauge(name: &str, value: f64, builder: RunBuilder) -> RunBuilder {
    let info = SeriesInfo::gauge(name, "GPU-1", Unit::Count);
    let readings: Vec<(u64, f64)> = (0..=20).map(|n| (n * S / 2, value)).collect();
    builder.series(info, &readings)
}

fn gauges(values: &[(&str, f64)]) -> Run {
    let run = values.iter().fold(RunBuilder::new(), |run, (name, value)| {
        gauge(name, *value, run)
    });
    run.finish(10 * S)
}

/// A counter that grows by so much in ten seconds.
fn growing(name: &str, by: f64, builder: RunBuilder) -> RunBuilder {
    let info = SeriesInfo::cumulative(name, "", Unit::Count);
    let readings: Vec<(u64, f64)> = (0..=10u32)
        .map(|n| (u64::from(n) * S, by / 10.0 * f64::from(n)))
        .collect();
    builder.series(info, &readings)
}

fn counter(name: &str, by: f64, builder: RunBuilder) -> Run {
    growing(name, by, builder).finish(10 * S)
}

/// Readings of torch's allocator: when, in use, held.
fn torch(builder: RunBuilder, readings: &[(u64, u64, u64)]) -> RunBuilder {
    readings.iter().fold(
        builder,
        |builder, (at_ns, allocated_bytes, reserved_bytes)| {
            builder.memory(MemoryReading {
                at_ns: *at_ns,
                label: None,
                source: MemorySource::TorchCuda(0),
                allocated_bytes: *allocated_bytes,
                reserved_bytes: Some(*reserved_bytes),
                peak_bytes: None,
                session: None,
            })
        },
    )
}

fn kept_memory() -> Run {
    let run = RunBuilder::new()
        .section("text_encoding", S, 3 * S, |_| {})
        .section("denoise", 4 * S, 9 * S, |_| {});
    let read = [
        (0, GB, GB),
        (2 * S, 8 * GB, 8 * GB),
        (3 * S + 1, 8 * GB, 8 * GB),
        (6 * S, 12 * GB, 12 * GB),
    ];
    torch(run, &read).finish(10 * S)
}

fn layer_bottleneck() -> Run {
    let layers = [("attention", 8), ("mlp", 1), ("norm", 1)];
    let run = layers
        .into_iter()
        .fold(RunBuilder::new(), |builder, (name, ms)| {
            let layer = LayerComputation {
                name: name.into(),
                computation_ns: Some(ms * 1_000_000),
                parameters: None,
            };
            builder.generation(S, None, Generation::Layer(layer))
        });
    run.finish(10 * S)
}

fn idle_gpus() -> Run {
    let run = gauge("gpu.utilization", 0.9, RunBuilder::new());
    let second = SeriesInfo::gauge("gpu.utilization", "GPU-2", Unit::Ratio);
    let readings: Vec<(u64, f64)> = (0..=20).map(|n| (n * S / 2, 0.0)).collect();
    run.series(second, &readings).finish(10 * S)
}

fn launch_bound() -> Run {
    let run = gauge("gpu.utilization", 0.3, steps(8));
    let run = growing("process.cpu.user", 9.0, run);
    counter("process.cpu.system", 1.0, run)
}

/// Twelve misses of a step cache.
fn cache(held_bytes: Option<u64>, score: Option<f64>) -> Run {
    let miss = |step| CacheEvent {
        at_ns: step * S / 2,
        cache: "teacache".into(),
        outcome: CacheOutcome::Miss,
        step: Some(step),
        block: None,
        score,
        threshold: Some(0.08),
        held_bytes,
        attributes: vec![],
        session: None,
    };
    let run = (0..12).fold(RunBuilder::new(), |builder, step| {
        builder.cache_event(miss(step))
    });
    run.finish(10 * S)
}

fn repeated_encoding() -> Run {
    RunBuilder::new()
        .section("serve", 0, 9 * S, |s| {
            for start_ns in [0, 4 * S] {
                s.section("encode_prompt", start_ns, start_ns + S, |_| {});
                s.attributes(vec![("prompt_hash".into(), "9f3c".into())]);
            }
        })
        .finish(10 * S)
}

fn needless_offload() -> Run {
    let run = RunBuilder::new().section("generate", 0, 9 * S, |s| {
        s.section("offload_vae", S, 2 * S, |_| {});
        s.attributes(vec![("bytes".into(), (2 * GB).into())]);
    });
    let run = gauge("gpu.memory.used", 10e9, run);
    gauge("gpu.memory.total", 24e9, run).finish(10 * S)
}

fn rank_skew() -> Run {
    let lengths = [10, 1, 9, 1, 9];
    let run = lengths
        .into_iter()
        .zip(0..)
        .fold(RunBuilder::new(), |builder, (tenths, n)| {
            let start_ns = n * 2 * S;
            builder.section("all_reduce", start_ns, start_ns + tenths * S / 10, |_| {})
        });
    run.with(|run| run.info.world_size = Some(2)).finish(10 * S)
}

#[test]
fn every_rule_has_a_run_in_which_it_finds_something() {
    for (rule, run) in CASES {
        let run = run();
        let found = all(&run).found;
        let own: Vec<&Finding> = found
            .iter()
            .filter(|finding| finding.rule == *rule)
            .collect();
        assert!(!own.is_empty(), "{rule}: {found:#?}");
        for finding in own {
            is_whole(finding, &run);
        }
    }
    let tried: BTreeSet<&str> = CASES.iter().map(|(rule, _)| *rule).collect();
    let rules: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(tried, rules);
}

/// What each finding has: words, figures with at least one limit, intervals in order, a bound that is no more than the run.
fn is_whole(finding: &Finding, run: &Run) {
    let rule = finding.rule;
    assert!(
        !finding.issue.is_empty() && finding.remedy.ends_with('.'),
        "{rule}"
    );
    assert!(
        finding.evidence.iter().all(|e| e.figure.value.is_finite()),
        "{rule}"
    );
    assert!(finding.evidence.iter().any(|e| e.limit.is_some()), "{rule}");
    assert!(finding.intervals.len() <= Finding::MAX_INTERVALS, "{rule}");
    assert!(finding.intervals.is_sorted(), "{rule}");
    let node = finding.node.map(|node| node as usize);
    assert!(
        node.is_none_or(|node| 0 < node && node < run.nodes.len()),
        "{rule}"
    );
    let Some(saving) = &finding.saving else {
        return;
    };
    assert!(!saving.how.is_empty(), "{rule}");
    assert!(
        saving.at_most_ns.is_none_or(|ns| ns <= run.wall_ns),
        "{rule}"
    );
    assert!(
        saving
            .estimate_ns
            .is_none_or(|ns| Some(ns) <= saving.at_most_ns),
        "{rule}"
    );
}
