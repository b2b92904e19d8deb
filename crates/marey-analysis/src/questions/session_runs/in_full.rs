//! Which of many sessions are worth a report of their own?

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::SessionRuns;

/// Of this many sessions all are.
const MAX_SESSIONS: usize = FIRST + LAST + LONGEST;
const FIRST: usize = 40;
const LAST: usize = 20;
const LONGEST: usize = 40;

/// Sessions that are nested in each other have the same things. All that those in full have together is at most so many
/// times what the run has.
const MAX_TIMES: usize = 3;

impl SessionRuns<'_> {
    /// The first, the last, and of the others the longest; all of a hundred. `from` is the first one that counts, as an
    /// index into `Run::sessions`, as are those that are returned.
    pub fn in_full(&self, from: usize) -> BTreeSet<usize> {
        let n = self.run.sessions.len();
        let mut chosen: Vec<usize> = (from..n).collect();
        if chosen.len() > MAX_SESSIONS {
            let mut others: Vec<usize> = (from + FIRST..n - LAST).collect();
            others.sort_by_key(|session| (Reverse(self.length_ns(*session)), *session));
            others.truncate(LONGEST);
            chosen = (from..from + FIRST).chain(n - LAST..n).chain(others).collect();
        }
        self.within_room(chosen).collect()
    }

    /// Of these sessions, in this order, those that together have at most three times what the run has.
    pub fn within_room(
        &self,
        sessions: impl IntoIterator<Item = usize>,
    ) -> impl Iterator<Item = usize> {
        let mut room = MAX_TIMES.saturating_mul(self.n_things(&(0..u32::MAX)));
        sessions.into_iter().filter(move |session| {
            let rest = room.checked_sub(self.n_things(&self.places(*session)));
            room = rest.unwrap_or(room);
            rest.is_some()
        })
    }

    fn length_ns(&self, session: usize) -> u64 {
        let session = u32::try_from(session).unwrap_or(u32::MAX);
        self.assignment.interval(session).length_ns()
    }

    fn places(&self, session: usize) -> Range<u32> {
        let session = u32::try_from(session).unwrap_or(u32::MAX);
        self.assignment.nesting().places(session)
    }

    /// How much belongs to sessions of these places, themselves included.
    fn n_things(&self, places: &Range<u32>) -> usize {
        let lists = [&self.sections, &self.events, &self.cache_events, &self.generation];
        let n_sessions = places.end.min(self.n_sessions()) - places.start;
        let n_things = lists.iter().map(|list| list.count(places)).sum::<usize>();
        n_things + n_sessions as usize
    }

    fn n_sessions(&self) -> u32 {
        u32::try_from(self.run.sessions.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey::Run;
    use marey_testing::RunBuilder;

    /// Sessions in a row, each as long as said.
    fn in_a_row(lengths_ns: &[u64]) -> Run {
        let (mut builder, mut at_ns) = (RunBuilder::new(), 0);
        for length_ns in lengths_ns {
            builder = builder.session("s", at_ns, Some(at_ns + length_ns), vec![]);
            at_ns += length_ns;
        }
        builder.finish(at_ns)
    }

    #[test]
    fn all_of_a_hundred_are_shown_in_full() {
        let run = in_a_row(&[1; 100]);
        assert_eq!(SessionRuns::new(&run).in_full(0).len(), 100);
        assert_eq!(SessionRuns::new(&run).in_full(99), BTreeSet::from([99]));
        assert!(SessionRuns::new(&in_a_row(&[])).in_full(1).is_empty());
    }

    #[test]
    fn of_more_the_first_the_last_and_the_longest_are() {
        let mut lengths_ns = [1; 1000];
        lengths_ns[500..540].fill(2);
        let run = in_a_row(&lengths_ns);
        let expected: BTreeSet<usize> = (0..40).chain(500..540).chain(980..1000).collect();
        assert_eq!(SessionRuns::new(&run).in_full(0), expected);
    }

    #[test]
    fn of_sessions_nested_in_each_other_as_many_as_make_three_times_the_run() {
        // Twenty sessions, each in the one before, have 20, 19, …, 1 sessions; the run has 20, so there is room for 60.
        let mut run = in_a_row(&[1; 20]);
        for (session, parent) in run.sessions.iter_mut().skip(1).zip(0..) {
            session.parent = Some(parent);
        }
        // 20 + 19 + 18 = 57, and one with 3.
        let expected: BTreeSet<usize> = (0..3).chain([17]).collect();
        assert_eq!(SessionRuns::new(&run).in_full(0), expected);
    }
}
