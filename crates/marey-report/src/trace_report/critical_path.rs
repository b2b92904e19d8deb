//! What the end of a trace waited for.

use marey_analysis::{CriticalPath, PathKind, TraceAnswers};

use crate::document::{Cell, Table};

/// By kind, by name, by place, and the longest segments, of each document.
pub(super) fn tables(answers: &TraceAnswers) -> Vec<Table> {
    let paths = answers.critical_path.iter();
    let tables = paths.flat_map(|path| {
        let title = |what: &str| of_document(answers, path, what);
        [
            kinds(path, title("Critical path")),
            names(path, title("Critical path by name")),
            places(path, title("Critical path by thread and stream")),
            segments(path, title("Longest segments of the critical path")),
        ]
    });
    tables.collect()
}

/// A title with its document, if there are several.
fn of_document(answers: &TraceAnswers, path: &CriticalPath, what: &str) -> String {
    if answers.documents.len() < 2 {
        return what.to_owned();
    }
    let document = answers.documents.get(path.document as usize);
    match document.and_then(|document| document.rank) {
        Some(rank) => format!("{what} · rank {rank}"),
        None => format!("{what} · document {}", path.document),
    }
}

fn kinds(path: &CriticalPath, title: String) -> Table {
    let mut table = Table::new(
        "critical_path",
        title,
        &[
            ("kind", "Kind"),
            ("total_ns", "Total"),
            ("ratio", "Share"),
            ("n_segments", "Segments"),
        ],
    );
    for row in &path.kinds {
        table.row(vec![
            Cell::text(words(row.kind)),
            Cell::Duration(row.total_ns),
            Cell::ratio(row.ratio),
            Cell::Count(row.n_segments),
        ]);
    }
    if !table.rows.is_empty() {
        let sum = "Found backwards from the last event: what did it wait for? The parts add up to the whole time.";
        table.notes.push(sum.into());
    }
    table
}

fn names(path: &CriticalPath, title: String) -> Table {
    let mut table = Table::new(
        "critical_path_by_name",
        title,
        &[
            ("name", "Name"),
            ("kind", "Kind"),
            ("total_ns", "Total"),
            ("ratio", "Share"),
            ("n_segments", "Segments"),
            ("longest_ns", "Longest"),
        ],
    );
    for row in &path.names {
        table.row(vec![
            Cell::text(row.name.as_str()),
            Cell::text(words(row.kind)),
            Cell::Duration(row.total_ns),
            Cell::ratio(row.ratio),
            Cell::Count(row.n_segments),
            Cell::Duration(row.longest_ns),
        ]);
    }
    table
}

fn places(path: &CriticalPath, title: String) -> Table {
    let mut table = Table::new(
        "critical_path_by_place",
        title,
        &[
            ("device", "Device"),
            ("thread_or_stream", "Thread or stream"),
            ("total_ns", "Total"),
            ("ratio", "Share"),
            ("n_segments", "Segments"),
        ],
    );
    for row in &path.places {
        table.row(vec![
            place(row.device.as_deref(), row.thread_or_stream.is_some()),
            Cell::known(row.thread_or_stream.clone(), Cell::Text),
            Cell::Duration(row.total_ns),
            Cell::ratio(row.ratio),
            Cell::Count(row.n_segments),
        ]);
    }
    table
}

fn segments(path: &CriticalPath, title: String) -> Table {
    let mut table = Table::new(
        "critical_path_segments",
        title,
        &[
            ("start_ns", "At"),
            ("length_ns", "Length"),
            ("kind", "Kind"),
            ("name", "Name"),
            ("device", "Device"),
            ("thread_or_stream", "Thread or stream"),
        ],
    );
    for row in &path.longest {
        table.row(vec![
            Cell::Moment(row.start_ns),
            Cell::Duration(row.length_ns),
            Cell::text(words(row.kind)),
            Cell::text(row.name.as_str()),
            place(row.device.as_deref(), row.thread_or_stream.is_some()),
            Cell::known(row.thread_or_stream.clone(), Cell::Text),
        ]);
    }
    table
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
