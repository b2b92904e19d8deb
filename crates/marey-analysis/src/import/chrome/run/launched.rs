//! Work of devices as spans of the ranges and modules that launched it.

use std::collections::{BTreeMap, BTreeSet};

use marey::GpuSpan;

use super::nesting::Nesting;
use crate::import::chrome::{Identifier, Trace};
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
    let numbers: Vec<Option<u32>> = timelines.iter().map(|one| number_of(trace, one)).collect();
    let different: BTreeSet<u32> = numbers.iter().flatten().copied().collect();
    if different.len() < timelines.len() {
        return Vec::new();
    }
    let mut found: BTreeMap<(u32, u32, u64), Interval> = BTreeMap::new();
    for (timeline, device) in timelines.iter().zip(numbers.iter().flatten()) {
        for work in &timeline.work {
            let stream = timeline.streams.get(work.stream as usize);
            let Some(Identifier::Number(stream)) = stream.copied() else {
                continue;
            };
            let (Ok(stream), Some(launch)) = (u64::try_from(stream), work.launch) else {
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

fn number_of(trace: &Trace, timeline: &DeviceTimeline) -> Option<u32> {
    let process = trace.tracks.processes.get(timeline.process as usize)?;
    match process.pid {
        Identifier::Number(number) => u32::try_from(number).ok(),
        Identifier::None | Identifier::Text(_) => None,
    }
}
