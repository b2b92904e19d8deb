//! Which ranks are slow, and which only wait for them?

use std::cmp::Reverse;

use marey::Thresholds;
use serde::Serialize;

use super::between_calls::between_calls;
use super::iterations::{Cell, Row, common_rows};
use super::members::state;
use super::over_ranks::lower_median;
use super::shared_calls::{SharedCalls, in_work, used_in_work};
use super::{MemberState, Waiting, placed};
use crate::intervals::Interval;
use crate::job::RankSummary;
use crate::stats::{float, ratio, sample_std_dev, sum, whole};

/// Who is slow, and who only waits. A rank's *own time* of an iteration is its duration without the time it waits for others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Stragglers {
    /// What the scores are made of, in words; says so where waiting is not known and a slow rank looks like one that waits.
    pub basis: String,
    /// Waiting is known: `own_ns` is without it.
    pub is_waiting_known: bool,
    /// Each rank with a figure, the highest score first.
    pub ranks: Vec<RankStraggler>,
}

/// One rank against the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RankStraggler {
    /// Its place.
    pub place: u32,
    /// Its own time between the calls that all ranks share, as the basis says; else of a steady iteration (median), or of the whole run.
    pub own_ns: u64,
    /// What it waited in as much time; `None` when not known.
    pub waiting_ns: Option<u64>,
    /// `own_ns` against the median of all ranks: 0.1 is ten percent slower.
    pub score: f64,
    /// What it comes to.
    pub verdict: StragglerVerdict,
    /// When it became slow, since the start of its run, within a twelfth of the time: its score is of the time from then on. `None` where it is
    /// slow over the whole time, or not slow.
    pub since_ns: Option<u64>,
    /// The denoising step then; `None` also where it has no steps by then.
    pub since_step: Option<u64>,
}

/// What a rank is to the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StragglerVerdict {
    /// As fast as the others, but for chance.
    #[default]
    Even,
    /// Its own work takes longer: others wait for it.
    Slow,
    /// It takes as long as the slow ones, but waits for them.
    Waits,
    /// Who waits for whom is not known, or what is chance.
    Unknown,
}

/// A median absolute deviation of normal noise, times this, is its standard deviation.
const OF_NORMAL_NOISE: f64 = 1.4826;
/// So many standard deviations above the others are no noise.
const BEYOND_NOISE: f64 = 3.0;

/// One rank between shared calls, its iteration, or its run.
pub(super) struct OwnTime {
    pub(super) place: u32,
    pub(super) duration_ns: u64,
    /// `None` when not known.
    pub(super) waiting_ns: Option<u64>,
    /// Standard error of its own time, by the scatter of the rank's intervals or iterations; `None` of one alone, as a whole run is.
    pub(super) error_ns: Option<f64>,
    /// It took longer from some moment on.
    pub(super) late: Option<Late>,
}

/// A rank that took longer from some moment on than before, beside the others.
#[derive(Clone, Copy)]
pub(super) struct Late {
    /// When, in the time of its run.
    pub(super) since_ns: u64,
    /// Its own time from then on against the median of the ranks there.
    pub(super) score: f64,
}

impl OwnTime {
    /// Without waiting, where that is known.
    fn own_ns(&self) -> u64 {
        self.duration_ns.saturating_sub(self.waiting_ns.unwrap_or_default())
    }

    fn waiting_ratio(&self) -> f64 {
        float(self.waiting_ns.unwrap_or_default()) / float(self.duration_ns.max(1))
    }
}

