//! When did a figure of many runs change for good?
//!
//! ```text
//! runs        1  2  3  4  5  6  7  8  9  10 11 12
//! seconds    10 10 11 10 10 30 10 10 13 13 13 14
//! ranks       low ones       ▲        high ones        the neighbours whose ranks differ most from all others'
//!                            │        └ a change: no shuffled order in a thousand is as uneven
//!                            └ one slow run changes no ranks but its own: no change
//! ```
//!
//! Each part is looked at again in the same way, so that a bump is two changes. A figure that creeps is better told by a line than by steps, and is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use marey::Run;
use serde::Serialize;

use super::bootstrap::Statistic;
use super::floors::{Rule, distance};
use super::matching;
use super::measure::{Better, MeasureKind, Subject};
use super::observations::{Key, Observations};
use super::options::CompareOptions;
use super::random::Random;
use super::verdict::Verdict;
use crate::findings::{Confidence, FigureUnit};
use crate::stats::float;

/// Figures of many runs of one program, with the moments from which on they were others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trend {
    /// Each figure that at least two runs have, in the order of [`MeasureKind`], then by subject.
    pub measures: Vec<TrendMeasure>,
}

/// One figure over many runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendMeasure {
    /// What is measured.
    pub kind: MeasureKind,
    /// Of what.
    pub subject: Subject,
    /// What the values count.
    pub unit: FigureUnit,
    /// The runs that have it, oldest first.
    pub points: Vec<TrendPoint>,
    /// Where it changed, in order.
    pub changes: Vec<ChangePoint>,
    /// It creeps: what a straight line says of the last point over that of the first, above 1 for growth. `None` when it
    /// does not, or changes in steps.
    pub drift_ratio: Option<f64>,
}

/// A run's figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendPoint {
    /// The run, as the caller calls it.
    pub run: String,
    /// When it began, nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// The figure, always finite.
    pub value: f64,
}

/// A change that stayed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChangePoint {
    /// The first point after it: an index into [`TrendMeasure::points`].
    pub index: usize,
    /// Median of the points between the change before and this one.
    pub before: f64,
    /// Median of the points from here to the next change.
    pub after: f64,
    /// `after` over `before`; `None` when `before` is 0 or one of them is below 0.
    pub ratio: Option<f64>,
    /// For the better, for the worse, or neither.
    pub verdict: Verdict,
    /// High with five points or more on both sides.
    pub confidence: Confidence,
}

/// Points that there are at least between two changes.
const APART: usize = 3;

/// In longer series only steps are looked for, not bumps, which are looked for between every two points.
const MOST_FOR_BUMPS: usize = 256;

/// A change is moved by so many points at most to where it fits best.
const REACH: usize = 3;

/// Shuffled orders that a split is compared with.
const N_SHUFFLES: u32 = 999;

/// A split is a change when so many of all orders, or fewer, are as uneven.
const CHANCE: f64 = 0.005;

/// The figures of runs over time. Each run has a name of the caller's choice; their order does not matter.
pub fn trend(runs: &[(String, &Run)]) -> Trend {
    let mut runs: Vec<&(String, &Run)> = runs.iter().collect();
    runs.sort_by_key(|(name, run)| (run.info.start_unix_ns, name.clone()));
    let names = repeated_names(&runs);
    let mut points: BTreeMap<Key, Vec<TrendPoint>> = BTreeMap::new();
    let mut shares: BTreeMap<Key, f64> = BTreeMap::new();
    for (name, run) in runs {
        for (key, value) in Observations::new(run, &names).values() {
            let point = TrendPoint {
                run: name.clone(),
                at_unix_ns: run.info.start_unix_ns,
                value: value.figure,
            };
            points.entry(key.clone()).or_default().push(point);
            let share = shares.entry(key.clone()).or_default();
            *share = share.max(value.share);
        }
    }
    let options = CompareOptions::default();
    let is_large = |key: &Key| {
        let share = shares.get(key).copied().unwrap_or(0.0);
        share <= 0.0 || share >= options.min_share_ratio
    };
    let measures = points
        .into_iter()
        .filter(|(key, points)| points.len() >= 2 && is_large(key));
    Trend {
        measures: measures
            .map(|((kind, subject), points)| TrendMeasure::new(kind, subject, points, &options))
            .collect(),
    }
}

