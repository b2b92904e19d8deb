//! What holds for all rules together.

use marey::{
    BlockComputation, DiffusionStep, Generation, LayerComputation, MemoryReading, MemorySource,
    ModelParameters, OpenSection, Run, SeriesInfo, StreamingEvent, Unit,
};
use marey_testing::{RunBuilder, Within};

use super::*;

const MS: u64 = 1_000_000;
const GIB: u64 = 1 << 30;

fn all(run: &Run) -> Findings {
    let limits = Thresholds::of(run);
    let sections = crate::sections(run);
    let (memory, streaming) = (crate::memory(run), crate::streaming(run));
    let (diffusion, caches) = (crate::diffusion(run, &limits), crate::caches(run));
    findings(&Facts {
        run,
        sections: &sections,
        stages: &crate::stages(&sections),
        iterations: &crate::iterations(run),
        memory: memory.as_ref(),
        telemetry: &crate::telemetry(run),
        streaming: streaming.as_ref(),
        diffusion: diffusion.as_ref(),
        caches: caches.as_ref(),
        windows: crate::windows(run, diffusion.as_ref()).as_ref(),
        thresholds: &limits,
    })
}

/// A stream of ten blocks of three latent frames, four steps each, on a GPU that is busy, cool and half full.
///
/// ```text
/// s         0    1         2   …          11
/// load      |----|
/// text           |-|
/// block 0…9         |block||block| … |block|       1 s each
/// step               s s s s                       180 ms each
/// decode                     d                     200 ms
/// delivered                   12 frames            every second, from 2.2 s on
/// ```
fn healthy() -> Run {
    let mut builder = RunBuilder::new()
        .section("load_pipeline", 0, 1000 * MS, |_| {})
        .section("text_encoding", 1000 * MS, 1100 * MS, |_| {})
        .section("denoise", 1100 * MS, 11_100 * MS, |s| {
            for block in 0..10 {
                healthy_block(s, (1100 + block * 1000) * MS);
            }
        });
    for block in 0..10 {
        builder = reports(builder, block);
    }
    machine(builder).finish(11_200 * MS)
}

fn healthy_block(s: &mut Within<'_>, start_ns: u64) {
    s.section("block", start_ns, start_ns + 950 * MS, |s| {
        for step in 0..4 {
            let step_ns = start_ns + step * 180 * MS;
            s.iteration("denoising_step", step_ns, step_ns + 175 * MS, |_| {});
        }
        s.section(
            "vae_decode",
            start_ns + 740 * MS,
            start_ns + 940 * MS,
            |_| {},
        );
    });
}

fn reports(mut builder: RunBuilder, block: u64) -> RunBuilder {
    let start_ns = (1100 + block * 1000) * MS;
    for step in 0..4 {
        let report = DiffusionStep {
            step: Some(step),
            timestep: Some(1.0),
            block_size: Some(3),
            computation_ns: Some(175 * MS),
            guidance_scale: Some(1.0),
        };
        let at_ns = start_ns + step * 180 * MS + 175 * MS;
        builder = builder.generation(at_ns, None, Generation::Step(report));
    }
    for (at_ms, name) in [(100, "attention"), (200, "mlp"), (300, "norm")] {
        let layer = LayerComputation {
            name: name.into(),
            computation_ns: Some(30 * MS),
            parameters: None,
        };
        builder = builder.generation(start_ns + at_ms * MS, None, Generation::Layer(layer));
    }
    let model = ModelParameters {
        name: "small".into(),
        count: Some(300_000_000),
        ..ModelParameters::default()
    };
    let computation = BlockComputation {
        index: Some(block),
        size: Some(3),
        // Twice as fast as the sections say: what a stream at 2 blocks a second takes.
        computation_ns: Some(450 * MS),
        memory_bytes: Some(4 * GIB),
    };
    let delivery = StreamingEvent {
        frames: Some(24),
        ..StreamingEvent::default()
    };
    builder
        .generation(start_ns, None, Generation::Model(model))
        .generation(start_ns + 950 * MS, None, Generation::Block(computation))
        .generation(start_ns + 960 * MS, None, Generation::Streaming(delivery))
}

