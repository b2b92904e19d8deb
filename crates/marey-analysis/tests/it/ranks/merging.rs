//! What holds for every set of summaries: neither order, grouping nor repetition changes an answer, sums are those of their parts, and
//! nothing in a summary stops the analysis.

use marey_analysis::job::{
    CollectiveSums, Ended, GpuSums, IterationCell, IterationSums, LogBuckets, MachineSums, Range,
    RankProcess, RankSummary, Ranks, SectionSums, Source, StagePiece, Unread, Work,
};
use marey_analysis::ranks::{RanksAnswers, ranks};
use marey_analysis::{Interval, Thresholds};
use proptest::prelude::*;

/// Any number, the ends of what there is among them.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..2_000_u64, 1 => Just(u64::MAX), 1 => Just(0), 1 => any::<u64>()]
}

fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![3 => 0.0..100.0, 1 => Just(f64::MAX), 1 => Just(f64::INFINITY), 1 => -1e9..1e9]
}

fn range() -> impl Strategy<Value = Option<Range>> {
    let any = (amount(), amount(), amount()).prop_map(|(min, mean, max)| Range { min, mean, max });
    prop::option::of(any)
}

fn process() -> impl Strategy<Value = RankProcess> {
    let who = (
        prop::sample::select(vec!["", "a", "a-0", "a-1", "20261121-120000-h-3"]),
        prop::option::of(0..4_u32),
        prop::sample::select(vec!["", "h", "i"]),
        0..4_u32,
        prop_oneof![3 => 0..2_000_u64, 1 => Just(u64::MAX)],
    );
    let rest = (
        prop_oneof![4 => prop::option::of(1..4_u32), 1 => Just(Some(u32::MAX))],
        prop::option::weighted(0.2, 0..4_u32),
        prop::sample::select(vec!["", "x", "y"]),
    );
    (who, rest).prop_map(|((job_id, rank, host, pid, start_unix_ns), rest)| {
        let (world_size, forked_from, boot_id) = rest;
        RankProcess {
            job_id: job_id.into(),
            rank,
            host: host.into(),
            pid,
            start_unix_ns,
            world_size,
            local_rank: rank,
            forked_from,
            boot_id: boot_id.into(),
        }
    })
}

fn ended() -> impl Strategy<Value = Ended> {
    prop::sample::select(vec![
        Ended::NotKnown,
        Ended::Running,
        Ended::Finished,
        Ended::Finished,
        Ended::Failed("why".into()),
        Ended::Killed(9),
        Ended::WithoutClosing,
    ])
}

fn section() -> impl Strategy<Value = SectionSums> {
    let figures = (number(), number(), number(), number(), number());
    let durations = prop::option::of(prop::collection::vec(number(), 0..4));
    let open = prop::option::weighted(0.2, number());
    (0..3_u8, any::<bool>(), figures, durations, open).prop_map(
        |(name, is_iteration, figures, durations, open_ns)| {
            let (count, total_ns, min_ns, max_ns, errors) = figures;
            SectionSums {
                path: vec![format!("section {name}")],
                is_iteration,
                count,
                total_ns,
                min_ns,
                max_ns,
                errors,
                durations: durations.map(LogBuckets::of),
                open_ns,
                held_ns: open_ns,
            }
        },
    )
}

fn iterations() -> impl Strategy<Value = Option<IterationSums>> {
    let cell = (number(), number(), number(), prop::option::of(number()), number(), any::<bool>());
    let cell =
        cell.prop_map(|(start_ns, end_ns, total_ns, communication_ns, failed_ns, is_warm_up)| {
            IterationCell { start_ns, end_ns, total_ns, communication_ns, failed_ns, is_warm_up }
        });
    let sums = (number(), prop::option::of(number()), 0..5_u32);
    let iterations = (sums, prop::collection::vec(cell, 0..6)).prop_map(|(sums, cells)| {
        IterationSums { count: sums.0, median_ns: sums.1, per_cell: sums.2, cells }
    });
    prop::option::of(iterations)
}

