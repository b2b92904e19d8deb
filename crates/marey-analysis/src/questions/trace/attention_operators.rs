//! Which attention did the program call, and whose was it?

use std::collections::BTreeMap;

use serde::Serialize;

use super::TraceContext;
use super::attention::AttentionPath;
use super::attention_calls::{AttentionCalls, module_type};

/// Calls of attention operators of one owner and path. A call is the outermost operator of attention: those within it say the
/// path. Of eager attention it is the softmax, and its time that of the products and what is between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AttentionOperator {
    /// The innermost module around it, without its number: `T5Attention`. `None` when the trace has no modules.
    pub owner: Option<String>,
    /// The operator that was called.
    pub operator: String,
    /// Which path it took; `None` when neither its name nor the operators within it tell.
    pub path: Option<AttentionPath>,
    /// The operator that the path was told by, likewise.
    pub told_by: Option<String>,
    /// How many calls.
    pub count: u64,
    /// Their durations on the host together.
    pub host_ns: u64,
    /// Durations of the kernels, copies and fills that were launched in them.
    pub device_ns: u64,
    /// How many of these there were.
    pub n_launched: u64,
}

/// The attention that operators called, what took most on the host first. Empty when there is none. O(calls).
pub fn attention_operators(
    context: &TraceContext<'_>,
    calls: &AttentionCalls,
) -> Vec<AttentionOperator> {
    let mut by_key: BTreeMap<(Option<&str>, &str, Option<AttentionPath>), AttentionOperator> =
        BTreeMap::new();
    let trace = context.trace;
    let mut calls: Vec<_> = calls.by_row.iter().collect();
    calls.sort_by_key(|(row, _)| trace.rows.start_of(**row));
    for (row, call) in calls {
        let mut around = context.owners.around(*row);
        let owner = around.find_map(|row| module_type(context, row));
        let name = trace.name_of(*row);
        let path = call.told.map(|(path, _)| path);
        let found = by_key.entry((owner, name, path)).or_insert_with(|| AttentionOperator {
            owner: owner.map(str::to_owned),
            operator: name.to_owned(),
            path,
            told_by: call.told.map(|(_, row)| trace.name_of(row).to_owned()),
            count: 0,
            host_ns: 0,
            device_ns: 0,
            n_launched: 0,
        });
        found.count += 1;
        found.host_ns = found.host_ns.saturating_add(call.host_ns);
        found.device_ns = found.device_ns.saturating_add(call.device_ns);
        found.n_launched += call.n_launched;
    }
    let mut found: Vec<AttentionOperator> = by_key.into_values().collect();
    found.sort_by_key(|row| std::cmp::Reverse((row.host_ns, row.count)));
    found
}