/// Each rank's own time against that of the others: a duration without the time that the rank waits in collectives. The duration is that from
/// shared call to shared call ([`between_calls`]), without such calls that of a denoising step, without steps a block, and without these the
/// whole run.
///
/// ```text
/// rank 0   |--compute 10--|-- all_reduce, waits 5 --|1|     own 11
/// rank 1   |--compute 10--|-- all_reduce, waits 5 --|1|     own 11: waits
/// rank 2   |--------- compute 15 ----------|all_reduce|     own 16: slow, 45 % above the median of 11
/// rank 3   |--compute 10--|-- all_reduce, waits 5 --|1|     own 11
/// ```
///
/// Waiting is known per call ([`Waiting`]) and communication per iteration; an iteration waits the part of its communication that is waiting in the
/// rank's steady iterations. Slow is also who became slow: whose own time between shared calls was longer than that of the median rank by more than
/// `straggler_ratio` from some moment on, for a quarter of the time at least, and all of that by more than before. Medians over ranks are the lower of the middle two, so that of two ranks the slower one is above it. Slow is who is
/// above the median by more than `straggler_ratio` of it and by more than three standard deviations, as the median absolute deviation of
/// more than two ranks tells them, or the error of the rank's own time by the scatter of its intervals or iterations, whichever is larger. Waits
/// who is not slow while another one is, and waits for more than `rank_wait_ratio` of its time. Where waiting is not known, or of two runs of
/// which one is longer what is chance, nobody's verdict is.
pub(super) fn stragglers(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
    waiting: Option<&Waiting>,
    thresholds: &Thresholds,
) -> Stragglers {
    let (measured, what) = measured(places, shared, waiting);
    if measured.len() < 2 {
        return Stragglers {
            basis:
                "Fewer than two ranks have iterations or ended well: there is nothing to compare."
                    .into(),
            ..Stragglers::default()
        };
    }
    let n_known = measured.iter().filter(|one| one.waiting_ns.is_some()).count();
    // Waiting of calls within one another adds up to more than the time.
    let n_sound = measured.iter().filter(|one| one.own_ns() > 0).count();
    let is_waiting_known = n_known > 1 && 2 * n_known.min(n_sound) >= measured.len();
    let mut compared = measured;
    if is_waiting_known {
        compared.retain(|one| one.waiting_ns.is_some());
    } else {
        for one in &mut compared {
            one.waiting_ns = None;
        }
    }
    let limits = Limits::of(&compared, thresholds);
    let is_slow: Vec<bool> = compared.iter().map(|one| limits.is_slow(one)).collect();
    let late = compared.iter().zip(&is_slow).map(|(one, is_slow)| {
        one.late.filter(|late| !is_slow && late.score > thresholds.straggler_ratio)
    });
    let late: Vec<Option<Late>> = late.collect();
    let has_slow = is_slow.contains(&true) || late.iter().any(Option::is_some);
    // Who is longer with its waiting in it may be the one that waits.
    let is_told = is_waiting_known && limits.is_chance_known(&compared);
    let verdict = |one: &OwnTime, is_slow: bool| match is_told {
        false => StragglerVerdict::Unknown,
        true if is_slow => StragglerVerdict::Slow,
        true if has_slow && one.waiting_ratio() > thresholds.rank_wait_ratio => {
            StragglerVerdict::Waits
        }
        true => StragglerVerdict::Even,
    };
    let rows = compared.iter().zip(is_slow).zip(late).map(|((one, is_slow), late)| RankStraggler {
        place: one.place,
        own_ns: one.own_ns(),
        waiting_ns: one.waiting_ns,
        score: late.map_or_else(|| limits.score(one), |late| late.score),
        verdict: verdict(one, is_slow || late.is_some()),
        since_ns: late.map(|late| late.since_ns),
        since_step: late.and_then(|late| step_at(places, one.place, late.since_ns)),
    });
    let mut ranks: Vec<RankStraggler> = rows.collect();
    ranks.sort_by_key(|rank| (Reverse(rank.own_ns), rank.place));
    Stragglers { basis: basis(what, is_waiting_known), is_waiting_known, ranks }
}

fn basis(what: &str, is_waiting_known: bool) -> String {
    if is_waiting_known {
        return format!("{what}, without the time that the rank waits for others in collectives.");
    }
    format!(
        "{what}, with all waiting in it, which is not known: where ranks wait for each other in every iteration, a slow one cannot be told \
         apart from those that wait for it."
    )
}

/// What own times are compared with.
struct Limits<'a> {
    median_ns: u64,
    /// Standard deviation over ranks; `None` of two, whose median is one of them.
    noise_ns: Option<f64>,
    /// Standard error of an own time, as ranks usually have it; `None` when no rank's is known.
    error_ns: Option<f64>,
    thresholds: &'a Thresholds,
}

