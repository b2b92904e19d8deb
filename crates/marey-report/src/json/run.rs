//! `run`, `status`, `launch` and `events`.

use serde::Serialize;

use super::figures::timestamp;
use super::object::object;
use super::{Pairs, seconds};
use crate::model::{Activity, LaunchFacts, RunFacts, RunStatus};

/// Where, when and how the process ran.
pub(super) fn run(run: &RunFacts) -> impl Serialize {
    object! {
        id: &run.id,
        job_id: &run.job_id,
        host: &run.host,
        pid: run.pid,
        rank: run.rank,
        world_size: run.world_size,
        local_rank: run.local_rank,
        command: &run.command,
        start: seconds(run.start_unix_ns),
        wall: seconds(run.wall_ns),
        before_recording: run.before_recording_ns.map(seconds),
        facts: Pairs(facts(run)),
    }
}

/// Facts by name; of a name that was recorded twice the last one.
fn facts(run: &RunFacts) -> Vec<(&str, &str)> {
    let mut kept: Vec<(&str, &str)> = Vec::new();
    for (name, value) in &run.facts {
        match kept.iter_mut().find(|(known, _)| known == name) {
            Some((_, earlier)) => *earlier = value,
            None => kept.push((name, value)),
        }
    }
    kept
}

pub(super) fn status(status: &RunStatus) -> impl Serialize {
    object! {
        kind: status.kind,
        signal: status.signal,
        reason: &status.reason,
        text: status.text(),
    }
}

/// `launch` of the report and of `run.json`: what `marey run` saw of the command. Times in seconds.
pub fn launch_object(launch: &LaunchFacts) -> impl Serialize + use<> {
    let cpu = |of: fn([u64; 2]) -> u64| launch.cpu_ns.map(|ns| seconds(of(ns)));
    object! {
        pid: launch.pid,
        exit_code: launch.exit_code,
        signal: launch.signal,
        wall_s: launch.wall_ns.map(seconds),
        cpu_s: cpu(|[user, system]| user.saturating_add(system)),
        cpu_user_s: cpu(|[user, _]| user),
        cpu_system_s: cpu(|[_, system]| system),
        peak_memory_bytes: launch.peak_bytes,
        is_peak_at_most: launch.is_peak_at_most,
        oom_kills: launch.oom_kills,
    }
}

/// What the program said at moments.
pub(super) fn events(activity: &Activity) -> Vec<impl Serialize> {
    let events = activity.events.iter().map(|event| {
        object! {
            name: &event.name,
            timestamp: timestamp(activity, event.at_ns),
            data: &event.data,
        }
    });
    events.collect()
}
