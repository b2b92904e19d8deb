//! What GPUs did: a group for each stream.

use std::collections::BTreeMap;

use marey::{GpuSpan, Run};
use marey_analysis::import::chrome::{Identifier, Meanings, Metadata, Trace};
use marey_analysis::{DeviceTimeline, device_timelines, place_of_span};

use super::paths::{Category, Paths};
use super::rows::{Group, GroupKind, Slice, rows};

/// Spans whose place is known, those of nested sections below each other.
///
/// ```text
/// main              |- loop --|
///                   |step|step|
/// GPU 0, stream 7     |------- loop -------|
///                      |-- step --|- step -|
/// ```
pub(super) fn of_sections(run: &Run, paths: &mut Paths) -> Vec<Group> {
    let mut by_stream: BTreeMap<(u32, u64), Vec<Slice>> = BTreeMap::new();
    for span in &run.gpu_spans {
        if let Some(place) = place_of_span(span) {
            let slice = Slice::of_path(paths.on_gpu(span.node), place.start_ns, place.end_ns);
            let of_stream = by_stream.entry((span.device, span.stream));
            of_stream.or_default().push(slice);
        }
    }
    let group = |((device, stream), slices): ((u32, u64), Vec<Slice>)| Group {
        kind: GroupKind::Device,
        title: match stream {
            0 => format!("GPU {device}"),
            _ => format!("GPU {device}, stream {stream}"),
        },
        rows: rows(slices),
    };
    by_stream.into_iter().map(group).collect()
}

/// Kernels, copies and fills, below the ranges of the host that launched them.
///
/// ```text
/// main              |-- unet --|
/// GPU 0, stream 7     |---- unet (GPU) ----|
///                     |gemm| |gemm||copy|
/// ```
pub(super) fn of_trace(run: &Run, trace: &Trace, paths: &mut Paths) -> Vec<Group> {
    let mut numbers = Meanings::new(&trace.names);
    let mut groups = Vec::new();
    for timeline in device_timelines(trace) {
        let mut by_stream: BTreeMap<u32, Vec<Slice>> = BTreeMap::new();
        for work in &timeline.work {
            let path = numbers.of(work.name, |name| paths.other(Category::Gpu, name));
            let Some(path) = path else { continue };
            let slice = Slice::of_path(path, work.start_ns, work.end_ns);
            by_stream.entry(work.stream).or_default().push(slice);
        }
        for (stream, mut slices) in by_stream {
            let stream = timeline.streams.get(stream as usize).copied();
            let stream = stream.unwrap_or(Identifier::None);
            slices.extend(spans(run, trace, &timeline, stream, paths));
            groups.push(Group {
                kind: GroupKind::Device,
                title: title(trace, &timeline, stream),
                rows: rows(slices),
            });
        }
    }
    groups
}

/// The spans of ranges and modules on a stream. A run of several documents has none.
fn spans(
    run: &Run,
    trace: &Trace,
    timeline: &DeviceTimeline,
    stream: Identifier,
    paths: &mut Paths,
) -> Vec<Slice> {
    let device = trace.process_number(timeline.process);
    let stream = stream.number().and_then(|stream| u64::try_from(stream).ok());
    let is_here =
        |span: &&GpuSpan| device == Some(span.device.into()) && stream == Some(span.stream);
    let spans = run.gpu_spans.iter().filter(is_here);
    let slice = |span: &GpuSpan| {
        let place = place_of_span(span)?;
        Some(Slice::of_path(paths.on_gpu(span.node), place.start_ns, place.end_ns))
    };
    spans.filter_map(slice).collect()
}

/// `GPU 0, stream 7`; of several documents `rank 1 · GPU 0, stream 7`.
fn title(trace: &Trace, timeline: &DeviceTimeline, stream: Identifier) -> String {
    let device = trace.process_label(timeline.process);
    let stream = trace.tracks.label(stream);
    let document = trace.document_of_process(timeline.process);
    let document = Metadata::name_in(&trace.metadata, document);
    let document = document.map_or_else(String::new, |document| format!("{document} · "));
    format!("{document}GPU {device}, stream {stream}")
}
