//! What belongs to each session, kept once: with the innermost one.

use std::ops::Range;

use crate::questions::nesting::Nesting;

/// Indices of what belongs to some session, by the session's place.
#[derive(Debug)]
pub(super) struct Members {
    /// Where the indices of each place begin; one more than there are places.
    starts: Vec<usize>,
    indices: Vec<usize>,
}

impl Members {
    /// `sessions` has the innermost one of each thing.
    pub(super) fn new(
        nesting: &Nesting,
        sessions: impl Iterator<Item = Option<u32>> + Clone,
    ) -> Self {
        let place = |session: Option<u32>| {
            let places = session.map_or(0..0, |session| nesting.places(session));
            (!places.is_empty()).then_some(places.start)
        };
        let places = sessions.map(place);
        let mut starts = vec![0; nesting.n_sessions() + 1];
        for place in places.clone().flatten() {
            starts[place as usize + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut next = starts.clone();
        let mut indices = vec![0; starts.last().copied().unwrap_or(0)];
        for (index, place) in places.enumerate() {
            if let Some(place) = place {
                let next = &mut next[place as usize];
                indices[*next] = index;
                *next += 1;
            }
        }
        Self { starts, indices }
    }

    /// Indices of what belongs to sessions of these places, which do not overlap, ascending.
    pub(super) fn within(&self, places: &[Range<u32>]) -> Vec<usize> {
        let each = places.iter().map(|places| self.of(places));
        let mut found: Vec<usize> = each.flatten().copied().collect();
        found.sort_unstable();
        found
    }

    /// How many those are.
    pub(super) fn count(&self, places: &Range<u32>) -> usize {
        self.of(places).len()
    }

    fn of(&self, places: &Range<u32>) -> &[usize] {
        let last = self.starts.len() - 1;
        let start = |place: u32| self.starts[last.min(place as usize)];
        self.indices.get(start(places.start)..start(places.end)).unwrap_or(&[])
    }
}
