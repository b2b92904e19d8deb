//! Does the device wait for the host to launch?
//!
//! ```text
//! host     [launch a]      [launch b]       [launch c]
//! device          |--a--|╌╌      |--b--|╌╌╌╌     |--c--|     until its launch the host was late
//! ```
//!
//! Measured by the call of what came after each gap, and by what its thread did until then: operators and calls, or Python between
//! them. Where it loaded data or waited for the device, other rules apply.

use super::RULE;
use crate::findings::prelude::*;
use crate::findings::rules::late_gaps::LateGaps;
use crate::findings::trace_facts::{
    LAUNCHES_NOT_KNOWN, NO_DEVICE, TraceFacts, Won, of_span, saving,
};
use crate::quantity::{duration_ns, rounded_percent};
use crate::{DeviceAnswers, GapReason};

/// Share of its time that a device may wait for launches.
const MOST_WAITING: f64 = 0.2;

const LAUNCHING: &str = "torch.compile(mode=\"reduce-overhead\") records CUDA graphs; batch the guidance passes; no hooks, prints or \
     copies to the host in a step.";
const LAUNCHING_COMPILED: &str = "mode=\"reduce-overhead\" records what is compiled as CUDA graphs, too; batch the guidance passes; no hooks, \
     prints or copies to the host in a step.";
const LAUNCHING_GRAPHS: &str =
    "Batch the guidance passes; no hooks, prints or copies to the host in a step.";
const PYTHON: &str = "Take hooks, prints and host work out of the loop, or torch.compile(mode=\"reduce-overhead\") what is in it.";
const PYTHON_COMPILED: &str = "Take hooks, prints and host work out of the loop: they are not in what is compiled, or split it \
     (TORCH_LOGS=graph_breaks).";
const UNKNOWN: &str = "Record with with_stack=True, or name ranges with record_function, to see what Python does there.";
const ONCE: &str =
    "Warm up first: most of it is one pause, as a first call makes it. Trace a later call.";

fn of_launching(device: &DeviceAnswers) -> LateGaps<'_> {
    LateGaps::new(device, &[GapReason::LaunchBound, GapReason::Python])
}

pub(super) fn check(facts: &TraceFacts<'_>) -> Outcome {
    let late = |device: &DeviceAnswers| of_span(device, of_launching(device).total_ns()?);
    let Some((device, late)) = facts.most(late) else {
        let why = if facts.answers.devices.is_empty() { NO_DEVICE } else { LAUNCHES_NOT_KNOWN };
        return facts.unknown(why);
    };
    if late <= MOST_WAITING {
        let said = format!(
            "{} waited {} of its time for launches",
            facts.named(device),
            rounded_percent(late)
        );
        return facts.passed(device, late, MOST_WAITING, said);
    }
    Outcome::Found(vec![finding(facts, device, late)])
}

