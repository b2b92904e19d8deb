//! Which session lies in which?
//!
//! ```text
//! session    place  within it
//! A            0    0..4        |---------- A ----------|  |- E -|
//!   B          1    1..3          |---- B ----| |- D -|
//!     C        2    2..3            |- C -|
//!   D          3    3..4
//! E            4    4..5
//! ```
//!
//! All that lie in a session have places next to each other, so nothing has to be put into each session that it is
//! nested in.

use std::ops::Range;

use marey::Session;

/// The sessions of a run as a forest; numbers are indices into `Run::sessions`.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    parents: Vec<Option<u32>>,
    depths: Vec<u32>,
    /// Places of a session and those within it; it has the first.
    within: Vec<Range<u32>>,
    by_place: Vec<u32>,
}

impl Nesting {
    /// Takes linear time. A damaged capture may claim a circle: it is cut at its first session.
    pub(crate) fn new(sessions: &[Session]) -> Self {
        let parent = |session: u32| {
            let parent = sessions.get(session as usize)?.parent?;
            ((parent as usize) < sessions.len()).then_some(parent)
        };
        let all = || (0..).take(sessions.len());
        let mut inner: Vec<Vec<u32>> = vec![Vec::new(); sessions.len()];
        let mut nesting = Self {
            parents: vec![None; sessions.len()],
            depths: vec![0; sessions.len()],
            within: vec![0..0; sessions.len()],
            by_place: Vec::with_capacity(sessions.len()),
        };
        for session in all() {
            if let Some(parent) = parent(session) {
                inner[parent as usize].push(session);
            }
        }
        let outermost = all().filter(|session| parent(*session).is_none());
        for session in outermost.chain(all()) {
            nesting.place(session, &inner);
        }
        nesting
    }

    /// Gives places to a session that has none, and to those within it.
    fn place(&mut self, outermost: u32, inner: &[Vec<u32>]) {
        let mut open: Vec<(u32, std::slice::Iter<'_, u32>)> = Vec::new();
        let mut next = Some((outermost, None));
        loop {
            if let Some((session, parent)) = next.filter(|(session, _)| !self.is_placed(*session)) {
                let place = self.next_place();
                self.within[session as usize] = place..place + 1;
                self.by_place.push(session);
                self.parents[session as usize] = parent;
                self.depths[session as usize] = u32::try_from(open.len()).unwrap_or(u32::MAX);
                open.push((session, inner[session as usize].iter()));
            }
            let Some((session, rest)) = open.last_mut() else {
                return;
            };
            let session = *session;
            next = rest.next().map(|inner| (*inner, Some(session)));
            if next.is_none() {
                self.within[session as usize].end = self.next_place();
                open.pop();
            }
        }
    }

    fn is_placed(&self, session: u32) -> bool {
        !self.within[session as usize].is_empty()
    }

    fn next_place(&self) -> u32 {
        u32::try_from(self.by_place.len()).unwrap_or(u32::MAX)
    }

    /// How many sessions it lies in.
    pub(crate) fn depth(&self, session: u32) -> u32 {
        self.depths.get(session as usize).copied().unwrap_or(0)
    }

    /// The session and those that it lies in, innermost first.
    pub(crate) fn chain(&self, session: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = |session: &u32| *self.parents.get(*session as usize)?;
        std::iter::successors(Some(session), parent)
    }

    /// Whether it is the other one or lies in it.
    pub(crate) fn is_within(&self, inner: u32, outer: u32) -> bool {
        self.places(outer).contains(&self.places(inner).start)
    }

    pub(crate) fn n_sessions(&self) -> usize {
        self.within.len()
    }

    /// Places of a session and those within it; none for a session that there is not.
    pub(crate) fn places(&self, session: u32) -> Range<u32> {
        self.within.get(session as usize).cloned().unwrap_or(0..0)
    }

    /// The sessions that have these places.
    pub(crate) fn at(&self, places: &Range<u32>) -> &[u32] {
        let places = places.start as usize..places.end as usize;
        self.by_place.get(places).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    /// Sessions of which each names the one that it lies in.
    fn nested(parents: &[Option<u32>]) -> Nesting {
        let mut builder = RunBuilder::new();
        for _ in parents {
            builder = builder.session("s", 0, Some(1), vec![]);
        }
        let mut run = builder.finish(1);
        for (session, parent) in run.sessions.iter_mut().zip(parents) {
            session.parent = *parent;
        }
        Nesting::new(&run.sessions)
    }

    #[test]
    fn sessions_within_one_have_the_places_after_it() {
        // The drawing above; D came last.
        let nesting = nested(&[None, Some(0), Some(1), None, Some(0)]);
        let places: Vec<Range<u32>> = (0..5).map(|session| nesting.places(session)).collect();
        assert_eq!(places, [0..4, 1..3, 2..3, 4..5, 3..4]);
        assert_eq!(nesting.at(&(0..4)), [0, 1, 2, 4]);
        assert_eq!(nesting.chain(2).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!([0, 1, 2, 3, 4].map(|s| nesting.depth(s)), [0, 1, 2, 0, 1]);
        assert!(nesting.is_within(2, 0) && nesting.is_within(2, 2));
        assert!(!nesting.is_within(0, 2) && !nesting.is_within(4, 1));
    }

    #[test]
    fn a_circle_is_cut_at_its_first_session() {
        // 1 in 2, 2 in 3, 3 in 1, and 0 in 3; 4 names one that there is not.
        let nesting = nested(&[Some(3), Some(2), Some(3), Some(1), Some(9)]);
        assert_eq!(nesting.chain(0).collect::<Vec<_>>(), [0]);
        assert_eq!(nesting.chain(2).collect::<Vec<_>>(), [2, 3, 1]);
        assert_eq!(nesting.depth(4), 0);
    }

    #[test]
    fn a_hundred_thousand_forgotten_sessions_are_no_deep_recursion() {
        let parents: Vec<Option<u32>> = (0..100_000u32).map(|n| n.checked_sub(1)).collect();
        let nesting = nested(&parents);
        assert_eq!(nesting.depth(99_999), 99_999);
        assert_eq!(nesting.places(0), 0..100_000);
    }
}
