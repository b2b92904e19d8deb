//! Where do the processes lie on one time axis, and how exactly is that known?

mod bounds;
mod offsets;

use serde::Serialize;

use super::shared_calls::SharedCalls;
use crate::job::RankSummary;
use crate::quantity::time_ns;
use offsets::{Offset, Offsets, offsets};

/// Where the processes lie on one time axis. Moment 0 is the earliest start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Clocks {
    /// Each member, by place.
    pub each: Vec<PlacedClock>,
    /// Wall clock at moment 0, nanoseconds since 1970, as the reference's clock has it; `None` when no file says.
    pub start_unix_ns: Option<u64>,
    /// The largest `error_ns` of all members; `None` when one of them is not known.
    pub error_ns: Option<u64>,
    /// What people should know of it, in words.
    pub note: String,
}

/// One process on the common axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PlacedClock {
    /// The moment of its start on the common axis; `None` when its file does not say when it ran, and nothing else tells.
    pub start_ns: Option<u64>,
    /// What was added to its wall clock to get there.
    pub correction_ns: i64,
    /// The start is right within this much, either way; `None` when nothing is known of that.
    pub error_ns: Option<u64>,
    /// How that is known.
    pub method: ClockMethod,
}

/// How a process's place on the common axis is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockMethod {
    /// Its wall clock, as the machine had it: machines differ by what their time service leaves.
    #[default]
    WallClock,
    /// It read the same clock as the reference: the same machine, not started anew in between.
    SameClock,
    /// Collectives that nobody leaves before all have come bound the difference from both sides; where there are none, `init_process_group`.
    Collectives,
    /// Marks that all ranks set at about the same time. Nobody knows how far apart, so that the error is not known.
    StartMarks,
    /// When it ran is not known.
    NotKnown,
}

