//! Do denoising steps wait for the device before they are through?
//!
//! ```text
//! host     |------ step 0 ------||------ step 1 ------|
//!            |wait|       |wait|    |wait|      |wait|      .item(), a copy to the host, synchronize
//! device   |------|   |-------|   |------|   |-------|      stands still after each, until something is launched again
//! ```

use std::collections::BTreeSet;

use super::{NO_DEVICE, TraceFacts, TraceRule};
use crate::findings::words::percent;
use crate::findings::{
    Category, Confidence, Evidence, FigureUnit, Finding, Outcome, Saving, Severity,
};
use crate::stats::{float, ratio};
use crate::{GapReason, SyncCall};

pub(super) const RULE: TraceRule = TraceRule {
    id: "synchronisation-points",
    category: Category::Diffusion,
    checks: "steps wait for the device before they are through",
    check,
};

fn check(facts: &TraceFacts<'_>) -> Outcome {
    if facts.answers.devices.is_empty() {
        return Outcome::Unknown(NO_DEVICE.into());
    }
    let Some((waiting_ns, host_ns)) = in_steps(facts) else {
        return Outcome::Unknown("the trace tells no steps".into());
    };
    let share = ratio(waiting_ns.into(), host_ns.into());
    let limit = facts.thresholds.synchronisation_ratio;
    if share <= limit {
        let shown = percent(share);
        return Outcome::Passed(format!("calls that wait took {shown} of the time of steps"));
    }
    Outcome::Found(vec![finding(facts, (waiting_ns, share), limit)])
}

/// Time of steps in calls that wait, and in all; `None` without steps. Waiting of several threads is at most the step.
fn in_steps(facts: &TraceFacts<'_>) -> Option<(u64, u64)> {
    let parts = &facts.answers.parts;
    // A document has a list for each device, of the same steps.
    let lists = if parts.steps.is_empty() {
        &parts.profiler_steps
    } else {
        &parts.steps
    };
    let mut documents = BTreeSet::new();
    let lists = lists.iter().filter(|list| documents.insert(list.document));
    let steps = lists.flat_map(|list| &list.parts);
    let (waiting_ns, host_ns) = steps.fold((0_u64, 0_u64), |(waiting, host), step| {
        (
            waiting.saturating_add(step.synchronising_ns.min(step.host_ns)),
            host.saturating_add(step.host_ns),
        )
    });
    (host_ns > 0).then_some((waiting_ns, host_ns))
}

fn finding(facts: &TraceFacts<'_>, (waiting_ns, share): (u64, f64), limit: f64) -> Finding {
    let all = &facts.answers.synchronisation;
    let most: Option<&SyncCall> = all.calls.first();
    let named = most.map(|call| format!(", most of it in {}", call.name));
    let stood_ns = facts.answers.devices.iter().map(|device| {
        let reasons = device.idle_gaps.reasons.iter();
        let reasons = reasons.filter(|reason| reason.reason == GapReason::Synchronising);
        reasons.map(|reason| reason.total_ns).sum::<u64>()
    });
    let stood_ns = stood_ns.max().unwrap_or_default();
    let mut evidence = vec![
        Evidence::new(
            "share of the time of steps in calls that wait",
            share,
            FigureUnit::Ratio,
        )
        .against(limit),
        Evidence::new("time in them", float(waiting_ns), FigureUnit::Ns),
        Evidence::new(
            "time that a device stood still because of waiting, in all of the trace",
            float(stood_ns),
            FigureUnit::Ns,
        ),
    ];
    evidence.extend(most.map(|call| {
        let calls = "calls of the one that waits most";
        Evidence::new(calls, float(call.count), FigureUnit::Count)
    }));
    Finding {
        rule: RULE.id,
        category: RULE.category,
        severity: Severity::of_share(share),
        issue: format!(
            "Steps wait for the device {} of their time{}",
            percent(share),
            named.unwrap_or_default()
        ),
        remedy: "Keep values on the device until the last step: no .item(), .cpu(), printing or branching on tensors between steps, \
                 and copies with non_blocking=True; the table of places says where. A pipeline whose device is never idle loses \
                 little by it."
            .into(),
        evidence,
        intervals: Vec::new(),
        node: None,
        saving: Some(Saving::of_time(
            None,
            waiting_ns,
            "the time waited within steps; no more than the device stood still can be won",
        )),
        confidence: Confidence::Medium,
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::{check, launched, only};
    use super::*;

    /// Four steps of 100 µs, each with a kernel and a call that waits so long.
    fn steps(waits_us: u64) -> Vec<String> {
        let step = |n: u64| {
            let begin = n * 100;
            let wait = begin + 20;
            [
                format!(
                    r#"{{"ph":"X","cat":"user_annotation","name":"denoising_step {n}","pid":9,"tid":9,"ts":{begin},"dur":100}}"#
                ),
                launched("gemm", begin + 5, begin + 10, 10 + waits_us),
                format!(
                    r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":9,"tid":9,"ts":{wait},"dur":{waits_us},"args":{{"correlation":{}}}}}"#,
                    1000 + n
                ),
            ]
        };
        (0..4).flat_map(step).collect()
    }

    #[test]
    fn steps_that_wait_are_found_with_the_call() {
        // 4 × 30 of 4 × 100 µs.
        let found = only(check(&RULE, &steps(30)));
        assert!((found.evidence[0].figure.value - 0.3).abs() < 1e-9);
        assert!(
            found.issue.contains("cudaStreamSynchronize"),
            "{}",
            found.issue
        );
        assert_eq!(found.saving.unwrap().at_most_ns, Some(120_000));
    }

    #[test]
    fn steps_that_hardly_wait_pass_and_without_steps_nothing_is_known() {
        let passed = check(&RULE, &steps(2));
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
        let unknown = check(&RULE, &[launched("gemm", 1, 100, 10)]);
        assert!(matches!(unknown, Outcome::Unknown(_)), "{unknown:?}");
    }
}
