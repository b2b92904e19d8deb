//! Allocated and reserved bytes over time, in few points.

use serde::Serialize;

use super::replay::Replay;
use super::times::Times;

/// Points of a curve.
const MAX_POINTS: usize = 600;

/// A stretch of time, or of events where there are no times.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CurvePoint {
    /// When its first event was; `None` when not known.
    pub at_ns: Option<u64>,
    /// Number of events before it.
    pub event: u64,
    /// Lowest in it.
    pub allocated_min_bytes: u64,
    /// Highest in it.
    pub allocated_max_bytes: u64,
    /// Highest in it.
    pub reserved_max_bytes: u64,
}

/// The curve; the highest and the lowest of each stretch are in it, so no peak is lost.
///
/// ```text
/// events    │ │││ │    │ │ │
/// stretches |-----|-----|-----|      of equal length; those without an event are left out: nothing changed in them
/// ```
pub(super) fn curve(replay: &Replay<'_>, times: &Times<'_>) -> Vec<CurvePoint> {
    let n_states = replay.allocated_bytes.len();
    let span = span_us(replay);
    let stretch = |state: usize| match (span, replay.time_us(state)) {
        (Some((first, length)), Some(time)) => share(time.saturating_sub(first), length),
        _ => share(state as u64, n_states as u64),
    };
    let mut points: Vec<CurvePoint> = Vec::new();
    let mut last = None;
    for state in 0..n_states {
        let (allocated, reserved) = (replay.allocated_bytes[state], replay.reserved_bytes[state]);
        let here = stretch(state).max(last.unwrap_or(0));
        match points.last_mut().filter(|_| last == Some(here)) {
            Some(point) => {
                point.allocated_min_bytes = point.allocated_min_bytes.min(allocated);
                point.allocated_max_bytes = point.allocated_max_bytes.max(allocated);
                point.reserved_max_bytes = point.reserved_max_bytes.max(reserved);
            }
            None => points.push(CurvePoint {
                at_ns: times.at_ns(replay.time_us(state)),
                event: state as u64,
                allocated_min_bytes: allocated,
                allocated_max_bytes: allocated,
                reserved_max_bytes: reserved,
            }),
        }
        last = Some(here);
    }
    points
}

/// First time and length; `None` unless all events have times.
fn span_us(replay: &Replay<'_>) -> Option<(u64, u64)> {
    if replay.events.iter().any(|event| event.time_us.is_none()) {
        return None;
    }
    let times = replay.events.iter().filter_map(|event| event.time_us);
    let (first, last) = (times.clone().min()?, times.max()?);
    Some((first, last - first))
}

/// Number of the stretch that something is in.
fn share(part: u64, whole: u64) -> usize {
    let stretch = u128::from(part) * MAX_POINTS as u128 / (u128::from(whole) + 1);
    usize::try_from(stretch).map_or(MAX_POINTS - 1, |stretch| stretch.min(MAX_POINTS - 1))
}
