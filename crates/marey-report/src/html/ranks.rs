//! The page of many ranks.
//!
//! ```text
//! model     job after job: what is read of it, and what pictures need to know of its ranks
//! columns   job after job: its strips, then the map of its steps, then that of its blocks
//! ```

mod maps;
mod strips;

use marey_analysis::ranks::{JobAnswers, MemberState, RanksAnswers, StragglerVerdict};
use serde::Serialize;

use super::columns::Columns;
use super::contents::{Contents, MAX_BYTES, Tab, shorten_text};
use super::page::{self, Model};
use crate::document::{Block, Document, ListedFindings};
use crate::first_screen::{FirstScreen, Places};
use crate::quantity::counted;
use crate::rank_report::{RankedJob, job_tables, jobs_tables};
use maps::DrawnMap;
use strips::Strips;

/// Jobs that a page has, the first ones.
const MAX_JOBS: usize = 64;
/// Cells of all heat maps of a page.
const MAX_CELLS: usize = 1_200_000;
/// Pieces of all strips of a page.
const MAX_PIECES: usize = 300_000;
/// With more ranks without a strip than these, they have no rows of their own.
const MAX_ABSENT: usize = 64;

/// One job.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct JobPage<'a> {
    /// Above the pictures, then below them.
    contents: Contents<'a>,
    span_ns: u64,
    ranks: Vec<Rank>,
    /// Ranks of which nothing is known, by number, and whether there is a file that could not be read.
    absent: Vec<(u32, bool)>,
    /// Places of ranks, the slowest first, then those of which it is not known.
    by_score: Vec<u32>,
    strips: Strips,
    step_map: Option<DrawnMap>,
    block_map: Option<DrawnMap>,
}

/// What pictures need to know of a rank.
#[derive(Serialize, schemars::JsonSchema)]
struct Rank {
    /// `3`, or the process.
    label: String,
    host: String,
    state: MemberState,
    is_slow: bool,
    wall_ns: u64,
    /// On the axis of the job; `None` where that is not known.
    start_ns: Option<u64>,
    /// Either way.
    error_ns: Option<u64>,
}

/// All ranks, in the page of one of them.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct RanksOfRun<'a> {
    job: JobPage<'a>,
    /// Its columns begin there, behind those of the timeline.
    first_byte: usize,
    /// Bytes a number, of each of them.
    widths: Vec<usize>,
}

impl<'a> RanksOfRun<'a> {
    /// Adds its columns behind those that are there.
    pub(super) fn new(ranks: &RankedJob, screen: &'a FirstScreen, bytes: &mut Vec<u8>) -> Self {
        let mut columns = Columns::default();
        let page = job_page(&ranks.job, screen, 1, &mut columns);
        let first_byte = bytes.len();
        bytes.append(&mut columns.bytes);
        Self { job: page, first_byte, widths: columns.widths }
    }
}

/// The answers about jobs as an HTML page of some megabytes at most, whatever their size.
pub fn html_ranks(answers: &RanksAnswers) -> Vec<u8> {
    let mut columns = Columns::default();
    let jobs = &answers.jobs[..answers.jobs.len().min(MAX_JOBS)];
    let screens = jobs.iter().map(|job| FirstScreen::of_job(job, Places::default(), None));
    let screens: Vec<FirstScreen> = screens.collect();
    let each = jobs.iter().zip(&screens);
    let each: Vec<JobPage<'_>> =
        each.map(|(job, screen)| job_page(job, screen, jobs.len(), &mut columns)).collect();
    let model = Model::Ranks { contents: about_all(answers), jobs: each, widths: columns.widths };
    page::page(&model, &columns.bytes)
}

/// What is about several jobs, or none.
fn about_all(answers: &RanksAnswers) -> Contents<'static> {
    let mut document = Document::default();
    document.tables(jobs_tables(answers));
    let n_more = answers.jobs.len().saturating_sub(MAX_JOBS) as u64;
    let more = match (answers.jobs.len(), n_more) {
        (0, _) => Some("No rank was read.".to_owned()),
        (_, 0) => None,
        _ => Some(format!("{} not in this page.", counted(n_more, "more job is", "more jobs are"))),
    };
    document.blocks.extend(more.map(Block::Text));
    let tab = Tab { id: "jobs", title: "Jobs".into(), blocks: document.blocks };
    Contents::new("Ranks", None, vec![tab], MAX_BYTES)
}

