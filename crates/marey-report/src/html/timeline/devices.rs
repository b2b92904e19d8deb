//! What GPUs did: a group for each stream.

use std::collections::BTreeMap;

use marey::{GpuSpan, Run};
use marey_analysis::import::chrome::{Identifier, Meanings, Metadata, Trace};
use marey_analysis::{DeviceTimeline, Interval, device_timelines, place_of_span};

use super::paths::{Category, Paths};
use super::rows::{Group, GroupKind, Launches, Slice, rows};

/// Spans whose place is known, those of nested sections below each other.
///
/// ```text
/// main              |- loop --|
///                   |step|step|
/// GPU 0, stream 7     |------- loop -------|
///                      |-- step --|- step -|
/// ```
pub(super) fn of_sections(run: &Run, paths: &mut Paths) -> Vec<Group> {
    let mut by_stream: BTreeMap<(u32, u64), Stream> = BTreeMap::new();
    for span in &run.gpu_spans {
        let of_stream = by_stream.entry((span.device, span.stream)).or_default();
        of_stream.add_span(span, paths);
    }
    by_stream.retain(|_, stream| !stream.slices.is_empty());
    let group = |((device, stream), of_stream): ((u32, u64), Stream)| {
        of_stream.group(match stream {
            0 => format!("GPU {device}"),
            _ => format!("GPU {device}, stream {stream}"),
        })
    };
    by_stream.into_iter().map(group).collect()
}

/// What a stream did.
#[derive(Default)]
struct Stream {
    slices: Vec<Slice>,
    launches: Launches,
}

impl Stream {
    /// `launched_ns`: when, where that is known.
    fn add(&mut self, path: u32, interval: Interval, launched_ns: Option<u64>) {
        let slice = Slice::of_path(path, interval.start_ns, interval.end_ns);
        if let Some(launched_ns) = launched_ns {
            self.launches.insert((path, slice.start_ns), launched_ns);
        }
        self.slices.push(slice);
    }

    /// Nothing of a span whose place is not known.
    fn add_span(&mut self, span: &GpuSpan, paths: &mut Paths) {
        if let Some(place) = place_of_span(span) {
            self.add(paths.on_gpu(span.node), place, Some(span.start_ns));
        }
    }

    fn group(self, title: String) -> Group {
        let Self { slices, launches } = self;
        Group { kind: GroupKind::Device, title, rows: rows(slices), launches }
    }
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
        let mut by_stream: BTreeMap<u32, Stream> = BTreeMap::new();
        for work in &timeline.work {
            let path = numbers.of(work.name, |name| paths.other(Category::Gpu, name));
            let Some(path) = path else { continue };
            let launch = work.launch.and_then(|row| trace.rows.start_ns.get(row as usize));
            let of_stream = by_stream.entry(work.stream).or_default();
            of_stream.add(path, work.interval(), launch.copied());
        }
        for (stream, mut of_stream) in by_stream {
            let stream = timeline.streams.get(stream as usize).copied();
            let stream = stream.unwrap_or(Identifier::None);
            for span in spans(run, trace, &timeline, stream) {
                of_stream.add_span(span, paths);
            }
            groups.push(of_stream.group(title(trace, &timeline, stream)));
        }
    }
    groups
}

/// The spans of ranges and modules on a stream. A run of several documents has none.
fn spans<'a>(
    run: &'a Run,
    trace: &Trace,
    timeline: &DeviceTimeline,
    stream: Identifier,
) -> impl Iterator<Item = &'a GpuSpan> {
    let device = trace.process_number(timeline.process);
    let stream = stream.number().and_then(|stream| u64::try_from(stream).ok());
    let is_here =
        move |span: &&GpuSpan| device == Some(span.device.into()) && stream == Some(span.stream);
    run.gpu_spans.iter().filter(is_here)
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
