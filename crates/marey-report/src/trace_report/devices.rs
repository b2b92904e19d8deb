//! How busy each device was.

use marey_analysis::import::chrome::Metadata;
use marey_analysis::{DeviceAnswers, TraceAnswers};

use super::columns::table;
use crate::document::{Cell, Table};
use crate::quantity::float;

/// Devices, and their streams.
pub(super) fn tables(answers: &TraceAnswers) -> Vec<Table> {
    vec![devices(answers), streams(answers)]
}

/// What a device is called: `GPU 0`, of several documents `rank 1 · GPU 0`.
pub(crate) fn name(answers: &TraceAnswers, device: &DeviceAnswers) -> String {
    let name = format!("GPU {}", device.device);
    match Metadata::name_in(&answers.documents, device.document) {
        Some(document) => format!("{document} · {name}"),
        None => name,
    }
}

fn devices(answers: &TraceAnswers) -> Table {
    let devices = &answers.devices;
    let table = table("devices", devices.iter().map(|device| &device.utilization));
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
    let table = table("streams", streams.clone().map(|(_, stream)| stream));
    table.shows("device", streams, |(device, _)| Cell::text(name(answers, device)))
}
