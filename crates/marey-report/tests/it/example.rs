//! The one example run of all snapshots: a small latent video of two blocks with three steps each.
//!
//! ```text
//! ms        0     10   20   30    40    50   60   70    80    90   100
//! main       |-text| |------------generate------------| |--vae--|
//!                     |---block----| |---block----|
//!                     |-s--|s-||s-|   |-s--|s-|s-|
//! writer                                                    |save|
//! memory      ^           ^      ^                    ^      ^
//! cache                ^    ^  ^             ^
//! queue     ^                 ^                    ^
//! ```

use marey::{
    Allocation, CacheEvent, CacheOutcome, Generation, LayerComputation, Losses, MemoryReading,
    MemorySource, Resources, Run, RunInfo, Section, SeriesInfo, Spent, Status, StreamingEvent,
    Unavailable, Unit, Value, Warning,
};
use marey_testing::{RunBuilder, Within};

const MS: u64 = 1_000_000;
const MIB: u64 = 1 << 20;

/// The run as it is when all went well.
pub(crate) fn latent_video() -> Run {
    pipeline(RunBuilder::new())
        .section("vae_decode", 80 * MS, 94 * MS, |_| {})
        .thread("writer")
        .section("save", 88 * MS, 97 * MS, |_| {})
        .finish(100 * MS)
}

/// The same run with samplers: twice as long between readings as a real one would take for so short a run.
///
/// ```text
/// ms        0     10   20   30    40    50   60   70    80    90   100
/// read        ^             ^            ^             ^             ^     at 1, 25, 50, 75, 99
/// stream                                                 3     3   3       at 80, 90, 95
/// memory                     +3 MiB                -1 MiB                  at 30, 70; the layer attention ended at 85
/// ```
pub(crate) fn sampled_latent_video() -> Run {
    let builder = RunBuilder::new().with(|run| *run = latent_video());
    let frames = |at_ms: u64| {
        let event = StreamingEvent {
            frames: Some(3),
            encoding_ns: Some(2 * MS),
            network_latency_ns: None,
            buffer_occupancy: Some(0.5),
        };
        (at_ms * MS, event)
    };
    let mut builder = host(gpu(builder));
    for (at_ns, event) in [80, 90, 95].map(frames) {
        builder = builder.generation(at_ns, None, Generation::Streaming(event));
    }
    let layer = LayerComputation {
        name: "attention".into(),
        computation_ns: Some(4 * MS),
        parameters: Some(1_000_000),
    };
    builder = builder.generation(85 * MS, None, Generation::Layer(layer));
    for (at_ms, is_release, bytes) in [(30, false, 3 << 20), (70, true, 1 << 20)] {
        let allocation = Allocation {
            is_release,
            bytes,
            allocator: Some("cuda".into()),
            context: (!is_release).then(|| "latents".into()),
        };
        builder = builder.generation(at_ms * MS, None, Generation::Allocation(allocation));
    }
    let mut run = builder.finish(100 * MS);
    run.info.facts.extend(
        [
            ("host.cpus", "4"),
            ("host.memory_bytes", "34359738368"),
            ("gpu.0.uuid", "GPU-5f3c"),
            ("gpu.0.name", "NVIDIA H200"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned())),
    );
    run.unavailable = vec![Unavailable {
        what: "gpu.ecc.corrected GPU-5f3c".into(),
        why: "this GPU does not count them".into(),
    }];
    run
}

/// What was read at 1, 25, 50, 75 and 99 ms.
fn readings(values: [f64; 5]) -> [(u64, f64); 5] {
    let times = [1, 25, 50, 75, 99];
    std::array::from_fn(|n| (times[n] * MS, values[n]))
}

