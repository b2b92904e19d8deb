//! `profiler_windows`: windows of torch's profiler and the like.

use super::object::{Json, object};
use super::{Pairs, float_seconds, seconds};
use crate::model::Activity;

/// Each window, its times since the start of the run; none when none was opened.
pub(super) fn of(activity: &Activity) -> Vec<impl Json> {
    let each = activity.windows.iter().flat_map(|windows| &windows.each);
    let each = each.map(|window| {
        let options = window.options.iter();
        let options = options.map(|(name, value)| (name.as_str(), value.as_str()));
        let files = window.files.iter().map(|file| {
            object! {
                path: &file.path,
                bytes: file.bytes,
                /// How long writing it took, beside the program.
                export_time: seconds(file.export_ns),
            }
        });
        let failures = window.failures.iter().map(|failure| {
            object! {
                timestamp: seconds(failure.at_ns),
                during: &failure.during,
                error: &failure.error,
            }
        });
        object! {
            struct ProfilerWindow;
            /// The user's name for it.
            name: &window.name,
            /// What looked, torch.profiler for instance.
            instrument: &window.instrument,
            /// What it was asked for.
            options: Pairs(options.collect()),
            opened: seconds(window.opened_ns),
            /// When it began to keep what it saw; null when it never did.
            recording: window.recording_ns.map(seconds),
            /// Null when it never stopped.
            stopped: window.stopped_ns.map(seconds),
            /// steps, end, seconds, host memory, exception, abort, exit, another profiler and so on.
            stop_reason: &window.stop_reason,
            /// The process ended in it.
            is_cut_off: window.is_cut_off,
            /// Denoising steps that began in its warm-up: what the instrument saw of them was thrown away; null when the run has no
            /// denoising steps of its own.
            warm_up_steps: window.warm_up_steps,
            /// Denoising steps of which something was recorded; null when the run has no denoising steps of its own.
            recorded_steps: window.recorded_steps,
            /// Their mean duration; recording makes them slower.
            recorded_step_mean: window.recorded_mean_ns.map(float_seconds),
            /// Mean duration of the steps outside all windows, without the run's warm-up.
            outside_step_mean: window.outside_mean_ns.map(float_seconds),
            files: files.collect::<Vec<_>>(),
            failures: failures.collect::<Vec<_>>(),
            remarks: &window.remarks,
        }
    });
    each.collect()
}
