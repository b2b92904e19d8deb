//! Moments that all ranks of a job come by at about the same time.

use marey::Run;

use crate::job::RankSummary;

/// The event that `marey.distributed.start_mark()` records.
const MARK: &str = "start_mark";

/// When it set the first marks, and how many others it set.
pub(super) fn marks(run: &Run) -> (Vec<u64>, u64) {
    let events = run.events.iter().filter(|event| event.name == MARK);
    let mut marks: Vec<u64> = events.map(|mark| mark.at_ns).collect();
    marks.sort_unstable();
    let n_all = marks.len();
    marks.truncate(RankSummary::MAX_MARKS);
    let n_left_out = (n_all - marks.len()) as u64;
    (marks, n_left_out)
}
