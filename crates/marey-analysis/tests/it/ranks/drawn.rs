//! Ranks that are drawn step by step.

use marey_analysis::Interval;
use marey_analysis::Thresholds;
use marey_analysis::job::{
    CollectiveSums, Ended, IterationCell, IterationSums, RankProcess, RankSummary, Ranks,
    SectionSums,
};
use marey_analysis::ranks::{JobAnswers, RanksAnswers, ranks};

/// A millisecond.
pub(super) const MS: u64 = 1_000_000;
/// Wall clock when the first rank begins.
pub(super) const START: u64 = 1_790_000_000_000_000_000;

/// A rank that computes and then reduces with the others, step by step, from moment 0 of its own. Times in milliseconds.
///
/// ```text
/// compute 10, leaves at 16        |--compute 10--|-- all_reduce 6 --|
///                                 0             10                 16
/// ```
pub(super) struct Drawn {
    pub(super) summary: RankSummary,
}

impl Drawn {
    /// Of a job of `world_size`, on a host of its own.
    pub(super) fn new(rank: u32, world_size: u32) -> Self {
        Self {
            summary: RankSummary {
                process: RankProcess {
                    job_id: "job".into(),
                    rank: Some(rank),
                    host: format!("node-{rank}"),
                    boot_id: format!("boot-{rank}"),
                    pid: 100 + rank,
                    start_unix_ns: START,
                    world_size: Some(world_size),
                    ..RankProcess::default()
                },
                file: format!("rank{rank}.marey"),
                marey: Some("0.1.0".into()),
                ended: Ended::Finished,
                ..RankSummary::default()
            },
        }
    }

    /// Steps that follow each other without a gap: so long is computed in each, and at that moment everybody leaves the `all_reduce`.
    pub(super) fn steps(mut self, steps: &[(u64, u64)]) -> Self {
        let mut start_ns = 0;
        let (mut cells, mut calls) = (Vec::new(), Vec::new());
        for (at, &(compute_ms, leaves_ms)) in steps.iter().enumerate() {
            let end_ns = leaves_ms * MS;
            let call = Interval { start_ns: start_ns + compute_ms * MS, end_ns };
            cells.push(IterationCell {
                start_ns,
                end_ns,
                total_ns: end_ns - start_ns,
                communication_ns: Some(call.length_ns()),
                failed_ns: 0,
                is_warm_up: at == 0,
            });
            calls.push(call);
            start_ns = end_ns;
        }
        let mut steady: Vec<u64> = cells.iter().skip(1).map(|cell| cell.total_ns).collect();
        steady.sort_unstable();
        let summary = &mut self.summary;
        summary.wall_ns = start_ns;
        summary.sections = vec![section("denoise", start_ns)];
        summary.steps = Some(IterationSums {
            count: cells.len() as u64,
            median_ns: steady.get(steady.len() / 2).copied(),
            per_cell: 1,
            cells,
        });
        self.collective("all_reduce", calls)
    }

    /// Calls that nobody leaves before all have come.
    pub(super) fn collective(mut self, name: &str, calls: Vec<Interval>) -> Self {
        self.summary.collectives.push(CollectiveSums {
            name: name.to_owned(),
            is_synchronising: true,
            count: calls.len() as u64,
            total_ns: calls.iter().map(Interval::length_ns).sum(),
            calls,
            ..CollectiveSums::default()
        });
        self
    }

    /// Calls of a barrier, in milliseconds of its own clock.
    pub(super) fn barriers(self, times: &[(u64, u64)]) -> Self {
        let interval = |&(start_ms, end_ms): &(u64, u64)| Interval {
            start_ns: start_ms * MS,
            end_ns: end_ms * MS,
        };
        let mut drawn = self.collective("barrier", times.iter().map(interval).collect());
        let last_ms = times.iter().map(|(_, end_ms)| *end_ms).max().unwrap_or(0);
        drawn.summary.wall_ns = drawn.summary.wall_ns.max(last_ms * MS);
        drawn.summary.sections = vec![section("denoise", MS)];
        drawn
    }

    /// Marks, in milliseconds of its own clock, and work before them.
    pub(super) fn marks(mut self, at_ms: &[u64]) -> Self {
        self.summary.marks = at_ms.iter().map(|at| at * MS).collect();
        self.summary.wall_ns = at_ms.iter().max().map_or(0, |at| at * MS);
        self.summary.sections = vec![section("denoise", MS)];
        self
    }

    /// With something else in its summary.
    pub(super) fn with(mut self, change: impl FnOnce(&mut RankSummary)) -> Self {
        change(&mut self.summary);
        self
    }
}

fn section(name: &str, total_ns: u64) -> SectionSums {
    SectionSums {
        path: vec![name.to_owned()],
        count: 1,
        total_ns,
        min_ns: total_ns,
        max_ns: total_ns,
        ..SectionSums::default()
    }
}

/// What is said of these ranks.
pub(super) fn asked(drawn: impl IntoIterator<Item = Drawn>) -> RanksAnswers {
    let all: Ranks = drawn.into_iter().map(|one| one.summary).collect();
    ranks(&all, &Thresholds::default())
}

/// The same of ranks that are one job.
pub(super) fn job(drawn: impl IntoIterator<Item = Drawn>) -> JobAnswers {
    let mut answers = asked(drawn);
    assert_eq!(answers.jobs.len(), 1, "one job");
    answers.jobs.remove(0)
}
