//! The verdict of a comparison: totals decide, and what lies within them explains.
//!
//! ```text
//! time     device busy, and device busy per step (of traces); wall time
//!          where none of them is decided: what the decided parts add to a run, all together; then single wall times
//! memory   peaks of the run; where none of them changed, those of sections
//! pace     frames and blocks a second, times to the first ones
//! ```
//!
//! Reads, the machine and caches say why a total changed, and are none.

use super::obstacles::Obstacle;
use super::verdict::{Basis, Verdict};
use super::{Area, Measure, MeasureKind, Subject};
use crate::findings::Confidence;

/// Of the allowed chance of a false alarm the tests of the total have so many parts where all others together have one.
const SHARE_OF_TOTAL: f64 = 9.0;

/// A change that is smaller is none that matters.
const POSSIBLE: f64 = 1.03;

/// Totals that are tested by their calls or by repeats; the first of these kinds that is better or worse decides.
const TESTED: [MeasureKind; 3] =
    [MeasureKind::StepBusy, MeasureKind::DeviceStep, MeasureKind::WallTime];

/// Weights of tests, by the kind and the own weight of each: of traces the tests of a step on the device get nine tenths of the chance, so
/// that four steps against four can be told apart however many kernels there are.
pub(super) fn weights(tests: &[(MeasureKind, f64)]) -> Vec<f64> {
    let total = [MeasureKind::StepBusy, MeasureKind::DeviceStep]
        .into_iter()
        .find(|kind| tests.iter().any(|(of, _)| of == kind));
    let is_total = |kind: MeasureKind| Some(kind) == total;
    let sum = |wanted: bool| -> f64 {
        let those = tests.iter().filter(|(kind, _)| is_total(*kind) == wanted);
        those.map(|(_, weight)| weight).sum()
    };
    let (of_total, of_others) = (sum(true), sum(false));
    let is_boosted = of_total > 0.0 && of_others > 0.0;
    let boost = is_boosted.then(|| SHARE_OF_TOTAL * of_others / of_total);
    let weight = |(kind, weight): &(MeasureKind, f64)| match boost {
        Some(boost) if is_total(*kind) => weight * boost,
        _ => *weight,
    };
    tests.iter().map(weight).collect()
}

/// Of the whole comparison.
pub(super) fn verdict(measures: &[Measure], obstacles: &[Obstacle]) -> Verdict {
    let of_all = [time(measures), memory(measures), pace(measures)];
    let has = |verdict| of_all.contains(&Some(verdict));
    let is_lost = obstacles.iter().any(|one| one.verdict == Verdict::Worse);
    if is_lost || has(Verdict::Worse) {
        return Verdict::Worse;
    }
    if !obstacles.is_empty() {
        return Verdict::CannotTell;
    }
    if has(Verdict::Better) {
        return Verdict::Better;
    }
    let is_told =
        |m: &Measure| !matches!(m.verdict, Verdict::CannotTell | Verdict::New | Verdict::Gone);
    if is_total_open(measures) || is_part_open(measures) || !measures.iter().any(is_told) {
        return Verdict::CannotTell;
    }
    Verdict::Same
}

/// The total was tested and could not be decided: nor can the whole.
fn is_total_open(measures: &[Measure]) -> bool {
    let of = |kind| measures.iter().filter(move |m| m.kind == kind);
    let is_tested = |m: &Measure| m.change.is_some_and(|change| change.p_value.is_some());
    let total = TESTED.into_iter().find(|kind| of(*kind).any(is_tested));
    total.is_some_and(|kind| of(kind).any(|m| m.verdict == Verdict::CannotTell))
}

/// Of a part that could not be decided no change is not among what is possible: then the whole is not known to be the same.
fn is_part_open(measures: &[Measure]) -> bool {
    let excludes_none = |m: &Measure| {
        let interval = m.change.and_then(|change| change.interval);
        interval.is_some_and(|(low, high)| low > POSSIBLE || high < 1.0 / POSSIBLE)
    };
    let open = measures.iter().filter(|m| m.verdict == Verdict::CannotTell);
    open.filter(|m| matches!(m.kind.area(), Area::Time | Area::Device)).any(excludes_none)
}

/// What became of the time of the whole; `None` where nothing of it is decided.
pub(super) fn time(measures: &[Measure]) -> Option<Verdict> {
    let mut steps = measures.iter().filter(|m| m.kind == MeasureKind::TracedSteps);
    // What devices did all together is of the same work where there are as many steps.
    let is_as_much = steps.all(|m| m.verdict == Verdict::Same);
    let whole = is_as_much.then_some(MeasureKind::DeviceBusy);
    // A run loads once, and how long that takes is chance: one wall time against one stands behind what was tested.
    let is_certain = |m: &&Measure| m.kind != MeasureKind::WallTime || m.basis == Basis::Repeats;
    let of = |kind| measures.iter().filter(move |m: &&Measure| m.kind == kind);
    let added =
        |least| direction(added_ns(measures, least)).filter(|added| explains(measures, *added));
    whole
        .into_iter()
        .chain(TESTED)
        .find_map(|kind| worst(of(kind).filter(is_certain)))
        .or_else(|| added(Confidence::Medium))
        .or_else(|| worst(of(MeasureKind::WallTime)))
        .or_else(|| worst(of(MeasureKind::DeviceBusy)))
        .or_else(|| added(Confidence::Low))
}