fn repeated_names(runs: &[&(String, &Run)]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, run) in runs {
        let tree = matching::tree(std::slice::from_ref(*run));
        names.extend(matching::repeated_names(&tree));
    }
    names
}

impl TrendMeasure {
    fn new(
        kind: MeasureKind,
        subject: Subject,
        points: Vec<TrendPoint>,
        options: &CompareOptions,
    ) -> Self {
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        let floor = Floor::of(kind, options);
        let mut at = splits(&values, &floor, options.seed);
        let drift_ratio = drift_ratio(&values, &at).filter(|ratio| floor.is_passed(1.0, *ratio));
        if drift_ratio.is_some() {
            at.clear();
        }
        Self {
            kind,
            subject,
            unit: kind.unit(),
            changes: changes(&values, &at, kind.better()),
            points,
            drift_ratio,
        }
    }
}

/// How large a change has to be.
struct Floor {
    ratio: f64,
    absolute: f64,
}

impl Floor {
    fn of(kind: MeasureKind, options: &CompareOptions) -> Self {
        let (ratio, absolute) = match Rule::of(kind) {
            Rule::Value { ratio, absolute } => (ratio, absolute),
            Rule::Exact => (1.0, 0.0),
            _ => (1.0 + options.min_change_ratio, 0.0),
        };
        Self { ratio, absolute }
    }

    fn is_passed(&self, before: f64, after: f64) -> bool {
        distance(before, after) >= self.ratio.ln() && (before - after).abs() >= self.absolute
    }
}

/// Where parts begin that differ from what is before them, ascending, without the first.
fn splits(values: &[f64], floor: &Floor, seed: u64) -> Vec<usize> {
    let mut found = Vec::new();
    let mut waiting: Vec<Range<usize>> = std::iter::once(0..values.len()).collect();
    while let Some(part) = waiting.pop() {
        let Some(arc) = odd_arc(&values[part.clone()], floor, seed) else {
            continue;
        };
        let (from, until) = (part.start + arc.start, part.start + arc.end);
        found.extend(
            [from, until]
                .into_iter()
                .filter(|at| part.start < *at && *at < part.end),
        );
        waiting.extend([part.start..from, from..until, until..part.end]);
    }
    found.sort_unstable();
    for at in 0..found.len() {
        let from = at.checked_sub(1).map_or(0, |before| found[before]);
        let until = found.get(at + 1).copied().unwrap_or(values.len());
        found[at] = moved(values, from..until, found[at]);
    }
    found
}

/// Where a part falls into two that stray least from their medians: ranks say that there is a change, but a value that
/// happens to be high next to it moves the place.
fn moved(values: &[f64], part: Range<usize>, at: usize) -> usize {
    let strayed = |values: &[f64]| -> f64 {
        let middle = median(values).unwrap_or(0.0);
        values.iter().map(|value| (value - middle).abs()).sum()
    };
    let cost = |at: usize| strayed(&values[part.start..at]) + strayed(&values[at..part.end]);
    let near = at.saturating_sub(REACH)..=at + REACH;
    let is_possible = |at: &usize| part.start + APART <= *at && at + APART <= part.end;
    let places = near.filter(is_possible);
    places
        .min_by(|a, b| cost(*a).total_cmp(&cost(*b)))
        .unwrap_or(at)
}

/// The run of neighbours whose ranks differ most from all others', if that is no chance and no trifle.
fn odd_arc(values: &[f64], floor: &Floor, seed: u64) -> Option<Range<usize>> {
    if values.len() < 2 * APART {
        return None;
    }
    let mut ranks = ranks(values);
    let (arc, unevenness) = most_uneven(&ranks)?;
    let others = [&values[..arc.start], &values[arc.end..]].concat();
    if !floor.is_passed(median(&values[arc.clone()])?, median(&others)?) {
        return None;
    }
    let mut random = Random::for_values(seed, values);
    let mut as_uneven = 1;
    for _ in 0..N_SHUFFLES {
        random.shuffle(&mut ranks);
        let found = most_uneven(&ranks).map_or(0.0, |(_, unevenness)| unevenness);
        as_uneven += u32::from(found >= unevenness);
        if f64::from(as_uneven) > CHANCE * f64::from(N_SHUFFLES + 1) {
            return None;
        }
    }
    Some(arc)
}

