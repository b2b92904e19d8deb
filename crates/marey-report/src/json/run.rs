//! `run`, `status`, `launch`, `events`, and windows of torch's profiler and the like.

use marey::{Launch, Usage};
use schemars::JsonSchema;
use serde::Serialize;

use super::figures::timestamp;
use super::object::{Json, object};
use super::{Pairs, float_seconds, list, pairs, seconds};
use crate::model::{Activity, RunFacts, RunStatus};

/// Where, when and how the process ran.
pub(super) fn run(run: &RunFacts) -> impl Json {
    object! {
        /// Where, when and how the process ran.
        struct Run;
        /// Host, process id and start: no two runs share them.
        id: &run.id,
        /// The job that the run belongs to.
        job_id: &run.job_id,
        /// Host name.
        host: &run.host,
        /// Process id.
        pid: run.pid,
        /// Place in the job; null outside a job of several ranks.
        rank: run.rank,
        /// Number of ranks in the job.
        world_size: run.world_size,
        /// Place among the ranks of the host; null when not known.
        local_rank: run.local_rank,
        /// Command line.
        command: &run.command,
        /// Seconds since 1970.
        start: seconds(run.start_unix_ns),
        /// From start to end, or to the last thing known.
        wall: seconds(run.wall_ns),
        /// How old the process was when the recording began, to 0.01 s: its start and what it imported. null where that is not known.
        before_recording: run.before_recording_ns.map(seconds),
        /// Versions and the like.
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

/// `status` of the report and of `run.json`.
pub fn status_object(status: &RunStatus) -> impl Serialize + JsonSchema + use<> {
    object! {
        /// How the run ended.
        kind: status.kind,
        /// Number of the signal that killed it.
        signal: status.signal,
        /// Why it failed, in its own words; of one that finished, which of its processes did not.
        reason: status.reason.clone().or_else(|| status.lost_text()),
        /// The same for people.
        text: status.text(),
    }
}

/// `launch` of the report and of `run.json`: what `marey run` saw of the command. Times in seconds.
pub fn launch_object(launch: &Launch) -> impl Serialize + JsonSchema + use<> {
    let cpu = |of: fn(Usage) -> u64| launch.usage.map(|usage| seconds(of(usage)));
    object! {
        /// What `marey run` saw of the command that the run belongs to; absent without it.
        struct Launch;
        /// Process id of the command.
        pid: launch.pid,
        /// `null` while it runs, and when a signal ended it.
        exit_code: launch.exit_code,
        /// The signal that ended it.
        signal: launch.signal,
        /// From its start to its end.
        wall_s: launch.wall_ns.map(seconds),
        /// Processor time of the command and of the descendants that were waited for.
        cpu_s: cpu(|usage| usage.cpu_user_ns.saturating_add(usage.cpu_system_ns)),
        /// Of `cpu_s`, in the programs.
        cpu_user_s: cpu(|usage| usage.cpu_user_ns),
        /// Of `cpu_s`, in the kernel.
        cpu_system_s: cpu(|usage| usage.cpu_system_ns),
        /// Most resident memory of the largest of its processes.
        peak_memory_bytes: launch.usage.map(|usage| usage.peak_bytes),
        /// `peak_memory_bytes` is what the launcher held: the processes had no more than that.
        is_peak_at_most: launch.usage.is_some_and(|usage| usage.is_peak_at_most),
        /// Processes that the kernel killed for lack of memory meanwhile, in the control group of the launcher.
        oom_kills: launch.oom_kills,
    }
}

/// What the program said at moments.
pub(super) fn events(activity: &Activity) -> Vec<impl Json> {
    list(&activity.events, |event| {
        object! {
            /// The user's name for it.
            name: &event.name,
            /// When, seconds since 1970.
            timestamp: timestamp(activity, event.at_ns),
            data: &event.data,
        }
    })
}

/// `profiler_windows`: each window, its times since the start of the run; none when none was opened.
pub(super) fn profiler_windows(activity: &Activity) -> Vec<impl Json> {
    let each = activity.windows.iter().flat_map(|windows| &windows.each);
    let each = each.map(|used| (used, &used.window)).map(|(used, window)| {
        object! {
            struct ProfilerWindow;
            /// The user's name for it.
            name: &window.name,
            /// What looked, torch.profiler for instance.
            instrument: &window.instrument,
            /// What it was asked for.
            options: pairs(&window.options, |(name, value)| (name.as_str(), value.to_string())),
            opened: seconds(window.opened_ns),
            /// When it began to keep what it saw; null when it never did.
            recording: window.recording_ns.map(seconds),
            /// Null when it never stopped.
            stopped: window.stopped_ns.map(seconds),
            /// steps, end, seconds, host memory, exception, abort, exit, another profiler and so on.
            stop_reason: &window.stop_reason,
            /// The process ended in it.
            is_cut_off: used.is_cut_off,
            /// Denoising steps that began in its warm-up: what the instrument saw of them was thrown away; null when the run has no
            /// denoising steps of its own.
            warm_up_steps: used.warm_up_steps,
            /// Denoising steps of which something was recorded; null when the run has no denoising steps of its own.
            recorded_steps: used.recorded_steps,
            /// Their mean duration; recording makes them slower.
            recorded_step_mean: used.recorded_mean_ns.map(float_seconds),
            /// Mean duration of the steps outside all windows, without the run's warm-up.
            outside_step_mean: used.outside_mean_ns.map(float_seconds),
            files: list(&window.files, |file| object! {
                path: &file.path,
                bytes: file.bytes,
                /// How long writing it took, beside the program.
                export_time: seconds(file.export_ns),
            }),
            failures: list(&window.failures, |failure| object! {
                timestamp: seconds(failure.at_ns),
                during: &failure.during,
                error: &failure.error,
            }),
            remarks: &window.remarks,
        }
    });
    each.collect()
}