/// Of a trace with devices parts only explain where the whole went: behind work of a device the host holds nothing up.
fn explains(measures: &[Measure], added: Verdict) -> bool {
    let has = |kind| measures.iter().find(|m| m.kind == kind);
    let moved = has(MeasureKind::WallTime).and_then(|wall| wall.change);
    let went = moved.and_then(|change| direction(change.difference));
    has(MeasureKind::DeviceBusy).is_none() || went.is_none_or(|went| went == added)
}

fn direction(added_ns: f64) -> Option<Verdict> {
    let towards = if added_ns > 0.0 { Verdict::Worse } else { Verdict::Better };
    (added_ns.abs() > 0.0).then_some(towards)
}

/// What the parts that are decided with such confidence add to the time of a run: call paths that lie in no other one of them, else the
/// part that changed most.
fn added_ns(measures: &[Measure], least: Confidence) -> f64 {
    let is_decided = |m: &&Measure| {
        matches!(m.verdict, Verdict::Worse | Verdict::Better)
            && matches!(m.kind.area(), Area::Time | Area::Device)
            && m.confidence >= least
    };
    let decided = || measures.iter().filter(is_decided);
    let mut places: Vec<(&[String], f64)> = decided()
        .filter_map(|m| match &m.subject {
            Subject::Path(path) => Some((path.as_slice(), m.impact_ns?)),
            _ => None,
        })
        .collect();
    places.sort_by_key(|(path, _)| path.len());
    let mut outermost: Vec<(&[String], f64)> = Vec::new();
    for (path, ns) in places {
        if !outermost.iter().any(|(outer, _)| path.starts_with(outer)) {
            outermost.push((path, ns));
        }
    }
    if !outermost.is_empty() {
        return outermost.iter().map(|(_, ns)| ns).sum();
    }
    let impacts = decided().filter_map(|m| m.impact_ns);
    impacts.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
}

fn memory(measures: &[Measure]) -> Option<Verdict> {
    let of_run = [
        MeasureKind::MemoryPeak,
        MeasureKind::MemoryReserved,
        MeasureKind::GpuMemoryPeak,
        MeasureKind::ProcessMemoryPeak,
    ];
    let run = measures.iter().filter(|m| of_run.contains(&m.kind));
    let sections = measures.iter().filter(|m| m.kind == MeasureKind::SectionMemoryPeak);
    worst(run).or_else(|| worst(sections))
}

fn pace(measures: &[Measure]) -> Option<Verdict> {
    worst(measures.iter().filter(|m| m.kind.area() == Area::Generation))
}

/// Worse where any is, else better; `None` where none is either.
fn worst<'a>(measures: impl Iterator<Item = &'a Measure>) -> Option<Verdict> {
    let verdicts: Vec<Verdict> = measures.map(|m| m.verdict).collect();
    let has = |verdict| verdicts.contains(&verdict);
    [Verdict::Worse, Verdict::Better].into_iter().find(|v| has(*v))
}

#[cfg(test)]
mod tests {
    use super::super::measure::Change;
    use super::*;

    /// A section's total between two bounds, 1 being no change.
    fn part(verdict: Verdict, interval: (f64, f64)) -> Measure {
        let kind = MeasureKind::SectionTotal;
        Measure {
            kind,
            subject: Subject::Path(vec!["transformer".into()]),
            unit: kind.unit(),
            better: kind.better(),
            baseline: None,
            candidate: None,
            change: Some(Change { interval: Some(interval), ..Change::default() }),
            basis: Basis::Calls,
            verdict,
            confidence: Confidence::Low,
            reason: String::new(),
            impact_ns: None,
        }
    }

    #[test]
    fn behind_a_device_parts_explain_only_where_the_whole_went() {
        let of = |kind, verdict, difference| Measure {
            kind,
            better: kind.better(),
            impact_ns: Some(difference),
            change: Some(Change { difference, ..Change::default() }),
            confidence: Confidence::High,
            ..part(verdict, (1.0, 1.0))
        };
        // The host takes 5 ms longer for operators; the whole takes 72 ms less.
        let slower = of(MeasureKind::SectionTotal, Verdict::Worse, 5e6);
        let whole = |difference| of(MeasureKind::WallTime, Verdict::CannotTell, difference);
        let device = of(MeasureKind::DeviceBusy, Verdict::Same, 0.0);
        let shorter = [slower.clone(), whole(-72e6), device.clone()];
        assert_eq!(time(&shorter), None);
        assert_eq!(time(&shorter[..2]), Some(Verdict::Worse));
        assert_eq!(time(&[slower, whole(72e6), device]), Some(Verdict::Worse));
    }

    #[test]
    fn what_cannot_be_nothing_leaves_the_whole_open_and_what_can_does_not() {
        let same = part(Verdict::Same, (0.99, 1.01));
        let of = |open| verdict(&[same.clone(), part(Verdict::CannotTell, open)], &[]);
        assert_eq!(of((1.125, 1.344)), Verdict::CannotTell);
        assert_eq!(of((0.8, 0.9)), Verdict::CannotTell);
        assert_eq!(of((0.97, 1.2)), Verdict::Same);
    }
}
