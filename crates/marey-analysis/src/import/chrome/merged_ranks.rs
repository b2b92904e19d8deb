//! Ranks that a tool put into one document, each as a document of its own: it has its own steps, and counts its correlations from 1.
//!
//! ```text
//! process     [TP00] 4242   [TP00] 0   [TP01] 4242     rank 0: python   rank 1: python
//! document    0             0          1               0                1
//! ```

use std::collections::BTreeMap;

use super::tracks::{Process, Tracks};
use super::{Metadata, Trace};

/// Sets them apart. Returns how many ranks are in the document that has most of them; 0 where none says its rank.
pub(super) fn set_apart(trace: &mut Trace) -> u64 {
    let Trace { tracks, metadata, .. } = trace;
    let ranks = tracks.processes.iter().map(|process| rank_of(process, tracks));
    let ranks: Vec<Option<String>> = ranks.collect();
    let mut documents: BTreeMap<(u32, String), u32> = BTreeMap::new();
    let mut n_ranks: BTreeMap<u32, u64> = BTreeMap::new();
    for (process, rank) in tracks.processes.iter_mut().zip(ranks) {
        let Some(rank) = rank else { continue };
        let number = number_in(&rank);
        process.document = *documents.entry((process.document, rank)).or_insert_with(|| {
            let n_ranks = n_ranks.entry(process.document).or_default();
            *n_ranks += 1;
            let Some(said) = metadata.get_mut(process.document as usize) else {
                return process.document;
            };
            if *n_ranks == 1 {
                said.rank = number.or(said.rank);
                return process.document;
            }
            let said = Metadata { rank: number, ..said.clone() };
            metadata.push(said);
            u32::try_from(metadata.len() - 1).unwrap_or(u32::MAX)
        });
    }
    n_ranks.into_values().max().unwrap_or_default()
}

/// What a tool wrote before a process, or before its name as `marey export` does.
fn rank_of(process: &Process, tracks: &Tracks) -> Option<String> {
    let label = tracks.label(process.pid);
    let before = label.strip_prefix('[').and_then(|label| label.split_once(']'));
    let named = || process.name.as_deref()?.strip_prefix("rank ")?.split_once(": ");
    before.or_else(named).map(|(rank, _)| rank.to_owned())
}

/// `TP03` is 3; of several numbers none is the rank.
fn number_in(rank: &str) -> Option<i64> {
    rank.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}
