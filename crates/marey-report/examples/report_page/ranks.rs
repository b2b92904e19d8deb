//! Jobs of many ranks, as answers. All ranks of a job do the same; some are slow, so that the others wait for them in an `all_reduce` at the end of
//! each step.
//!
//! ```text
//! ms         0       200                    700       800  …            1800      2000
//! rank 0     |-load--|------- step 0 -------|-step 1--|-step 2- … step 11-|-decode--|    works 78 of 100, waits 20, 2 for the transfer
//! rank 5       |-load--|------- step 0 …                                                   slow: works 98; starts 3 ms later
//! ```
//!
//! Step 7 of rank 2 takes 160 ms instead of 100. Ranks 4 to 7 are on the second host.

use marey_analysis::findings::{
    Category, Confidence, Evidence, Figure, FigureUnit, Finding, Severity,
};
use marey_analysis::job::{Ended, GpuSums, MachineSums, Range, Source, StagePiece, Unread};
use marey_analysis::ranks::{
    ClockMethod, Clocks, CollectiveWaiting, HeatMap, HostRow, JobAnswers, Member, MemberState,
    OverRanks, PlacedClock, RankGpu, RankResources, RankStraggler, RankWaitingRow, RanksAnswers,
    Resources, Scaling, ScalingRow, SectionSpread, StragglerVerdict, Stragglers, TurnSpread,
    TurnsOverRanks, VersionRow, Waiting,
};

use crate::video::Naming;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const GIB: f64 = 1_073_741_824.0;

/// What is different from job to job.
pub(crate) struct Drawing {
    pub(crate) n_ranks: u32,
    pub(crate) n_steps: u32,
    pub(crate) slow: Option<u32>,
    pub(crate) naming: Naming,
}

/// Eight ranks, of which number 5 is slow.
pub(crate) fn eight(naming: Naming) -> RanksAnswers {
    of_jobs(vec![job(&Drawing {
        n_ranks: 8,
        n_steps: 12,
        slow: Some(5),
        naming,
    })])
}

/// As many ranks and steps as a page has room for.
pub(crate) fn thousand(naming: Naming) -> RanksAnswers {
    let drawing = Drawing {
        n_ranks: 1_024,
        n_steps: 512,
        slow: Some(777),
        naming,
    };
    of_jobs(vec![job(&drawing)])
}

/// One rank, that made no steps and talked to nobody.
pub(crate) fn lone(naming: Naming) -> RanksAnswers {
    let mut one = job(&Drawing {
        n_ranks: 1,
        n_steps: 0,
        slow: None,
        naming,
    });
    one.world_size = None;
    one.members[0].rank = None;
    one.clocks.error_ns = None;
    of_jobs(vec![one])
}

/// Ranks 3 and 6 of the eight are missing, 2 was killed, 4 is damaged, 7 runs on; versions and world sizes differ; a file cannot be read.
pub(crate) fn missing(naming: Naming) -> RanksAnswers {
    let mut job = job(&Drawing {
        n_ranks: 8,
        n_steps: 12,
        slow: None,
        naming,
    });
    job.missing = vec![3, 6];
    job.other_world_sizes = vec![6, 8];
    let gone = [3, 6];
    let place = |old: u32| old - gone.iter().map(|rank| u32::from(*rank < old)).sum::<u32>();
    let is_there = |old: &u32| !gone.contains(old);
    job.members
        .retain(|member| member.rank.is_some_and(|rank| is_there(&rank)));
    job.clocks.each.truncate(job.members.len());
    job.n_processes = 6;
    job.stragglers.ranks.retain(|rank| is_there(&rank.place));
    for rank in &mut job.stragglers.ranks {
        rank.place = place(rank.place);
    }
    job.hosts[0].places = vec![0, 1, 2];
    job.hosts[1].places = vec![3, 4, 5];
    job.versions = vec![
        VersionRow {
            marey: Some("0.1.0".into()),
            places: vec![0, 1, 2, 3, 4],
        },
        VersionRow {
            marey: None,
            places: vec![5],
        },
    ];
    job.members[2].ended = Ended::Killed(9);
    job.members[2].state = MemberState::Cut;
    job.members[2].stages.truncate(2);
    job.members[2].wall_ns = 900 * MS;
    job.members[3].state = MemberState::Damaged;
    job.members[3].warnings = vec![naming("truncated at byte 4096")];
    job.members[3].n_lost = 12;
    job.members[5].state = MemberState::Running;
    job.members[5].ended = Ended::Running;
    job.members[5].n_others = 2;
    job.clocks.each[5] = PlacedClock {
        method: ClockMethod::NotKnown,
        ..PlacedClock::default()
    };
    job.clocks.error_ns = None;
    job.waiting = None;
    job.stragglers.is_waiting_known = false;
    job.resources = Resources::default();
    if let Some(steps) = &mut job.steps {
        steps.counts_differ = Some((5, 12));
        let map = &mut steps.heat_map;
        map.places = (0..6).collect();
        map.durations_ns.truncate(6 * 12);
        map.own_ns.clear();
        for cell in &mut steps.each {
            cell.own = None;
        }
        // The killed one did five steps.
        map.durations_ns[2 * 12 + 5..3 * 12].fill(None);
    }
    let mut answers = of_jobs(vec![job]);
    answers.unread = vec![Unread {
        file: naming("rank6.marey"),
        rank: Some(6),
        why: naming("not a capture"),
    }];
    answers
}

