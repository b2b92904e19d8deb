//! Summaries of many processes: the value that is merged.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{RankProcess, RankSummary, Source};

/// What is known of the processes of one job or several. It is a set: merging is a union, so order, grouping and repetition change
/// nothing. Of two summaries of one process the better one stays. Its size is that of the summaries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranks {
    summaries: BTreeMap<Identity, RankSummary>,
    unread: BTreeMap<String, Unread>,
}

/// A process is the same whatever file tells of it. What says neither where nor when it ran is known by its file.
type Identity = (String, Option<u32>, String, u32, u64, Option<String>);

/// A file of which nothing is used.
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
pub struct Unread {
    /// The file, as whoever tried calls it.
    pub file: String,
    /// The rank that its name tells.
    pub rank: Option<u32>,
    /// What is wrong with it.
    pub why: String,
    /// Nothing is: several ranks were merged into it, and what is asked of one rank is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    pub is_merged: bool,
}

/// A document of summaries cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RanksError {
    /// It is no JSON, or not of this shape.
    #[error("this is no document of rank summaries: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A later version of Marey wrote it.
    #[error(
        "this document of rank summaries is of version {0}; this Marey reads version {VERSION} and earlier"
    )]
    Later(u32),
}

/// Version of the document.
const VERSION: u32 = 3;

/// How the document looks.
#[derive(Serialize, Deserialize)]
struct Document<R, U> {
    marey_rank_summaries: u32,
    ranks: R,
    unread: U,
}

impl Ranks {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a process. Numbers that are none become unknown, since no document can have them.
    pub fn add(&mut self, mut summary: RankSummary) {
        summary.keep_finite();
        let identity = identity(&summary);
        match self.summaries.get(&identity) {
            Some(kept) if !is_better(&summary, kept) => {}
            _ => {
                self.summaries.insert(identity, summary);
            }
        }
    }

    /// Adds a file that could not be read. Of several reasons for one file the first in order stays.
    pub fn add_unread(&mut self, unread: Unread) {
        match self.unread.get(&unread.file) {
            Some(kept) if *kept <= unread => {}
            _ => {
                self.unread.insert(unread.file.clone(), unread);
            }
        }
    }

    /// Adds everything that another one knows.
    pub fn merge(&mut self, other: Self) {
        other.summaries.into_values().for_each(|one| self.add(one));
        other.unread.into_values().for_each(|one| self.add_unread(one));
    }

    /// All processes: by job, then by rank, those without one first, then by host, number and start.
    pub fn summaries(&self) -> impl ExactSizeIterator<Item = &RankSummary> {
        self.summaries.values()
    }

    /// Files that could not be read, by name.
    pub fn unread(&self) -> impl ExactSizeIterator<Item = &Unread> {
        self.unread.values()
    }

    /// As a document: what [`Self::from_json`] reads gives an equal value.
    pub fn to_json(&self) -> Vec<u8> {
        let document = Document {
            marey_rank_summaries: VERSION,
            ranks: self.summaries.values().collect::<Vec<&RankSummary>>(),
            unread: self.unread.values().collect::<Vec<&Unread>>(),
        };
        serde_json::to_vec(&document).unwrap_or_default()
    }

    /// From a document of [`Self::to_json`].
    ///
    /// # Errors
    /// When it is of another shape, or of a later version.
    pub fn from_json(document: &[u8]) -> Result<Self, RanksError> {
        #[derive(Deserialize)]
        struct Versioned {
            marey_rank_summaries: u32,
        }
        let Versioned { marey_rank_summaries: version } = serde_json::from_slice(document)?;
        if version > VERSION {
            return Err(RanksError::Later(version));
        }
        let document: Document<Vec<RankSummary>, Vec<Unread>> = serde_json::from_slice(document)?;
        let mut ranks = Self::new();
        document.ranks.into_iter().for_each(|one| ranks.add(one));
        document.unread.into_iter().for_each(|one| ranks.add_unread(one));
        Ok(ranks)
    }
}

impl FromIterator<RankSummary> for Ranks {
    fn from_iter<I: IntoIterator<Item = RankSummary>>(summaries: I) -> Self {
        let mut ranks = Self::new();
        summaries.into_iter().for_each(|one| ranks.add(one));
        ranks
    }
}

fn identity(summary: &RankSummary) -> Identity {
    let RankProcess { job_id, rank, host, pid, start_unix_ns, .. } = &summary.process;
    let is_anonymous = *pid == 0 && *start_unix_ns == 0;
    let file = is_anonymous.then(|| summary.file.clone());
    (job_id.clone(), *rank, host.clone(), *pid, *start_unix_ns, file)
}

/// Which of two summaries of a process is better: by preference, and so that nothing depends on order, by what they say.
fn is_better(one: &RankSummary, kept: &RankSummary) -> bool {
    let said = |summary: &RankSummary| serde_json::to_vec(summary).unwrap_or_default();
    match preference(one).cmp(&preference(kept)) {
        Ordering::Less => true,
        Ordering::Equal => one != kept && said(one) < said(kept),
        Ordering::Greater => false,
    }
}

/// The least is the best: a better source, the longer one (a capture grows), the first by name.
fn preference(summary: &RankSummary) -> (Source, std::cmp::Reverse<u64>, &str) {
    (summary.source, std::cmp::Reverse(summary.wall_ns), &summary.file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Work;

    #[test]
    fn what_was_written_and_read_again_is_the_same_to_the_last_bit() {
        // A fast reader takes the next float for this one.
        let rate = 3_505_696.757_230_499_8;
        let ranks = Ranks::from_iter([RankSummary {
            work: Work { blocks_per_second: Some(rate), ..Work::default() },
            ..RankSummary::default()
        }]);
        assert_eq!(Ranks::from_json(&ranks.to_json()).unwrap(), ranks);
    }
}
