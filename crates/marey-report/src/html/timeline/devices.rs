//! What GPUs did for sections: a group for each stream.

use std::collections::BTreeMap;

use marey::Run;
use marey_analysis::place_of_span;

use super::paths::Paths;
use super::rows::rows;
use super::slice::{Group, GroupKind, Slice};

/// Spans whose place is known, those of nested sections below each other.
///
/// ```text
/// main              |- loop --|
///                   |step|step|
/// GPU 0, stream 7     |------- loop -------|
///                      |-- step --|- step -|
/// ```
pub(super) fn devices(run: &Run, paths: &mut Paths) -> Vec<Group> {
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
