//! What a trace says, as tables: one file a question. Formats are elsewhere and know nothing of traces.

mod attention;
mod communication;
pub(crate) mod devices;
pub(crate) mod document;
pub(crate) mod gaps;
pub(crate) mod kernels;
mod launches;
mod memory;
mod modules;
mod operators;
mod owned_kernels;
pub(crate) mod parts;
mod quality;
mod short;
mod shown;
mod suspicious_durations;
mod synchronisation;
mod tensor_cores;
mod transfers;

use marey_analysis::{DeviceAnswers, TraceAnswers};

pub use communication::rank_tables;
pub(crate) use short::read_tables;
pub(crate) use shown::short;
pub use shown::{ranks_document, trace_document};

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
    let mut tables = devices::tables(answers);
    tables.extend(parts::tables(answers));
    for device in &answers.devices {
        let title = |what: &str| of_device(answers, device, what);
        let first = tables.len();
        tables.push(gaps::causes(device, title("Idle time by cause")));
        tables.push(gaps::longest(device, title("Longest gaps")));
        let by_operation = title("Idle time by what the host did");
        tables.push(gaps::by_host_operation(device, by_operation));
        tables.push(launches::table(device, title("Launches")));
        tables.push(launches::calls(device, title("Launch calls")));
        tables.push(kernels::classes(device, title("Kernels by class")));
        tables.push(kernels::by_name(device, title("Kernels by name")));
        tables.extend(owned_kernels::tables(device, title));
        tables.push(attention::table(device, title("Attention")));
        tables.push(attention::owners(device, title("Attention by owner")));
        tables.push(tensor_cores::table(device, title("Tensor cores")));
        tables.push(tensor_cores::unused(device, title("Largest kernels without tensor cores")));
        tables.push(transfers::table(device, title("Transfers")));
        tables.push(transfers::by_memory(device, title("Transfers by the host's memory")));
        tables.push(transfers::largest(device, title("Largest transfers")));
        tables.push(communication::table(&device.communication, title("Communication")));
        for table in tables.iter_mut().skip(first) {
            table.device = Some(devices::name(answers, device));
        }
        let suspicious = title("Durations that cannot be true");
        tables.push(suspicious_durations::table(device, suspicious));
    }
    tables.push(attention::operators(&answers.attention_operators));
    tables.push(attention::fallbacks(&answers.attention_fallbacks));
    tables.push(communication::table(
        &answers.host_communication,
        "Communication of the host".into(),
    ));
    if let Some(ranks) = &answers.ranks {
        tables.extend(rank_tables(ranks));
    }
    tables.extend(operators::tables(answers));
    tables.extend(modules::tables(answers));
    tables.extend(synchronisation::tables(answers));
    tables.extend(memory::tables(answers));
    tables.push(quality::table(answers));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// A title with its device, if there are several.
fn of_device(answers: &TraceAnswers, device: &DeviceAnswers, what: &str) -> String {
    if answers.devices.len() == 1 {
        return what.to_owned();
    }
    format!("{what} · {}", devices::name(answers, device))
}
