//! `profiler_windows`: windows of torch's profiler and the like.

use serde::Serialize;

use super::object::object;
use super::{Pairs, float_seconds, seconds};
use crate::model::Activity;

/// Each window, its times since the start of the run; none when none was opened.
pub(super) fn of(activity: &Activity) -> Vec<impl Serialize> {
    let each = activity.windows.iter().flat_map(|windows| &windows.each);
    let each = each.map(|window| {
        let options = window.options.iter();
        let options = options.map(|(name, value)| (name.as_str(), value.as_str()));
        let files = window.files.iter().map(|file| {
            object! {
                path: &file.path,
                bytes: file.bytes,
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
            name: &window.name,
            instrument: &window.instrument,
            options: Pairs(options.collect()),
            opened: seconds(window.opened_ns),
            recording: window.recording_ns.map(seconds),
            stopped: window.stopped_ns.map(seconds),
            stop_reason: &window.stop_reason,
            is_cut_off: window.is_cut_off,
            warm_up_steps: window.warm_up_steps,
            recorded_steps: window.recorded_steps,
            recorded_step_mean: window.recorded_mean_ns.map(float_seconds),
            outside_step_mean: window.outside_mean_ns.map(float_seconds),
            files: files.collect::<Vec<_>>(),
            failures: failures.collect::<Vec<_>>(),
            remarks: &window.remarks,
        }
    });
    each.collect()
}
