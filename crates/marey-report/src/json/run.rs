//! `run`, `status` and `events`.

use serde::Serialize;

use super::{Pairs, seconds};
use crate::model::{
    Activity, EventMoment, LaunchFacts, NamedValues, RunFacts, RunStatus, StatusKind,
};

/// `run` of the report.
#[derive(Serialize)]
pub(super) struct RunObject<'a> {
    id: &'a str,
    job_id: Option<&'a str>,
    host: Option<&'a str>,
    pid: u32,
    rank: Option<u32>,
    world_size: Option<u32>,
    local_rank: Option<u32>,
    command: &'a [String],
    start: f64,
    wall: f64,
    before_recording: Option<f64>,
    facts: Pairs<&'a str, &'a str>,
}

/// `status` of the report.
#[derive(Serialize)]
pub(super) struct StatusObject<'a> {
    kind: StatusKind,
    signal: Option<i32>,
    reason: Option<&'a str>,
    text: String,
}

/// `launch` of the report and of `run.json`: what `marey run` saw of the command. Times in seconds.
#[derive(Serialize)]
pub struct LaunchObject {
    pid: u32,
    exit_code: Option<i32>,
    signal: Option<i32>,
    wall_s: Option<f64>,
    cpu_s: Option<f64>,
    cpu_user_s: Option<f64>,
    cpu_system_s: Option<f64>,
    peak_memory_bytes: Option<u64>,
    is_peak_at_most: bool,
    oom_kills: Option<u64>,
}

/// One event.
#[derive(Serialize)]
pub(super) struct EventObject<'a> {
    name: &'a str,
    timestamp: f64,
    data: &'a NamedValues,
}

impl<'a> RunObject<'a> {
    pub(super) fn new(run: &'a RunFacts) -> Self {
        Self {
            id: &run.id,
            job_id: run.job_id.as_deref(),
            host: run.host.as_deref(),
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

impl<'a> StatusObject<'a> {
    pub(super) fn new(status: &'a RunStatus) -> Self {
        Self {
            kind: status.kind,
            signal: status.signal,
            reason: status.reason.as_deref(),
            text: status.text(),
        }
    }
}

impl LaunchObject {
    /// Of what a launcher saw.
    pub fn new(launch: &LaunchFacts) -> Self {
        let cpu = |of: fn([u64; 2]) -> u64| launch.cpu_ns.map(|ns| seconds(of(ns)));
        Self {
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
}

impl<'a> EventObject<'a> {
    pub(super) fn of(activity: &'a Activity) -> Vec<Self> {
        let events = activity.events.iter();
        events.map(|event| Self::new(activity, event)).collect()
    }

    fn new(activity: &Activity, event: &'a EventMoment) -> Self {
        Self {
            name: &event.name,
            timestamp: seconds(activity.start_unix_ns.saturating_add(event.at_ns)),
            data: &event.data,
        }
    }
}