/// The same job with 1, 2, 4 and 8 ranks.
pub(crate) fn several(naming: Naming) -> RanksAnswers {
    let drawn = |n_ranks| {
        job(&Drawing {
            n_ranks,
            n_steps: 12,
            slow: (n_ranks == 8).then_some(5),
            naming,
        })
    };
    let mut answers = of_jobs([1, 2, 4, 8].map(drawn).into());
    let row = |world_size: u32, duration: f64, waiting_ratio: Option<f64>| {
        let speedup = 400.0 / duration;
        ScalingRow {
            world_size,
            n_jobs: 1,
            duration_ns: duration * 1e6,
            speedup,
            shared_efficiency: speedup / f64::from(world_size),
            own_efficiency: speedup,
            waiting_ratio,
            communication_ratio: waiting_ratio.map(|ratio| ratio / 2.0),
        }
    };
    answers.scaling = Some(Scaling {
        measure: "median of the slowest rank's steps that are no warm-up".into(),
        rows: vec![
            row(1, 400.0, None),
            row(2, 210.0, Some(0.1)),
            row(4, 120.0, Some(0.3)),
            row(8, 100.0, Some(0.9)),
        ],
    });
    answers
}

fn of_jobs(jobs: Vec<JobAnswers>) -> RanksAnswers {
    RanksAnswers {
        jobs,
        ..RanksAnswers::default()
    }
}

pub(crate) fn job(drawing: &Drawing) -> JobAnswers {
    let Drawing {
        n_ranks,
        n_steps,
        slow,
        naming,
    } = *drawing;
    let places: Vec<u32> = (0..n_ranks).collect();
    let half = (n_ranks / 2).max(1) as usize;
    let span_ms = 900 + 100 * u64::from(n_steps);
    let hosts = places.chunks(half).zip(["studio-a", "studio-b"]);
    JobAnswers {
        job_id: naming(&format!("render-{n_ranks}")),
        n_processes: n_ranks.into(),
        world_size: Some(n_ranks),
        members: places.iter().map(|rank| member(drawing, *rank)).collect(),
        hosts: hosts
            .map(|(places, host)| HostRow {
                host: naming(host),
                places: places.to_vec(),
            })
            .collect(),
        versions: vec![VersionRow {
            marey: Some("0.1.0".into()),
            places: places.clone(),
        }],
        clocks: clocks(n_ranks),
        span_ns: (span_ms + 3) * MS,
        sections: sections(drawing),
        steps: (n_steps > 0).then(|| turns(drawing)),
        waiting: (n_ranks > 1 && n_steps > 0).then(|| waiting(drawing)),
        stragglers: stragglers(drawing),
        resources: resources(drawing),
        findings: marey_analysis::Findings {
            found: slow.map(|rank| finding(naming, rank)).into_iter().collect(),
            ..Default::default()
        },
        ..JobAnswers::default()
    }
}

fn host_of(drawing: &Drawing, rank: u32) -> String {
    let is_second = rank >= drawing.n_ranks.div_ceil(2) && drawing.n_ranks > 1;
    (drawing.naming)(if is_second { "studio-b" } else { "studio-a" })
}

