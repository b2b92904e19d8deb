//! When was something compiled?

use std::collections::BTreeMap;

use serde::Serialize;

use super::TraceContext;
use crate::intervals::{Interval, length_ns, union};

/// Time in which torch.compile traced, lowered or compiled, as it tells the profiler itself (`dynamo_timed`). Not the calls of what was
/// compiled.
///
/// ```text
/// host     |------- dynamo -------||--- Torch-Compiled Region ---|
///            |-- compile_file --|
/// counts   |----------------------|
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Compilations {
    /// Stretches, disjoint in each document.
    pub count: u64,
    /// Their durations together.
    pub total_ns: u64,
    /// The first 1000, by document and in order.
    pub first: Vec<Compilation>,
}

/// One stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Compilation {
    /// Which document of the file.
    pub document: u32,
    /// When, after the first event of the trace.
    pub time: Interval,
}

/// Stretches that are listed.
const MOST_LISTED: usize = 1_000;
/// Names of ranges that are compiling; besides, all with this in them.
const NAMES: [&str; 5] =
    ["dynamo", "entire_frame_compile", "backend_compile", "compile_file", "async_compile.wait"];
const TIMED: &str = "(dynamo_timed)";

/// A range of this name is compiling, not what was compiled.
pub fn is_compiling(name: &str) -> bool {
    NAMES.contains(&name) || name.ends_with(TIMED)
}

/// All compiling. Looks at each name once: O(n).
pub fn compilations(context: &TraceContext<'_>) -> Compilations {
    let trace = context.trace;
    let mut by_document: BTreeMap<u32, Vec<Interval>> = BTreeMap::new();
    for row in trace.rows_named(is_compiling).filter(|row| context.has_row(*row)) {
        let times = by_document.entry(trace.document_of(row)).or_default();
        times.push(trace.rows.time_of(row));
    }
    let mut found = Compilations::default();
    for (document, times) in by_document {
        let times = union(times);
        found.count += times.len() as u64;
        found.total_ns = found.total_ns.saturating_add(length_ns(&times));
        let room = MOST_LISTED.saturating_sub(found.first.len());
        let listed = times.into_iter().take(room);
        found.first.extend(listed.map(|time| Compilation { document, time }));
    }
    found
}
