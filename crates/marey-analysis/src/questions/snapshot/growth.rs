//! What the program had after each denoising step.

use marey::Thresholds;
use serde::Serialize;

use super::replay::Replay;
use super::times::Times;
use crate::import::snapshot::Action;
use crate::questions::diffusion::diffusion;

/// Points of the list.
const MAX_POINTS: usize = 10_000;

/// What the program had at moments that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MemoryGrowth {
    /// Which moments.
    pub of: GrowthOf,
    /// Each of them, in order of time; the first 10 000.
    pub points: Vec<GrowthPoint>,
    /// How many times there was more than at the point before.
    pub n_grew: u64,
    /// How many times there were two points to compare.
    pub n_compared: u64,
    /// The last point less the first one, summed over loops; `None` when nothing was compared.
    pub total_bytes: Option<i64>,
}

/// Which moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrowthOf {
    /// Ends of denoising steps, as the run has them.
    Steps,
    /// Snapshots that were taken during the recording.
    Snapshots,
}

/// One of the moments.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct GrowthPoint {
    /// When; `None` when not known.
    pub at_ns: Option<u64>,
    /// The loop that the step belongs to; 0 for snapshots.
    pub loop_number: u64,
    /// Number of the step in its loop, of the snapshot among them.
    pub number: u64,
    /// What the program had.
    pub allocated_bytes: u64,
    /// What the allocator had.
    pub reserved_bytes: u64,
    /// More than at the point before, in the same loop; `None` for the first.
    pub growth_bytes: Option<i64>,
}

/// Growth between steps of the run, else between snapshots; `None` when there are neither within the recorded time.
pub(super) fn growth(replay: &Replay<'_>, times: &Times<'_>) -> Option<MemoryGrowth> {
    let steps = after_steps(replay, times);
    if !steps.is_empty() {
        return Some(MemoryGrowth::new(GrowthOf::Steps, replay, steps));
    }
    let snapshots = after_snapshots(replay, times);
    (!snapshots.is_empty()).then(|| MemoryGrowth::new(GrowthOf::Snapshots, replay, snapshots))
}

/// A moment with the state that it is in.
struct Place {
    at_ns: Option<u64>,
    loop_number: u64,
    number: u64,
    state: usize,
}

/// Steps that ended within the recorded time: before it nothing is known, and after its last event not whether the snapshot had
/// been taken by then.
///
/// ```text
/// events        │ ││  │     ││ │
/// steps      |---0---|---1---|---2---|
/// state              4       6             after the last event at or before the end of the step
/// ```
fn after_steps(replay: &Replay<'_>, times: &Times<'_>) -> Vec<Place> {
    let Some(run) = times.run() else {
        return Vec::new();
    };
    let ns: Option<Vec<u64>> = replay.events.iter().map(|e| times.at_ns(e.time_us)).collect();
    let Some((ns, (first, last))) = ns.and_then(|ns| {
        let ends = ns.first().copied().zip(ns.last().copied());
        Some((ns, ends?))
    }) else {
        return Vec::new();
    };
    let Some(steps) = diffusion(run, &Thresholds::of(run)).and_then(|found| found.steps) else {
        return Vec::new();
    };
    let within = steps.each.iter().filter(|s| (first..=last).contains(&s.end_ns));
    let places = within.map(|step| Place {
        at_ns: Some(step.end_ns),
        loop_number: step.loop_number,
        number: step.step,
        state: ns.partition_point(|at| *at <= step.end_ns),
    });
    places.take(MAX_POINTS).collect()
}

fn after_snapshots(replay: &Replay<'_>, times: &Times<'_>) -> Vec<Place> {
    let events = replay.events.iter().enumerate();
    let taken = events.filter(|(_, event)| event.action == Action::Snapshot);
    let places = (0..).zip(taken).map(|(number, (at, event))| Place {
        at_ns: times.at_ns(event.time_us),
        loop_number: 0,
        number,
        state: at + 1,
    });
    places.take(MAX_POINTS).collect()
}

impl MemoryGrowth {
    fn new(of: GrowthOf, replay: &Replay<'_>, places: Vec<Place>) -> Self {
        let mut found = Self {
            of,
            points: Vec::with_capacity(places.len()),
            n_grew: 0,
            n_compared: 0,
            total_bytes: None,
        };
        for place in places {
            let allocated_bytes = level(&replay.allocated_bytes, place.state);
            let before = found.points.last();
            let before = before.filter(|point| point.loop_number == place.loop_number);
            let growth = before.map(|b| difference(allocated_bytes, b.allocated_bytes));
            if let Some(growth) = growth {
                found.n_compared += 1;
                found.n_grew += u64::from(growth > 0);
                found.total_bytes = Some(found.total_bytes.unwrap_or(0).saturating_add(growth));
            }
            found.points.push(GrowthPoint {
                at_ns: place.at_ns,
                loop_number: place.loop_number,
                number: place.number,
                allocated_bytes,
                reserved_bytes: level(&replay.reserved_bytes, place.state),
                growth_bytes: growth,
            });
        }
        found
    }
}

fn level(levels: &[u64], state: usize) -> u64 {
    levels.get(state).or(levels.last()).copied().unwrap_or(0)
}

fn difference(later: u64, earlier: u64) -> i64 {
    let difference = i128::from(later) - i128::from(earlier);
    let limit = if difference < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(difference).unwrap_or(limit)
}
