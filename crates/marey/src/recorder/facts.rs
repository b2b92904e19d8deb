//! What the info block says about the process.

use std::path::Path;

use super::arguments::redacted;
use super::config::Config;
use super::identity::{Identity, age_ms, forked_from};
use super::job_id::job_id;
use super::launcher::{Place, place_of_this_process};
use crate::clock;
use crate::profiling_config::ProfilingConfig;
use crate::run::RunInfo;

/// What readers make a warning of.
pub(crate) const RANK_NOT_BELIEVED: &str = "rank_not_believed";

/// Key and value of everything worth knowing of a recording that began at a moment of the monotonic clock.
pub(crate) fn of_this_process(
    config: &Config,
    ring_folder: Option<&Path>,
    began_ns: u64,
) -> Vec<(String, String)> {
    let me = Identity::of_this_process();
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut add = |key: &str, value: String| facts.push((key.into(), value));
    add("marey", env!("CARGO_PKG_VERSION").into());
    add("pid", me.pid.to_string());
    add("start_time", me.start_time.to_string());
    add("boot_id", me.boot_id.to_string());
    add("pid_namespace", me.pid_namespace.to_string());
    if config.outside.is_none()
        && let Some(age_ms) = age_ms()
    {
        // What was recorded in memory before there was a file is of the recording, too.
        let recorded_ms = clock::monotonic_ns().saturating_sub(began_ns) / 1_000_000;
        let age_ms = age_ms.saturating_sub(recorded_ms);
        add(RunInfo::BEFORE_RECORDING, age_ms.to_string());
    }
    add("clock", clock::kind().name().into());
    add("ring_folder", ring_folder.map(|p| p.display().to_string()).unwrap_or_default());
    add("host", read_line("/proc/sys/kernel/hostname"));
    add("kernel", read_line("/proc/sys/kernel/osrelease"));
    add("processor", processor());
    add("processors", std::thread::available_parallelism().map_or(0, usize::from).to_string());
    add("job_id", job_id(config));
    let (place, refused) = place_of_this_process(config);
    for (key, value) in place.into_iter().flat_map(|place| of_place(&place)) {
        add(key, value);
    }
    for said in refused {
        add(RANK_NOT_BELIEVED, said);
    }
    if let Some(parent) = forked_from() {
        add("forked_from", parent.to_string());
    }
    let command = match &config.outside {
        Some(outside) => {
            add("outside_of", outside.pid.to_string());
            outside.command.clone()
        }
        None => redacted(std::env::args_os().map(|a| a.to_string_lossy().into_owned())),
    };
    for argument in command {
        add("argument", argument);
    }
    facts.extend(config.facts.iter().cloned());
    let defaults = ProfilingConfig::default();
    facts.extend(super::notes::settings_beside(&config.profiling, &defaults));
    facts
}

/// Where a process is in its job.
pub(crate) fn of_place(place: &Place) -> Vec<(&'static str, String)> {
    let number = |key, value: Option<u32>| Some((key, value?.to_string()));
    let known = [
        number("rank", Some(place.rank)),
        number("world_size", place.world_size),
        number("local_rank", place.local_rank),
        number("node", place.node),
    ];
    let launcher = ("launcher", place.launcher.to_owned());
    known.into_iter().flatten().chain([launcher]).collect()
}

fn read_line(path: &str) -> String {
    std::fs::read(path).map(|bytes| crate::value::readable(bytes.trim_ascii())).unwrap_or_default()
}

fn processor() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(':'))
        .map(|(_, name)| name.trim().to_owned())
        .unwrap_or_default()
}
