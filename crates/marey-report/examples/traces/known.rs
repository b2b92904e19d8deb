//! A run of which everything is known, drawn.
//!
//! ```text
//! µs       0    100   200   300   400   500
//! sessions   |--- clip -------------------|           50 to 550
//! windows             |-prof-|                        205 to 305
//! main          |--- generate ---------|              100 to 500
//!                |step||step||- decode -|             110 to 200, 210 to 300, 300 to 500 (failed)
//! tasks 1         |--fetch--|                         120 to 260
//! tasks 2          |f|                                150 to 180
//! decoder                    |-encode-|               310 to 450, and a mark at 450 that takes no time
//! stream 7         |-step-||step-|                    130 to 230, 240 to 320
//! stream 20                  |decode|                 305 to 315
//! ```
//!
//! With an event at 105, decisions of a cache at 115 and 215, and readings.

use marey::{
    CacheEvent, CacheOutcome, GpuSpan, MemoryReading, MemorySource, Run, SeriesInfo, Unit, Value,
    Window,
};
use marey_testing::RunBuilder;

const US: u64 = 1_000;

/// The run as rank `rank` of two, which began a millisecond after the one before. Both have the same process number, as in
/// containers.
pub(crate) fn run(rank: u32) -> Run {
    let mut run = drawn();
    run.info.rank = Some(rank);
    run.info.world_size = Some(2);
    run.info.start_unix_ns += u64::from(rank) * 1_000 * US;
    run
}

/// The run, of a job of one.
pub(crate) fn drawn() -> Run {
    let of_cache = |at_ns, outcome, step, score| CacheEvent {
        at_ns,
        cache: "teacache".into(),
        outcome,
        step: Some(step),
        block: None,
        score: Some(score),
        threshold: Some(0.05),
        held_bytes: None,
        attributes: vec![],
        session: None,
    };
    let memory = |at_ns, allocated_bytes, reserved_bytes| MemoryReading {
        at_ns,
        label: None,
        source: MemorySource::TorchCuda(0),
        allocated_bytes,
        reserved_bytes: Some(reserved_bytes),
        peak_bytes: None,
        session: None,
    };
    let tags = vec![("seed".to_owned(), Value::Int(7))];
    let said = vec![
        ("tokens".to_owned(), Value::Int(77)),
        ("ratio".to_owned(), Value::Float(f64::NAN)),
        ("stream".to_owned(), Value::Int(99)),
    ];
    let run = RunBuilder::new()
        .with(|run| {
            run.info.pid = 4711;
            run.info.start_unix_ns = 1_795_000_000_000_000_000;
            run.info.command = vec!["generate.py".into()];
            run.threads[0].os_id = 4711;
            run.windows = vec![Window {
                name: "prof".into(),
                instrument: "torch.profiler".into(),
                opened_ns: 205 * US,
                stopped_ns: Some(305 * US),
                stop_reason: Some("steps".into()),
                ..Window::default()
            }];
        })
        .session("clip", 50 * US, Some(550 * US), tags)
        .section("generate", 100 * US, 500 * US, |s| {
            s.iteration("denoising_step", 110 * US, 200 * US, |_| {});
            s.iteration("denoising_step", 210 * US, 300 * US, |_| {});
            s.section("decode", 300 * US, 500 * US, |_| {});
        })
        .section("fetch", 120 * US, 260 * US, |_| {})
        .section("fetch", 150 * US, 180 * US, |_| {})
        .event("prompt ready", 105 * US, said)
        .cache_event(of_cache(115 * US, CacheOutcome::Miss, 0, 0.11))
        .cache_event(of_cache(215 * US, CacheOutcome::Hit, 1, 0.04))
        .counter("loss", 110 * US, 1.5)
        .counter("loss", 150 * US, f64::INFINITY)
        .counter("loss", 210 * US, 0.5)
        .memory(memory(100 * US, 1 << 30, 2 << 30))
        .memory(memory(300 * US, 3 << 30, 4 << 30))
        .series(
            SeriesInfo::gauge("gpu.power", "GPU-5f", Unit::Watts),
            &[(0, 90.0), (200 * US, 310.5), (400 * US, 120.0)],
        )
        .thread("decoder")
        .section("encode", 310 * US, 450 * US, |_| {})
        .section("mark", 450 * US, 450 * US, |_| {});
    finished(run)
}

/// With tasks, a failure and work on the GPU, which all name sections that are drawn.
fn finished(run: RunBuilder) -> Run {
    let mut run = run.finish(600 * US);
    run.threads[1].os_id = 4712;
    let node = |run: &Run, name: &str| {
        let found = run.nodes.iter().position(|node| node.name == name);
        found.and_then(|index| u32::try_from(index).ok()).unwrap_or(0)
    };
    let (fetch, step, decode) =
        (node(&run, "fetch"), node(&run, "denoising_step"), node(&run, "decode"));
    for section in &mut run.sections {
        if section.node == fetch {
            section.flow = if section.start_ns == 120 * US { 1 } else { 2 };
        }
        section.is_failed = section.node == decode;
    }
    let span = |node, start, delay: Option<u64>, gpu, stream| GpuSpan {
        thread: 0,
        node,
        start_ns: start * US,
        device: 0,
        stream,
        delay_ns: delay.map(|us| us * US),
        gpu_ns: gpu * US,
        error_ns: delay.map(|_| 500),
    };
    run.gpu_spans = vec![
        span(step, 110, Some(20), 100, 7),
        span(step, 210, Some(30), 80, 7),
        // Of a section that was not recorded, at a time that is not known.
        span(step, 250, None, 80, 7),
        span(decode, 300, Some(5), 10, 20),
    ];
    run
}
