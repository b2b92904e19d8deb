//! What belongs to each session, kept once: with the innermost one.

use std::ops::Range;

use crate::questions::nesting::Nesting;

/// Indices of what belongs to some session, by the session's place.
#[derive(Debug)]
pub(super) struct Members(Vec<(u32, usize)>);

impl Members {
    /// `sessions` has the innermost one of each thing.
    pub(super) fn new(nesting: &Nesting, sessions: impl Iterator<Item = Option<u32>>) -> Self {
        let place = |session: u32| {
            let places = nesting.places(session);
            (!places.is_empty()).then_some(places.start)
        };
        let placed = sessions.enumerate();
        let mut members: Vec<(u32, usize)> = placed
            .filter_map(|(index, session)| Some((place(session?)?, index)))
            .collect();
        members.sort_unstable();
        Self(members)
    }

    /// Indices of what belongs to sessions of these places, ascending.
    pub(super) fn within(&self, places: &Range<u32>) -> Vec<usize> {
        let mut found: Vec<usize> = self.of(places).iter().map(|(_, index)| *index).collect();
        found.sort_unstable();
        found
    }

    /// How many those are.
    pub(super) fn count(&self, places: &Range<u32>) -> usize {
        self.of(places).len()
    }

    fn of(&self, places: &Range<u32>) -> &[(u32, usize)] {
        let from = self.0.partition_point(|(place, _)| *place < places.start);
        let until = self.0.partition_point(|(place, _)| *place < places.end);
        self.0.get(from..until).unwrap_or(&[])
    }
}
