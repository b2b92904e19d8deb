//! Do delivered frames come in time for a viewer who plays them?
//!
//! The viewer begins with the first delivery, plays at a fixed rate, stands still when it has nothing left, and goes on with the next
//! delivery. Drawn with 10 frames in a second:
//!
//! ```text
//! ms         0        500       1000      1500      2000
//! delivers   5 frames 5                5          5
//! plays      |--------|--------|       |--------|-|-------…
//! deadline            500      1000             1900
//! stands still                 |-------|                      one underrun: 1000 to 1400 ms
//! ```
//!
//! A deadline is when all frames that came before are played. What comes at that moment comes in time.

use marey::Run;
use serde::Serialize;

use super::durations::{Durations, between, jitter};
use super::steps::since_start_ns;
use crate::questions::session_assignment::SessionAssignment;
use crate::questions::streaming::frames_by_session;
use crate::stats::{float, ratio, sum, whole};

/// Delivery of frames to a viewer who plays them at a fixed rate from the first delivery on.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Delivery {
    /// Frames in a second at which the viewer plays.
    pub playback_per_second: f64,
    /// Played time of the frames after the first delivery, over the time from the first to the last; above 1 is faster than real time.
    /// `None` unless two deliveries lie apart.
    pub real_time_factor: Option<f64>,
    /// From the start of the session or the run to its first delivery; with several sessions, of the first one that has any.
    pub time_to_first_ns: u64,
    /// Time between neighbouring deliveries of one session; `None` when none has two.
    pub between: Option<Durations>,
    /// Mean of the absolute differences of neighbouring times between; `None` when no session has three deliveries.
    pub jitter_ns: Option<f64>,
    /// Each delivery, in order of time.
    pub each: Vec<DeliveryPoint>,
    /// Deliveries after the first that came before the viewer ran out.
    pub deadlines_met: u64,
    /// Deliveries after the first that came too late, each of which is an underrun.
    pub deadlines_missed: u64,
    /// Time that the viewer stood still for lack of frames.
    pub stalled_ns: u64,
    /// Frames that the viewer would have to hold before it begins, to never stand still.
    pub frames_ahead_needed: u64,
}

/// One delivery.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct DeliveryPoint {
    /// When.
    pub at_ns: u64,
    /// Frames.
    pub frames: u64,
    /// When the viewer had played all frames that came before; `None` for the first delivery.
    pub deadline_ns: Option<u64>,
    /// How long the viewer stood still before it.
    pub stalled_ns: u64,
    /// Index into `Run::sessions`; each session has a viewer of its own.
    pub session: Option<u32>,
}

/// What was delivered; `None` when nothing was, or the viewer's rate is no rate. Deliveries that did not say how many frames they had
/// are left out.
pub(super) fn delivery(
    run: &Run,
    assignment: &SessionAssignment<'_>,
    playback_per_second: f64,
) -> Option<Delivery> {
    if !(playback_per_second.is_finite() && playback_per_second > 0.0) {
        return None;
    }
    let by_session = frames_by_session(run, assignment);
    let watched = by_session.iter();
    let watched =
        watched.flat_map(|(session, events)| watch(*session, events, playback_per_second));
    let mut each: Vec<DeliveryPoint> = watched.collect();
    each.sort_by_key(|point| (point.at_ns, point.session));
    let first = each.first()?;
    let times =
        |events: &[(u64, u64)]| events.iter().map(|(at_ns, _)| *at_ns).collect::<Vec<u64>>();
    let gaps: Vec<Vec<u64>> = by_session.values().map(|events| between(&times(events))).collect();
    let ahead = by_session.values().map(|events| frames_ahead_needed(events, playback_per_second));
    let late = || each.iter().filter(|point| point.stalled_ns > 0);
    let with_deadline = each.iter().filter(|point| point.deadline_ns.is_some());
    Some(Delivery {
        playback_per_second,
        real_time_factor: real_time_factor(by_session.values(), playback_per_second),
        time_to_first_ns: since_start_ns(run, first.session, first.at_ns),
        between: Durations::of(gaps.iter().flatten().copied()),
        jitter_ns: jitter(gaps.iter().map(Vec::as_slice)),
        deadlines_met: with_deadline.count() as u64 - late().count() as u64,
        deadlines_missed: late().count() as u64,
        stalled_ns: sum(late().map(|point| point.stalled_ns)),
        frames_ahead_needed: ahead.max()?,
        each,
    })
}

/// How the frames of one session are played, of which it is known when how many came.
fn watch(session: Option<u32>, events: &[(u64, u64)], per_second: f64) -> Vec<DeliveryPoint> {
    // Since the viewer last began to play: when, and the frames that it had from then on.
    let mut since: Option<(u64, u64)> = None;
    let point = |&(at_ns, frames): &(u64, u64)| {
        let deadline_ns =
            since.map(|(begun_ns, had)| begun_ns.saturating_add(time_of(had, per_second)));
        let stalled_ns = deadline_ns.map_or(0, |deadline_ns| at_ns.saturating_sub(deadline_ns));
        since = Some(match since {
            Some((begun_ns, had)) if stalled_ns == 0 => (begun_ns, had.saturating_add(frames)),
            _ => (at_ns, frames),
        });
        DeliveryPoint { at_ns, frames, deadline_ns, stalled_ns, session }
    };
    events.iter().map(point).collect()
}

/// Frames held at the earliest delivery from which the viewer can play to the end: no later one comes after all frames before it,
/// played from there on.
fn frames_ahead_needed(events: &[(u64, u64)], per_second: f64) -> u64 {
    let held: Vec<u64> = events
        .iter()
        .scan(0u64, |held, (_, frames)| {
            *held = held.saturating_add(*frames);
            Some(*held)
        })
        .collect();
    // From the last delivery backwards: the earliest moment to begin that those after it allow.
    let mut earliest_ns = 0;
    let mut needed = held.last().copied().unwrap_or_default();
    for index in (0..events.len()).rev() {
        let (at_ns, _) = events[index];
        if at_ns >= earliest_ns {
            needed = held[index];
        }
        if let Some(before) = index.checked_sub(1) {
            let played_ns = time_of(held[before], per_second);
            earliest_ns = earliest_ns.max(at_ns.saturating_sub(played_ns));
        }
    }
    needed
}

/// How long so many frames are played.
fn time_of(frames: u64, per_second: f64) -> u64 {
    whole((float(frames) * 1e9 / per_second).round())
}

fn real_time_factor<'a>(
    viewers: impl Iterator<Item = &'a Vec<(u64, u64)>> + Clone,
    per_second: f64,
) -> Option<f64> {
    let span = |events: &Vec<(u64, u64)>| Some(events.last()?.0 - events.first()?.0);
    let later = |events: &[(u64, u64)]| sum(events.iter().skip(1).map(|(_, frames)| *frames));
    let played_ns = sum(viewers.clone().map(|events| time_of(later(events), per_second)));
    let span_ns = sum(viewers.filter_map(span));
    (span_ns > 0).then(|| ratio(played_ns.into(), span_ns.into()))
}

#[cfg(test)]
mod tests;
