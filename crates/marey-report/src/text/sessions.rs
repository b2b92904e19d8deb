//! Named intervals of the run.

use marey_analysis::Streaming;

use super::columns::{Columns, Last};
use crate::escape::{cut, visible};
use crate::model::{NamedValues, Report, SessionFacts};
use crate::quantity::{bytes, duration_ns, growth, known, time_s};

/// More rows than this do not help anybody on a terminal.
const MAX_ROWS: usize = 40;

/// Each session with its tags; `None` when there were none.
pub(super) fn table(report: &Report) -> Option<String> {
    if report.sessions.is_empty() {
        return None;
    }
    let has_frames = report.sessions.iter().any(|s| streaming(s).is_some());
    let has_used = report.sessions.iter().any(|s| s.used.is_some());
    let mut headers = vec!["Session", "Start", "Duration"];
    if has_used {
        headers.extend(["CPU", "Read", "Memory grew"]);
    }
    if has_frames {
        headers.extend(["Frames", "FPS"]);
    }
    headers.push("Tags");
    let mut table = Columns::new(&headers, Last::Text);
    for session in report.sessions.iter().take(MAX_ROWS) {
        let mut cells = vec![
            cut(&session.name, 48),
            format!("{} s", time_s(session.start_ns)),
            lasted(session),
        ];
        if has_used {
            cells.extend(used(session));
        }
        if has_frames {
            cells.extend(frames(session));
        }
        cells.push(tags(&session.tags));
        table.row(cells);
    }
    let mut notes = Vec::new();
    if report.sessions.len() > MAX_ROWS {
        notes.push(format!("… and {} more", report.sessions.len() - MAX_ROWS));
    }
    if has_used {
        notes.push(
            "CPU, read, memory: of the whole process from the session's begin to its end.".into(),
        );
    }
    if has_frames {
        notes.push(
            "FPS: frames delivered after the first delivery, in a second from it to the last."
                .into(),
        );
    }
    Some(table.block("SESSIONS", &notes))
}

/// How long it took, and how it ended where that was not as it should.
fn lasted(session: &SessionFacts) -> String {
    match (session.duration_ns, session.outcome) {
        (None, _) => "not ended".into(),
        (Some(ns), "failed") => format!("{}, failed", duration_ns(ns)),
        (Some(ns), "cut_off") => format!("{}, cut off", duration_ns(ns)),
        (Some(ns), _) => duration_ns(ns),
    }
}

/// Processor time, bytes fetched from storage, and how much resident memory grew.
fn used(session: &SessionFacts) -> [String; 3] {
    let used = session.used;
    [
        known(used.map(|used| used.process.cpu_ns), duration_ns),
        known(used.and_then(|used| used.process.read_bytes), bytes),
        known(used.and_then(|used| used.growth_bytes), growth),
    ]
}

/// Frames that it delivered, and how many a second.
fn frames(session: &SessionFacts) -> [String; 2] {
    let streaming = streaming(session);
    [
        known(streaming.and_then(|s| s.frames), |n| n.to_string()),
        known(streaming.and_then(|s| s.frames_per_second), |fps| {
            format!("{fps:.2}")
        }),
    ]
}

fn streaming(session: &SessionFacts) -> Option<&Streaming> {
    session.activity.as_ref()?.streaming.as_ref()
}

fn tags(tags: &NamedValues) -> String {
    let each = tags.0.iter();
    let shown: Vec<String> = each
        .map(|(name, value)| format!("{}={}", visible(name), visible(&value.text())))
        .collect();
    cut(&shown.join(", "), 80)
}
