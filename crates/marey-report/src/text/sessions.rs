//! Named intervals of the run.

use super::columns::{Columns, Last};
use crate::escape::{cut, visible};
use crate::model::{NamedValues, Report};
use crate::quantity::{duration_ns, time_s};

/// Each session with its tags; `None` when there were none.
pub(super) fn table(report: &Report) -> Option<String> {
    if report.sessions.is_empty() {
        return None;
    }
    let mut table = Columns::new(&["Session", "Start", "Duration", "Tags"], Last::Text);
    for session in &report.sessions {
        table.row(vec![
            cut(&session.name, 48),
            format!("{} s", time_s(session.start_ns)),
            session
                .duration_ns
                .map_or_else(|| "not ended".into(), duration_ns),
            tags(&session.tags),
        ]);
    }
    Some(table.block("SESSIONS", &[]))
}

fn tags(tags: &NamedValues) -> String {
    let each = tags.0.iter();
    let shown: Vec<String> = each
        .map(|(name, value)| format!("{}={}", visible(name), visible(&value.text())))
        .collect();
    cut(&shown.join(", "), 80)
}
