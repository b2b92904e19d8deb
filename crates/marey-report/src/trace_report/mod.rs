//! What a trace says, as tables: one file a question. Formats are elsewhere and know nothing of traces.

mod columns;
mod communication;
mod device;
pub(crate) mod devices;
pub(crate) mod document;
pub(crate) mod gaps;
mod host;
mod launches;
pub(crate) mod parts;
mod quality;
mod shown;
mod what_if;

use marey_analysis::TraceAnswers;

use communication::communication;
pub use communication::rank_tables;
pub(crate) use shown::short;
pub use shown::{ranks_document, trace_document};
pub use what_if::what_if_document;

use crate::document::Table;
use crate::first_screen::{FirstScreen, findings_table};
use crate::model::{TraceFile, TraceRanks};

/// Every table of a file, for programs: what it is, what is the matter, what it answers.
pub fn trace_file_tables(file: &TraceFile) -> Vec<Table> {
    let mut tables = vec![document::facts(file)];
    tables.extend(match FirstScreen::of_trace(file) {
        Some(screen) => screen.tables(&file.findings),
        None => vec![findings_table(&file.findings, None)],
    });
    tables.extend(file.answers.iter().flat_map(trace_tables));
    tables.retain(has_rows);
    let tables = tables.into_iter();
    tables.map(|table| table.of("file", &file.file)).collect()
}

/// The answers of a file as people read them.
pub(crate) fn shown_tables(file: &TraceFile) -> Vec<Table> {
    let tables = file.answers.iter().flat_map(trace_tables);
    tables.map(parts::for_people).collect()
}

/// What the rules came to is always there, so that programs need not ask whether it is.
fn has_rows(table: &Table) -> bool {
    table.key == "findings" || !table.rows.is_empty()
}

/// Every table about several files together, for programs; none of them is of one file.
pub fn all_rank_tables(ranks: &TraceRanks) -> Vec<Table> {
    let mut tables = vec![findings_table(&ranks.findings, None)];
    tables.extend(rank_tables(&ranks.communication));
    tables.retain(has_rows);
    let tables = tables.into_iter();
    tables.map(|table| table.of("file", "")).collect()
}

/// The answers, in the order in which they are worth reading, what was not read last. Tables without rows are left out.
pub fn trace_tables(answers: &TraceAnswers) -> Vec<Table> {
    let mut tables: Vec<Table> = answers.what_if.iter().map(what_if::table).collect();
    tables.extend(devices::tables(answers));
    tables.extend(parts::tables(answers));
    for device in &answers.devices {
        let name = devices::name(answers, device);
        let first = tables.len();
        tables.extend(device::tables(device));
        for table in tables.iter_mut().skip(first) {
            table.device = Some(name.clone());
        }
        tables.push(device::suspicious_durations(device));
        if answers.devices.len() > 1 {
            for table in tables.iter_mut().skip(first) {
                table.title = format!("{} · {name}", table.title);
            }
        }
    }
    tables.push(host::attention(&answers.attention_operators));
    tables.push(host::attention_fallbacks(&answers.attention_fallbacks));
    tables.push(communication(&answers.host_communication, "Communication of the host"));
    tables.extend(answers.ranks.iter().flat_map(rank_tables));
    tables.extend(host::tables(answers));
    tables.push(quality::table(answers));
    tables.retain(|table| !table.rows.is_empty());
    tables
}
