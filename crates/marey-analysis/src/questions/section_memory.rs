//! How much did torch's allocator hold at most during each call path?
//!
//! ```text
//! held       2    5    9    4
//! decode     |-------------|       before 2, peak 9, after 4: grew by 2
//! ```
//!
//! Torch counts one peak, from the program's last reset. Where that did not rise during a call, the call's own is between two figures:
//!
//! ```text
//! held       2    9    3    5    3
//! torch's    2    9    9    9    9
//! load       |---------|            9
//! step                 |---------|  at least 3, and at most 9
//! ```
//!
//! The figures are the process's: what other threads allocated meanwhile counts, too.

use std::collections::BTreeMap;

use marey::{DeviceMemory, Run};

use super::memory::fragmentation_ratio;

/// Torch's memory during the calls of one call path, on one device. Bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionPeak {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// The device's number.
    pub device: u32,
    /// Calls that were measured; all figures below are of these.
    pub n_measured: u64,
    /// Calls that were made. Where that is more, the peaks are what was held at least: of the other calls they are not known.
    pub n_calls: u64,
    /// Most in tensors.
    pub allocated: Highest,
    /// Most held by the allocator.
    pub reserved: Highest,
    /// How much more was in tensors during a call than at its beginning, at most.
    pub added: Highest,
    /// Largest difference of what was in tensors after and before a call; negative when all calls gave memory back.
    pub growth_bytes: i64,
    /// Share of the most that was held that no tensor used even at the peak, 0 to 1; `None` when nothing was held, or the most is not known.
    pub fragmentation_ratio: Option<f64>,
    /// Most that was held after a call, and too cut up to be given back; `None` where torch did not say.
    pub inactive_split_bytes: Option<u64>,
}

/// Torch's memory by call path and device, in that order; empty when none was measured.
pub fn section_peaks(run: &Run) -> Vec<SectionPeak> {
    let mut by_place: BTreeMap<(u32, u32), Vec<&DeviceMemory>> = BTreeMap::new();
    for measured in &run.section_memory {
        let of_place = by_place.entry((measured.node, measured.figures.device));
        of_place.or_default().push(&measured.figures);
    }
    let rows = by_place.iter();
    rows.filter_map(|((node, _), calls)| peak(run, *node, calls)).collect()
}

/// A figure of the call that had most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highest {
    /// Bytes.
    pub bytes: u64,
    /// Another call may have had more: it was not measured, or its peak is not known.
    pub is_at_least: bool,
}

/// Of calls with what each had at least, and by how much more it may have been.
fn highest(calls: impl Iterator<Item = (u64, u64)> + Clone) -> Option<Highest> {
    let bytes = calls.clone().map(|(least, _)| least).max()?;
    let at_most = calls.map(|(least, error)| least.saturating_add(error)).max()?;
    Some(Highest { bytes, is_at_least: at_most > bytes })
}

fn peak(run: &Run, node: u32, calls: &[&DeviceMemory]) -> Option<SectionPeak> {
    let n_measured = calls.len() as u64;
    let totals = run.totals.get(node as usize);
    let n_calls = totals.map_or(0, |totals| totals.count).max(n_measured);
    let allocated = highest(calls.iter().map(|c| (c.allocated_peak, c.allocated_peak_error)))?;
    let reserved = highest(calls.iter().map(|c| (c.reserved_peak, c.reserved_peak_error)))?;
    let added = |c: &&DeviceMemory| c.allocated_peak.saturating_sub(c.allocated_before);
    let added = highest(calls.iter().map(|c| (added(c), c.allocated_peak_error)))?;
    let are_known = !allocated.is_at_least && !reserved.is_at_least;
    let of_all =
        |most: Highest| Highest { is_at_least: most.is_at_least || n_measured < n_calls, ..most };
    Some(SectionPeak {
        node,
        device: calls.first()?.device,
        n_measured,
        n_calls,
        allocated: of_all(allocated),
        reserved: of_all(reserved),
        added: of_all(added),
        growth_bytes: calls.iter().map(|call| growth(call)).max()?,
        fragmentation_ratio: fragmentation_ratio(allocated.bytes, Some(reserved.bytes))
            .filter(|_| are_known),
        inactive_split_bytes: calls.iter().filter_map(|call| call.inactive_split).max(),
    })
}