/// The common axis has the clock of the lowest rank that says when it began. Processes of one start of a machine share a clock. Clocks of
/// other machines are off by what collectives allow that nobody leaves before everybody has come: at one moment of each call all ranks
/// are within it.
///
/// ```text
/// rank 0, by its clock        |--------|              0 to 9
/// rank 1, by its own                      |---|       15 to 19
///
/// one moment in both     0 <= 19 + offset and 15 + offset <= 9      offset -19 to -6: -12.5, right within 6.5
/// ```
///
/// Each call narrows the bounds. Between two clocks that share no group the way leads over others, along which errors add up least. Calls
/// that contradict each other tell of clocks that drifted: then the error is half of what they contradict by, and what those two calls
/// leave open. Clocks that share no such call are aligned in the same way by `init_process_group`, where ranks of one clock do not show that
/// some left it before others came, else by marks (`start_mark`), whose error is not known; without these they stand as the machines had
/// them, with an error that is not known, either.
///
/// Costs two passes over the calls of each group.
pub(super) fn clocks(places: &[&RankSummary], shared: &[SharedCalls<'_>]) -> Clocks {
    if places.is_empty() {
        return Clocks::default();
    }
    let found = offsets(places, shared);
    // On the reference's clock.
    let starts = places.iter().enumerate().map(|(place, rank)| {
        let start_ns = rank.process.start_ns().map(i128::from);
        match found.of(place) {
            Some(offset) => Some(start_ns.unwrap_or_default() + offset.correction_ns),
            None => start_ns,
        }
    });
    let starts: Vec<Option<i128>> = starts.collect();
    let zero = starts.iter().flatten().min().copied().unwrap_or_default();
    let clock = |(place, start): (usize, &Option<i128>)| match start {
        Some(start) => placed_clock(*start - zero, found.of(place)),
        None => PlacedClock { method: ClockMethod::NotKnown, ..PlacedClock::default() },
    };
    let each: Vec<PlacedClock> = starts.iter().enumerate().map(clock).collect();
    let errors: Option<Vec<u64>> = each.iter().map(|clock| clock.error_ns).collect();
    let is_dated = places.iter().any(|one| one.process.start_ns().is_some());
    Clocks {
        start_unix_ns: u64::try_from(zero).ok().filter(|_| is_dated),
        error_ns: errors.and_then(|all| all.into_iter().max()),
        note: note(&each, &found),
        each,
    }
}

fn placed_clock(start_ns: i128, offset: Option<Offset>) -> PlacedClock {
    let correction_ns = offset.map_or(0, |offset| offset.correction_ns);
    let limits = (i128::from(i64::MIN), i128::from(i64::MAX));
    PlacedClock {
        start_ns: Some(u64::try_from(start_ns).unwrap_or(u64::MAX)),
        correction_ns: i64::try_from(correction_ns.clamp(limits.0, limits.1)).unwrap_or_default(),
        error_ns: offset.and_then(|offset| offset.error_ns),
        method: offset.map_or(ClockMethod::WallClock, |offset| offset.method),
    }
}

/// From the first start to the last end on the axis; processes whose place is not known count with their length.
pub(super) fn span_ns(places: &[&RankSummary], clocks: &Clocks) -> u64 {
    let ends = places.iter().zip(&clocks.each).map(|(rank, clock)| {
        let start_ns = clock.start_ns.unwrap_or_default();
        start_ns.saturating_add(rank.wall_ns)
    });
    ends.max().unwrap_or_default()
}

/// How the clocks were brought together, and what speaks against it.
fn note(each: &[PlacedClock], found: &Offsets) -> String {
    let count = |method: ClockMethod| each.iter().filter(|one| one.method == method).count();
    let (n_all, n_of_calls) = (each.len(), count(ClockMethod::Collectives));
    let n_by_marks = count(ClockMethod::StartMarks);
    let n_by_wall_clock = count(ClockMethod::WallClock);
    let n_unknown = count(ClockMethod::NotKnown);
    let of_calls = each.iter().filter(|one| one.method == ClockMethod::Collectives);
    let error_ns = of_calls.filter_map(|one| one.error_ns).max();
    let contradiction_ns = found.contradiction_ns();
    let said = [
        (count(ClockMethod::SameClock) == n_all).then(|| match n_all {
            1 => "There is one process, so that no clocks differ.".to_owned(),
            _ => "All ranks read the clock of one machine; that it was not set while they started is assumed.".to_owned(),
        }),
        error_ns.map(|error_ns| {
            let within = time_ns(error_ns);
            format!("{n_of_calls} of {n_all} ranks were aligned by shared calls of collectives, right within {within}.")
        }),
        (n_by_marks > 0).then(|| {
            format!(
                "{n_by_marks} of {n_all} ranks were aligned by marks that ranks set at about the same time; how far apart is not known, so that the error is not, either."
            )
        }),
        (n_by_marks > 0 && found.scatter_ns > 0).then(|| {
            format!(
                "What single marks say scatters over {}; what all of them are off by does not show in that.",
                time_ns(found.scatter_ns)
            )
        }),
        (found.drift_ns > 0).then(|| {
            let drift = time_ns(found.drift_ns);
            format!("Clocks drifted: calls contradict each other by {drift}, which is in the error.")
        }),
        (contradiction_ns > 0).then(|| {
            format!(
                "Ranks of one machine contradict each other by {}: its clock was set meanwhile, or their calls are not the same.",
                time_ns(contradiction_ns)
            )
        }),
        found.is_by_start_up.then(|| {
            "Some share no calls but init_process_group; that nobody left it before all had come is assumed.".to_owned()
        }),
        (n_by_wall_clock > 0).then(|| {
            format!(
                "{n_by_wall_clock} share no calls that would align them: they stand where their machines' clocks say, with an error that is not known."
            )
        }),
        (n_unknown > 0).then(|| format!("Of {n_unknown} it is not known when they ran.")),
    ];
    said.into_iter().flatten().collect::<Vec<String>>().join(" ")
}
