//! What did more ranks bring?

use std::collections::BTreeMap;

use serde::Serialize;

use super::{IterationsOverRanks, JobAnswers, MemberState};
use crate::stats::float;

/// World sizes against each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Scaling {
    /// What was compared: the slowest rank's steady step, or block, or the whole span.
    pub measure: String,
    /// Each world size, ascending; of several jobs of one size, the median of their figures.
    pub rows: Vec<ScalingRow>,
}

/// One world size. The first one is what the others are compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ScalingRow {
    /// Number of ranks.
    pub world_size: u32,
    /// Jobs of that size.
    pub n_jobs: u64,
    /// The measure.
    pub duration_ns: f64,
    /// The first row's measure over this one's.
    pub speedup: f64,
    /// Where ranks share each generation: speed-up over the growth of the world, 1 is perfect.
    pub shared_efficiency: f64,
    /// Where each rank makes its own: the first row's measure over this one's, 1 is perfect.
    pub own_efficiency: f64,
    /// Share of the ranks' communication that is waiting; `None` when not known.
    pub waiting_ratio: Option<f64>,
    /// Share of the steps' time in communication; `None` when not known.
    pub communication_ratio: Option<f64>,
}

/// What jobs are compared by: its name, and the figure of a job.
type Measure = (&'static str, fn(&JobAnswers) -> Option<u64>);

/// The first one that every job with a world size has.
const MEASURES: [Measure; 3] = [
    ("median of the slowest rank's steady denoising steps", |job| slowest(job.steps.as_ref())),
    ("median of the slowest rank's steady blocks", |job| slowest(job.blocks.as_ref())),
    (
        "time from the first start to the last end, of jobs whose ranks are all there and ended well",
        whole_span,
    ),
];

/// World sizes against each other; `None` unless two have the measure. It takes jobs to do the same work, which nothing here can tell.
///
/// ```text
/// 1 rank    |--------- step 100 ---------|
/// 2 ranks   |---- step 60 ----|                 speed-up 100 / 60 = 1.67
/// ```
///
/// Two efficiencies, for two ways to use ranks. Where they share each generation, twice the ranks should take half the time: speed-up over
/// growth, 1.67 / 2 = 0.83. Where each makes its own, a step should take as long as before: 100 / 60 = 1.67 would be better than that.
///
/// Jobs of which ranks are missing, damaged or were cut short are left out: their first steps are not what the job takes.
pub(super) fn scaling(jobs: &[JobAnswers]) -> Option<Scaling> {
    let mut sized: Vec<(u32, &JobAnswers)> =
        jobs.iter().filter_map(|job| Some((job.world_size.filter(|n| *n > 0)?, job))).collect();
    let n_all = sized.len();
    sized.retain(|(_, job)| job.is_whole());
    let n_left_out = n_all - sized.len();
    MEASURES.iter().find_map(|(name, measure)| {
        let by_size = by_size(&sized, *measure);
        let all_have_it = by_size.values().map(Vec::len).sum::<usize>() == sized.len();
        let is_last_resort = *name == MEASURES[2].0;
        (by_size.len() > 1 && (all_have_it || is_last_resort)).then(|| Scaling {
            measure: match n_left_out {
                0 => (*name).to_owned(),
                n => format!("{name}; jobs that are not whole are left out: {n}"),
            },
            rows: rows(&by_size),
        })
    })
}

/// Jobs with their figure, by world size.
type BySize<'a> = BTreeMap<u32, Vec<(u64, &'a JobAnswers)>>;

fn by_size<'a>(
    sized: &[(u32, &'a JobAnswers)],
    measure: fn(&JobAnswers) -> Option<u64>,
) -> BySize<'a> {
    let mut by_size = BySize::new();
    for (world_size, job) in sized {
        if let Some(ns) = measure(job).filter(|ns| *ns > 0) {
            by_size.entry(*world_size).or_default().push((ns, job));
        }
    }
    by_size
}

fn slowest(iterations: Option<&IterationsOverRanks>) -> Option<u64> {
    Some(iterations?.medians?.max_ns)
}

/// Of a job that has ended.
fn whole_span(job: &JobAnswers) -> Option<u64> {
    let mut members = job.members.iter();
    members.all(|member| member.state == MemberState::Whole).then_some(job.span_ns)
}

fn rows(by_size: &BySize<'_>) -> Vec<ScalingRow> {
    let mut first: Option<(f64, f64)> = None;
    let row = |(world_size, jobs): (&u32, &Vec<(u64, &JobAnswers)>)| {
        let duration_ns = median(jobs.iter().map(|(ns, _)| float(*ns)))?;
        let ranks = f64::from(*world_size);
        let (first_ns, first_ranks) = *first.get_or_insert((duration_ns, ranks));
        let speedup = first_ns / duration_ns;
        let each = || jobs.iter().map(|(_, job)| *job);
        Some(ScalingRow {
            world_size: *world_size,
            n_jobs: jobs.len() as u64,
            duration_ns,
            speedup,
            shared_efficiency: speedup * first_ranks / ranks,
            own_efficiency: speedup,
            waiting_ratio: median(each().filter_map(waiting_ratio)),
            communication_ratio: median(each().filter_map(communication_ratio)),
        })
    };
    by_size.iter().filter_map(row).collect()
}