impl<'a> Limits<'a> {
    fn of(compared: &[OwnTime], thresholds: &'a Thresholds) -> Self {
        let middle = |values| lower_median(values, u64::cmp).unwrap_or_default();
        let own_ns = || compared.iter().map(OwnTime::own_ns);
        let median_ns = middle(own_ns().collect());
        let deviation_ns = middle(own_ns().map(|own_ns| own_ns.abs_diff(median_ns)).collect());
        let errors = compared.iter().filter_map(|one| one.error_ns).collect();
        Self {
            median_ns,
            noise_ns: (compared.len() > 2).then_some(float(deviation_ns) * OF_NORMAL_NOISE),
            error_ns: lower_median(errors, f64::total_cmp),
            thresholds,
        }
    }

    /// How far above the median, as a share of it.
    fn score(&self, one: &OwnTime) -> f64 {
        let median_ns = float(self.median_ns.max(1));
        (float(one.own_ns()) - float(self.median_ns)) / median_ns
    }

    fn is_beyond(&self, one: &OwnTime) -> bool {
        self.score(one) > self.thresholds.straggler_ratio
    }

    /// Of two whole runs it is not, which matters where one is longer.
    fn is_chance_known(&self, compared: &[OwnTime]) -> bool {
        let is_known = self.noise_ns.is_some() || self.error_ns.is_some();
        is_known || !compared.iter().any(|one| self.is_beyond(one))
    }

    fn is_slow(&self, one: &OwnTime) -> bool {
        let above_ns = float(one.own_ns().saturating_sub(self.median_ns));
        let of_both = one.error_ns.zip(self.error_ns);
        let of_both = of_both.map(|(own, usual)| f64::hypot(own, usual));
        let noise_ns = self.noise_ns.into_iter().chain(of_both).reduce(f64::max);
        self.is_beyond(one) && noise_ns.is_some_and(|ns| above_ns > BEYOND_NOISE * ns)
    }
}

/// The denoising step of a rank at a moment; `None` where it has no steps by then.
fn step_at(places: &[&RankSummary], place: u32, at_ns: u64) -> Option<u64> {
    let steps = places.get(place as usize)?.steps.as_ref()?;
    let cell = steps.cells.iter().position(|cell| cell.end_ns > at_ns)?;
    Some(cell as u64 * u64::from(steps.per_cell))
}

/// The time between shared calls, else iterations of the first kind that two ranks have, else whole runs.
fn measured(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
    waiting: Option<&Waiting>,
) -> (Vec<OwnTime>, &'static str) {
    if let Some(measured) = between_calls(places, shared) {
        return (
            measured,
            "The time of each rank from the first collective that all share to the last, but for the warm-up",
        );
    }
    let steps = common_rows(places, |rank| rank.steps.as_ref());
    let blocks = common_rows(places, |rank| rank.blocks.as_ref());
    for (rows, what) in [
        (steps, "The median of each rank's steady denoising steps"),
        (blocks, "The median of each rank's steady blocks"),
    ] {
        if rows.len() > 1 {
            return (of_iterations(places, shared, &rows), what);
        }
    }
    (of_runs(places, waiting), "The whole run of each rank that ended well")
}

/// The iteration of each rank whose own time is in the middle of its steady iterations, and what it waits.
fn of_iterations(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
    rows: &[Row],
) -> Vec<OwnTime> {
    let of_row = |row: &Row| {
        let rank = places.get(row.place as usize)?;
        let waiting_ratio = waiting_ratio(row, rank, shared);
        // Own time, duration, waiting.
        let iteration = |cell: &Cell| {
            let (duration_ns, waiting_ns) = (worked_ns(cell), waiting_of(cell, waiting_ratio));
            let own_ns = duration_ns.saturating_sub(waiting_ns.unwrap_or_default());
            (own_ns, duration_ns, waiting_ns)
        };
        let mut iterations: Vec<(u64, u64, Option<u64>)> = steady(row).map(iteration).collect();
        iterations.sort_unstable();
        let is_known = iterations.iter().all(|(.., waiting_ns)| waiting_ns.is_some());
        let (_, duration_ns, waiting_ns) = *iterations.get(iterations.len().checked_sub(1)? / 2)?;
        let own_ns: Vec<u64> = iterations.iter().map(|(own_ns, ..)| *own_ns).collect();
        Some(OwnTime {
            place: row.place,
            duration_ns,
            waiting_ns: waiting_ns.filter(|_| is_known),
            error_ns: error_of_median_ns(&own_ns),
            late: None,
        })
    };
    rows.iter().filter_map(of_row).collect()
}