fn member(drawing: &Drawing, rank: u32) -> Member {
    let steps_end = 700 + 100 * u64::from(drawing.n_steps.max(1) - 1);
    let piece = |name, start, end| StagePiece {
        name,
        start_ns: start * MS,
        end_ns: end * MS,
    };
    let mut stages = vec![piece(0, 0, 200), piece(1, 200, 700)];
    let names = ["load", "denoise", "all_reduce", "decode"].map(drawing.naming);
    // Of many steps every piece stands for several, as where a recording has too many of them.
    let several = drawing.n_steps.div_ceil(126).max(1);
    for step in (1..u64::from(drawing.n_steps)).step_by(several as usize) {
        let (start, end) = (
            600 + 100 * step,
            (600 + 100 * (step + u64::from(several))).min(steps_end),
        );
        let work_end = if drawing.slow == Some(rank) {
            end - 2
        } else {
            end - 22
        };
        stages.push(piece(1, start, work_end));
        stages.push(piece(2, work_end, end));
    }
    stages.push(piece(3, steps_end, steps_end + 200));
    Member {
        rank: Some(rank),
        host: host_of(drawing, rank),
        local_rank: Some(rank % (drawing.n_ranks / 2).max(1)),
        pid: 5_000 + rank,
        file: (drawing.naming)(&format!("rank{rank}.marey")),
        source: Source::Capture,
        ended: Ended::Finished,
        wall_ns: (steps_end + 200) * MS,
        stages,
        stage_names: names.into(),
        ..Member::default()
    }
}

fn clocks(n_ranks: u32) -> Clocks {
    let is_second = |rank: u32| n_ranks > 1 && rank >= n_ranks.div_ceil(2);
    let placed = |rank: u32| {
        if is_second(rank) {
            PlacedClock {
                start_ns: Some(3 * MS),
                correction_ns: -1_200_000,
                error_ns: Some(40_000),
                method: ClockMethod::Collectives,
            }
        } else {
            PlacedClock {
                start_ns: Some(0),
                correction_ns: 0,
                error_ns: Some(0),
                method: ClockMethod::SameClock,
            }
        }
    };
    Clocks {
        each: (0..n_ranks).map(placed).collect(),
        start_unix_ns: Some(1_795_000_000_000_000_000),
        error_ns: Some(if n_ranks > 1 { 40_000 } else { 0 }),
        note: String::new(),
    }
}

/// Of figures in microseconds by rank.
fn over(each: &[u32]) -> OverRanks {
    let mut sorted = each.to_vec();
    sorted.sort_unstable();
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    let middle = [sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]];
    let median = f64::midpoint(middle[0].into(), middle[1].into());
    let n_ranks = each.iter().map(|_| 1).sum::<u32>();
    let slowest = (0..).zip(each).find(|(_, us)| **us == max);
    OverRanks {
        n_ranks: n_ranks.into(),
        min_ns: u64::from(min) * US,
        median_ns: median * 1e3,
        mean_ns: each.iter().map(|us| f64::from(*us)).sum::<f64>() / f64::from(n_ranks) * 1e3,
        max_ns: u64::from(max) * US,
        slowest: slowest.map_or(0, |(place, _)| place),
        spread_ns: u64::from(max - min) * US,
        spread_ratio: (min > 0).then(|| f64::from(max - min) / median),
    }
}

/// Microseconds of a step that a rank works.
fn own_us(drawing: &Drawing, rank: u32) -> u32 {
    if drawing.slow == Some(rank) {
        98_000
    } else {
        78_000
    }
}

fn step_us(rank: u32, step: u32) -> u32 {
    match (rank, step) {
        (_, 0) => 500_000,
        (2, 7) => 160_000,
        // Ranks beyond the eight are not that even.
        (8.., _) => 100_000 + (rank * 7_919 + step * 104_729) % 1_000,
        _ => 100_000,
    }
}

/// Without the `all_reduce` at the end.
fn own_step_us(drawing: &Drawing, rank: u32, step: u32) -> u32 {
    step_us(rank, step) - (100_000 - own_us(drawing, rank))
}

