//! No run makes a rule panic, or say a figure that is none.

use marey::{
    CacheEvent, CacheOutcome, DiffusionStep, Event, Generation, LayerComputation, MemoryReading,
    MemorySource, OpenSection, Run, Section, SectionAttributes, SeriesInfo, StreamingEvent, Unit,
};
use marey_testing::RunBuilder;

use super::all;

const NAMES: [&str; 9] = [
    "offload_vae",
    "to_device",
    "torch.cuda.synchronize",
    "torch.compile",
    "all_reduce",
    "barrier",
    "encode_prompt",
    "sdpa_math",
    "<script>\u{1b}[31m",
];

/// Sections of every kind that begin and end where numbers do, with attributes of every kind, under steps as long as the run.
fn run(wall_ns: u64) -> Run {
    let mut builder = RunBuilder::new();
    for name in NAMES {
        builder = builder.section(name, 0, u64::MAX, |_| {}).section(name, 0, 0, |_| {});
    }
    for (at_ns, computation_ns) in [(u64::MAX, u64::MAX), (0, u64::MAX), (5, 0)] {
        let step = DiffusionStep {
            step: Some(u64::MAX),
            timestep: Some(f64::NAN),
            computation_ns: Some(computation_ns),
            ..DiffusionStep::default()
        };
        builder = builder.generation(at_ns, None, Generation::Step(step));
    }
    for at_ns in [u64::MAX, 0, 1] {
        builder = reports(builder, at_ns);
    }
    caches(series(builder)).with(attributes).finish(wall_ns)
}

/// Of layers, deliveries and memory, as large as numbers are.
fn reports(builder: RunBuilder, at_ns: u64) -> RunBuilder {
    let layer = LayerComputation {
        name: at_ns.to_string(),
        computation_ns: Some(u64::MAX - at_ns),
        parameters: Some(u64::MAX),
    };
    let delivery = StreamingEvent { frames: Some(at_ns), ..StreamingEvent::default() };
    builder
        .generation(at_ns, None, Generation::Layer(layer))
        .generation(at_ns, None, Generation::DroppedFrames { count: u64::MAX })
        .generation(at_ns, None, Generation::Streaming(delivery))
        .memory(MemoryReading {
            at_ns: u64::MAX - at_ns,
            label: None,
            source: MemorySource::TorchCuda(u32::MAX),
            allocated_bytes: at_ns,
            reserved_bytes: Some(u64::MAX),
            peak_bytes: Some(0),
            session: Some(u32::MAX),
        })
        .with(|run| {
            run.open.push(OpenSection {
                thread: None,
                node: 1,
                start_ns: u64::MAX,
                until_ns: u64::MAX,
            });
        })
}

fn series(mut builder: RunBuilder) -> RunBuilder {
    let names = [
        "pressure.io.some",
        "host.cpu.iowait",
        "process.disk.read",
        "process.cpu.user",
        "process.cpu.system",
        "gpu.utilization",
        "gpu.pcie.sent",
        "gpu.memory.used",
        "gpu.memory.total",
        "gpu.temperature",
        "host.swap.out",
        "pressure.cpu.some",
        "cgroup.cpu.throttled",
    ];
    for name in names {
        for value in [f64::MAX, f64::NAN, -1.0, f64::INFINITY] {
            let readings = [(0, 0.0), (0, value), (1, value), (u64::MAX, f64::MAX), (7, 1.0)];
            let gauge = SeriesInfo::gauge(name, "", Unit::Count);
            let counter = SeriesInfo::cumulative(name, "", Unit::Count);
            builder = builder.series(gauge, &readings).series(counter, &readings);
        }
    }
    builder
}

fn caches(mut builder: RunBuilder) -> RunBuilder {
    let scores = [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN, 0.0, -0.0];
    for (at, score) in (0..60).zip(scores.into_iter().cycle()) {
        builder = builder.cache_event(CacheEvent {
            at_ns: u64::MAX - at,
            cache: format!("cache {}", at % 2),
            outcome: if at % 7 == 0 { CacheOutcome::Hit } else { CacheOutcome::Miss },
            step: Some(u64::MAX),
            block: None,
            score: Some(score),
            threshold: Some(score),
            held_bytes: Some(u64::MAX),
            attributes: vec![],
            session: Some(u32::MAX),
        });
    }
    builder
}

fn attributes(run: &mut Run) {
    run.info.world_size = Some(u32::MAX);
    for section in 0..run.sections.len() {
        run.section_attributes.push(SectionAttributes {
            section,
            attributes: vec![
                ("sync".into(), true.into()),
                ("prompt_hash".into(), "\u{0}".into()),
                ("bytes".into(), i64::MAX.into()),
                ("attn_implementation".into(), "eager".into()),
            ],
            session: None,
        });
    }
    run.events.push(Event {
        at_ns: u64::MAX,
        thread: u32::MAX,
        name: String::new(),
        attributes: vec![("prompt_hash".into(), f64::NAN.into())],
        session: None,
    });
}

#[test]
fn no_rule_breaks_at_the_ends_of_numbers() {
    for wall_ns in [0, 1, 1_000, u64::MAX] {
        let mut run = run(wall_ns);
        let last = run.sections.clone();
        run.sections.extend(last.iter().map(|section| Section {
            start_ns: section.end_ns.min(1),
            end_ns: u64::MAX,
            ..*section
        }));
        run.section_attributes.push(SectionAttributes {
            section: usize::MAX,
            attributes: vec![("sync".into(), true.into())],
            session: None,
        });
        for totals in &mut run.totals {
            totals.count = 1 << 50;
        }
        let found = all(&run);
        let evidence = found.found.iter().flat_map(|finding| &finding.evidence);
        assert!(evidence.into_iter().all(|e| e.figure.value.is_finite()));
        for saving in found.found.iter().filter_map(|finding| finding.saving.as_ref()) {
            assert!(saving.estimate_ns.is_none_or(|ns| Some(ns) <= saving.at_most_ns));
        }
    }
}

#[test]
fn of_nothing_no_rule_says_anything() {
    for run in [Run::default(), RunBuilder::new().finish(u64::MAX)] {
        let found = all(&run);
        assert!(found.found.is_empty() && found.passed.is_empty(), "{found:#?}");
    }
}
