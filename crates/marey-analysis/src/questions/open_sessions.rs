//! Which sessions were open at a moment, or during a time?
//!
//! ```text
//! sessions, by start    |- 0 -|   |- 1 -------|  |- 2 -|  |- 3 -|
//! last end of two            1 ends               3 ends
//! of four                           3 ends
//! ```
//!
//! A stretch of sessions of which the last end is before that time is passed over as a whole.

use marey::Run;

use crate::intervals::Interval;

/// Sessions by time; numbers are indices into `Run::sessions`.
#[derive(Debug, Default)]
pub(crate) struct OpenSessions {
    /// In order of their start.
    order: Vec<u32>,
    starts_ns: Vec<u64>,
    /// The last end in each stretch: `order` cut in halves again and again, each half followed by its own halves.
    last_ends_ns: Vec<u64>,
}

impl OpenSessions {
    /// Time: a sort of the sessions.
    pub(crate) fn new(run: &Run) -> Self {
        let mut order: Vec<u32> = (0..).take(run.sessions.len()).collect();
        order.sort_by_key(|session| run.sessions[*session as usize].start_ns);
        let times: Vec<Interval> = order.iter().map(|s| interval(run, *s)).collect();
        let mut last_ends_ns = Vec::with_capacity(2 * order.len());
        push_last_ends(&times, &mut last_ends_ns);
        Self { order, starts_ns: times.iter().map(|time| time.start_ns).collect(), last_ends_ns }
    }

    /// Those that had begun by that moment and ended no earlier, in order of their start. Time: linear in their number,
    /// times the logarithm of that of all.
    pub(crate) fn at(&self, at_ns: u64) -> Vec<u32> {
        self.begun_and_not_ended(self.begun_by(at_ns), at_ns)
    }

    /// Those that were open at its beginning or began before its end.
    pub(crate) fn during(&self, time: Interval) -> Vec<u32> {
        let before_end = self.starts_ns.partition_point(|ns| *ns < time.end_ns);
        let begun = before_end.max(self.begun_by(time.start_ns));
        self.begun_and_not_ended(begun, time.start_ns)
    }

    fn begun_by(&self, at_ns: u64) -> usize {
        self.starts_ns.partition_point(|ns| *ns <= at_ns)
    }

    /// Of the first `begun` those that ended at that moment or later.
    fn begun_and_not_ended(&self, begun: usize, at_ns: u64) -> Vec<u32> {
        let mut found = Vec::new();
        // Stretches that are yet to be looked at, the earliest on top: place of the last end, from and until where.
        let mut waiting = vec![(0, 0, self.order.len())];
        while let Some((place, from, until)) = waiting.pop() {
            if from >= begun.min(until) || self.last_ends_ns[place] < at_ns {
                continue;
            }
            if until - from == 1 {
                found.push(self.order[from]);
                continue;
            }
            let middle = usize::midpoint(from, until);
            // A stretch of n has 2 n - 1 places.
            waiting.push((place + 2 * (middle - from), middle, until));
            waiting.push((place + 1, from, middle));
        }
        found
    }
}

/// From the start of a session to its end, or to the end of the run.
pub(crate) fn interval(run: &Run, session: u32) -> Interval {
    let session = &run.sessions[session as usize];
    let end_ns = session.end_ns.unwrap_or(run.wall_ns);
    Interval { start_ns: session.start_ns, end_ns: end_ns.max(session.start_ns) }
}

/// Appends the last end of this stretch, then those of its first half and of its second; returns the last end.
fn push_last_ends(times: &[Interval], last_ends_ns: &mut Vec<u64>) -> u64 {
    let [first, .., _] = times else {
        let only = times.first().map_or(0, |time| time.end_ns);
        last_ends_ns.push(only);
        return only;
    };
    let place = last_ends_ns.len();
    last_ends_ns.push(first.end_ns);
    let (before, after) = times.split_at(times.len() / 2);
    let ends = [before, after].map(|half| push_last_ends(half, last_ends_ns));
    last_ends_ns[place] = ends[0].max(ends[1]);
    last_ends_ns[place]
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;
    use proptest::prelude::*;

    fn run_of(times: &[(u64, Option<u64>)]) -> Run {
        let mut builder = RunBuilder::new();
        for (start_ns, length_ns) in times {
            let end_ns = length_ns.map(|ns| start_ns + ns);
            builder = builder.session("s", *start_ns, end_ns, vec![]);
        }
        builder.finish(60)
    }

    proptest! {
        #[test]
        fn they_are_those_that_a_look_at_all_sessions_finds(
            times in prop::collection::vec((0u64..50, prop::option::of(0u64..20)), 0..40),
            from in 0u64..60,
            length in 0u64..20,
        ) {
            let run = run_of(&times);
            let open = OpenSessions::new(&run);
            let until = from + length;
            let by_hand = |is_begun: &dyn Fn(u64) -> bool| {
                let mut found: Vec<u32> = (0..).take(times.len()).collect();
                found.sort_by_key(|s| run.sessions[*s as usize].start_ns);
                found.retain(|s| {
                    let time = interval(&run, *s);
                    is_begun(time.start_ns) && time.end_ns >= from
                });
                found
            };
            prop_assert_eq!(open.at(from), by_hand(&|start_ns| start_ns <= from));
            prop_assert_eq!(
                open.during(Interval { start_ns: from, end_ns: until }),
                by_hand(&|start_ns| start_ns <= from || start_ns < until)
            );
        }
    }
}