fn turns(drawing: &Drawing) -> TurnsOverRanks {
    let ranks = || 0..drawing.n_ranks;
    let durations = |step| -> Vec<u32> { ranks().map(|rank| step_us(rank, step)).collect() };
    let own = |step| -> Vec<u32> {
        let each = ranks().map(|rank| own_step_us(drawing, rank, step));
        each.collect()
    };
    let spread = |step: u32| TurnSpread {
        first: step.into(),
        is_warm_up: step == 0,
        durations: over(&durations(step)),
        own: (drawing.n_ranks > 1).then(|| over(&own(step))),
    };
    let talks = drawing.n_ranks > 1;
    let steps = || 0..drawing.n_steps;
    let ns = |us: u32| Some(u64::from(us) * US);
    let own_ns = |rank| steps().map(move |step| ns(own_step_us(drawing, rank, step)));
    let cells = ranks().flat_map(|rank| steps().map(move |step| ns(step_us(rank, step))));
    TurnsOverRanks {
        out_of_step: Vec::new(),
        count: u64::from(drawing.n_ranks) * u64::from(drawing.n_steps),
        counts_differ: None,
        per_cell: 1,
        medians: Some(over(&durations(1))),
        each: (0..drawing.n_steps).map(spread).collect(),
        heat_map: HeatMap {
            places: ranks().collect(),
            n_cells: drawing.n_steps,
            durations_ns: cells.collect(),
            own_ns: ranks().filter(|_| talks).flat_map(own_ns).collect(),
        },
    }
}

fn sections(drawing: &Drawing) -> Vec<SectionSpread> {
    let n = u64::from(drawing.n_ranks);
    let steps = drawing.n_steps.max(1);
    let each = |ms: u32| vec![ms * 1_000; drawing.n_ranks as usize];
    let section = |path: &[&str], calls: u32, totals: &[u32], longest: u64| {
        let sum: u64 = totals.iter().map(|us| u64::from(*us) * US).sum();
        let totals = over(totals);
        SectionSpread {
            path: path.iter().map(|name| (drawing.naming)(name)).collect(),
            count: u64::from(calls) * n,
            total_ns: sum,
            means: Some(totals),
            totals: Some(totals),
            min_ns: Some(totals.min_ns / u64::from(calls)),
            max_ns: Some(longest * MS),
            median_ns: Some(totals.min_ns / u64::from(calls)),
            p95_ns: Some(longest * MS),
            ..SectionSpread::default()
        }
    };
    let is_slow = |rank| drawing.slow == Some(rank);
    let waits = (0..drawing.n_ranks).map(|rank| if is_slow(rank) { 24_000 } else { 264_000 });
    let waits: Vec<u32> = waits.collect();
    vec![
        section(&["denoise"], 1, &each(400 + 100 * steps), 1_600),
        section(&["denoise", "all_reduce"], steps, &waits, 22),
        section(&["load"], 1, &each(200), 200),
        section(&["decode"], 1, &each(200), 200),
    ]
}

fn waiting(drawing: &Drawing) -> Waiting {
    let steps = u64::from(drawing.n_steps);
    let n = u64::from(drawing.n_ranks);
    let row = |place: u32| {
        let is_slow = drawing.slow == Some(place);
        let waited = if is_slow || drawing.slow.is_none() {
            0
        } else {
            20 * steps
        };
        let transfer = 2 * steps;
        RankWaitingRow {
            place,
            n_calls: steps,
            total_ns: (transfer + waited) * MS,
            n_matched: steps,
            transfer_ns: transfer * MS,
            waiting_ns: waited * MS,
            // Of 22 ms of each call 20, or none of 2.
            waiting_ratio: Some(if waited > 0 { 20.0 / 22.0 } else { 0.0 }),
            n_last: if is_slow { steps } else { 0 },
            caused_ns: if is_slow { 20 * steps * MS } else { 0 },
        }
    };
    let ranks: Vec<RankWaitingRow> = (0..drawing.n_ranks).map(row).collect();
    Waiting {
        collectives: vec![CollectiveWaiting {
            n_failed: 0,
            failed_ns: 0,
            group: Some((drawing.naming)("world")),
            name: (drawing.naming)("all_reduce"),
            is_device: false,
            is_start_up: false,
            places: Vec::new(),
            is_ambiguous: false,
            n_ranks: n,
            n_calls: Some(steps),
            transfer_ns: Some(2 * steps * MS),
            waiting_ns: Some(ranks.iter().map(|rank| rank.waiting_ns).sum()),
            bytes: Some((steps * n) << 20),
        }],
        ranks,
    }
}

