//! How long the answers about large jobs take: from summaries, and from their document.

#![allow(clippy::print_stdout, reason = "a program that prints a table")]
#![allow(
    clippy::disallowed_methods,
    reason = "a measurement reads the clock; the analysis does not"
)]

use std::time::Instant;

use marey_analysis::job::{
    CollectiveSums, Ended, IterationCell, IterationSums, LogBuckets, RankProcess, RankSummary,
    Ranks, SectionSums,
};
use marey_analysis::ranks::ranks;
use marey_analysis::{Interval, Thresholds};

/// Ranks, call paths of each, steps of each, calls of a collective of each.
const SHAPES: [[u32; 4]; 3] =
    [[1_024, 50, 512, 1_024], [10_000, 50, 50, 50], [10_000, 50, 512, 512]];

fn main() {
    println!("  ranks  paths  steps  calls   document     read   merged   answered");
    for [n_ranks, n_paths, n_steps, n_calls] in SHAPES {
        let all: Ranks =
            (0..n_ranks).map(|rank| summary(rank, n_ranks, [n_paths, n_steps, n_calls])).collect();
        let document = all.to_json();
        let (read, read_s) = timed(|| Ranks::from_json(&document).unwrap_or_default());
        let (merged, merged_s) = timed(|| {
            let mut merged = Ranks::new();
            merged.merge(read);
            merged.merge(all);
            merged
        });
        let (found, answered_s) = timed(|| ranks(&merged, &Thresholds::default()));
        assert_eq!(found.jobs.len(), 1);
        println!(
            "{n_ranks:>7} {n_paths:>6} {n_steps:>6} {n_calls:>6} {:>7} MB {read_s:>6.2} s {merged_s:>6.2} s {answered_s:>8.2} s",
            document.len() / 1_000_000
        );
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let made = work();
    (made, start.elapsed().as_secs_f64())
}

/// Eight ranks a host; each step is a little different.
fn summary(rank: u32, n_ranks: u32, [n_paths, n_steps, n_calls]: [u32; 3]) -> RankSummary {
    let length = |at: u32| 1_000_000 + u64::from(at.wrapping_mul(rank + 7) % 10_007);
    let host = rank / 8;
    let section = |at: u32| SectionSums {
        path: vec!["generate".into(), format!("part {at}")],
        count: 16,
        total_ns: 16 * length(at),
        min_ns: length(at) / 2,
        max_ns: 2 * length(at),
        durations: Some(LogBuckets::of((0..16).map(|n| length(at) + n * 100_000))),
        ..SectionSums::default()
    };
    let cell = |at: u32| IterationCell {
        start_ns: u64::from(at) * 2_000_000,
        end_ns: u64::from(at) * 2_000_000 + length(at),
        total_ns: length(at),
        communication_ns: Some(length(at) / 10),
        failed_ns: 0,
        is_warm_up: at == 0,
    };
    let call = |at: u32| Interval {
        start_ns: u64::from(at) * 2_000_000 + 900_000,
        end_ns: u64::from(at) * 2_000_000 + 900_000 + length(at) / 10,
    };
    RankSummary {
        process: RankProcess {
            job_id: "job".into(),
            rank: Some(rank),
            host: format!("node-{host}"),
            boot_id: format!("boot-{host}"),
            pid: rank + 1,
            start_unix_ns: 1_790_000_000_000_000_000,
            world_size: Some(n_ranks),
            ..RankProcess::default()
        },
        file: format!("rank{rank}.marey"),
        ended: Ended::Finished,
        wall_ns: 10_000_000_000,
        sections: (0..n_paths).map(section).collect(),
        steps: Some(IterationSums {
            count: n_steps.into(),
            median_ns: Some(length(rank)),
            per_cell: 1,
            cells: (0..n_steps).map(cell).collect(),
        }),
        collectives: vec![CollectiveSums {
            name: "all_reduce".into(),
            is_synchronising: true,
            count: n_calls.into(),
            total_ns: (0..n_calls).map(length).sum::<u64>() / 10,
            calls: (0..n_calls).map(call).collect(),
            ..CollectiveSums::default()
        }],
        ..RankSummary::default()
    }
}
