//! What was copied and filled, in which direction, how fast?

use std::collections::BTreeMap;

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, WorkKind};
use crate::import::chrome::Trace;
use crate::stats::ratio;

/// Copies of one direction, or fills. Times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transfers {
    /// `HtoD`, `DtoH`, `DtoD`, `HtoH`, `PtoP`, `Memset`; the name of the copy when it says none of them.
    pub direction: String,
    /// How many.
    pub count: u64,
    /// All durations together.
    pub total_ns: u64,
    /// Bytes of those that say how many.
    pub bytes: u64,
    /// How many do not say.
    pub n_without_bytes: u64,
    /// Bytes a second, over those that say how many; `None` when they took no time.
    pub bytes_per_second: Option<f64>,
}

/// Directions, as names of copies have them.
const DIRECTIONS: [&str; 6] = ["HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "Memset"];

/// The first direction that a name has, otherwise the name.
fn direction(name: &str) -> &str {
    let places = DIRECTIONS.iter().filter_map(|d| Some((name.find(d)?, *d)));
    places.min().map_or(name, |(_, direction)| direction)
}

#[derive(Default)]
struct Sums {
    count: u64,
    total_ns: u64,
    bytes: u64,
    n_without_bytes: u64,
    /// Time of those that say how many bytes.
    timed_ns: u64,
}

/// The copies and fills of a device by direction, in alphabetical order.
pub fn transfers(trace: &Trace, timeline: &DeviceTimeline) -> Vec<Transfers> {
    let mut by_direction: BTreeMap<&str, Sums> = BTreeMap::new();
    let is_transfer = |kind| matches!(kind, WorkKind::Memcpy | WorkKind::Memset);
    for work in timeline.work.iter().filter(|work| is_transfer(work.kind)) {
        let direction = direction(trace.names.get(work.name));
        let sums = by_direction.entry(direction).or_default();
        let duration_ns = work.interval().length_ns();
        sums.count += 1;
        sums.total_ns = sums.total_ns.saturating_add(duration_ns);
        let origin = trace.work.get(work.origin as usize);
        match origin.and_then(|origin| origin.bytes) {
            Some(bytes) => {
                sums.bytes = sums.bytes.saturating_add(bytes);
                sums.timed_ns = sums.timed_ns.saturating_add(duration_ns);
            }
            None => sums.n_without_bytes += 1,
        }
    }
    let row = |(direction, sums): (&str, Sums)| Transfers {
        direction: direction.to_owned(),
        count: sums.count,
        total_ns: sums.total_ns,
        bytes: sums.bytes,
        n_without_bytes: sums.n_without_bytes,
        bytes_per_second: (sums.timed_ns > 0).then(|| {
            let per_second = u128::from(sums.bytes) * 1_000_000_000;
            ratio(per_second, u128::from(sums.timed_ns))
        }),
    };
    by_direction.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_direction_of_a_name_counts() {
        assert_eq!(direction("Memcpy HtoD (Pageable -> Device)"), "HtoD");
        assert_eq!(direction("Memset (Device)"), "Memset");
        assert_eq!(direction("CopyDeviceToHost"), "CopyDeviceToHost");
        assert_eq!(direction("DtoD after HtoD"), "DtoD");
    }
}