/// Part of the ranks' communication that is waiting, of the calls that were matched.
fn waiting_ratio(job: &JobAnswers) -> Option<f64> {
    let ranks = &job.waiting.as_ref()?.ranks;
    let waiting: f64 = ranks.iter().map(|row| float(row.waiting_ns)).sum();
    let transfer: f64 = ranks.iter().map(|row| float(row.transfer_ns)).sum();
    let both = waiting + transfer;
    (both > 0.0).then(|| waiting / both)
}

/// Part of the steps' time in collectives, of cells and ranks of which it is known; of blocks where there are no steps.
fn communication_ratio(job: &JobAnswers) -> Option<f64> {
    let iterations = job.steps.as_ref().or(job.blocks.as_ref())?;
    let known = iterations.each.iter().filter(|cell| !cell.is_warm_up);
    let mut sums = (0.0, 0.0);
    for cell in known {
        let Some(own) = cell.own.filter(|own| own.n_ranks == cell.durations.n_ranks) else {
            continue;
        };
        sums.0 += cell.durations.mean_ns - own.mean_ns;
        sums.1 += cell.durations.mean_ns;
    }
    let ratio = sums.0 / sums.1;
    ratio.is_finite().then(|| ratio.clamp(0.0, 1.0))
}

/// The middle one, or the mean of the middle two.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::ranks::{IterationSpread, Member, OverRanks, RankWaitingRow, Waiting};

    fn over(mean_ns: f64, max_ns: u64) -> OverRanks {
        OverRanks { n_ranks: 1, mean_ns, max_ns, ..OverRanks::default() }
    }

    fn job(world_size: u32, step_ns: u64) -> JobAnswers {
        JobAnswers {
            world_size: Some(world_size),
            steps: Some(IterationsOverRanks {
                medians: Some(over(0.0, step_ns)),
                ..IterationsOverRanks::default()
            }),
            span_ns: step_ns * 10,
            ..JobAnswers::default()
        }
    }

    #[test]
    fn both_efficiencies_are_those_against_the_smallest_world() {
        // Steps of 100 on one rank; of 60, 50 and 70 on two, in the middle 60; of 40 on four.
        let jobs = [job(2, 60), job(4, 40), job(1, 100), job(2, 50), job(2, 70)];
        let found = scaling(&jobs).unwrap();
        let figures: Vec<(u32, u64, f64, f64, f64)> = found
            .rows
            .iter()
            .map(|r| (r.world_size, r.n_jobs, r.speedup, r.shared_efficiency, r.own_efficiency))
            .collect();
        assert_eq!(
            figures,
            [
                (1, 1, 1.0, 1.0, 1.0),
                (2, 3, 100.0 / 60.0, 100.0 / 60.0 / 2.0, 100.0 / 60.0),
                (4, 1, 2.5, 0.625, 2.5),
            ]
        );
        assert!(found.measure.contains("denoising steps"));
    }

    #[test]
    fn without_steps_in_one_job_the_whole_spans_are_compared_where_all_ranks_ended_well() {
        let mut jobs = [job(1, 100), job(2, 60), job(2, 10)];
        jobs[0].steps = None;
        jobs[2].members = vec![Member { state: MemberState::Cut, ..Member::default() }];
        let found = scaling(&jobs).unwrap();
        assert!(found.measure.starts_with("time from the first start"));
        let of: Vec<(f64, u64)> = found.rows.iter().map(|r| (r.duration_ns, r.n_jobs)).collect();
        assert_eq!(of, [(1000.0, 1), (600.0, 1)]);
    }

    #[test]
    fn jobs_that_are_not_whole_are_left_out_and_counted() {
        // A rank of the second was killed after a few fast steps; of the third one is missing.
        let mut jobs = [job(1, 100), job(2, 10), job(2, 20), job(4, 50)];
        jobs[1].members = vec![Member { state: MemberState::Cut, ..Member::default() }];
        jobs[2].missing = vec![1];
        let found = scaling(&jobs).unwrap();
        let of: Vec<(u32, f64)> = found.rows.iter().map(|r| (r.world_size, r.speedup)).collect();
        assert_eq!(of, [(1, 1.0), (4, 2.0)]);
        assert!(found.measure.ends_with("left out: 2"), "{}", found.measure);
        assert_eq!(scaling(&jobs[..3]), None);
    }

    #[test]
    fn one_world_size_or_none_says_nothing() {
        assert_eq!(scaling(&[job(2, 60), job(2, 70)]), None);
        assert_eq!(scaling(&[job(2, 60), job(4, 0)]), None);
        assert_eq!(scaling(&[]), None);
    }

    #[test]
    fn waiting_and_communication_are_shares_of_all_ranks() {
        // Waits 30 and 10 of 50 and 30. Steps of 100 with 80 of their own.
        let row = |waiting_ns| RankWaitingRow {
            waiting_ns,
            transfer_ns: 20,
            ..RankWaitingRow::default()
        };
        let mut jobs = [job(1, 100), job(2, 100)];
        jobs[1].waiting = Some(Waiting { ranks: vec![row(30), row(10)], ..Waiting::default() });
        if let Some(steps) = &mut jobs[1].steps {
            steps.each = vec![IterationSpread {
                durations: over(100.0, 100),
                own: Some(over(80.0, 80)),
                ..IterationSpread::default()
            }];
        }
        let found = scaling(&jobs).unwrap();
        let [one, two] = [&found.rows[0], &found.rows[1]];
        assert_eq!((one.waiting_ratio, one.communication_ratio), (None, None));
        assert_eq!((two.waiting_ratio, two.communication_ratio), (Some(0.5), Some(0.2)));
    }
}
