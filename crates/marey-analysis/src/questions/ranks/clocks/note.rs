//! What people should know of the common time axis, in words.

use super::offsets::Offsets;
use crate::quantity::time_ns;
use crate::questions::ranks::{ClockMethod, PlacedClock};

/// How the clocks were brought together, and what speaks against it.
pub(super) fn note(each: &[PlacedClock], found: &Offsets) -> String {
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