fn host(builder: RunBuilder) -> RunBuilder {
    let mib = |values: [f64; 5]| readings(values.map(|v| v * 1_048_576.0));
    let total = |name: &str, unit| SeriesInfo::cumulative(name, "", unit);
    let gauge = |name: &str| SeriesInfo::gauge(name, "", Unit::Bytes);
    builder
        .series(
            total("host.cpu.busy", Unit::Seconds),
            &readings([50.0, 50.024, 50.124, 50.149, 50.173]),
        )
        .series(
            total("process.cpu.user", Unit::Seconds),
            &readings([1.0, 1.018, 1.093, 1.098, 1.11]),
        )
        .series(
            total("process.cpu.system", Unit::Seconds),
            &readings([0.5, 0.506, 0.506, 0.506, 0.506]),
        )
        .series(gauge("host.memory.used"), &mib([9000.0, 12000.0, 15000.0, 14000.0, 11000.0]))
        .series(gauge("process.memory.resident"), &mib([800.0, 2000.0, 2100.0, 2000.0, 3000.0]))
        .series(total("process.disk.read", Unit::Bytes), &mib([10.0, 42.0, 42.0, 42.0, 42.0]))
        .series(total("process.io.read", Unit::Bytes), &mib([10.0, 138.0, 138.0, 138.0, 138.0]))
        .series(total("host.swap.out", Unit::Bytes), &mib([5.0, 5.0, 7.0, 7.0, 7.0]))
        .series(gauge("host.swap.used"), &mib([5.0, 5.0, 7.0, 7.0, 7.0]))
        .series(
            total("pressure.io.some", Unit::Seconds),
            &readings([0.0, 0.012, 0.012, 0.012, 0.012]),
        )
        .series(
            SeriesInfo::gauge("sampler.late", "host", Unit::Seconds),
            &readings([0.0, 0.001, 0.005, 0.0, 0.0]),
        )
        .series(
            SeriesInfo::cumulative("sampler.missed", "host", Unit::Count),
            &readings([0.0, 0.0, 2.0, 2.0, 2.0]),
        )
        .series(
            SeriesInfo::cumulative("sampler.cpu", "host", Unit::Seconds),
            &readings([0.0, 0.0001, 0.0002, 0.0003, 0.00049]),
        )
}

fn gpu(builder: RunBuilder) -> RunBuilder {
    let gauge = |name: &str, unit| SeriesInfo::gauge(name, "GPU-5f3c", unit);
    let gib = |values: [f64; 5]| readings(values.map(|v| v * 1_073_741_824.0));
    builder
        .series(gauge("gpu.memory.used", Unit::Bytes), &gib([1.0, 9.0, 12.0, 10.0, 4.0]))
        .series(gauge("gpu.memory.total", Unit::Bytes), &gib([140.0; 5]))
        .series(gauge("gpu.utilization", Unit::Ratio), &readings([0.0, 0.5, 1.0, 0.9, 0.1]))
        .series(gauge("gpu.temperature", Unit::Celsius), &readings([41.0, 60.0, 72.0, 74.0, 66.0]))
        .series(gauge("gpu.power", Unit::Watts), &readings([100.0, 400.0, 600.0, 600.0, 200.0]))
        .series(gauge("gpu.throttle", Unit::Bits), &readings([1.0, 0.0, 4.0, 0.0, 1.0]))
}

/// The same run, killed while it decoded, with a small ring and a damaged capture.
pub(crate) fn killed_latent_video() -> Run {
    let mut run = pipeline(RunBuilder::new())
        .open("vae_decode", 80 * MS, |s| {
            s.open("decode chunk", 85 * MS, |_| {});
        })
        .finish(90 * MS);
    run.status = Status::Killed(9);
    without_records_of(&mut run, "denoise_step");
    run.losses = Losses { sections_ring_full: 6, notes_dropped: 2, ..Losses::default() };
    run.warnings = vec![Warning::Truncated { offset: 4096 }];
    run
}

/// Drops the records of the sections of one name; attributes stay with the others.
fn without_records_of(run: &mut Run, name: &str) {
    let is_kept = |section: &Section| run.nodes[section.node as usize].name != name;
    let kept: Vec<bool> = run.sections.iter().map(is_kept).collect();
    run.section_attributes.retain(|given| kept[given.section]);
    for given in &mut run.section_attributes {
        given.section = kept[..given.section].iter().filter(|kept| **kept).count();
    }
    let mut index = 0..;
    run.sections.retain(|_| index.next().is_some_and(|index| kept[index]));
}

