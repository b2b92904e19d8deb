//! Programs whose first screens are looked at, by their own numbers.

use marey::{
    CacheEvent, CacheOutcome, Launch, MemoryReading, MemorySource, OpenSection, Resources, Run,
    SectionAttributes, SeriesInfo, Spent, Status, Unit, Usage,
};
use marey_testing::{RunBuilder, Within};

const MS: u64 = 1_000_000;
const TENTH: u64 = MS / 10;
const HUNDREDTH: u64 = MS / 100;
const US: u64 = 1_000;
const MIB: u64 = 1 << 20;

fn python(script: &str) -> impl FnOnce(&mut Run) {
    let script = format!("/home/me/{script}");
    move |run: &mut Run| run.info.command = vec!["/usr/bin/python".into(), script]
}

/// What `marey run` saw of it: 2 processors, and so much time of them.
fn launched(run: &mut Run, launch: &Launch) {
    let usage = |cpu_ms: u64| Usage {
        cpu_user_ns: cpu_ms * MS,
        peak_bytes: 15 * MIB,
        is_peak_at_most: true,
        ..Usage::default()
    };
    let cpu_ms = if run.wall_ns == 1620 * MS { 26 } else { 1654 };
    let launch = Launch {
        pid: run.info.pid,
        wall_ns: Some(run.wall_ns),
        usage: Some(usage(cpu_ms)),
        oom_kills: Some(0),
        ..launch.clone()
    };
    run.info.facts.extend(launch.facts());
    run.info.facts.push(("host.cpus".into(), "2".into()));
}

fn with_cpu(builder: RunBuilder) -> RunBuilder {
    let busy = SeriesInfo::cumulative("host.cpu.busy", "", Unit::Seconds);
    builder.series(busy, &[(0, 1.0), (100 * MS, 1.1), (200 * MS, 1.2)])
}

/// The process had so much, by the kernel's count, in the section of this name.
fn with_peak(builder: RunBuilder, name: &str, bytes: u64) -> RunBuilder {
    let reading = MemoryReading {
        at_ns: 0,
        label: None,
        source: MemorySource::Process,
        allocated_bytes: 14 * MIB,
        reserved_bytes: None,
        peak_bytes: Some(bytes),
        session: None,
    };
    builder.memory(reading).used(name, |_| Resources {
        process: Spent { cpu_ns: 0, read_bytes: None, written_bytes: None },
        thread: None,
        resident_before: None,
        resident_after: None,
        peak_bytes: Some(bytes),
    })
}

/// The demo script. Of each block 5.7 ms are outside of its steps; every other step is served by a cache.
///
/// ```text
/// ms   1.3      9.4                                                78.48  79     91.1
///      |- text -|- block 0: 5.7, steps 20.1 1.08 5.08 1.08 - … - … -|     |- vae -|
/// ```
pub(crate) fn demo() -> Run {
    let mut builder = RunBuilder::new()
        .session("scripted demo (no model runs)", 130 * HUNDREDTH, Some(9280 * HUNDREDTH), vec![])
        .section("text_encoder", 130 * HUNDREDTH, 940 * HUNDREDTH, |_| {});
    let starts = [940, 4244, 6046];
    builder = builder.section("generate", 940 * HUNDREDTH, 7848 * HUNDREDTH, |s| {
        for (block, start) in starts.into_iter().enumerate() {
            demo_block(s, block, start);
        }
    });
    for (block, start) in (0..).zip(starts) {
        let mut at = start + 570;
        for step in 0..4 {
            let event = CacheEvent {
                at_ns: at * HUNDREDTH + 1,
                cache: "step_cache".into(),
                outcome: if step % 2 == 1 { CacheOutcome::Hit } else { CacheOutcome::Miss },
                step: Some(step),
                block: Some(block),
                score: None,
                threshold: None,
                held_bytes: None,
                attributes: vec![],
                session: Some(0),
            };
            builder = builder.cache_event(event);
            at += demo_step(block, step);
        }
    }
    let reading = MemoryReading {
        at_ns: 7870 * HUNDREDTH,
        label: Some("after_denoising".into()),
        source: MemorySource::Process,
        allocated_bytes: 42_781_900,
        reserved_bytes: None,
        peak_bytes: None,
        session: None,
    };
    builder
        .section("make", 7900 * HUNDREDTH, 7900 * HUNDREDTH, |_| {})
        .memory(reading)
        .section("vae_decode", 7900 * HUNDREDTH, 9110 * HUNDREDTH, |_| {})
        .with(|run| {
            let section = run.sections.len() - 1;
            run.section_attributes.push(SectionAttributes {
                section,
                attributes: vec![("frames".into(), 3_i64.into())],
                session: Some(0),
            });
            run.info.facts.push(("demo".into(), "scripted demo (no model runs)".into()));
        })
        .finish(9280 * HUNDREDTH)
}

/// Hundredths of a millisecond.
fn demo_step(block: u64, step: u64) -> u64 {
    match (block, step) {
        (0, 0) => 2010,
        (_, 0 | 2) => 508,
        _ => 108,
    }
}

fn demo_block(s: &mut Within<'_>, block: usize, start: u64) {
    let block = block as u64;
    let took = (0..4).map(|step| demo_step(block, step)).sum::<u64>();
    s.section("block", start * HUNDREDTH, (start + 570 + took) * HUNDREDTH, |s| {
        let mut at = start + 570;
        for step in 0..4 {
            let end = at + demo_step(block, step);
            s.iteration("denoising_step", at * HUNDREDTH, end * HUNDREDTH, |_| {});
            at = end;
        }
    })
    .attributes(vec![("index".into(), i64::try_from(block).expect("few blocks").into())]);
}

