//! What a trace says, as tables: one file a question. Formats are elsewhere and know nothing of traces.

mod attention;
mod communication;
mod devices;
mod gaps;
mod kernels;
mod tensor_cores;
mod transfers;

use marey_analysis::{DeviceAnswers, TraceAnswers};

use crate::model::Table;

pub use communication::rank_tables;

/// All tables, in the order in which they are worth reading. Those without rows are left out.
pub fn trace_tables(answers: &TraceAnswers) -> Vec<Table> {
    let mut tables = devices::tables(answers);
    for device in &answers.devices {
        let title = |what: &str| of_device(answers, device, what);
        tables.push(gaps::causes(device, title("Idle time by cause")));
        tables.push(gaps::longest(device, title("Longest gaps")));
        tables.push(kernels::classes(device, title("Kernels by class")));
        tables.push(kernels::by_name(device, title("Kernels by name")));
        tables.push(attention::table(device, title("Attention")));
        tables.push(tensor_cores::table(device, title("Tensor cores")));
        tables.push(tensor_cores::unused(
            device,
            title("Largest kernels without tensor cores"),
        ));
        tables.push(transfers::table(device, title("Transfers")));
        tables.push(transfers::by_memory(
            device,
            title("Transfers by the host's memory"),
        ));
        tables.push(transfers::largest(device, title("Largest transfers")));
        tables.push(communication::table(
            &device.communication,
            title("Communication"),
        ));
    }
    tables.push(attention::operators(&answers.attention_operators));
    tables.push(communication::table(
        &answers.host_communication,
        "Communication of the host".into(),
    ));
    if let Some(ranks) = &answers.ranks {
        tables.extend(rank_tables(ranks));
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