fn machine(builder: RunBuilder) -> RunBuilder {
    let times = || (0..=22).map(|n| n * 500 * MS);
    let flat = |value: f64| -> Vec<(u64, f64)> { times().map(|at_ns| (at_ns, value)).collect() };
    let busy: Vec<(u64, f64)> = times()
        .map(|at_ns| (at_ns, if at_ns < 1100 * MS { 0.0 } else { 0.95 }))
        .collect();
    let gpu = |name, unit| SeriesInfo::gauge(name, "GPU-1", unit);
    let counter = |name, unit| SeriesInfo::cumulative(name, "", unit);
    let builder = builder
        .series(gpu("gpu.utilization", Unit::Ratio), &busy)
        .series(gpu("gpu.temperature", Unit::Celsius), &flat(68.0))
        .series(gpu("gpu.throttle", Unit::Bits), &flat(0.0))
        .series(gpu("gpu.memory.used", Unit::Bytes), &flat(12e9))
        .series(gpu("gpu.memory.total", Unit::Bytes), &flat(24e9))
        .series(
            SeriesInfo::gauge("host.memory.used", "", Unit::Bytes),
            &flat(12e9),
        )
        .series(counter("host.swap.out", Unit::Bytes), &flat(4e9))
        .series(counter("pressure.cpu.some", Unit::Seconds), &flat(7.0))
        .with(|run| {
            let total = ("host.memory_bytes".into(), "34359738368".into());
            run.info.facts.push(total);
        });
    // The text encoder gives its 4 GiB back.
    let readings = [
        (900, 4, 5),
        (1050, 8, 9),
        (1200, 4, 9),
        (5000, 9, 10),
        (11_150, 4, 10),
    ];
    readings
        .into_iter()
        .fold(builder, |builder, (at_ms, allocated, reserved)| {
            builder.memory(MemoryReading {
                at_ns: at_ms * MS,
                label: None,
                source: MemorySource::TorchCuda(0),
                allocated_bytes: allocated * GIB,
                reserved_bytes: Some(reserved * GIB),
                peak_bytes: None,
                session: None,
            })
        })
}

#[test]
fn a_healthy_run_has_no_findings() {
    let found = all(&healthy());
    assert!(found.found.is_empty(), "{:#?}", found.found);
    let n_passed = found.passed.len();
    assert!(n_passed >= 9, "{:#?}", found.unchecked);
    assert_eq!(n_passed + found.unchecked.len(), RULES.len());
}

#[test]
fn of_an_empty_run_no_rule_says_anything() {
    let found = all(&RunBuilder::new().finish(0));
    assert!(
        found.found.is_empty() && found.passed.is_empty(),
        "{found:#?}"
    );
    assert_eq!(found.unchecked.len(), RULES.len());
}

#[test]
fn the_most_severe_finding_stands_first() {
    let gauge = |name, unit| SeriesInfo::gauge(name, "GPU-1", unit);
    let run = RunBuilder::new()
        .section("load", 0, 80, |_| {})
        .series(gauge("gpu.temperature", Unit::Celsius), &[(10, 86.0)])
        .series(gauge("gpu.memory.used", Unit::Bytes), &[(10, 95.0)])
        .series(gauge("gpu.memory.total", Unit::Bytes), &[(10, 100.0)])
        .finish(100);
    let found = all(&run);
    let severities: Vec<Severity> = found.found.iter().map(|f| f.severity).collect();
    assert_eq!(
        severities,
        [Severity::High, Severity::Medium, Severity::Low]
    );
}

#[test]
fn numbers_at_the_end_of_what_they_can_say_break_no_rule() {
    let ends = [u64::MAX, 0, 1];
    let mut builder = RunBuilder::new().section("decode", 0, u64::MAX, |s| {
        s.section("attention", 1, u64::MAX - 1, |_| {});
        s.iteration("denoising_step", 0, u64::MAX, |_| {});
    });
    for name in [
        "gpu.utilization",
        "gpu.temperature",
        "gpu.memory.used",
        "gpu.memory.total",
    ] {
        for (subject, value) in [("a", f64::MAX), ("b", f64::NAN), ("c", -1.0)] {
            let info = SeriesInfo::gauge(name, subject, Unit::Count);
            builder = builder.series(info, &[(0, 0.0), (1, value), (u64::MAX, value)]);
        }
    }
    for name in ["host.swap.out", "pressure.cpu.some", "cgroup.cpu.throttled"] {
        let info = SeriesInfo::cumulative(name, "", Unit::Count);
        builder = builder.series(info, &[(0, 0.0), (1, f64::MAX), (u64::MAX, f64::INFINITY)]);
    }
    for at_ns in ends {
        builder = builder
            .memory(MemoryReading {
                at_ns: u64::MAX - at_ns,
                label: None,
                source: MemorySource::TorchCuda(u32::MAX),
                allocated_bytes: at_ns,
                reserved_bytes: Some(u64::MAX),
                peak_bytes: Some(0),
                session: Some(u32::MAX),
            })
            .generation(at_ns, None, layer(u64::MAX))
            .generation(at_ns, None, layer(0))
            .generation(at_ns, None, Generation::DroppedFrames { count: u64::MAX })
            .generation(at_ns, None, delivery(at_ns));
    }
    let mut run = builder.finish(u64::MAX);
    run.open.push(OpenSection {
        thread: None,
        node: 1,
        start_ns: u64::MAX,
        until_ns: u64::MAX,
    });
    for wall_ns in ends {
        run.wall_ns = wall_ns;
        let found = all(&run);
        let evidence = found.found.iter().flat_map(|finding| &finding.evidence);
        assert!(evidence.into_iter().all(|one| one.figure.value.is_finite()));
    }
}

fn layer(computation_ns: u64) -> Generation {
    Generation::Layer(LayerComputation {
        name: computation_ns.to_string(),
        computation_ns: Some(computation_ns),
        parameters: Some(u64::MAX),
    })
}

fn delivery(frames: u64) -> Generation {
    Generation::Streaming(StreamingEvent {
        frames: Some(frames),
        ..StreamingEvent::default()
    })
}
