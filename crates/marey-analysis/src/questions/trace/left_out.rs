//! What was left out of answers, so that none of them fills the memory.

use serde::Serialize;

use super::{DeviceAnswers, TraceAnswers};

/// Rows of a list that answers hold at most; those that come first are kept. Every total is that of all rows, also of those that are
/// left out.
const MOST_ROWS: usize = 10_000;

/// Devices, likewise.
pub(super) const MOST_DEVICES: usize = 1_024;

/// Rows of a list that were left out since there were too many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// Which list, by its place in the answers: `devices`, `kernels.rows`.
    pub list: String,
    /// Of which device, as the trace calls it; `None` for lists that are of no device.
    pub device: Option<String>,
    /// How many rows.
    pub n_rows: u64,
}

/// Keeps the first rows of lists, and says how many others there were.
pub(super) struct Shortening<'a> {
    pub(super) found: &'a mut Vec<LeftOut>,
    pub(super) device: Option<&'a str>,
    pub(super) most: usize,
}

impl Shortening<'_> {
    /// Of the lists of this name, of which there may be several, or none.
    fn lists<'b, T: 'b>(&mut self, list: &str, each: impl IntoIterator<Item = &'b mut Vec<T>>) {
        let mut n_rows = 0_u64;
        for rows in each.into_iter().filter(|rows| rows.len() > self.most) {
            n_rows = n_rows.saturating_add((rows.len() - self.most) as u64);
            rows.truncate(self.most);
            rows.shrink_to_fit();
        }
        self.add(list, n_rows);
    }

    fn list<T>(&mut self, list: &str, rows: &mut Vec<T>) {
        self.lists(list, [rows]);
    }

    pub(super) fn add(&mut self, list: &str, n_rows: u64) {
        if n_rows > 0 {
            let device = self.device.map(str::to_owned);
            self.found.push(LeftOut { list: list.to_owned(), device, n_rows });
        }
    }
}

/// Shortens the lists of a device, and says so.
pub(super) fn shorten_device(answers: &mut DeviceAnswers, found: &mut Vec<LeftOut>) {
    let mut lists = Shortening { found, device: Some(&answers.device), most: MOST_ROWS };
    let owned = &mut answers.owned_kernels;
    lists.list("kernels.rows", &mut answers.kernels.rows);
    lists.list("owned_kernels.by_operator", &mut owned.by_operator);
    lists.list("owned_kernels.by_shape", &mut owned.by_shape);
    lists.list("owned_kernels.by_module", &mut owned.by_module);
    lists.list("attention_owners", &mut answers.attention_owners);
    lists.list("idle_gaps.host_operations", &mut answers.idle_gaps.host_operations);
    lists.list("transfers", &mut answers.transfers);
    lists.list("transfers_by_memory", &mut answers.transfers_by_memory);
    lists.list("communication", &mut answers.communication);
    lists.lists("work.rows", answers.work.iter_mut().map(|work| &mut work.rows));
}

/// Shortens the lists that are of no device, and says so.
pub(super) fn shorten_host(answers: &mut TraceAnswers) {
    let mut lists = Shortening { found: &mut answers.left_out, device: None, most: MOST_ROWS };
    lists.list("operators.rows", &mut answers.operators.rows);
    lists.list("operators.by_shape", &mut answers.operators.by_shape);
    lists.list("modules.rows", &mut answers.modules.rows);
    lists.list("modules.types", &mut answers.modules.types);
    lists.list("attention_operators", &mut answers.attention_operators);
    lists.list("synchronisation.calls", &mut answers.synchronisation.calls);
    lists.list("synchronisation.places", &mut answers.synchronisation.places);
    lists.list("host_communication", &mut answers.host_communication);
    lists.most = MOST_DEVICES;
    lists.list("memory", &mut answers.memory);
    lists.most = MOST_ROWS;
    let phases = answers.parts.phases.iter_mut();
    lists.lists("parts.phases.parts", phases.map(|list| &mut list.parts));
    let memory = answers.memory.iter_mut();
    lists.lists("memory.operators", memory.map(|memory| &mut memory.operators));
}