/// One of so many jobs that share the room of a page.
fn job_page<'a>(
    job: &JobAnswers,
    screen: &'a FirstScreen,
    n_jobs: usize,
    columns: &mut Columns,
) -> JobPage<'a> {
    let strips = strips::strips(job, MAX_PIECES / n_jobs, columns);
    // One of two.
    let n_cells = MAX_CELLS / n_jobs / 2;
    let mut map = |iterations: &_| maps::map(job, iterations, n_cells, columns);
    let step_map = job.steps.as_ref().map(&mut map);
    let block_map = job.blocks.as_ref().map(&mut map);
    JobPage {
        contents: contents(job, screen, MAX_BYTES / n_jobs),
        span_ns: job.span_ns,
        ranks: (0..).zip(&job.members).map(|(at, _)| rank(job, at)).collect(),
        absent: absent(job),
        by_score: by_score(job),
        strips,
        step_map,
        block_map,
    }
}

fn contents<'a>(job: &JobAnswers, screen: &'a FirstScreen, max_bytes: usize) -> Contents<'a> {
    let mut tables = job_tables(job).into_iter().map(Block::Table);
    let mut above: Vec<Block> = tables.next().into_iter().collect();
    above.extend(ListedFindings::new(&job.findings, |_| None).map(Block::Findings));
    let tab = |id, title: &'static str, blocks| Tab { id, title: title.into(), blocks };
    let tabs = vec![tab("job", "Job", above), tab("tables", "Tables", tables.collect())];
    Contents::new(title(job), Some(screen.drawn()), tabs, max_bytes)
}

/// Its name, and how many ranks it has.
pub(super) fn title(job: &JobAnswers) -> String {
    let n_ranks = job.world_size.map_or(job.members.len() as u64, u64::from);
    let name = match job.job_id.as_str() {
        "" => "(no job id)",
        id => id,
    };
    let mut title = format!("{name} · {}", counted(n_ranks, "rank", "ranks"));
    shorten_text(&mut title);
    title
}

fn rank(job: &JobAnswers, place: usize) -> Rank {
    let member = &job.members[place];
    let mut stragglers = job.stragglers.ranks.iter();
    let clock = job.clocks.each.get(place);
    let mut host = member.host.clone();
    shorten_text(&mut host);
    Rank {
        label: match (member.rank, member.pid) {
            (Some(rank), _) => rank.to_string(),
            (None, 0) => "no rank".into(),
            (None, pid) => format!("process {pid}"),
        },
        host,
        state: member.state,
        is_slow: stragglers.any(|straggler| {
            straggler.place as usize == place && straggler.verdict == StragglerVerdict::Slow
        }),
        wall_ns: member.wall_ns,
        start_ns: clock.and_then(|clock| clock.start_ns),
        error_ns: clock.and_then(|clock| clock.error_ns),
    }
}

fn absent(job: &JobAnswers) -> Vec<(u32, bool)> {
    let missing = job.missing.iter().map(|rank| (*rank, false));
    let unread = job.unread.iter().filter_map(|file| Some((file.rank?, true)));
    let mut all: Vec<(u32, bool)> = missing.chain(unread).collect();
    all.sort_unstable();
    all.dedup_by_key(|(rank, _)| *rank);
    if all.len() > MAX_ABSENT {
        all.clear();
    }
    all
}

fn by_score(job: &JobAnswers) -> Vec<u32> {
    let mut places: Vec<u32> = job.stragglers.ranks.iter().map(|rank| rank.place).collect();
    let known: std::collections::BTreeSet<u32> = places.iter().copied().collect();
    let all = (0..).take(job.members.len());
    places.extend(all.filter(|place| !known.contains(place)));
    places
}

/// At most `room` of `places`, ascending: the highest scores first, then others evenly.
fn chosen(job: &JobAnswers, places: &[u32], room: usize) -> Vec<u32> {
    if places.len() <= room {
        return places.to_vec();
    }
    let known: std::collections::BTreeSet<u32> = places.iter().copied().collect();
    let scores = job.stragglers.ranks.iter().map(|rank| rank.place);
    let mut kept: std::collections::BTreeSet<u32> =
        scores.filter(|place| known.contains(place)).take(room / 2).collect();
    let rest: Vec<u32> = known.difference(&kept).copied().collect();
    let n = room.saturating_sub(kept.len());
    kept.extend((0..n).filter_map(|at| rest.get(at * rest.len() / n)));
    kept.into_iter().collect()
}

#[cfg(test)]
mod tests;
