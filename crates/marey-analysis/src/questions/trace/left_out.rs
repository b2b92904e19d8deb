//! What was left out of answers, so that none of them fills the memory.

use serde::Serialize;

use super::{DeviceAnswers, TraceAnswers};

/// How much answers hold at most. Every total is that of all rows, also of those that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Rows of a list; those that come first are kept.
    pub rows: usize,
    /// Devices; likewise.
    pub devices: usize,
}

impl Default for AnswerLimits {
    /// 10,000 rows, 1,024 devices.
    fn default() -> Self {
        Self { rows: 10_000, devices: 1_024 }
    }
}

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

/// Shortens the lists of a device, and says so.
pub(super) fn shorten_device(
    answers: &mut DeviceAnswers,
    limits: AnswerLimits,
    found: &mut Vec<LeftOut>,
) {
    let most = limits.rows;
    let owned = &mut answers.owned_kernels;
    let lists = [
        ("kernels.rows", shorten(&mut answers.kernels.rows, most)),
        ("owned_kernels.by_operator", shorten(&mut owned.by_operator, most)),
        ("owned_kernels.by_shape", shorten(&mut owned.by_shape, most)),
        ("owned_kernels.by_module", shorten(&mut owned.by_module, most)),
        ("attention_owners", shorten(&mut answers.attention_owners, most)),
        ("idle_gaps.host_operations", shorten(&mut answers.idle_gaps.host_operations, most)),
        ("transfers", shorten(&mut answers.transfers, most)),
        ("transfers_by_memory", shorten(&mut answers.transfers_by_memory, most)),
        ("communication", shorten(&mut answers.communication, most)),
    ];
    add(found, &lists, Some(&answers.device));
}

/// Shortens the lists that are of no device, and says so.
pub(super) fn shorten_host(answers: &mut TraceAnswers, limits: AnswerLimits) {
    let most = limits.rows;
    let lists = [
        ("operators.rows", shorten(&mut answers.operators.rows, most)),
        ("operators.by_shape", shorten(&mut answers.operators.by_shape, most)),
        ("modules.rows", shorten(&mut answers.modules.rows, most)),
        ("modules.types", shorten(&mut answers.modules.types, most)),
        ("attention_operators", shorten(&mut answers.attention_operators, most)),
        ("synchronisation.calls", shorten(&mut answers.synchronisation.calls, most)),
        ("synchronisation.places", shorten(&mut answers.synchronisation.places, most)),
        ("host_communication", shorten(&mut answers.host_communication, most)),
        ("memory", shorten(&mut answers.memory, limits.devices)),
    ];
    add(&mut answers.left_out, &lists, None);
    let parts = &mut answers.parts;
    let phases = parts.phases.iter_mut();
    let phases = phases.map(|list| shorten(&mut list.parts, most));
    let phases = phases.fold(0, u64::saturating_add);
    add(&mut answers.left_out, &[("parts.phases.parts", phases)], None);
    let memory = answers.memory.iter_mut();
    let operators = memory.map(|memory| shorten(&mut memory.operators, most));
    let n_operators = operators.fold(0, u64::saturating_add);
    add(&mut answers.left_out, &[("memory.operators", n_operators)], None);
}

pub(super) fn add(found: &mut Vec<LeftOut>, lists: &[(&str, u64)], device: Option<&str>) {
    for (list, n_rows) in lists.iter().filter(|(_, n_rows)| *n_rows > 0) {
        found.push(LeftOut {
            list: (*list).to_owned(),
            device: device.map(str::to_owned),
            n_rows: *n_rows,
        });
    }
}

/// Keeps the first rows of a list, and tells how many others there were.
fn shorten<T>(rows: &mut Vec<T>, most: usize) -> u64 {
    let n_more = rows.len().saturating_sub(most) as u64;
    if n_more > 0 {
        rows.truncate(most);
        rows.shrink_to_fit();
    }
    n_more
}
