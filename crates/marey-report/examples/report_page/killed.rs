//! A run that was killed in its third step, with losses.
//!
//! ```text
//! ms         0         100       200       300
//! main       |load|  |---- generate ------ open
//!                      |step||step| |step   open
//! worker               |------- decode ---- open
//! ```

use marey::{OpenSection, Run, Status, Warning};
use marey_testing::RunBuilder;

const MS: u64 = 1_000_000;

pub(crate) fn run() -> Run {
    let mut run = RunBuilder::new()
        .with(|run| {
            run.info.pid = 99;
            run.info.host = "studio".into();
            run.info.start_unix_ns = 1_795_000_000_000_000_000;
            run.threads[0].name = "main".into();
        })
        .session("generation", 70 * MS, None, vec![])
        .section("load", 0, 50 * MS, |_| {})
        .section("generate", 70 * MS, 300 * MS, |s| {
            s.iteration("step", 80 * MS, 140 * MS, |_| {});
            s.iteration("step", 140 * MS, 200 * MS, |_| {});
        })
        .finish(300 * MS);
    // The call did not end.
    run.sections.retain(|section| section.node != 2);
    run.totals[2] = marey::NodeTotals::default();
    run.open = vec![
        OpenSection { thread: Some(0), node: 2, start_ns: 70 * MS, until_ns: 300 * MS },
        OpenSection { thread: Some(0), node: 3, start_ns: 220 * MS, until_ns: 300 * MS },
    ];
    run.status = Status::Killed(9);
    // Twelve short iterations are in the totals only.
    run.totals[3].count += 12;
    run.totals[3].sum_ns += 24 * MS;
    run.totals[3].min_ns = 2 * MS;
    run.losses.sections_ring_full = 12;
    run.losses.notes_dropped = 1;
    run.warnings = vec![Warning::Truncated { offset: 4096 }];
    run
}
