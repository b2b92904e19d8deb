//! Which pipeline does a session belong to?
//!
//! ```text
//! session A, tag pipeline="Flux"   |------------------------------|
//!   session B                         |-- Flux, too --|
//!     session C, pipeline="Wan"         |-- Wan --|
//! ```

use marey::{Run, Value};

use super::nesting::Nesting;

/// The tag of a session that is a call of a pipeline: its name.
const TAG: &str = "pipeline";

/// The pipelines of a run, by session.
#[derive(Debug, Default)]
pub(crate) struct Pipelines<'a> {
    /// In the order of their first calls.
    names: Vec<&'a str>,
    /// Of each session its own, or that of the session that it is nested in: a place in `names`.
    of_sessions: Vec<Option<usize>>,
}

impl<'a> Pipelines<'a> {
    pub(crate) fn new(run: &'a Run, nesting: &Nesting) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut places = std::collections::HashMap::new();
        let own = run.sessions.iter().map(|session| {
            let name = said(&session.tags)?;
            Some(*places.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            }))
        });
        let own: Vec<Option<usize>> = own.collect();
        if names.is_empty() {
            return Self::default();
        }
        let of = |session: u32| nesting.chain(session).find_map(|around| own[around as usize]);
        let of_sessions = (0..).take(own.len()).map(of).collect();
        Self { names, of_sessions }
    }

    pub(crate) fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// The place of its pipeline; `None` where it is of none.
    pub(crate) fn of(&self, session: Option<u32>) -> Option<usize> {
        *self.of_sessions.get(session? as usize)?
    }

    /// By place the sessions that are calls themselves, and all sessions of the pipeline.
    pub(crate) fn sessions(&self, run: &Run) -> Vec<(Vec<u32>, Vec<u32>)> {
        let mut found = vec![(Vec::new(), Vec::new()); self.names.len()];
        for (session, pipeline) in (0..).zip(&self.of_sessions) {
            if let Some((calls, all)) = pipeline.and_then(|place| found.get_mut(place)) {
                all.push(session);
                if said(&run.sessions[session as usize].tags).is_some() {
                    calls.push(session);
                }
            }
        }
        found
    }
}

fn said(tags: &[(String, Value)]) -> Option<&str> {
    tags.iter().find_map(|(name, value)| match value {
        Value::Text(pipeline) if name == TAG => Some(pipeline.as_str()),
        _ => None,
    })
}
