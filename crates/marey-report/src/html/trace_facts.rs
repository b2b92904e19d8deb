//! What a page says first of a trace: how busy its devices were, and how long its steps took.

use marey_analysis::{DeviceAnswers, GapCause, PartList, StepRule, TraceAnswers};
use serde::Serialize;

use crate::quantity::float;
use crate::trace_report::{devices, parts};

/// Devices, and lists of steps, that are told of.
const MAX_FACTS: usize = 64;

/// A device in a sentence.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct DeviceFacts {
    name: String,
    /// From its first work to its last.
    span_ns: u64,
    /// Share of the span with any work, 0 to 1; `None` without a span.
    busy_ratio: Option<f64>,
    /// What most of its idle time was for; `None` when it was never idle.
    idle_cause: Option<GapCause>,
    /// Share of the idle time that it was, 0 to 1.
    idle_cause_ratio: Option<f64>,
}

/// The steps of a trace on one device, or on the host when there is none.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct StepFacts {
    /// `Steps` or `Denoiser calls`.
    what: String,
    /// With a warm-up.
    n_parts: u64,
    /// How many the mean is of: without a warm-up.
    n_counted: u64,
    /// Time that the device was busy for one of them, as a mean; of the host where there is no device. In nanoseconds.
    mean_ns: f64,
    is_of_device: bool,
}

/// Of all devices with work, in their order.
pub(super) fn device_facts(answers: &TraceAnswers) -> Vec<DeviceFacts> {
    let with_work = answers.devices.iter().filter(|d| d.utilization.n_ops > 0);
    let facts = with_work.take(MAX_FACTS);
    facts.map(|device| device_fact(answers, device)).collect()
}

fn device_fact(answers: &TraceAnswers, device: &DeviceAnswers) -> DeviceFacts {
    let used = &device.utilization;
    let causes = device.idle_gaps.causes.iter();
    let largest = causes
        .filter(|cause| cause.total_ns > 0)
        .max_by_key(|cause| cause.total_ns);
    DeviceFacts {
        name: devices::name(answers, device),
        span_ns: used.span_ns,
        busy_ratio: (used.span_ns > 0).then(|| float(used.busy_ns) / float(used.span_ns)),
        idle_cause: largest.map(|cause| cause.cause),
        idle_cause_ratio: largest.and_then(|cause| cause.ratio),
    }
}

/// Of what is known to be steps or calls of the denoiser: what repeats may be anything.
pub(super) fn step_facts(answers: &TraceAnswers) -> Vec<StepFacts> {
    let lists = answers.parts.steps.iter();
    let told = lists.filter(|list| list.rule != Some(StepRule::KernelPeriod));
    told.filter_map(|list| step_fact(answers, list))
        .take(MAX_FACTS)
        .collect()
}

fn step_fact(answers: &TraceAnswers, list: &PartList) -> Option<StepFacts> {
    let figures = list.figures?;
    Some(StepFacts {
        what: parts::title(answers, list, parts::steps_are(list)),
        n_parts: list.parts.len() as u64,
        n_counted: figures.n_parts,
        mean_ns: figures.busy.unwrap_or(figures.host).mean_ns,
        is_of_device: figures.busy.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_analysis::import::chrome::{Limits, read};
    use marey_analysis::trace_answers;

    fn answers(events: &str) -> TraceAnswers {
        let json = format!(r#"{{"traceEvents": [{events}]}}"#);
        trace_answers(&read(json.as_bytes(), Limits::default()).unwrap(), None)
    }

    fn event(category: &str, name: &str, at: (u64, u64), correlation: u32) -> String {
        let (pid, duration) = (u8::from(category != "kernel"), at.1 - at.0);
        format!(
            r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": 7, "ts": {}, "dur": {duration}, "args": {{"stream": 7, "correlation": {correlation}}}}}"#,
            at.0
        )
    }

    #[test]
    fn a_device_is_told_with_what_it_waited_for() {
        // µs        0    100   200   300   400
        // host      ↓1                ↓2             launched when the device is idle already
        // stream 7  |--1--|           |--2--|
        let answers = answers(
            &[
                event("cuda_runtime", "cudaLaunchKernel", (0, 2), 1),
                event("kernel", "a", (1, 101), 1),
                event("cuda_runtime", "cudaLaunchKernel", (299, 301), 2),
                event("kernel", "b", (301, 401), 2),
            ]
            .join(","),
        );
        let expected = DeviceFacts {
            name: "GPU 0".into(),
            span_ns: 400_000,
            busy_ratio: Some(0.5),
            idle_cause: Some(GapCause::LaunchLate),
            idle_cause_ratio: Some(1.0),
        };
        assert_eq!(device_facts(&answers), [expected]);
        assert_eq!(step_facts(&answers), []);
    }

    #[test]
    fn steps_of_the_profiler_are_no_steps() {
        // µs        0    10    20
        // profiler  |-- 0 --|-- 1 --|
        let profiler = [
            event("user_annotation", "ProfilerStep#0", (0, 10), 0),
            event("user_annotation", "ProfilerStep#1", (10, 20), 0),
        ];
        assert_eq!(step_facts(&answers(&profiler.join(","))), []);
        // denoising |-- 0 --|-- 1 --|
        let denoising = [
            event("user_annotation", "denoising_step", (0, 8), 0),
            event("user_annotation", "denoising_step", (10, 20), 0),
        ];
        let expected = StepFacts {
            what: "Steps".into(),
            n_parts: 2,
            n_counted: 2,
            mean_ns: 9_000.0,
            is_of_device: false,
        };
        assert_eq!(step_facts(&answers(&denoising.join(","))), [expected]);
    }
}
