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
    let (place, refused) = place_of_this_process(config);
    let of_place = |number: fn(&Place) -> Option<u32>| Some(number(&place?)?.to_string());
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let known = [
        ("marey", Some(env!("CARGO_PKG_VERSION").into())),
        ("pid", Some(me.pid.to_string())),
        ("start_time", Some(me.start_time.to_string())),
        ("boot_id", Some(me.boot_id.to_string())),
        ("pid_namespace", Some(me.pid_namespace.to_string())),
        (RunInfo::BEFORE_RECORDING, before_recording_ms(config, began_ns)),
        ("clock", Some(clock::kind().name().into())),
        ("ring_folder", Some(ring_folder.map(|p| p.display().to_string()).unwrap_or_default())),
        ("host", Some(read_line("/proc/sys/kernel/hostname"))),
        ("kernel", Some(read_line("/proc/sys/kernel/osrelease"))),
        ("processor", Some(processor())),
        ("processors", Some(processors.to_string())),
        ("job_id", Some(job_id(config))),
        ("rank", of_place(|place| Some(place.rank))),
        ("world_size", of_place(|place| place.world_size)),
        ("local_rank", of_place(|place| place.local_rank)),
        ("node", of_place(|place| place.node)),
        ("launcher", place.map(|place| place.launcher.to_owned())),
    ];
    let refused = refused.into_iter().map(|said| (RANK_NOT_BELIEVED, Some(said)));
    let outside = config.outside.as_ref();
    let of_others = [
        ("forked_from", forked_from().map(|pid| pid.to_string())),
        ("outside_of", outside.map(|outside| outside.pid.to_string())),
    ];
    let own = || std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let command = outside.map_or_else(|| redacted(own()), |outside| outside.command.clone());
    let arguments = command.into_iter().map(|argument| ("argument", Some(argument)));
    let all = known.into_iter().chain(refused).chain(of_others).chain(arguments);
    all.filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .chain(config.facts.iter().cloned())
        .chain(super::notes::settings_beside(&config.profiling, &ProfilingConfig::default()))
        .collect()
}

/// How old the process was when the recording began; of one that is recorded from outside that says nothing.
fn before_recording_ms(config: &Config, began_ns: u64) -> Option<String> {
    let age_ms = age_ms().filter(|_| config.outside.is_none())?;
    // What was recorded in memory before there was a file is of the recording, too.
    let recorded_ms = clock::monotonic_ns().saturating_sub(began_ns) / 1_000_000;
    Some(age_ms.saturating_sub(recorded_ms).to_string())
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
