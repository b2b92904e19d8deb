//! What the end of a trace waited for.

use marey_analysis::{CriticalPath, PathKind, TraceAnswers};

use super::devices::document_name;
use crate::document::{Cell, Table};

/// By kind, by name, by place, and the longest segments, of each document.
pub(super) fn tables(answers: &TraceAnswers) -> Vec<Table> {
    let paths = answers.critical_path.iter();
    let tables = paths.flat_map(|path| {
        let document = document_name(answers, path.document);
        let document = document.map_or_else(String::new, |name| format!(" · {name}"));
        let title = |what: &str| format!("{what}{document}");
        [
            kinds(path, title("Critical path")),
            names(path, title("Critical path by name")),
            places(path, title("Critical path by thread and stream")),
            segments(path, title("Longest segments of the critical path")),
        ]
    });
    tables.collect()
}

fn kinds(path: &CriticalPath, title: String) -> Table {
    let table = Table::of_each(
        "critical_path",
        title,
        &path.kinds,
        &[
            ("kind", "Kind", &|r| Cell::text(words(r.kind))),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("ratio", "Share", &|r| Cell::ratio(r.ratio)),
            ("n_segments", "Segments", &|r| Cell::Count(r.n_segments)),
        ],
    );
    table.noted_if(
        !path.kinds.is_empty(),
        "Found backwards from the last event: what did it wait for? The parts add up to the whole time.",
    )
}

fn names(path: &CriticalPath, title: String) -> Table {
    Table::of_each(
        "critical_path_by_name",
        title,
        &path.names,
        &[
            ("name", "Name", &|r| Cell::text(&r.name)),
            ("kind", "Kind", &|r| Cell::text(words(r.kind))),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("ratio", "Share", &|r| Cell::ratio(r.ratio)),
            ("n_segments", "Segments", &|r| Cell::Count(r.n_segments)),
            ("longest_ns", "Longest", &|r| Cell::Duration(r.longest_ns)),
        ],
    )
}

fn places(path: &CriticalPath, title: String) -> Table {
    Table::of_each(
        "critical_path_by_place",
        title,
        &path.places,
        &[
            ("device", "Device", &|r| {
                place(r.device.as_deref(), r.thread_or_stream.is_some())
            }),
            ("thread_or_stream", "Thread or stream", &|r| {
                Cell::text_of(&r.thread_or_stream)
            }),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("ratio", "Share", &|r| Cell::ratio(r.ratio)),
            ("n_segments", "Segments", &|r| Cell::Count(r.n_segments)),
        ],
    )
}

fn segments(path: &CriticalPath, title: String) -> Table {
    Table::of_each(
        "critical_path_segments",
        title,
        &path.longest,
        &[
            ("start_ns", "At", &|r| Cell::Moment(r.start_ns)),
            ("length_ns", "Length", &|r| Cell::Duration(r.length_ns)),
            ("kind", "Kind", &|r| Cell::text(words(r.kind))),
            ("name", "Name", &|r| Cell::text(&r.name)),
            ("device", "Device", &|r| {
                place(r.device.as_deref(), r.thread_or_stream.is_some())
            }),
            ("thread_or_stream", "Thread or stream", &|r| {
                Cell::text_of(&r.thread_or_stream)
            }),
        ],
    )
}

fn place(device: Option<&str>, is_known: bool) -> Cell {
    match device {
        Some(device) => Cell::Text(format!("GPU {device}")),
        None if is_known => Cell::text("host"),
        None => Cell::Absent,
    }
}

fn words(kind: PathKind) -> &'static str {
    match kind {
        PathKind::Operator => "operator",
        PathKind::Python => "Python",
        PathKind::Annotation => "range",
        PathKind::Call => "runtime call",
        PathKind::Untraced => "host, not in the trace",
        PathKind::LaunchDelay => "launch delay",
        PathKind::Compute => "kernel",
        PathKind::Communication => "communication",
        PathKind::Copy => "copy or fill",
        PathKind::Synchronisation => "synchronisation",
        PathKind::Waiting => "device waits, cause not known",
    }
}
