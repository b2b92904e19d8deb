//! Does the device wait for the host to launch?
//!
//! ```text
//! host     [launch a]      [launch b]       [launch c]
//! device          |--a--|╌╌╌╌╌╌╌╌|--b--|╌╌╌╌╌╌╌╌╌|--c--|     each gap ends after its launch began: the host was late
//! ```
//!
//! Measured by the call of what came after each gap; nothing is guessed from how busy the host was.

use super::low_gpu_utilization::gaps;
use super::{NO_DEVICE, TraceFacts, TraceRule, of_span, sentence, span};
use crate::findings::words::percent;
use crate::findings::{
    Category, Confidence, Evidence, FigureUnit, Finding, Outcome, Saving, Severity,
};
use crate::stats::float;
use crate::{DeviceAnswers, GapCause};

pub(super) const RULE: TraceRule = TraceRule {
    id: "launch-bound",
    category: Category::Performance,
    checks: "the device waits for the host to launch",
    check,
};

/// Share of its time that a device may wait for launches.
const MOST_WAITING: f64 = 0.2;

fn check(facts: &TraceFacts<'_>) -> Outcome {
    let late = |device: &DeviceAnswers| of_span(device, late_ns(device)?);
    let Some((device, late)) = facts.most(late) else {
        let why = if facts.answers.devices.is_empty() {
            NO_DEVICE
        } else {
            "the trace does not say which calls launched what; record it with ProfilerActivity.CPU, too"
        };
        return Outcome::Unknown(why.into());
    };
    if late <= MOST_WAITING {
        let (named, late) = (facts.named(device), percent(late));
        return Outcome::Passed(format!("{named} waited {late} of its time for launches"));
    }
    Outcome::Found(vec![finding(facts, device, late)])
}

/// Time in gaps in which the host was late; `None` when the trace has gaps and no launches.
fn late_ns(device: &DeviceAnswers) -> Option<u64> {
    let of = |cause: GapCause| {
        let causes = device.idle_gaps.causes.iter();
        let of = causes.filter(move |time| time.cause == cause);
        of.map(|time| time.total_ns).sum::<u64>()
    };
    let is_known = of(GapCause::NotKnown) < device.idle_gaps.total_ns.max(1);
    is_known.then(|| of(GapCause::LaunchLate))
}

fn finding(facts: &TraceFacts<'_>, device: &DeviceAnswers, late: f64) -> Finding {
    let late_ns = late_ns(device).unwrap_or_default();
    let (named, shown) = (facts.named(device), percent(late));
    let is_late = |gap: &&crate::Gap| gap.cause == GapCause::LaunchLate;
    Finding {
        rule: RULE.id,
        category: RULE.category,
        severity: Severity::of_share(late),
        issue: sentence(&format!(
            "{named} waited {shown} of its time for the host to launch what came next"
        )),
        remedy: "Launch less often: torch.compile the transformer (mode=\"reduce-overhead\" records CUDA graphs), batch the \
                 conditional and unconditional passes, take Python hooks, prints and copies to the host out of the step."
            .into(),
        evidence: vec![
            Evidence::new("share of its time in gaps with a late launch", late, FigureUnit::Ratio)
                .against(MOST_WAITING),
            Evidence::new("time in them", float(late_ns), FigureUnit::Ns),
            Evidence::new("time from its first to its last work", span(device), FigureUnit::Ns),
        ],
        intervals: gaps(device.idle_gaps.longest.iter().filter(is_late)),
        node: None,
        saving: Some(Saving::of_time(
            None,
            late_ns,
            "the gaps in which the host was late; what it did before it launched is not gone with them",
        )),
        confidence: Confidence::High,
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::super::made::{check, launched, only};
    use super::*;

    #[test]
    fn a_host_that_launches_when_the_device_is_done_is_found() {
        // Kernels of 10 µs from 12, 42, 72 on, each called 2 µs before: gaps of 20 µs, the call in them.
        let events: Vec<String> = (0..3)
            .map(|n| launched("add", 10 + n * 30, 12 + n * 30, 10))
            .collect();
        let found = only(check(&RULE, &events));
        // 40 of 70 µs.
        assert_eq!(found.evidence[1].figure.value, 40_000.0);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(40_000));
        assert_eq!(found.severity, Severity::High);
        assert_eq!(found.intervals[0].start_ns, 12_000);
    }

    #[test]
    fn the_same_gaps_with_all_launched_ahead_are_not() {
        let events: Vec<String> = (0..3)
            .map(|n| launched("add", 1 + n, 12 + n * 30, 10))
            .collect();
        let passed = check(&RULE, &events);
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }
}
