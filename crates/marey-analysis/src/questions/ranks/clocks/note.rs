//! What people should know of the common time axis, in words.

use super::Offsets;
use crate::quantity::time_ns;
use crate::questions::ranks::{ClockMethod, PlacedClock};

/// How the clocks were brought together, and what speaks against it.
pub(super) fn note(each: &[PlacedClock], found: &Offsets) -> String {
    let count = |method: ClockMethod| each.iter().filter(|one| one.method == method).count();
    let mut said: Vec<String> = Vec::new();
    let same = count(ClockMethod::SameClock);
    if same == each.len() {
        said.push(match same {
            1 => "There is one process, so that no clocks differ.".to_owned(),
            _ => "All ranks read the clock of one machine; that it was not set while they started is assumed.".to_owned(),
        });
    }
    let of_calls = || each.iter().filter(|one| one.method == ClockMethod::Collectives);
    if let Some(error_ns) = of_calls().filter_map(|one| one.error_ns).max() {
        said.push(format!(
            "{} of {} ranks were aligned by shared calls of collectives, right within {}.",
            of_calls().count(),
            each.len(),
            time_ns(error_ns)
        ));
    }
    said.extend(by_marks(count(ClockMethod::StartMarks), each.len(), found));
    said.extend(doubts(found));
    said.extend(unaligned(count(ClockMethod::WallClock), count(ClockMethod::NotKnown)));
    said.join(" ")
}

fn by_marks(n_ranks: usize, n_all: usize, found: &Offsets) -> impl Iterator<Item = String> {
    let aligned = (n_ranks > 0).then(|| {
        format!(
            "{n_ranks} of {n_all} ranks were aligned by marks that ranks set at about the same time; how far apart is not known, so that the error is not, either."
        )
    });
    let scatter = (n_ranks > 0 && found.scatter_ns > 0).then(|| {
        format!(
            "What single marks say scatters over {}; what all of them are off by does not show in that.",
            time_ns(found.scatter_ns)
        )
    });
    aligned.into_iter().chain(scatter)
}

fn doubts(found: &Offsets) -> impl Iterator<Item = String> {
    let drift = (found.drift_ns > 0).then(|| {
        format!(
            "Clocks drifted: calls contradict each other by {}, which is in the error.",
            time_ns(found.drift_ns)
        )
    });
    let contradiction_ns = found.contradictions_ns.iter().copied().max().unwrap_or_default();
    let within = (contradiction_ns > 0).then(|| {
        format!(
            "Ranks of one machine contradict each other by {}: its clock was set meanwhile, or their calls are not the same.",
            time_ns(contradiction_ns)
        )
    });
    let start_up = found.is_by_start_up.then(|| {
        "Some share no calls but init_process_group; that nobody left it before all had come is assumed.".to_owned()
    });
    drift.into_iter().chain(within).chain(start_up)
}

fn unaligned(n_by_wall_clock: usize, n_unknown: usize) -> impl Iterator<Item = String> {
    let by_wall_clock = (n_by_wall_clock > 0).then(|| {
        format!(
            "{n_by_wall_clock} share no calls that would align them: they stand where their machines' clocks say, with an error that is not known."
        )
    });
    let unknown = (n_unknown > 0).then(|| format!("Of {n_unknown} it is not known when they ran."));
    by_wall_clock.into_iter().chain(unknown)
}
