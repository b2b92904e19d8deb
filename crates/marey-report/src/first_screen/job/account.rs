//! Where the time of ranks went: of traces what their GPUs did, of captures the slowest rank beside a usual one.

use std::cmp::Reverse;

use marey_analysis::job::DeviceSums;
use marey_analysis::ranks::{JobAnswers, SlowestRank};

use super::rank_name;
use crate::first_screen::parts::{SharedPart, shared_parts};
use crate::first_screen::{AccountRows, DifferenceRow, Differences, Part, Row};
use crate::quantity::{Column, Unit, float, like, time};

/// Share of a rank's time from which on *other* is a row.
const OTHER: f64 = 0.0005;
/// A GPU that does nothing for this share of the time is no well-used one.
const IDLE: f64 = 0.2;

/// What the GPUs of all ranks did in the ranks' time. `None` unless each rank is a trace with one GPU.
pub(super) fn rank_time(job: &JobAnswers) -> Option<AccountRows> {
    let each = devices(job)?;
    let sum = |of: fn(&DeviceSums) -> u64| each.iter().map(of).sum::<u64>();
    let total: u64 = sum(|d| d.working_ns + d.communication_ns + d.idle_ns);
    let working = each.iter().map(|device| device.working_ns);
    let range = [working.clone().min()?, working.max()?];
    let row = |name: &str, of: fn(&DeviceSums) -> u64, part: Part, note: Option<String>| Row {
        part,
        note,
        ..Row::new(name, sum(of))
    };
    let alone = Some("nothing else ran meanwhile".into());
    let each_rank = Some(format!("{} on each rank", range_text(range)));
    let mut rows = vec![
        row("GPU idle", |d| d.idle_ns, Part::Waiting, None),
        row("communication", |d| d.communication_ns, Part::Waiting, alone),
        row("compute, copies", |d| d.working_ns, Part::Work, each_rank),
    ];
    rows.retain(|row| row.held > 0);
    rows.sort_by_key(|row| Reverse(row.held));
    let mut account = AccountRows::new("rank_time", Unit::Time, total, rows)?;
    let shown = Column::of(Unit::Time, total).text(total);
    account.head = Some(format!("Rank time, {} ranks together: {shown}", each.len()));
    account.n_ranks = Some(each.len());
    Some(account)
}

/// `1.1 to 1.3 ms`
pub(super) fn range_text([least, most]: [u64; 2]) -> String {
    let most_text = time(float(most));
    if least == most {
        return most_text;
    }
    format!("{} to {most_text}", like(float(least), float(most)))
}

/// What each GPU did; `None` unless all ranks say so, and there are several.
pub(super) fn devices(job: &JobAnswers) -> Option<Vec<DeviceSums>> {
    let each: Option<Vec<DeviceSums>> = job.members.iter().map(|member| member.device).collect();
    each.filter(|each| each.len() > 1)
}

/// Wall time of all ranks together.
pub(super) fn wall_ns(job: &JobAnswers) -> u64 {
    job.members.iter().map(|member| member.wall_ns).sum()
}

/// What the GPUs did nothing in, as a share of the ranks' time, where that is a fifth or more.
pub(super) fn idle(job: &JobAnswers) -> Option<(String, f64)> {
    let each = devices(job)?;
    let idle: u64 = each.iter().map(|device| device.idle_ns).sum();
    let total = wall_ns(job);
    let ratio = float(idle) / float(total.max(1));
    (ratio >= IDLE).then(|| ("the GPUs".into(), ratio))
}

/// Waiting in collectives as a share of the ranks' time; `None` where it is not known.
pub(super) fn waiting_ratio(job: &JobAnswers) -> Option<f64> {
    let waiting: u64 = job.waiting.as_ref()?.ranks.iter().map(|row| row.waiting_ns).sum();
    let total = wall_ns(job);
    (total > 0).then(|| (float(waiting) / float(total)).min(1.0))
}

/// The slowest rank beside a usual one, part by part. `None` where no rank is slow or it is not known what held them up.
pub(super) fn differences(job: &JobAnswers) -> Option<Differences> {
    let found = job.slowest.as_ref().filter(|found| found.is_slow)?;
    let rows = parts(job, found)?;
    let account = found.account.as_ref()?;
    Some(Differences {
        measure: "wall",
        unit: Unit::Time,
        columns: [rank_name(job, found.place), rank_name(job, found.usual), "difference".into()],
        is_first_less_second: true,
        totals: [account.wall_ns[0], account.wall_ns[1]],
        rows,
    })
}

/// Parts of the time of the slowest and of the usual rank, those that differ most first; *other* among them. They add up to both wall times.
pub(super) fn parts(job: &JobAnswers, found: &SlowestRank) -> Option<Vec<DifferenceRow>> {
    let account = found.account.as_ref()?;
    let pair = |values: &[u64]| Some([*values.first()?, *values.get(1)?]);
    let walls = pair(&account.wall_ns)?;
    let (shared, left) = shared_parts(account);
    let left = pair(&left)?;
    let has_steps = |part: &SharedPart| {
        let is_in = |at: usize| {
            let mut nodes = part.nodes.iter();
            nodes.any(|node| *node == at || account.rows[at].parent == Some(*node))
        };
        let mut rows = 0..account.rows.len();
        !part.is_rest && rows.any(|at| account.rows[at].is_iteration && is_in(at))
    };
    let of_ranks = |part: SharedPart| {
        Some(DifferenceRow {
            held: pair(&part.of_runs)?,
            note: has_steps(&part).then(|| steps(job, found)).flatten(),
            name: part.name,
            change: None,
        })
    };
    let all: Option<Vec<DifferenceRow>> = shared.into_iter().map(of_ranks).collect();
    let mut all = all?;
    if float(left[0] + left[1]) >= OTHER * float(walls[0] + walls[1]) {
        all.push(DifferenceRow { name: "other".into(), held: left, note: None, change: None });
    }
    all.sort_by_key(|part| Reverse(part.held[0].abs_diff(part.held[1])));
    (all.len() > 1).then_some(all)
}

/// `10 steps: 60.1 against 40.1 ms each`
fn steps(job: &JobAnswers, found: &SlowestRank) -> Option<String> {
    let [slow, usual] = step_means(job, found)?;
    let n = slow.len();
    let mean = |steps: &[u64]| steps.iter().map(|ns| float(*ns)).sum::<f64>() / float(n as u64);
    let (slow, usual) = (mean(&slow), mean(&usual));
    Some(format!("{n} steps: {} against {} each", like(slow, usual), time(usual)))
}

/// The steps of the slowest and the usual rank one by one; `None` unless both have as many, and each is known by itself.
pub(super) fn step_means(job: &JobAnswers, found: &SlowestRank) -> Option<[Vec<u64>; 2]> {
    let steps = job.steps.as_ref().filter(|steps| steps.per_cell == 1)?;
    let map = &steps.heat_map;
    let n_cells = map.n_cells as usize;
    let of = |place: u32| -> Option<Vec<u64>> {
        let row = map.places.iter().position(|known| *known == place)?;
        let cells = map.durations_ns.get(row * n_cells..(row + 1) * n_cells)?;
        cells.iter().copied().collect()
    };
    let both = [of(found.place)?, of(found.usual)?];
    (both[0].len() > 1).then_some(both)
}
