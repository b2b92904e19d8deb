//! Runs at the ends of what numbers and names can be.

use marey::{GpuSpan, MemoryReading, MemorySource, Run, Value};
use marey_testing::RunBuilder;

/// Names that mean something to some reader, numbers that are no numbers, times up to the last one.
pub(crate) fn run() -> Run {
    const LAST: u64 = u64::MAX;
    let mut builder = RunBuilder::new().with(|run| {
        run.info.pid = u32::MAX;
        run.info.start_unix_ns = 1_795_000_000_000_000_000;
        run.info.command = vec!["\"\u{1b}]0;</script>\n".into()];
    });
    for (index, name) in (0_u64..).zip(names()) {
        let start = (1 << 53) + index * 10;
        builder = builder
            .section(&name, start, start + 5, |s| {
                s.section(&name, start + 5, start + 5, |_| {});
            })
            .event(&name, start, vec![(name.clone(), Value::Text(name.clone()))])
            .counter(&name, start, 1e300)
            .counter(&name, start + 1, f64::NAN)
            .session(&name, start, None, vec![(name.clone(), Value::Float(f64::NEG_INFINITY))]);
    }
    let mut run = builder
        .section("last", LAST - 1, LAST, |_| {})
        .memory(MemoryReading {
            at_ns: LAST,
            label: None,
            source: MemorySource::Process,
            allocated_bytes: LAST,
            reserved_bytes: None,
            peak_bytes: None,
            session: None,
        })
        .finish(LAST);
    run.gpu_spans = vec![GpuSpan {
        thread: 9,
        node: 1_000_000,
        start_ns: LAST,
        device: u32::MAX,
        stream: LAST,
        delay_ns: Some(LAST),
        gpu_ns: LAST,
        error_ns: None,
    }];
    run
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        "</script><script>",
        "\u{1b}[31m",
        "\"\\\",\"ts\":0,\"",
        "a\0b",
        "\u{2028}\u{202e}",
        "ProfilerStep#x",
        "\"rank\": 5",
        "\u{10ffff}🎞\u{fffd}",
        "line\nline\ttab",
        "name",
    ]
    .map(str::to_owned)
    .into();
    names.push("x".repeat(1 << 20));
    names
}

/// 100 000 threads with a section each.
pub(crate) fn threads() -> Run {
    let mut run = RunBuilder::new().section("turn", 0, 5, |_| {}).finish(100);
    let (thread, section) = (run.threads[0].clone(), run.sections[0]);
    run.threads = vec![thread; 100_000];
    run.sections = (0..100_000).map(|thread| marey::Section { thread, ..section }).collect();
    run
}

/// 100 000 tasks of one thread that all overlap.
pub(crate) fn tasks() -> Run {
    let mut run = RunBuilder::new().section("task", 0, 5, |_| {}).finish(400_000);
    let section = run.sections[0];
    run.sections = (1..=u16::MAX)
        .cycle()
        .zip(0..100_000)
        .map(|(flow, start_ns)| marey::Section {
            flow,
            start_ns,
            end_ns: start_ns + 200_000,
            ..section
        })
        .collect();
    run
}
