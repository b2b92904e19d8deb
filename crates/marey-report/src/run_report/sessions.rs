//! Named intervals of the run.

use marey_analysis::{Streaming, UsedInSession};

use crate::document::{Cell, Table};
use crate::model::{Report, SessionFacts};

/// Sessions that people are shown.
const MAX_SESSIONS: usize = 40;

/// Each session with its tags.
pub(super) fn table(report: &Report) -> Table {
    let used = |s: &SessionFacts, cell: &dyn Fn(UsedInSession) -> Cell| Cell::known(s.used, cell);
    let table = Table::of_each(
        "sessions",
        "Sessions",
        &report.sessions,
        &[
            ("name", "Session", &|s| Cell::name(&s.name)),
            ("start_ns", "Start", &|s| Cell::Moment(s.start_ns)),
            ("duration_ns", "Duration", &|s| Cell::duration(s.duration_ns)),
            ("outcome", "Ended", &|s| Cell::text(ended(s))),
            ("cpu_ns", "CPU", &|s| used(s, &|used| Cell::Duration(used.process.cpu_ns))),
            ("read_bytes", "Read", &|s| used(s, &|used| Cell::bytes(used.process.read_bytes))),
            ("growth_bytes", "Memory grew", &|s| {
                used(s, &|used| Cell::known(used.growth_bytes, Cell::Growth))
            }),
            ("n_frames", "Frames", &|s| Cell::count(streaming(s).and_then(|s| s.frames))),
            ("frames_per_second", "Frames/s", &|s| {
                Cell::known(streaming(s).and_then(|s| s.frames_per_second), Cell::PerSecond)
            }),
            ("tags", "Tags", &|s| Cell::known(s.tags.text(), Cell::Name)),
        ],
    );
    let mut table = table.limited(MAX_SESSIONS);
    if report.sessions.iter().any(|s| s.used.is_some()) {
        table = table
            .noted("CPU, read, memory: of the whole process from the session's begin to its end.");
    }
    if report.sessions.iter().any(|s| streaming(s).is_some()) {
        table = table.noted(
            "Frames/s: frames delivered after the first delivery, in a second from it to the last.",
        );
    }
    table
}

fn ended(session: &SessionFacts) -> &'static str {
    match (session.duration_ns, session.outcome) {
        (None, _) => "not ended",
        (_, "cut_off") => "cut off",
        (_, outcome) => outcome,
    }
}

fn streaming(session: &SessionFacts) -> Option<&Streaming> {
    session.activity.as_ref()?.streaming.as_ref()
}
