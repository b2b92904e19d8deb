//! Named intervals of the run.

use marey_analysis::Streaming;

use super::columns::{Columns, Last};
use crate::escape::{cut, visible};
use crate::model::{NamedValues, Report, SessionFacts};
use crate::quantity::{duration_ns, known, time_s};

/// More rows than this do not help anybody on a terminal.
const MAX_ROWS: usize = 40;

/// Each session with its tags; `None` when there were none.
pub(super) fn table(report: &Report) -> Option<String> {
    if report.sessions.is_empty() {
        return None;
    }
    let has_frames = report.sessions.iter().any(|s| streaming(s).is_some());
    let headers: &[&str] = if has_frames {
        &["Session", "Start", "Duration", "Frames", "FPS", "Tags"]
    } else {
        &["Session", "Start", "Duration", "Tags"]
    };
    let mut table = Columns::new(headers, Last::Text);
    for session in report.sessions.iter().take(MAX_ROWS) {
        let mut cells = vec![
            cut(&session.name, 48),
            format!("{} s", time_s(session.start_ns)),
            session
                .duration_ns
                .map_or_else(|| "not ended".into(), duration_ns),
        ];
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
    if has_frames {
        notes.push(
            "FPS: frames delivered after the first delivery, in a second from it to the last."
                .into(),
        );
    }
    Some(table.block("SESSIONS", &notes))
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
