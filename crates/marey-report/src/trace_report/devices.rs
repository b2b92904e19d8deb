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
    let devices = answers.devices.iter().map(|device| (device, &device.utilization));
    let table = Table::of_each(
        "devices",
        "Devices",
        devices,
        &[
            ("device", "Device", &|(d, _)| Cell::text(name(answers, d))),
            ("model", "Model", &|(d, _)| Cell::text_of(&d.model)),
            ("n_ops", "Ops", &|(_, u)| Cell::Count(u.n_ops)),
            ("span_ns", "Span", &|(_, u)| Cell::Duration(u.span_ns)),
            ("busy_ns", "Busy", &|(_, u)| Cell::Duration(u.busy_ns)),
            ("busy_ratio", "Busy %", &|(_, u)| {
                Cell::ratio((u.span_ns > 0).then(|| float(u.busy_ns) / float(u.span_ns)))
            }),
            ("compute_ns", "Compute", &|(_, u)| Cell::Duration(u.compute_ns)),
            ("exposed_communication_ns", "Exposed comm.", &|(_, u)| {
                Cell::Duration(u.exposed_communication_ns)
            }),
            ("exposed_memory_ns", "Exposed copies", &|(_, u)| Cell::Duration(u.exposed_memory_ns)),
            ("idle_ns", "Idle", &|(_, u)| Cell::Duration(u.idle_ns)),
            ("unknown_ns", "Unknown", &|(_, u)| {
                Cell::known((u.unknown_ns > 0).then_some(u.unknown_ns), Cell::Duration)
            }),
        ],
    );
    table.noted_if(
        !answers.devices.is_empty(),
        "Span = compute + exposed communication + exposed copies + idle + unknown, from the first to the last work.",
    )
}

fn streams(answers: &TraceAnswers) -> Table {
    let streams = answers.devices.iter().flat_map(|device| {
        let streams = device.utilization.streams.iter();
        streams.map(move |stream| (device, stream))
    });
    Table::of_each(
        "streams",
        "Streams",
        streams,
        &[
            ("device", "Device", &|(d, _)| Cell::text(name(answers, d))),
            ("stream", "Stream", &|(_, s)| Cell::text(&s.stream)),
            ("n_ops", "Ops", &|(_, s)| Cell::Count(s.n_ops)),
            ("busy_ns", "Busy", &|(_, s)| Cell::Duration(s.busy_ns)),
            ("span_ns", "Span", &|(_, s)| Cell::Duration(s.span_ns)),
            ("self_overlap_ns", "Overlap with itself", &|(_, s)| Cell::Duration(s.self_overlap_ns)),
        ],
    )
}
