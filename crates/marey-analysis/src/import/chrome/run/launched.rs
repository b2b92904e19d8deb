//! Work of devices as spans of the ranges and modules that launched it.

use std::collections::{BTreeMap, BTreeSet};

use marey::GpuSpan;

use super::nesting::Nesting;
use crate::import::chrome::Trace;
use crate::intervals::Interval;
use crate::questions::trace::{DeviceTimeline, device_timelines};

/// A span for each range or module, device and stream: from the first to the last of the work that was launched in it.
///
/// ```text
/// host      |-- unet -----|
///             ↓a  ↓b
/// stream 7        |-a-| |--b--|
/// span      ──────>|----------|      delay, then gpu_ns
/// ```
///
/// None when devices or streams have no numbers, or when two documents call different devices alike.
pub(super) fn spans(trace: &Trace, nesting: &Nesting) -> Vec<GpuSpan> {
    let timelines = device_timelines(trace);
    let number = |one: &DeviceTimeline| u32::try_from(trace.process_number(one.process)?).ok();
    let numbers: Vec<Option<u32>> = timelines.iter().map(number).collect();
    let different: BTreeSet<u32> = numbers.iter().flatten().copied().collect();
    if different.len() < timelines.len() {
        return Vec::new();
    }
    let mut found: BTreeMap<(u32, u32, u64), Interval> = BTreeMap::new();
    for (timeline, device) in timelines.iter().zip(numbers.iter().flatten()) {
        for work in &timeline.work {
            let stream = timeline.streams.get(work.stream as usize);
            let stream = stream.and_then(|stream| u64::try_from(stream.number()?).ok());
            let Some((stream, launch)) = stream.zip(work.launch) else {
                continue;
            };
            for carrier in nesting.around(launch) {
                let span = found.entry((carrier, *device, stream));
                let span = span.or_insert_with(|| work.interval());
                span.start_ns = span.start_ns.min(work.start_ns);
                span.end_ns = span.end_ns.max(work.end_ns);
            }
        }
    }
    let mut spans: Vec<GpuSpan> = found
        .into_iter()
        .filter_map(|((carrier, device, stream), span)| {
            let section = nesting.carriers.get(carrier as usize)?.section;
            Some(GpuSpan {
                thread: section.thread,
                node: section.node,
                start_ns: section.start_ns,
                device,
                stream,
                // Clocks that disagree put work before its launch: where it lies is not known then.
                delay_ns: span.start_ns.checked_sub(section.start_ns),
                gpu_ns: span.length_ns(),
                error_ns: None,
            })
        })
        .collect();
    spans.sort_by_key(|span| span.start_ns);
    spans
}
