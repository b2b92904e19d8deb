//! The processes of one job, before it is known who stands for which rank.

use std::collections::BTreeSet;

use crate::job::RankSummary;

/// Processes that belong together.
pub(super) struct JobProcesses<'a> {
    /// Empty when not known.
    pub(super) job_id: String,
    /// Those that may stand for ranks.
    pub(super) processes: Vec<&'a RankSummary>,
    /// Those of attempts before, which do not.
    pub(super) earlier: Vec<&'a RankSummary>,
}

/// All numbers of ranks that are said, ascending.
pub(super) fn world_sizes(processes: &[&RankSummary]) -> BTreeSet<u32> {
    let said = processes.iter().filter_map(|one| one.process.world_size);
    said.collect()
}
