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

mod finding;
mod iterations;
mod members;
mod resources;
mod sections;
mod waiting;

use marey_analysis::job::{Ended, Unread};
use marey_analysis::ranks::{
    ClockMethod, HostRow, JobAnswers, MemberState, PlacedClock, RanksAnswers, Resources, Scaling,
    ScalingRow, VersionRow,
};

use crate::video::Naming;
use finding::finding;
use iterations::iterations;
use members::{clocks, member};
use resources::resources;
use sections::sections;
use waiting::{stragglers, waiting};

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
    of_jobs(vec![job(&Drawing { n_ranks: 8, n_steps: 12, slow: Some(5), naming })])
}

/// As many ranks and steps as a page has room for.
pub(crate) fn thousand(naming: Naming) -> RanksAnswers {
    let drawing = Drawing { n_ranks: 1_024, n_steps: 512, slow: Some(777), naming };
    of_jobs(vec![job(&drawing)])
}

/// One rank, that made no steps and talked to nobody.
pub(crate) fn lone(naming: Naming) -> RanksAnswers {
    let mut one = job(&Drawing { n_ranks: 1, n_steps: 0, slow: None, naming });
    one.world_size = None;
    one.members[0].rank = None;
    one.clocks.error_ns = None;
    of_jobs(vec![one])
}

/// Of the eight ranks 3 is missing, the file of 6 cannot be read, 2 was killed, 4 is damaged, 7 runs on; versions and world sizes differ.
pub(crate) fn missing(naming: Naming) -> RanksAnswers {
    let mut job = job(&Drawing { n_ranks: 8, n_steps: 12, slow: None, naming });
    job.missing = vec![3];
    job.unread = vec![Unread {
        file: naming("rank6.marey"),
        rank: Some(6),
        why: naming("not a capture"),
        is_merged: false,
    }];
    job.other_world_sizes = vec![6, 8];
    let gone = [3, 6];
    let place = |old: u32| old - gone.iter().map(|rank| u32::from(*rank < old)).sum::<u32>();
    let is_there = |old: &u32| !gone.contains(old);
    job.members.retain(|member| member.rank.is_some_and(|rank| is_there(&rank)));
    job.clocks.each.truncate(job.members.len());
    job.n_processes = 6;
    job.stragglers.ranks.retain(|rank| is_there(&rank.place));
    for rank in &mut job.stragglers.ranks {
        rank.place = place(rank.place);
    }
    job.hosts[0].places = vec![0, 1, 2];
    job.hosts[1].places = vec![3, 4, 5];
    job.versions = vec![
        VersionRow { marey: Some("0.1.0".into()), places: vec![0, 1, 2, 3, 4] },
        VersionRow { marey: None, places: vec![5] },
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
    job.clocks.each[5] = PlacedClock { method: ClockMethod::NotKnown, ..PlacedClock::default() };
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
    let unread = job.unread.clone();
    let mut answers = of_jobs(vec![job]);
    answers.unread = unread;
    answers
}

/// The same job with 1, 2, 4 and 8 ranks.
pub(crate) fn several(naming: Naming) -> RanksAnswers {
    let drawn =
        |n_ranks| job(&Drawing { n_ranks, n_steps: 12, slow: (n_ranks == 8).then_some(5), naming });
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
    RanksAnswers { jobs, ..RanksAnswers::default() }
}

fn job(drawing: &Drawing) -> JobAnswers {
    let Drawing { n_ranks, n_steps, slow, naming } = *drawing;
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
            .map(|(places, host)| HostRow { host: naming(host), places: places.to_vec() })
            .collect(),
        versions: vec![VersionRow { marey: Some("0.1.0".into()), places: places.clone() }],
        clocks: clocks(n_ranks),
        span_ns: (span_ms + 3) * MS,
        sections: sections(drawing),
        steps: (n_steps > 0).then(|| iterations(drawing)),
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
