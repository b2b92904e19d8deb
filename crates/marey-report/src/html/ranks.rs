//! The page of many ranks.
//!
//! ```text
//! model     each job's answers, long lists cut, places of ranks as they were
//! columns   job after job: its strips, then the map of its steps, then that of its blocks
//! ```

mod maps;
mod shortened;
mod strips;

use marey_analysis::job::Unread;
use marey_analysis::ranks::{JobAnswers, RanksAnswers, Scaling};
use serde::Serialize;

use super::columns::Columns;
use super::{json, page};
use maps::Map;
use shortened::LeftOut;
use strips::Strips;

/// Jobs that a page has, the first ones.
const MAX_JOBS: usize = 64;
/// Cells of all heat maps of a page.
const MAX_CELLS: usize = 1_200_000;
/// Pieces of all strips of a page.
const MAX_PIECES: usize = 300_000;
/// Files that could not be read, of which a page says why.
const MAX_UNREAD: usize = 200;

/// What the page carries.
#[derive(Serialize)]
struct Model<'a> {
    kind: &'static str,
    jobs: Vec<JobPage>,
    n_jobs_left_out: usize,
    scaling: Option<&'a Scaling>,
    unread: &'a [Unread],
    n_unread_left_out: usize,
    /// Bytes a number, of each column.
    widths: Vec<usize>,
}

/// One job.
#[derive(Serialize)]
struct JobPage {
    /// Its answers, without what is drawn from columns.
    answers: JobAnswers,
    left_out: LeftOut,
    strips: Strips,
    step_map: Option<Map>,
    block_map: Option<Map>,
}

/// The answers about jobs as an HTML page of some megabytes at most, whatever their size.
pub fn html_ranks(answers: &RanksAnswers) -> Vec<u8> {
    let mut columns = Columns::default();
    let jobs = &answers.jobs[..answers.jobs.len().min(MAX_JOBS)];
    let unread = &answers.unread[..answers.unread.len().min(MAX_UNREAD)];
    let n_jobs = jobs.len().max(1);
    let room = Room {
        cells: MAX_CELLS / n_jobs / 2,
        pieces: MAX_PIECES / n_jobs,
    };
    let model = Model {
        kind: "ranks",
        jobs: jobs
            .iter()
            .map(|job| job_page(job, &room, &mut columns))
            .collect(),
        n_jobs_left_out: answers.jobs.len() - jobs.len(),
        scaling: answers.scaling.as_ref(),
        unread,
        n_unread_left_out: answers.unread.len() - unread.len(),
        widths: columns.widths,
    };
    page::page(&json(&model), &columns.bytes)
}

/// How much is drawn of a job.
struct Room {
    /// Cells of one of its two heat maps.
    cells: usize,
    /// Pieces of its strips.
    pieces: usize,
}

fn job_page(job: &JobAnswers, room: &Room, columns: &mut Columns) -> JobPage {
    let strips = strips::strips(job, room.pieces, columns);
    let step_map = job.steps.as_ref();
    let step_map = step_map.map(|turns| maps::map(job, &turns.heat_map, room.cells, columns));
    let block_map = job.blocks.as_ref();
    let block_map = block_map.map(|turns| maps::map(job, &turns.heat_map, room.cells, columns));
    let (answers, left_out) = shortened::shortened(job);
    JobPage {
        answers,
        left_out,
        strips,
        step_map,
        block_map,
    }
}

/// At most `room` of `places`, ascending: the highest scores first, then others evenly.
fn chosen(job: &JobAnswers, places: &[u32], room: usize) -> Vec<u32> {
    if places.len() <= room {
        return places.to_vec();
    }
    let known: std::collections::BTreeSet<u32> = places.iter().copied().collect();
    let scores = job.stragglers.ranks.iter().map(|rank| rank.place);
    let mut kept: std::collections::BTreeSet<u32> = scores
        .filter(|place| known.contains(place))
        .take(room / 2)
        .collect();
    let rest: Vec<u32> = known.difference(&kept).copied().collect();
    let n = room.saturating_sub(kept.len());
    kept.extend((0..n).filter_map(|at| rest.get(at * rest.len() / n)));
    kept.into_iter().collect()
}

#[cfg(test)]
mod tests;
