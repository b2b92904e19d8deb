//! What a trace says, as tables: one file a question. Formats are elsewhere and know nothing of traces.

mod attention;
mod critical_path;
mod devices;
mod gaps;
mod hta_compat;
mod kernels;
mod suspicious_durations;
mod transfers;

use marey_analysis::{DeviceAnswers, TraceAnswers};

use crate::model::Table;

pub use hta_compat::hta_tables;

/// All tables, in the order in which they are worth reading. Those without rows are left out.
pub fn trace_tables(answers: &TraceAnswers) -> Vec<Table> {
    let mut tables = devices::tables(answers);
    tables.extend(critical_path::tables(answers));
    for device in &answers.devices {
        let title = |what: &str| of_device(answers, device, what);
        tables.push(gaps::causes(device, title("Idle time by cause")));
        tables.push(gaps::longest(device, title("Longest gaps")));
        tables.push(kernels::classes(device, title("Kernels by class")));
        tables.push(kernels::by_name(device, title("Kernels by name")));
        tables.push(attention::table(device, title("Attention")));
        tables.push(transfers::table(device, title("Transfers")));
        let suspicious = title("Durations that cannot be true");
        tables.push(suspicious_durations::table(device, suspicious));
    }
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