fn collective() -> impl Strategy<Value = CollectiveSums> {
    let which = (
        prop::option::of(Just("g".to_owned())),
        prop::option::of(0..4_u64),
        prop::sample::select(vec![
            "all_reduce",
            "barrier",
            "send",
            "init_process_group",
            "all_reduce wait",
        ]),
        any::<bool>(),
        any::<bool>(),
    );
    let call = (number(), number()).prop_map(|(start_ns, end_ns)| Interval { start_ns, end_ns });
    let figures = (0..4_u64, number(), prop::option::of(number()));
    (which, figures, prop::collection::vec(call, 0..4)).prop_map(|(which, figures, calls)| {
        CollectiveSums {
            n_failed: 0,
            failed_ns: 0,
            group: which.0,
            group_size: which.1,
            name: which.2.into(),
            is_device: which.3,
            is_synchronising: which.4,
            count: figures.0,
            total_ns: figures.1,
            bytes: figures.2,
            calls,
        }
    })
}

fn machine() -> impl Strategy<Value = MachineSums> {
    let gpu = (0..3_u8, range(), range(), range(), prop::option::of(amount()));
    let gpu =
        gpu.prop_map(|(uuid, memory_bytes, utilization_ratio, power_watts, energy_joules)| {
            GpuSums {
                uuid: ["", "GPU-a", "GPU-b"][usize::from(uuid)].into(),
                memory_bytes,
                utilization_ratio,
                power_watts,
                energy_joules,
                ..GpuSums::default()
            }
        });
    (prop::collection::vec(gpu, 0..3), range()).prop_map(|(gpus, process_cores)| MachineSums {
        gpus,
        process_cores,
        ..MachineSums::default()
    })
}

fn work() -> impl Strategy<Value = Work> {
    (prop::option::of(number()), prop::option::of(amount())).prop_map(|(frames, rate)| Work {
        pixel_frames: frames,
        pixel_frames_per_second: rate,
        ..Work::default()
    })
}

fn summary() -> impl Strategy<Value = RankSummary> {
    let about = (
        process(),
        prop::sample::select(vec![Source::Capture, Source::Trace, Source::Report]),
        0..3_u8,
        prop::option::of(Just("0.1.0".to_owned())),
        ended(),
        number(),
        0..2_u64,
        prop::collection::vec(Just("damaged".to_owned()), 0..2),
    );
    let did = (
        prop::collection::vec(section(), 0..4),
        iterations(),
        iterations(),
        prop::collection::vec(collective(), 0..4),
        prop::collection::vec(number(), 0..3),
        machine(),
        work(),
    );
    (about, did).prop_map(|(about, did)| {
        let (process, source, file, marey, ended, wall_ns, n_lost, warnings) = about;
        let (sections, steps, blocks, collectives, marks, machine, work) = did;
        RankSummary {
            process,
            source,
            file: format!("file {file}"),
            marey,
            ended,
            wall_ns,
            n_lost,
            warnings,
            sections,
            steps,
            blocks,
            // The name is none that there is.
            stages: vec![StagePiece { name: u32::MAX, start_ns: 5, end_ns: 3 }],
            collectives,
            n_marks_left_out: marks.first().copied().unwrap_or_default(),
            marks,
            machine,
            work,
            ..RankSummary::default()
        }
    })
}

fn summaries() -> impl Strategy<Value = Vec<RankSummary>> {
    prop::collection::vec(summary(), 0..10)
}

fn unread(file: u8, why: u8) -> Unread {
    let (file, why) = (format!("broken {file}"), format!("reason {why}"));
    Unread { file, why, ..Unread::default() }
}

fn answers(all: &Ranks) -> RanksAnswers {
    ranks(all, &Thresholds::default())
}