/// Steps of 41 ms after a first one of 91.1 ms.
fn steps(s: &mut Within<'_>, start: u64, n: u64) -> u64 {
    let mut at = start;
    for step in 0..n {
        let end = at + if step == 0 { 911 } else { 410 };
        s.iteration("denoising_step", at * TENTH, end * TENTH, |_| {});
        at = end;
    }
    at
}

/// The program of document 000: `load 328, text 60, denoise 883 (steps 870.1), vae 475, save 40` of 1 838 ms.
pub(crate) fn clip() -> Run {
    let builder = RunBuilder::new()
        .with(python("clip.py"))
        .session("clip-0", 100 * TENTH, Some(18_280 * TENTH), vec![])
        .section("model_load", 100 * TENTH, 3380 * TENTH, |_| {})
        .section("text_encoding", 3380 * TENTH, 3980 * TENTH, |_| {})
        .section("denoise", 3980 * TENTH, 12_810 * TENTH, |s| {
            steps(s, 4000, 20);
        })
        .section("vae_decode", 12_830 * TENTH, 17_580 * TENTH, |_| {})
        .section("save", 17_580 * TENTH, 17_980 * TENTH, |_| {});
    let builder = with_peak(with_cpu(builder), "vae_decode", 3721 * MIB / 10);
    let mut run = builder.finish(1838 * MS);
    let launch = Launch { exit_code: Some(0), ..Launch::default() };
    launched(&mut run, &launch);
    run
}

/// The same, which raises in its eighth step: `load 360.7, text 60.0, denoise 341.7` of 808.6 ms.
pub(crate) fn failed() -> Run {
    let builder = RunBuilder::new()
        .with(python("clip.py"))
        .session("clip-0", 0, Some(8080 * TENTH), vec![])
        .section("model_load", 100 * TENTH, 3707 * TENTH, |_| {})
        .section("text_encoding", 3707 * TENTH, 4307 * TENTH, |_| {})
        .section("denoise", 4307 * TENTH, 7724 * TENTH, |s| {
            let at = steps(s, 4307, 7);
            let start = at * TENTH + 4 * MS;
            s.iteration("denoising_step", start, start + 10_600, |_| {});
        });
    let mut run = with_peak(builder, "model_load", 208 * MIB).finish(8086 * TENTH);
    for section in &mut run.sections {
        let is_last = section.duration_ns() == 10_600 || section.end_ns == 7724 * TENTH;
        section.is_failed = is_last;
    }
    for (node, totals) in run.totals.iter_mut().enumerate() {
        let failed = run.sections.iter().filter(|s| s.node as usize == node && s.is_failed);
        totals.errors = failed.count() as u64;
    }
    run.status = Status::Failed("ValueError".into());
    let launch = Launch { exit_code: Some(1), ..Launch::default() };
    launched(&mut run, &launch);
    run
}

/// The same, which is killed in its eighth step: `load 326.5, text 60.0, denoise 341.4` of 776.8 ms.
pub(crate) fn killed() -> Run {
    let builder = RunBuilder::new()
        .with(python("clip.py"))
        .session("clip-0", 0, None, vec![])
        .section("model_load", 100 * TENTH, 3365 * TENTH, |_| {})
        .section("text_encoding", 3365 * TENTH, 3965 * TENTH, |_| {})
        .open("denoise", 4354 * TENTH, |s| {
            steps(s, 4354, 7);
        });
    let mut run = with_peak(builder, "model_load", 208 * MIB).finish(7768 * TENTH);
    let node =
        run.nodes.iter().position(|node| node.name == "denoising_step").expect("it has steps");
    run.open.push(OpenSection {
        thread: Some(0),
        node: u32::try_from(node).expect("few nodes"),
        start_ns: 7725 * TENTH,
        until_ns: 7768 * TENTH,
    });
    run.status = Status::Killed(9);
    let launch = Launch { signal: Some(9), ..Launch::default() };
    launched(&mut run, &launch);
    run
}

pub(crate) fn nothing() -> Run {
    let builder = with_cpu(RunBuilder::new().with(python("plain.py")));
    let reading = MemoryReading {
        at_ns: 100 * US,
        label: None,
        source: MemorySource::Process,
        allocated_bytes: 15 * MIB,
        reserved_bytes: None,
        peak_bytes: Some(15 * MIB + 1),
        session: None,
    };
    let mut run = builder.memory(reading).finish(1620 * MS);
    let launch = Launch { exit_code: Some(0), ..Launch::default() };
    launched(&mut run, &launch);
    run
}

/// Requests of 40 and 60 ms at once: of the second one 30 ms are waiting, of the first one 10.
pub(crate) fn server() -> Run {
    RunBuilder::new()
        .with(python("server.py"))
        .session("req-0", 0, Some(40 * MS), vec![])
        .section("wait_for_gpu", 0, 10 * MS, |_| {})
        .section("transformer", 10 * MS, 40 * MS, |_| {})
        .thread("second")
        .session("req-1", 0, Some(60 * MS), vec![])
        .section("wait_for_gpu", 0, 30 * MS, |_| {})
        .section("transformer", 30 * MS, 60 * MS, |_| {})
        .finish(80 * MS)
}

/// Nine parts of 7 µs to 7 s, none of which is a round number.
pub(crate) fn crooked() -> Run {
    let mut builder = RunBuilder::new();
    let mut at = 13;
    for part in 0..9 {
        let length = 7_013 * 4_u64.pow(part) + u64::from(part);
        builder =
            builder.section(&format!("part {part} of something long"), at, at + length, |_| {});
        at += length + 17;
    }
    builder.finish(at + 999)
}
