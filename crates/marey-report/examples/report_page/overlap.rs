//! What does not nest: tasks of one thread that run at the same time, a generator that was suspended, a failed section and one
//! that never ended.

use marey::Run;
use marey_testing::RunBuilder;

const MS: u64 = 1_000_000;

/// ```text
/// ms       0    10   20   30   40   50   60   70   80   90   100
/// main     |--------------------serve--------------------------|
/// task 1     |----fetch-----------|
/// task 2          |----fetch-----------|
/// task 3               |----fetch---------------|
/// in it                  |parse|
/// frames   .    |--------frames (ran 40)---|
/// open                                |---------upload--------->
/// ```
pub(crate) fn run() -> Run {
    let drawn = RunBuilder::new()
        .section("serve", 0, 100 * MS, |s| {
            s.section("fetch", 5 * MS, 40 * MS, |_| {});
            s.section("fetch", 15 * MS, 50 * MS, |_| {});
            s.section("fetch", 25 * MS, 65 * MS, |s| {
                s.section("parse", 30 * MS, 40 * MS, |_| {});
            });
            s.section("frames", 10 * MS, 50 * MS, |_| {});
        })
        .open("upload", 60 * MS, |_| {})
        .finish(110 * MS);
    let mut run = drawn;
    for section in &mut run.sections {
        let start = section.start_ns / MS;
        match run.nodes[section.node as usize].name.as_str() {
            "fetch" => {
                section.flow = u16::try_from(start / 10 + 1).unwrap_or(0);
                section.is_failed = start == 15;
            }
            "parse" => section.flow = 3,
            "frames" => section.has_pauses = true,
            _ => {}
        }
    }
    for node in &mut run.nodes {
        node.is_detached = node.name == "fetch" || node.name == "upload";
    }
    run
}
