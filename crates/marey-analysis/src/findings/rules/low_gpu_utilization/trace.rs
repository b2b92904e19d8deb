//! Did the device wait for more than half of its time, for whatever reason?
//!
//! ```text
//! device   |--a--|          |--b--|        |--c--|      busy 3 of 8: below 0.5, found
//! ```
//!
//! From its first to its last work: loading before that does not count. Of several devices the busiest counts.

use super::RULE;
use crate::DeviceAnswers;
use crate::findings::prelude::*;
use crate::findings::trace_facts::{NO_DEVICE, TraceFacts, Won, of_span, saving};
use crate::intervals::Interval;
use crate::quantity::{duration_ns, rounded_percent};

pub(super) fn check(facts: &TraceFacts<'_>) -> Outcome {
    let busy = |device: &DeviceAnswers| of_span(device, device.utilization.busy_ns);
    let Some((device, busy)) = facts.most(busy) else {
        return facts.unknown(NO_DEVICE);
    };
    let limit = facts.thresholds.gpu_utilization_ratio;
    if busy >= limit {
        let (named, busy) = (facts.named(device), rounded_percent(busy));
        return Outcome::Passed(format!("{named} was busy {busy} of its time"));
    }
    let unknown = of_span(device, device.utilization.unknown_ns);
    if busy + unknown.unwrap_or_default() >= limit {
        return facts.unknown("launched work is missing");
    }
    Outcome::Found(vec![finding(facts, device, busy, limit)])
}

fn finding(facts: &TraceFacts<'_>, device: &DeviceAnswers, busy: f64, limit: f64) -> Finding {
    let idle_ns = device.utilization.idle_ns;
    let longest = device.idle_gaps.longest.iter();
    let first = longest.clone().next().map(|gap| {
        let host = gap.host_during.as_ref().or(gap.host_at_start.as_ref());
        let host = host.map_or_else(String::new, |name| format!(", with the host in {name}"));
        let what = format!("longest gap{host}");
        Evidence::ns(what, gap.length_ns)
    });
    let mut evidence =
        vec![Evidence::ratio("share of its time in which it worked", busy).against(limit)];
    evidence.extend(first);
    let n_long = float(device.idle_gaps.n_over_100us);
    evidence.push(Evidence::new("gaps longer than 100 µs", n_long, FigureUnit::Count));
    Finding {
        severity: Severity::Medium,
        issue: format!(
            "{} idle: {} of the {} from its first to its last work",
            facts.named(device),
            duration_ns(idle_ns),
            duration_ns(device.utilization.span_ns)
        ),
        remedy: "Look at what the host does in the longest gaps: it launches, waits (.item(), .cpu()), or reads data."
            .into(),
        evidence,
        intervals: Finding::longest(longest.map(|gap| Interval {
            start_ns: gap.start_ns,
            end_ns: gap.start_ns.saturating_add(gap.length_ns),
        })),
        saving: Some(saving(
            &Won::Idle(device),
            None,
            idle_ns,
            "the time in which it did nothing; how much of that can go depends on what it waited for",
        )),
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, launched};

    /// Kernels of 20 µs with `gap_us` between them.
    fn kernels(gap_us: u64) -> Vec<String> {
        let each = (0..4).map(|n| launched("gemm", n, 50 + n * (20 + gap_us), 20));
        each.collect()
    }

    #[test]
    fn a_device_that_works_40_percent_of_its_time_is_found_with_what_it_idled() {
        // 4 × 20 of 4 × 20 + 3 × 40 = 200 µs.
        let found = only(check(&RULE, &kernels(40)));
        assert_eq!(found.issue, "GPU idle: 120 µs of the 200 µs from its first to its last work");
        assert_eq!(found.saving.unwrap().at_most_ns, Some(120_000));
        assert_eq!(found.intervals.len(), 3);
    }

    #[test]
    fn a_device_that_works_more_than_half_of_its_time_is_not() {
        // 80 of 80 + 3 × 20.
        let passed = check(&RULE, &kernels(20));
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }
}