/// What an iteration took without the time in collectives that failed, which is nobody's work.
fn worked_ns(cell: &Cell) -> u64 {
    cell.mean_ns().saturating_sub(cell.failed_mean_ns())
}

/// Standard error of the median of values with normal noise: √(π/2) σ/√n. `None` of fewer than two.
fn error_of_median_ns(values: &[u64]) -> Option<f64> {
    let n_values = float(values.len() as u64);
    Some((std::f64::consts::FRAC_PI_2 / n_values).sqrt() * sample_std_dev(values)?)
}

/// What an iteration of the cell waits, on average; `None` when not known.
fn waiting_of(cell: &Cell, waiting_ratio: Option<f64>) -> Option<u64> {
    let communication_ns = cell.communication_mean_ns()?.min(worked_ns(cell));
    if communication_ns == 0 {
        return Some(0);
    }
    let waiting_ns = float(communication_ns) * waiting_ratio?;
    Some(whole(waiting_ns.round()).min(communication_ns))
}

/// Cells without a warm-up; all of them, where each has one.
fn steady(row: &Row) -> impl Iterator<Item = &Cell> {
    let is_all_warm_up = row.cells.iter().all(|cell| cell.sums.is_warm_up);
    let cells = row.cells.iter();
    cells.filter(move |cell| is_all_warm_up || !cell.sums.is_warm_up)
}

/// The part of matched communication in a rank's steady iterations that is waiting, taken for that of all; `None` unless half of all was matched.
fn waiting_ratio(row: &Row, rank: &RankSummary, shared: &[SharedCalls<'_>]) -> Option<f64> {
    let times: Vec<Interval> = steady(row).map(|cell| cell.sums.time()).collect();
    // It begins in one of the times, which are in order.
    let is_within = |call: &Interval| {
        let after = times.partition_point(|time| time.start_ns <= call.start_ns);
        let last = after.checked_sub(1).and_then(|at| times.get(at));
        last.is_some_and(|time| call.start_ns < time.end_ns)
    };
    let all = used_in_work(rank).flat_map(|one| &one.calls).filter(|call| is_within(call));
    let all_ns = sum(all.map(Interval::length_ns));
    let matched = || {
        let calls = in_work(shared).flat_map(|one| one.calls_of(row.place));
        calls.filter(|call| is_within(&call.time))
    };
    let matched_ns = sum(matched().map(|call| call.time.length_ns()));
    let waiting_ns = sum(matched().map(|call| call.waiting_ns));
    let is_known = matched_ns > 0 && matched_ns >= all_ns / 2;
    is_known.then(|| ratio(waiting_ns.into(), matched_ns.into()))
}

/// Whole runs: only those that ended well are as long as the others. Reports may not say how long they were.
fn of_runs(places: &[&RankSummary], waiting: Option<&Waiting>) -> Vec<OwnTime> {
    let waited_ns = |place: u32| {
        let row = waiting?.ranks.iter().find(|row| row.place == place)?;
        Some(whole((row.waiting_ratio? * float(row.total_ns)).round()))
    };
    let ended = placed(places)
        .filter(|(_, rank)| matches!(state(rank), MemberState::Whole | MemberState::Damaged));
    let runs = ended.map(|(place, rank)| {
        let failed_ns = sum(used_in_work(rank).map(|one| one.failed_ns));
        let duration_ns = rank.wall_ns.saturating_sub(failed_ns);
        OwnTime {
            place,
            duration_ns,
            waiting_ns: waited_ns(place).map(|ns| ns.min(duration_ns)),
            error_ns: None,
            late: None,
        }
    });
    runs.filter(|run| run.duration_ns > 0).collect()
}
