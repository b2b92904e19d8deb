//! `profiler_windows`: windows of torch's profiler and the like.

use marey_analysis::{WindowFailureUse, WindowFileUse, WindowUse};
use serde::Serialize;

use super::{Pairs, float_seconds, seconds};
use crate::model::Activity;

/// One window. Times are since the start of the run.
#[derive(Serialize)]
pub(super) struct WindowObject<'a> {
    name: &'a str,
    instrument: &'a str,
    options: Pairs<&'a str, &'a str>,
    opened: f64,
    recording: Option<f64>,
    stopped: Option<f64>,
    stop_reason: Option<&'a str>,
    is_cut_off: bool,
    warm_up_steps: u64,
    recorded_steps: u64,
    recorded_step_mean: Option<f64>,
    outside_step_mean: Option<f64>,
    files: Vec<FileObject<'a>>,
    failures: Vec<FailureObject<'a>>,
    remarks: &'a [String],
}

#[derive(Serialize)]
struct FileObject<'a> {
    path: &'a str,
    bytes: u64,
    export_time: f64,
}

#[derive(Serialize)]
struct FailureObject<'a> {
    timestamp: f64,
    during: &'a str,
    error: &'a str,
}

impl<'a> WindowObject<'a> {
    /// Each window; none when none was opened.
    pub(super) fn of(activity: &'a Activity) -> Vec<Self> {
        let each = activity.windows.iter().flat_map(|windows| &windows.each);
        each.map(Self::new).collect()
    }

    fn new(window: &'a WindowUse) -> Self {
        let options = window.options.iter();
        Self {
            name: &window.name,
            instrument: &window.instrument,
            options: Pairs(
                options
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect(),
            ),
            opened: seconds(window.opened_ns),
            recording: window.recording_ns.map(seconds),
            stopped: window.stopped_ns.map(seconds),
            stop_reason: window.stop_reason.as_deref(),
            is_cut_off: window.is_cut_off,
            warm_up_steps: window.warm_up_steps,
            recorded_steps: window.recorded_steps,
            recorded_step_mean: window.recorded_mean_ns.map(float_seconds),
            outside_step_mean: window.outside_mean_ns.map(float_seconds),
            files: window.files.iter().map(FileObject::new).collect(),
            failures: window.failures.iter().map(FailureObject::new).collect(),
            remarks: &window.remarks,
        }
    }
}

impl<'a> FileObject<'a> {
    fn new(file: &'a WindowFileUse) -> Self {
        Self {
            path: &file.path,
            bytes: file.bytes,
            export_time: seconds(file.export_ns),
        }
    }
}

impl<'a> FailureObject<'a> {
    fn new(failure: &'a WindowFailureUse) -> Self {
        Self {
            timestamp: seconds(failure.at_ns),
            during: &failure.during,
            error: &failure.error,
        }
    }
}
