//! Which generations were there, and how long did each take?

use marey::{Attributes, Run};

/// One session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// As the user gave it; not safe to print.
    pub name: String,
    /// When it began, since the start of the run.
    pub start_ns: u64,
    /// How long it took; `None` if it was open when the capture ended.
    pub duration_ns: Option<u64>,
    /// The user's tags.
    pub tags: Attributes,
}

/// The sessions of the run, in the order of their start.
pub fn sessions(run: &Run) -> Vec<SessionRow> {
    run.sessions
        .iter()
        .map(|session| SessionRow {
            name: session.name.clone(),
            start_ns: session.start_ns,
            duration_ns: session
                .end_ns
                .map(|end| end.saturating_sub(session.start_ns)),
            tags: session.tags.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey::RunBuilder;

    #[test]
    fn an_open_session_has_no_duration() {
        let run = RunBuilder::new()
            .session("first", 2, Some(7), vec![("seed".into(), 1i64.into())])
            .session("second", 8, None, vec![])
            .finish(10);
        let rows = sessions(&run);
        assert_eq!(rows[0].duration_ns, Some(5));
        assert_eq!(rows[0].tags.len(), 1);
        assert_eq!(rows[1].duration_ns, None);
    }
}