fn growth(call: &DeviceMemory) -> i64 {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    signed(call.allocated_after).saturating_sub(signed(call.allocated_before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey::SectionMemory;
    use marey_testing::RunBuilder;

    fn call(start_ns: u64, device: u32, held: [u64; 3], reserved: u64) -> SectionMemory {
        SectionMemory {
            thread: 0,
            node: 1,
            start_ns,
            figures: DeviceMemory {
                device,
                allocated_before: held[0],
                allocated_peak: held[1],
                allocated_after: held[2],
                reserved_before: reserved,
                reserved_after: reserved,
                reserved_peak: reserved,
                inactive_split: Some(reserved - held[2]),
                ..DeviceMemory::default()
            },
        }
    }

    #[test]
    fn a_call_path_has_the_highest_of_its_calls_on_each_device() {
        // device 0   2 → 9 → 4     4 → 8 → 4     allocator 12
        // device 1   1 → 1 → 0
        let run = RunBuilder::new()
            .section("decode", 0, 10, |_| {})
            .section("decode", 10, 20, |_| {})
            .with(|run| {
                run.section_memory = vec![
                    call(0, 0, [2, 9, 4], 12),
                    call(0, 1, [1, 1, 0], 4),
                    call(10, 0, [4, 8, 4], 12),
                ];
            })
            .finish(20);
        let found = section_peaks(&run);
        assert_eq!(
            found[0],
            SectionPeak {
                node: 1,
                device: 0,
                n_measured: 2,
                n_calls: 2,
                allocated: Highest { bytes: 9, is_at_least: false },
                reserved: Highest { bytes: 12, is_at_least: false },
                added: Highest { bytes: 7, is_at_least: false },
                growth_bytes: 2,
                fragmentation_ratio: Some(0.25),
                inactive_split_bytes: Some(8),
            }
        );
        assert_eq!((found[1].device, found[1].growth_bytes), (1, -1));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn where_calls_were_not_measured_the_peak_is_what_was_held_at_least() {
        // held    9       9 → 20 → 9     9
        // step  |----|    |---------|  |---|
        //       measured  not          not
        let run = RunBuilder::new()
            .section("step", 0, 10, |_| {})
            .section("step", 10, 20, |_| {})
            .section("step", 20, 30, |_| {})
            .with(|run| run.section_memory = vec![call(0, 0, [9, 9, 9], 12)])
            .finish(30);
        let found = section_peaks(&run);
        assert_eq!((found[0].n_measured, found[0].n_calls), (1, 3));
        assert!(found[0].allocated.is_at_least && found[0].added.is_at_least);
        assert!(!section_peaks(&all_measured())[0].allocated.is_at_least);
    }

    fn all_measured() -> Run {
        RunBuilder::new()
            .section("step", 0, 10, |_| {})
            .with(|run| run.section_memory = vec![call(0, 0, [9, 9, 9], 12)])
            .finish(10)
    }

    /// Two calls of one section: what they held at least, and by how much more it may have been.
    fn two(first: ([u64; 3], u64), second: ([u64; 3], u64)) -> SectionPeak {
        let of = |start_ns, (held, error)| {
            let mut call = call(start_ns, 0, held, 40);
            call.figures.allocated_peak_error = error;
            call
        };
        let run = RunBuilder::new()
            .section("step", 0, 10, |_| {})
            .section("step", 10, 20, |_| {})
            .with(|run| run.section_memory = vec![of(0, first), of(10, second)])
            .finish(20);
        section_peaks(&run)[0]
    }

    #[test]
    fn a_peak_that_did_not_rise_is_known_where_another_call_reached_it() {
        // held      9 → 20 → 9    9 → ? → 9      torch's peak 9, then 20
        let both = two(([9, 20, 9], 0), ([9, 9, 9], 11));
        assert_eq!(both.allocated, Highest { bytes: 20, is_at_least: false });
        assert_eq!(both.added, Highest { bytes: 11, is_at_least: false });
        assert_eq!(both.fragmentation_ratio, Some(0.5));
        // held      9 → ? → 9    9 → ? → 7       torch's peak 25
        let none = two(([9, 9, 9], 16), ([9, 9, 7], 16));
        assert_eq!(none.allocated, Highest { bytes: 9, is_at_least: true });
        assert_eq!((none.growth_bytes, none.fragmentation_ratio), (0, None));
        // held      18 → 20 → 9    9 → ? → 9     it may have added up to 11
        let less = two(([18, 20, 9], 0), ([9, 9, 9], 11));
        assert_eq!(less.allocated, Highest { bytes: 20, is_at_least: false });
        assert_eq!(less.added, Highest { bytes: 2, is_at_least: true });
        // A reset of the program's between the ends.
        assert!(two(([9, 20, 9], 0), ([9, 9, 9], u64::MAX)).allocated.is_at_least);
    }

    #[test]
    fn nothing_measured_is_nothing_and_extremes_do_not_panic() {
        assert_eq!(section_peaks(&Run::default()), []);
        let run = Run {
            section_memory: vec![
                call(0, 0, [u64::MAX, u64::MAX, 0], u64::MAX),
                call(0, 0, [0, 0, u64::MAX], u64::MAX),
            ],
            ..Run::default()
        };
        assert_eq!(section_peaks(&run)[0].growth_bytes, i64::MAX);
    }
}