/// Ranks less their mean; equal values share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = float(values.len() as u64) / 2.0;
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other.total_cmp(value).is_lt());
        let up_to = sorted.partition_point(|other| other.total_cmp(value).is_le());
        f64::midpoint(float(below as u64), float(up_to as u64)) - middle
    };
    values.iter().map(rank).collect()
}

/// Neighbours whose sum of ranks is furthest from what chance would have, in standard deviations, and how far. They, and
/// what is left on either side of them, are [`APART`] at least, or nothing on one side.
fn most_uneven(ranks: &[f64]) -> Option<(Range<usize>, f64)> {
    let n = ranks.len();
    let mut sums = vec![0.0];
    sums.extend(ranks.iter().scan(0.0, |sum, rank| {
        *sum += rank;
        Some(*sum)
    }));
    let is_start = |at: &usize| *at == 0 || (n <= MOST_FOR_BUMPS && *at >= APART);
    let is_end = |at: &usize| *at == n || n - at >= APART;
    let mut best: Option<(Range<usize>, f64)> = None;
    for start in (0..n).filter(is_start) {
        for end in (start + APART..=n).filter(is_end) {
            let inside = end - start;
            if n - inside < APART {
                continue;
            }
            let size = float(inside as u64) * float((n - inside) as u64);
            let unevenness = f64::abs(sums[end] - sums[start]) / size.sqrt();
            if best.as_ref().is_none_or(|(_, most)| unevenness > *most) {
                best = Some((start..end, unevenness));
            }
        }
    }
    best
}

fn median(values: &[f64]) -> Option<f64> {
    Statistic::Median.of(&mut values.to_vec())
}

fn changes(values: &[f64], at: &[usize], better: Better) -> Vec<ChangePoint> {
    let ends = at.iter().skip(1).copied().chain([values.len()]);
    let starts = [0].into_iter().chain(at.iter().copied());
    starts
        .zip(at)
        .zip(ends)
        .filter_map(|((start, &index), end)| {
            let (before, after) = (median(&values[start..index])?, median(&values[index..end])?);
            let is_long = index - start >= 5 && end - index >= 5;
            Some(ChangePoint {
                index,
                before,
                after,
                ratio: (before > 0.0 && after >= 0.0).then(|| after / before),
                verdict: better.verdict(after - before),
                confidence: if is_long {
                    Confidence::High
                } else {
                    Confidence::Medium
                },
            })
        })
        .collect()
}

/// What a straight line makes of the last over the first, where it tells more than steps at these places do.
fn drift_ratio(values: &[f64], at: &[usize]) -> Option<f64> {
    if at.is_empty() || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let x = |at: usize| float(at as u64);
    let mut slopes = Vec::new();
    for later in 1..values.len() {
        slopes.extend((0..later).map(|at| (values[later] - values[at]) / x(later - at)));
    }
    let slope = Statistic::Median.of(&mut slopes)?;
    let level = |(at, value): (usize, &f64)| value - slope * x(at);
    let start = median(&values.iter().enumerate().map(level).collect::<Vec<_>>())?;
    let off_line = values
        .iter()
        .enumerate()
        .map(|(at, v)| (v - start - slope * x(at)).abs());
    let off_line: f64 = off_line.sum();
    let mut off_steps = 0.0;
    let ends = at.iter().copied().chain([values.len()]);
    for (from, until) in [0].into_iter().chain(at.iter().copied()).zip(ends) {
        let level = median(&values[from..until])?;
        off_steps += values[from..until]
            .iter()
            .map(|v| (v - level).abs())
            .sum::<f64>();
    }
    // Information criterion of deviations that count as they are, not squared: a line has two numbers, each step two more.
    let n = x(values.len());
    let cost =
        |off: f64, numbers: f64| 2.0 * n * off.max(f64::MIN_POSITIVE).ln() + numbers * n.ln();
    let is_line = cost(off_line, 2.0) < cost(off_steps, 1.0 + 2.0 * x(at.len()));
    let last = start + slope * x(values.len() - 1);
    (is_line && start > 0.0 && last > 0.0).then(|| last / start)
}

#[cfg(test)]
mod tests;