proptest! {
    #[test]
    fn order_grouping_and_repetition_change_nothing(
        given in summaries(),
        order in Just(()).prop_perturb(|(), mut random| random.random::<[u8; 16]>()),
        broken in prop::collection::vec((0..2_u8, 0..3_u8), 0..4),
    ) {
        let mut whole: Ranks = given.iter().cloned().collect();
        for (file, why) in &broken {
            whole.add_unread(unread(*file, *why));
        }
        // Each goes to one of four partials, some to two, in an order of their own; partials go through documents and are merged as a tree.
        let mut partials = vec![Ranks::new(); 4];
        let mut shuffled: Vec<(u8, &RankSummary)> = order.iter().copied().cycle().zip(&given).collect();
        shuffled.sort_by_key(|(key, one)| (key.wrapping_mul(31), one.wall_ns));
        for (key, one) in shuffled {
            partials[usize::from(key % 4)].add(one.clone());
            if key % 3 == 0 {
                partials[usize::from(key / 4 % 4)].add(one.clone());
            }
        }
        for (file, why) in broken.iter().rev() {
            partials[usize::from(order[0] % 4)].add_unread(unread(*file, *why));
        }
        let mut read: Vec<Ranks> = partials
            .iter()
            .map(|one| Ranks::from_json(&one.to_json()).unwrap())
            .collect();
        let (last, third) = (read.pop().unwrap(), read.pop().unwrap());
        let mut right = last;
        right.merge(third);
        let mut merged = Ranks::new();
        merged.merge(right.clone());
        merged.merge(read.pop().unwrap());
        merged.merge(right);
        merged.merge(read.pop().unwrap());
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(answers(&merged), answers(&whole));
    }

    #[test]
    fn every_answer_is_finite_and_has_its_parts(given in summaries()) {
        let all: Ranks = given.into_iter().collect();
        let found = answers(&all);
        let said = format!("{found:?}");
        prop_assert!(!said.contains("NaN"));
        let n_processes: u64 = found.jobs.iter().map(|job| job.n_processes).sum();
        prop_assert_eq!(n_processes, all.summaries().len() as u64);
        for job in &found.jobs {
            let n_ranks = job.members.len();
            prop_assert!(n_ranks > 0 && n_ranks as u64 <= job.n_processes);
            prop_assert_eq!(job.clocks.each.len(), n_ranks);
            let on_hosts: usize = job.hosts.iter().map(|host| host.places.len()).sum();
            let of_versions: usize = job.versions.iter().map(|row| row.places.len()).sum();
            prop_assert_eq!((on_hosts, of_versions), (n_ranks, n_ranks));
            for iterations in job.steps.iter().chain(&job.blocks) {
                let map = &iterations.heat_map;
                prop_assert_eq!(map.durations_ns.len(), map.places.len() * map.n_cells as usize);
                prop_assert_eq!(iterations.each.len(), map.n_cells as usize);
            }
            for row in job.waiting.iter().flat_map(|waiting| &waiting.ranks) {
                prop_assert!(row.waiting_ratio.is_none_or(|ratio| (0.0..=1.0).contains(&ratio)));
            }
            let scores = job.stragglers.ranks.iter().map(|rank| rank.score);
            prop_assert!(scores.into_iter().all(f64::is_finite));
            let evidence = job.findings.found.iter().flat_map(|finding| &finding.evidence);
            prop_assert!(evidence.into_iter().all(|one| one.figure.value.is_finite()));
        }
    }

    #[test]
    fn sums_over_ranks_are_those_of_their_parts(totals in prop::collection::vec(1..1_000_u64, 1..8)) {
        let rank = |(rank, total_ns): (u32, &u64)| RankSummary {
            process: RankProcess { rank: Some(rank), pid: rank + 1, ..RankProcess::default() },
            sections: vec![SectionSums {
                path: vec!["denoise".into()],
                count: 2,
                total_ns: *total_ns,
                min_ns: 0,
                max_ns: *total_ns,
                ..SectionSums::default()
            }],
            ..RankSummary::default()
        };
        let all: Ranks = (0..).zip(&totals).map(rank).collect();
        let found = answers(&all);
        let section = &found.jobs[0].sections[0];
        let over = section.totals.unwrap();
        prop_assert_eq!(section.total_ns, totals.iter().sum::<u64>());
        prop_assert_eq!(section.count, 2 * totals.len() as u64);
        prop_assert_eq!(over.max_ns, totals[over.slowest as usize]);
        let mut sorted = totals.clone();
        sorted.sort_unstable();
        prop_assert_eq!(over.min_ns, sorted[0]);
        prop_assert_eq!(Some(over.median_ns), marey_analysis::median(&sorted));
    }
}
