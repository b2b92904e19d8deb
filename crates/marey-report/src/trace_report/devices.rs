//! How busy each device was.

use marey_analysis::{DeviceAnswers, TraceAnswers};

use crate::document::{Cell, Table};
use crate::quantity::float;

/// Devices, and their streams.
pub(super) fn tables(answers: &TraceAnswers) -> Vec<Table> {
    vec![devices(answers), streams(answers)]
}

/// What a device is called: `GPU 0`, of several documents `rank 1 · GPU 0`.
pub(crate) fn name(answers: &TraceAnswers, device: &DeviceAnswers) -> String {
    let name = format!("GPU {}", device.device);
    match document_name(answers, device.document) {
        Some(document) => format!("{document} · {name}"),
        None => name,
    }
}

/// What a document is called; `None` where there is but one.
pub(super) fn document_name(answers: &TraceAnswers, number: u32) -> Option<String> {
    let document = answers.documents.get(number as usize);
    let rank = document.and_then(|document| document.rank);
    let name = rank.map_or_else(|| format!("document {number}"), |rank| format!("rank {rank}"));
    (answers.documents.len() > 1).then_some(name)
}

fn devices(answers: &TraceAnswers) -> Table {
    let devices = &answers.devices;
    let table = Table::of_fields(
        "devices",
        "Devices",
        devices.iter().map(|device| &device.utilization),
        "device: Device, model: Model, n_ops: Ops, span_ns: Span, busy_ns: Busy, busy_ratio: Busy %, \
         compute_ns: Compute, exposed_communication_ns: Exposed comm., \
         exposed_memory_ns: Exposed copies, idle_ns: Idle, unknown_ns: Unknown",
    );
    let table = table
        .shows("device", devices, |device| Cell::text(name(answers, device)))
        .shows("model", devices, |device| Cell::text_of(&device.model))
        .shows("busy_ratio", devices, |DeviceAnswers { utilization: used, .. }| {
            Cell::ratio((used.span_ns > 0).then(|| float(used.busy_ns) / float(used.span_ns)))
        })
        .shows("unknown_ns", devices, |device| {
            Cell::duration(Some(device.utilization.unknown_ns).filter(|ns| *ns > 0))
        });
    table.noted_if(
        !devices.is_empty(),
        "Span = compute + exposed communication + exposed copies + idle + unknown, from the first to the last work.",
    )
}

fn streams(answers: &TraceAnswers) -> Table {
    let streams = answers.devices.iter().flat_map(|device| {
        let streams = device.utilization.streams.iter();
        streams.map(move |stream| (device, stream))
    });
    let table = Table::of_fields(
        "streams",
        "Streams",
        streams.clone().map(|(_, stream)| stream),
        "device: Device, stream: Stream, n_ops: Ops, busy_ns: Busy, span_ns: Span, \
         self_overlap_ns: Overlap with itself",
    );
    table.shows("device", streams, |(device, _)| Cell::text(name(answers, device)))
}
