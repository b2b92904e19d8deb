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
    if answers.documents.len() < 2 {
        return name;
    }
    let document = answers.documents.get(device.document as usize);
    match document.and_then(|document| document.rank) {
        Some(rank) => format!("rank {rank} · {name}"),
        None => format!("document {} · {name}", device.document),
    }
}

fn devices(answers: &TraceAnswers) -> Table {
    let mut table = Table::new(
        "devices",
        "Devices",
        &[
            ("device", "Device"),
            ("model", "Model"),
            ("n_ops", "Ops"),
            ("span_ns", "Span"),
            ("busy_ns", "Busy"),
            ("busy_ratio", "Busy %"),
            ("compute_ns", "Compute"),
            ("exposed_communication_ns", "Exposed comm."),
            ("exposed_memory_ns", "Exposed copies"),
            ("idle_ns", "Idle"),
        ],
    );
    for device in &answers.devices {
        let used = &device.utilization;
        let busy_ratio = (used.span_ns > 0).then(|| float(used.busy_ns) / float(used.span_ns));
        table.row(vec![
            Cell::text(name(answers, device)),
            Cell::known(device.model.clone(), Cell::Text),
            Cell::Count(used.n_ops),
            Cell::Duration(used.span_ns),
            Cell::Duration(used.busy_ns),
            Cell::ratio(busy_ratio),
            Cell::Duration(used.compute_ns),
            Cell::Duration(used.exposed_communication_ns),
            Cell::Duration(used.exposed_memory_ns),
            Cell::Duration(used.idle_ns),
        ]);
    }
    if !table.rows.is_empty() {
        let sum = "Span = compute + exposed communication + exposed copies + idle, from the first to the last work.";
        table.notes.push(sum.into());
    }
    table
}

fn streams(answers: &TraceAnswers) -> Table {
    let mut table = Table::new(
        "streams",
        "Streams",
        &[
            ("device", "Device"),
            ("stream", "Stream"),
            ("n_ops", "Ops"),
            ("busy_ns", "Busy"),
            ("span_ns", "Span"),
            ("self_overlap_ns", "Overlap with itself"),
        ],
    );
    for device in &answers.devices {
        for stream in &device.utilization.streams {
            table.row(vec![
                Cell::text(name(answers, device)),
                Cell::text(stream.stream.as_str()),
                Cell::Count(stream.n_ops),
                Cell::Duration(stream.busy_ns),
                Cell::Duration(stream.span_ns),
                Cell::Duration(stream.self_overlap_ns),
            ]);
        }
    }
    table
}
