//! When denoising steps ran.

use super::Facts;
use crate::StepPoint;
use crate::intervals::{Interval, union};

/// The time of all steps whose duration is known, each moment once, in order; empty when no step is known.
pub(super) fn step_times(facts: &Facts<'_>) -> Vec<Interval> {
    times(facts, |_| true)
}

/// The same without the warm-up, which compiles and loads.
pub(super) fn steady_step_times(facts: &Facts<'_>) -> Vec<Interval> {
    times(facts, |step| !step.is_warm_up)
}

fn times(facts: &Facts<'_>, is_wanted: impl Fn(&StepPoint) -> bool) -> Vec<Interval> {
    let steps = facts.diffusion.and_then(|found| found.steps.as_ref());
    let each = steps.into_iter().flat_map(|steps| &steps.each);
    let known = each.filter(|step| is_wanted(step)).filter_map(|step| {
        Some(Interval {
            start_ns: step.end_ns.saturating_sub(step.duration_ns?),
            end_ns: step.end_ns,
        })
    });
    union(known.collect())
}

/// Length of the part of `interval` that lies in `times`, which are disjoint and in order.
pub(super) fn length_within(interval: Interval, times: &[Interval]) -> u64 {
    let first = times.partition_point(|time| time.end_ns <= interval.start_ns);
    let reached = times[first..]
        .iter()
        .take_while(|time| time.start_ns < interval.end_ns);
    reached
        .map(|time| {
            let end_ns = time.end_ns.min(interval.end_ns);
            end_ns.saturating_sub(time.start_ns.max(interval.start_ns))
        })
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_within_times_is_that_of_the_common_part() {
        // times       |--|    |----|
        // interval     |--------|          1 + 2
        let times = [(10, 12), (16, 20)].map(|(start_ns, end_ns)| Interval { start_ns, end_ns });
        let within = |start_ns, end_ns| length_within(Interval { start_ns, end_ns }, &times);
        assert_eq!(within(11, 18), 3);
        assert_eq!(within(12, 16), 0);
        assert_eq!(within(0, 100), 6);
        assert_eq!(within(30, 40), 0);
    }
}
