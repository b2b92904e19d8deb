//! How much did torch's allocator hold at most during each call path?
//!
//! ```text
//! held       2    5    9    4
//! decode     |-------------|       before 2, peak 9, after 4: grew by 2
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
    pub allocated_bytes: u64,
    /// Most held by the allocator.
    pub reserved_bytes: u64,
    /// How much more was in tensors during a call than at its beginning, at most.
    pub added_bytes: u64,
    /// Largest difference of what was in tensors after and before a call; negative when all calls gave memory back.
    pub growth_bytes: i64,
    /// Share of the most that was held that no tensor used even at the peak, 0 to 1; `None` when nothing was held.
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

impl SectionPeak {
    /// Not all calls were measured, so the peaks are what was held at least.
    pub fn is_at_least(&self) -> bool {
        self.n_measured < self.n_calls
    }
}

fn peak(run: &Run, node: u32, calls: &[&DeviceMemory]) -> Option<SectionPeak> {
    let n_measured = calls.len() as u64;
    let totals = run.totals.get(node as usize);
    let most = |of: fn(&DeviceMemory) -> u64| calls.iter().map(|call| of(call)).max();
    let allocated_bytes = most(|call| call.allocated_peak)?;
    let reserved_bytes = most(|call| call.reserved_peak)?;
    Some(SectionPeak {
        node,
        device: calls.first()?.device,
        n_measured,
        n_calls: totals.map_or(0, |totals| totals.count).max(n_measured),
        allocated_bytes,
        reserved_bytes,
        added_bytes: most(|call| call.allocated_peak.saturating_sub(call.allocated_before))?,
        growth_bytes: calls.iter().map(|call| growth(call)).max()?,
        fragmentation_ratio: fragmentation_ratio(allocated_bytes, Some(reserved_bytes)),
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
                allocated_bytes: 9,
                reserved_bytes: 12,
                added_bytes: 7,
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
        assert!(found[0].is_at_least());
        assert!(!section_peaks(&all_measured())[0].is_at_least());
    }

    fn all_measured() -> Run {
        RunBuilder::new()
            .section("step", 0, 10, |_| {})
            .with(|run| run.section_memory = vec![call(0, 0, [9, 9, 9], 12)])
            .finish(10)
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
