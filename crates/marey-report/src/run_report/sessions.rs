//! Named intervals of the run.

use crate::document::{Cell, Table};
use crate::model::{NamedValues, Report, SessionFacts};

/// Sessions that people are shown.
const MAX_SESSIONS: usize = 40;

/// Each session with its tags.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("name", "Session"),
        ("start_ns", "Start"),
        ("duration_ns", "Duration"),
        ("outcome", "Ended"),
        ("cpu_ns", "CPU"),
        ("read_bytes", "Read"),
        ("growth_bytes", "Memory grew"),
        ("n_frames", "Frames"),
        ("frames_per_second", "FPS"),
        ("tags", "Tags"),
    ];
    let mut table = Table::new("sessions", "Sessions", &columns).limited(MAX_SESSIONS);
    for session in &report.sessions {
        table.row(row(session));
    }
    let mut note = |text: &str| table.notes.push(text.into());
    if report.sessions.iter().any(|s| s.used.is_some()) {
        note("CPU, read, memory: of the whole process from the session's begin to its end.");
    }
    let streams = |s: &SessionFacts| s.activity.as_ref().is_some_and(|a| a.streaming.is_some());
    if report.sessions.iter().any(streams) {
        note("FPS: frames delivered after the first delivery, in a second from it to the last.");
    }
    table
}

fn row(session: &SessionFacts) -> Vec<Cell> {
    let used = session.used;
    let process = used.map(|used| used.process);
    let activity = session.activity.as_ref();
    let streaming = activity.and_then(|activity| activity.streaming.as_ref());
    let rate = streaming.and_then(|s| s.frames_per_second);
    vec![
        Cell::name(&session.name),
        Cell::Moment(session.start_ns),
        Cell::known(session.duration_ns, Cell::Duration),
        Cell::text(match (session.duration_ns, session.outcome) {
            (None, _) => "not ended",
            (_, "cut_off") => "cut off",
            (_, outcome) => outcome,
        }),
        Cell::known(process.map(|used| used.cpu_ns), Cell::Duration),
        Cell::known(process.and_then(|used| used.read_bytes), Cell::Bytes),
        Cell::known(used.and_then(|used| used.growth_bytes), Cell::Growth),
        Cell::known(streaming.and_then(|s| s.frames), Cell::Count),
        Cell::known(rate, Cell::PerSecond),
        Cell::known(tags(&session.tags), Cell::Name),
    ]
}

/// `seed=42, cfg=6.5`; `None` without tags.
fn tags(tags: &NamedValues) -> Option<String> {
    let each = tags.0.iter();
    let shown: Vec<String> = each
        .map(|(name, value)| format!("{name}={}", value.text()))
        .collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}