fn pipeline(builder: RunBuilder) -> RunBuilder {
    let builder = builder
        .with(|run| run.info = info())
        .section("text_encoder", 2 * MS, 12 * MS, |_| {})
        .section("generate", 16 * MS, 76 * MS, |s| {
            block(s, 18);
            block(s, 46);
        });
    let builder = builder
        .session(
            "first prompt",
            MS,
            Some(78 * MS),
            vec![("seed".into(), 42i64.into()), ("cfg".into(), 6.5.into())],
        )
        .session("second prompt", 79 * MS, None, vec![])
        .with(|run| {
            run.sessions[0].used = Some(Resources {
                process: Spent {
                    cpu_ns: 90 * MS,
                    read_bytes: Some(5 << 20),
                    written_bytes: Some(0),
                },
                thread: None,
                resident_before: Some(100 << 20),
                resident_after: Some(98 << 20),
                peak_bytes: None,
            });
        })
        .event(
            "prompt ready",
            12 * MS,
            vec![("tokens".into(), 77i64.into()), ("loss".into(), f64::NAN.into())],
        );
    let builder = builder
        .counter("queue_length", 0, 4.0)
        .counter("queue_length", 30 * MS, 1.0)
        .counter("queue_length", 78 * MS, 2.5);
    caches(memory(builder))
}

/// A block of 24 ms with steps of 9 ms, 5 ms and 6 ms.
fn block(s: &mut Within<'_>, at_ms: u64) {
    s.section("block", at_ms * MS, (at_ms + 24) * MS, |s| {
        for (start, length) in [(1, 9), (10, 5), (16, 6)] {
            let start_ns = (at_ms + start) * MS;
            s.iteration("denoise_step", start_ns, start_ns + length * MS, |_| {});
        }
    })
    .attributes(vec![("sync".into(), true.into()), ("first_frame".into(), (at_ms / 2).into())]);
}

fn memory(builder: RunBuilder) -> RunBuilder {
    let gpu = |at_ms: u64, label: Option<&str>, allocated: u64, reserved: u64| MemoryReading {
        at_ns: at_ms * MS,
        label: label.map(Into::into),
        source: MemorySource::TorchCuda(0),
        allocated_bytes: allocated * MIB,
        reserved_bytes: Some(reserved * MIB),
        peak_bytes: Some((allocated + 100) * MIB),
        session: None,
    };
    builder
        .memory(gpu(3, Some("worker_start"), 1024, 2048))
        .memory(gpu(25, None, 9000, 12000))
        .memory(gpu(38, None, 12288, 16384))
        .memory(gpu(77, Some("after_sampling"), 4096, 16384))
        .memory(MemoryReading {
            at_ns: 89 * MS,
            label: Some("end".into()),
            source: MemorySource::Process,
            allocated_bytes: 3000 * MIB + MIB / 2,
            reserved_bytes: None,
            peak_bytes: None,
            session: None,
        })
}

fn caches(builder: RunBuilder) -> RunBuilder {
    let event = |at_ms: u64, outcome, step, score| CacheEvent {
        at_ns: at_ms * MS,
        cache: "teacache".into(),
        outcome,
        step: Some(step),
        block: Some(0),
        score: Some(score),
        threshold: Some(0.15),
        held_bytes: Some(64 * MIB),
        attributes: vec![("kind".into(), Value::Text("residual|x".into()))],
        session: None,
    };
    builder
        .cache_event(event(20, CacheOutcome::Miss, 0, 0.9))
        .cache_event(event(29, CacheOutcome::Hit, 1, 0.1))
        .cache_event(event(35, CacheOutcome::Hit, 2, 0.05))
        .cache_event(CacheEvent {
            cache: "text_embeddings".into(),
            step: None,
            block: None,
            score: None,
            threshold: None,
            held_bytes: None,
            attributes: vec![],
            ..event(60, CacheOutcome::Eviction, 0, 0.0)
        })
}

fn info() -> RunInfo {
    RunInfo {
        start_unix_ns: 1_700_000_000_125_000_000,
        pid: 4242,
        host: "workstation".into(),
        job_id: "20231114-221320".into(),
        rank: None,
        world_size: None,
        local_rank: None,
        command: vec!["python".into(), "latent_video.py".into()],
        clock: "tsc".into(),
        facts: vec![("marey".into(), "0.1.0".into())],
    }
}
