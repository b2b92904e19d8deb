//! Which steady steps took much longer than those like them?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::steps::StepPoint;
use crate::stats::{float, median_of};

const DEVIATIONS: f64 = 5.0;
const EXCESS: f64 = 1.1;

/// Alike steps of a loop that are enough to be compared among themselves.
const ENOUGH: usize = 5;

/// Gives each of them the median that it is compared with. Their places, the longest first.
pub(super) fn mark_outliers(each: &mut [StepPoint]) -> Vec<usize> {
    let mut loops: BTreeMap<_, Vec<(usize, u64)>> = BTreeMap::new();
    let mut alike: BTreeMap<_, Vec<(usize, u64)>> = BTreeMap::new();
    let mut lengths: BTreeMap<u64, usize> = BTreeMap::new();
    for step in &*each {
        *lengths.entry(step.loop_number).or_default() += 1;
    }
    for (at, step) in each.iter().enumerate().filter(|(_, step)| !step.is_warm_up) {
        let Some(ns) = step.duration_ns else { continue };
        loops.entry((step.loop_number, step.alike())).or_default().push((at, ns));
        // Loops of another length, or of another thread, may make something else.
        let like = (step.alike(), lengths[&step.loop_number], step.thread);
        alike.entry(like).or_default().push((at, ns));
    }
    let is_long_for_its_loop = |(at, ns, _): &(usize, u64, f64)| {
        let own = &loops[&(each[*at].loop_number, each[*at].alike())];
        own.len() < ENOUGH && (own.len() < 3 || float(*ns) > middle(own) * EXCESS)
    };
    let far = alike.values().flat_map(|steps| far_above(steps)).filter(is_long_for_its_loop);
    let long_loops = loops.values().filter(|own| own.len() >= ENOUGH);
    let mut found: Vec<_> = far.chain(long_loops.flat_map(|steps| far_above(steps))).collect();
    found.sort_by_key(|(_, ns, _)| Reverse(*ns));
    for (at, _, usual_ns) in &found {
        each[*at].usual_ns = Some(*usual_ns);
    }
    found.into_iter().map(|(at, ..)| at).collect()
}

fn middle(steps: &[(usize, u64)]) -> f64 {
    median_of(steps.iter().map(|(_, ns)| *ns)).unwrap_or(0.0)
}

/// Those that are much longer than their median, with that.
fn far_above(steps: &[(usize, u64)]) -> impl Iterator<Item = (usize, u64, f64)> + '_ {
    let usual_ns = middle(steps);
    let deviations = steps.iter().map(|(_, ns)| (float(*ns) - usual_ns).abs());
    let mut deviations: Vec<f64> = deviations.collect();
    deviations.sort_unstable_by(f64::total_cmp);
    let (lower, upper) = ((deviations.len() - 1) / 2, deviations.len() / 2);
    let deviation = f64::midpoint(deviations[lower], deviations[upper]);
    let limit = (usual_ns + DEVIATIONS * deviation).max(usual_ns * EXCESS);
    let far = steps.iter().filter(move |(_, ns)| float(*ns) > limit);
    far.map(move |(at, ns)| (*at, *ns, usual_ns))
}