/// What helps that is not done already.
fn remedy(facts: &TraceFacts<'_>, is_python: bool) -> &'static str {
    let mut calls = facts.answers.coverage.calls.iter();
    let has_graphs = calls.any(|call| call.name.contains("GraphLaunch"));
    match (is_python, facts.is_compiled()) {
        (true, _) if !facts.has_stacks() => UNKNOWN,
        (true, true) => PYTHON_COMPILED,
        (true, false) => PYTHON,
        (false, _) if has_graphs => LAUNCHING_GRAPHS,
        (false, true) => LAUNCHING_COMPILED,
        (false, false) => LAUNCHING,
    }
}

fn finding(facts: &TraceFacts<'_>, device: &DeviceAnswers, share: f64) -> Finding {
    let late = of_launching(device);
    let late_ns = late.total_ns().unwrap_or_default();
    let gaps = &device.idle_gaps;
    let python_ns = gaps.total_of(GapReason::Python);
    let launching_ns = gaps.total_of(GapReason::LaunchBound);
    let is_python = python_ns > launching_ns;
    let operation = late.operation().and_then(|most| most.name.as_ref());
    let place = match operation {
        Some(name) => name.as_str(),
        None if is_python => "Python or what was not recorded",
        None => "operators and calls",
    };
    let longest_ns = late.longest().map(|gap| gap.length_ns()).max();
    let remedy = if longest_ns.is_some_and(|longest_ns| longest_ns > late_ns / 2) {
        ONCE
    } else {
        remedy(facts, is_python)
    };
    let mut evidence = vec![
        Evidence::ratio("share of its time before late launches", share).against(MOST_WAITING),
        Evidence::ns("time in them", late_ns),
        Evidence::ns("host in operators and calls", launching_ns),
        Evidence::ns("host in Python or what was not recorded", python_ns),
    ];
    let named = gaps.host_operations.iter();
    let mut named = named.filter(|one| late.has(one.reason) && operation.is_none());
    let named = named.find_map(|one| Some((one.name.as_ref()?, one.total_ns)));
    evidence.extend(named.map(|(name, ns)| Evidence::ns(format!("most of all in {name}"), ns)));
    evidence.retain(|one| one.figure.value > 0.0);
    let issue = format!(
        "Late launches: {} idle for {} of {}, mostly in {place}",
        facts.named(device),
        duration_ns(late_ns),
        duration_ns(device.utilization.span_ns)
    );
    let how = "the idle time until late launches; what the host did before it launched is not gone with it";
    let saved = saving(&Won::Idle(device), None, late_ns, how);
    Finding {
        evidence,
        intervals: Finding::longest(late.longest()),
        confidence: if device.launches.n_before_launch > 0 {
            // Clocks of host and device differ.
            Confidence::Low
        } else if is_python {
            Confidence::Medium
        } else {
            Confidence::High
        },
        ..RULE.found(share, issue, remedy, saved)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, host, launched};
    use crate::intervals::Interval;

    /// Kernels of 10 µs from 12, 42, 72 on, each called 2 µs before: gaps of 20 µs, the call in them.
    fn late() -> Vec<String> {
        (0..3).map(|n| launched("add", 10 + n * 30, 12 + n * 30, 10)).collect()
    }

    #[test]
    fn a_host_that_launches_when_the_device_is_done_is_found() {
        // In an operator from 23 to 38 and from 53 to 68, of gaps from 22 to 42 and from 52 to 72 with launches at 40 and 70.
        let mut events = late();
        events.push(host("cpu_op", "aten::add", 23, 15));
        events.push(host("cpu_op", "aten::add", 53, 15));
        let found = only(check(&RULE, &events));
        // 2 × 18 of 70 µs.
        assert_eq!(found.evidence[1].figure.value, 36_000.0);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(36_000));
        assert_eq!(found.severity, Severity::High);
        // After the first event, which is the call at 10.
        let late = Interval { start_ns: 12_000, end_ns: 30_000 };
        assert_eq!(found.intervals[0], late);
        assert!(found.issue.ends_with("aten::add"), "{}", found.issue);
        assert_eq!(found.remedy, LAUNCHING);
    }

    #[test]
    fn nobody_is_told_to_compile_what_is_compiled() {
        let mut events = late();
        events.push(host("cpu_op", "Torch-Compiled Region: 0/0", 23, 15));
        events.push(host("cpu_op", "Torch-Compiled Region: 0/0", 53, 15));
        assert_eq!(only(check(&RULE, &events)).remedy, LAUNCHING_COMPILED);
        let replayed =
            events.iter().map(|event| event.replace("cudaLaunchKernel", "cudaGraphLaunch"));
        let replayed: Vec<String> = replayed.collect();
        assert_eq!(only(check(&RULE, &replayed)).remedy, LAUNCHING_GRAPHS);
        // Also where the work of a replay is missing: at 5, before all else.
        let mut missing = late();
        missing.push(host("cpu_op", "aten::add", 23, 15));
        missing.push(host("cpu_op", "aten::add", 53, 15));
        missing.push(
            r#"{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":9,"tid":9,"ts":5,"dur":1,"args":{"correlation":999}}"#.into(),
        );
        assert_eq!(only(check(&RULE, &missing)).remedy, LAUNCHING_GRAPHS);
    }

    #[test]
    fn between_calls_it_was_python_or_something_that_was_not_recorded() {
        let found = only(check(&RULE, &late()));
        assert!(found.issue.ends_with("Python or what was not recorded"), "{}", found.issue);
        assert_eq!(found.confidence, Confidence::Medium);
        assert!(found.remedy.contains("with_stack=True"));
    }

    #[test]
    fn gaps_in_which_the_host_waits_for_the_device_are_not_launching() {
        // host     |------ cudaStreamSynchronize ------|[launch]      22 to 38: the wait is in the gap
        let mut events = late();
        events.push(host("cuda_runtime", "cudaStreamSynchronize", 22, 16));
        events.push(host("cuda_runtime", "cudaStreamSynchronize", 52, 16));
        let passed = check(&RULE, &events);
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }

    #[test]
    fn a_thread_that_launched_and_then_waited_was_not_late() {
        // host     [b][---- cudaMemcpy ----]      13, 15 to 99
        // device   |a|                     |b|    2 to 12, 100 to 110: 1 of 88 µs is before the launch
        let events = [
            launched("a", 1, 2, 10),
            launched("b", 13, 100, 10),
            host("cuda_runtime", "cudaMemcpy", 15, 84),
        ];
        let passed = check(&RULE, &events);
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }

    #[test]
    fn what_comes_after_the_launch_is_not_the_hosts() {
        // host        [b]                launched at 138: 38 of 500 µs are before that
        // device  |a|  ╎               |b|    0 to 100, 600 to 1 000
        let events = [launched("a", 0, 1, 99), launched("b", 138, 600, 400)];
        let passed = check(&RULE, &events);
        let expected = "GPU waited 3.8 % of its time for launches";
        assert!(matches!(&passed, Outcome::Passed(why) if why == expected), "{passed:?}");
    }

    #[test]
    fn the_same_gaps_with_all_launched_ahead_are_not() {
        let events: Vec<String> = (0..3).map(|n| launched("add", 1 + n, 12 + n * 30, 10)).collect();
        let passed = check(&RULE, &events);
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }
}
