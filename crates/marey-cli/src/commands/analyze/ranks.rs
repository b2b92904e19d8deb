//! Files of the ranks of one job, taken together.
//!
//! ```text
//! rank0.json  rank 0 of 2 ──► calls ╮
//! rank1.json  rank 1 of 2 ──► calls ┴──► what they waited for each other
//! ```

use std::collections::BTreeSet;

use marey_analysis::job::rank_in_name;
use marey_analysis::{RankCalls, Thresholds, across_ranks, rank_findings};
use marey_report::TraceRanks;

use super::read::Said;

/// What files of different ranks say together; `None` when they are of fewer than two, name a rank twice, or disagree about how many there
/// are: they are not of one job then.
pub(super) fn together(said: &[Said], thresholds: &Thresholds) -> Option<TraceRanks> {
    let mut all: Vec<RankCalls> = Vec::new();
    let (mut world_sizes, mut n_files, mut span_ns) = (BTreeSet::new(), 0, 0);
    for one in said {
        let Said::Trace(file, calls) = one else {
            continue;
        };
        let Some(answers) = file.answers.as_ref().filter(|_| !calls.is_empty()) else {
            continue;
        };
        n_files += 1;
        span_ns = answers.span_ns.max(span_ns);
        world_sizes.extend(answers.documents.iter().filter_map(|d| d.world_size));
        all.extend(named(calls, &file.file));
    }
    let ranks: Option<BTreeSet<i64>> = all.iter().map(|calls| calls.rank).collect();
    let is_one_job = ranks?.len() == all.len() && world_sizes.len() <= 1;
    if n_files < 2 || !is_one_job {
        return None;
    }
    all.sort_by_key(|calls| calls.rank);
    let communication = across_ranks(&all)?;
    Some(TraceRanks { findings: rank_findings(&communication, span_ns, thresholds), communication })
}

/// With the rank that the file is named after where the trace does not say it.
fn named(calls: &[RankCalls], file: &str) -> Vec<RankCalls> {
    let mut calls = calls.to_vec();
    if let [only] = calls.as_mut_slice() {
        only.rank = only.rank.or_else(|| rank_in_name(file).map(i64::from));
    }
    calls
}
