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
    CacheEvent, CacheOutcome, Losses, MemoryReading, MemorySource, Run, RunBuilder, RunInfo,
    Section, Status, Value, Warning, Within,
};

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

/// The same run, killed while it decoded, with a small ring and a damaged capture.
pub(crate) fn killed_latent_video() -> Run {
    let mut run = pipeline(RunBuilder::new())
        .open("vae_decode", 80 * MS, |s| {
            s.open("decode chunk", 85 * MS, |_| {});
        })
        .finish(90 * MS);
    run.status = Status::Killed(9);
    without_records_of(&mut run, "denoise_step");
    run.losses = Losses {
        sections_ring_full: 6,
        notes_dropped: 2,
        ..Losses::default()
    };
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
    run.sections
        .retain(|_| index.next().is_some_and(|index| kept[index]));
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
        .event(
            "prompt ready",
            12 * MS,
            vec![
                ("tokens".into(), 77i64.into()),
                ("loss".into(), f64::NAN.into()),
            ],
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
    .attributes(vec![
        ("sync".into(), true.into()),
        ("first_frame".into(), (at_ms / 2).into()),
    ]);
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
        command: vec!["python".into(), "latent_video.py".into()],
        clock: "tsc".into(),
        facts: vec![("marey".into(), "0.1.0".into())],
    }
}