fn stragglers(drawing: &Drawing) -> Stragglers {
    let mut ranks: Vec<RankStraggler> = (0..drawing.n_ranks)
        .map(|place| {
            let is_slow = drawing.slow == Some(place);
            let waits = drawing.slow.is_some() && !is_slow;
            RankStraggler {
                place,
                own_ns: u64::from(own_us(drawing, place)) * US,
                waiting_ns: (drawing.n_ranks > 1).then_some(if waits { 20 * MS } else { 0 }),
                score: f64::from(own_us(drawing, place)) / 78_000.0 - 1.0,
                verdict: if is_slow {
                    StragglerVerdict::Slow
                } else if waits {
                    StragglerVerdict::Waits
                } else {
                    StragglerVerdict::Even
                },
            }
        })
        .collect();
    ranks.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    Stragglers {
        basis: if drawing.n_steps > 0 {
            "The median of each rank's steps that are no warm-up, without the time that the rank waits for others in collectives."
        } else {
            "The whole run of each rank."
        }
        .into(),
        is_waiting_known: drawing.n_ranks > 1 && drawing.n_steps > 0,
        ranks,
    }
}

fn resources(drawing: &Drawing) -> Resources {
    let range = |min: f64, mean: f64, max: f64| Range { min, mean, max };
    let gpu = |rank: u32| RankGpu {
        places: vec![rank],
        host: host_of(drawing, rank),
        gpu: GpuSums {
            uuid: (drawing.naming)(&format!("GPU-{rank}")),
            name: Some((drawing.naming)("NVIDIA H200")),
            memory_bytes: Some(range(2.0 * GIB, 20.0 * GIB, f64::from(24 + rank % 8) * GIB)),
            memory_total_bytes: Some(140.0 * GIB),
            utilization_ratio: Some(range(
                0.0,
                if drawing.slow == Some(rank) {
                    0.98
                } else {
                    0.78
                },
                1.0,
            )),
            temperature_celsius: Some(range(40.0, 60.0, if rank == 5 { 88.0 } else { 70.0 })),
            power_watts: Some(range(90.0, 400.0, 600.0)),
            energy_joules: Some(800.0),
            is_at_thermal_risk: Some(rank == 5),
        },
    };
    let used = |place: u32| RankResources {
        place,
        machine: MachineSums {
            process_cores: Some(range(0.5, 1.5, 4.0)),
            process_memory_peak_bytes: Some(6 << 30),
            torch_allocated_peak_bytes: Some(20 << 30),
            torch_reserved_peak_bytes: Some(24 << 30),
            ..MachineSums::default()
        },
    };
    let ranks = || 0..drawing.n_ranks;
    if drawing.n_ranks == 1 {
        return Resources::default();
    }
    Resources {
        gpus: ranks().map(gpu).collect(),
        gpu_memory_bytes: Some(range(2.0 * GIB, 20.0 * GIB, 31.0 * GIB)),
        gpu_utilization_ratio: Some(range(0.78, 0.805, 0.98)),
        power_watts: Some(400.0 * f64::from(drawing.n_ranks)),
        energy_joules: Some(800.0 * f64::from(drawing.n_ranks)),
        ranks: ranks().map(used).collect(),
    }
}

fn finding(naming: Naming, rank: u32) -> Finding {
    let figure = |value, unit| Figure { value, unit };
    Finding {
        rule: "slow-rank",
        category: Category::Scaling,
        severity: Severity::High,
        issue: naming(&format!(
            "rank {rank} is 25.6 % slower than the others, which wait for it"
        )),
        remedy: naming(
            "Look at what its GPU does meanwhile: heat, another process, a slower model of GPU.",
        ),
        evidence: vec![Evidence {
            what: naming("its own time above the median"),
            figure: figure(0.256, FigureUnit::Ratio),
            limit: Some(0.05),
        }],
        intervals: Vec::new(),
        node: None,
        saving: None,
        confidence: Confidence::High,
    }
}
