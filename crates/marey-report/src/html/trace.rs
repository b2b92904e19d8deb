//! What a page says of traces: their tables, and what it says of them before those.

use serde::Serialize;

use super::trace_facts::{DeviceFacts, StepFacts, device_facts, step_facts};
use crate::document::{Cell, Column, Table};
use crate::model::{TraceFile, TraceRanks};
use crate::trace_report::{rank_tables, shown_tables};

/// Bytes of all tables together, as JSON.
const MAX_BYTES: usize = 3_000_000;
/// Rows of a table, tried one after the other until all of them are small enough.
const LIMITS: [usize; 5] = [2_000, 500, 150, 50, 15];
/// Characters of a text in a cell.
const MAX_TEXT: usize = 2_000;

/// One file.
#[derive(Debug, Serialize)]
struct FileTables<'a> {
    /// As in [`TraceFile`]; not safe to print.
    file: &'a str,
    /// Why it could not be read.
    problem: Option<&'a str>,
    devices: Vec<DeviceFacts>,
    steps: Vec<StepFacts>,
    tables: Vec<Short>,
}

/// A table with its first rows.
#[derive(Debug, Serialize)]
struct Short {
    key: &'static str,
    title: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    notes: Vec<String>,
    /// Rows that are not there.
    n_left_out: usize,
}

/// The tables of all files as JSON, with as many of their first rows as there is room for.
pub(super) fn json(files: &[TraceFile], ranks: Option<&TraceRanks>) -> Vec<u8> {
    let mut json = Vec::new();
    for limit in LIMITS {
        json = super::json(&shortened(files, ranks, limit));
        if json.len() <= MAX_BYTES {
            break;
        }
    }
    json
}

fn shortened<'a>(
    files: &'a [TraceFile],
    ranks: Option<&'a TraceRanks>,
    limit: usize,
) -> Vec<FileTables<'a>> {
    let short = |tables: Vec<Table>| -> Vec<Short> {
        let short = tables.into_iter().map(|mut table| {
            let n_left_out = table.rows.len().saturating_sub(limit);
            table.rows.truncate(limit);
            table.rows.iter_mut().flatten().for_each(shorten);
            Short {
                key: table.key,
                title: table.title,
                columns: table.columns,
                rows: table.rows,
                notes: table.notes,
                n_left_out,
            }
        });
        short.collect()
    };
    let files = files.iter().map(|file| FileTables {
        file: &file.file,
        problem: file.problem.as_deref(),
        devices: file.answers.as_ref().map_or_else(Vec::new, device_facts),
        steps: file.answers.as_ref().map_or_else(Vec::new, step_facts),
        tables: short(shown_tables(file)),
    });
    let together = ranks.map(|ranks| FileTables {
        file: "all ranks",
        problem: None,
        devices: Vec::new(),
        steps: Vec::new(),
        tables: short(rank_tables(&ranks.communication)),
    });
    files.chain(together).collect()
}

fn shorten(cell: &mut Cell) {
    let Cell::Text(text) = cell else { return };
    if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
        *text = format!("{}…", &text[..end]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_analysis::import::chrome::{Limits, read};
    use marey_analysis::{Findings, trace_answers};

    /// As many kernels, each with a name of its own.
    fn file(n: usize, name: &str) -> TraceFile {
        let kernel = |n: usize| {
            format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "{name}{n}", "pid": 0, "tid": 7, "ts": {n}, "dur": 1, "args": {{"stream": 7}}}}"#
            )
        };
        let events: Vec<String> = (0..n).map(kernel).collect();
        let json = format!(r#"{{"traceEvents": [{}]}}"#, events.join(","));
        let trace = read(json.as_bytes(), Limits::default()).unwrap();
        TraceFile {
            file: "a.json".into(),
            answers: Some(trace_answers(&trace, None)),
            findings: Findings::default(),
            problem: None,
        }
    }

    fn kernels(json: &[u8]) -> serde_json::Value {
        let files: serde_json::Value = serde_json::from_slice(json).unwrap();
        let tables = files[0]["tables"].as_array().unwrap().clone();
        let is_meant = |table: &serde_json::Value| table["key"] == "kernels";
        tables.into_iter().find(is_meant).unwrap()
    }

    #[test]
    fn tables_are_cut_and_it_is_said_by_how_much() {
        let whole = kernels(&json(&[file(20, "k")], None));
        assert_eq!(whole["rows"].as_array().unwrap().len(), 20);
        assert_eq!(whole["n_left_out"], 0);
        let long = json(&[file(2_500, &"x".repeat(2_100))], None);
        assert!(long.len() <= MAX_BYTES, "{}", long.len());
        let cut = kernels(&long);
        let rows = cut["rows"].as_array().unwrap();
        assert_eq!(
            rows.len() as u64 + cut["n_left_out"].as_u64().unwrap(),
            2_500
        );
        let name = rows[0][0]["value"].as_str().unwrap();
        assert_eq!(name.chars().count(), MAX_TEXT + 1);
    }
}
