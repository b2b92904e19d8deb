//! Does the device stand still while ranks talk?
//!
//! ```text
//! compute         |------|          |----|
//! communication       |-----------|             the part after the first kernel hides behind nothing
//! ```

use crate::DeviceAnswers;
use crate::findings::prelude::*;
use crate::findings::trace_facts::{NO_DEVICE, TraceFacts, Won, of_span, saving};
use crate::quantity::{duration_ns, rounded_percent};

pub(super) const RULE: Rule = Rule {
    id: "exposed-communication",
    category: Category::Scaling,
    checks: "ranks talk while nothing is computed",
    limits: &["exposed_communication_ratio"],
    saves: "no estimate; at most the communication that nothing hides",
    of: &[Check::Trace(
        "communication while nothing was computed; of a trace without a device collectives of the host",
        check,
    )],
};

fn check(facts: &TraceFacts<'_>) -> Outcome {
    let talks = |device: &DeviceAnswers| device.overlap.communication_ns > 0;
    if facts.answers.devices.is_empty() {
        return on_the_host(facts);
    }
    let exposed = |device: &DeviceAnswers| {
        let share = of_span(device, device.overlap.exposed_communication_ns);
        share.filter(|_| talks(device))
    };
    let Some((device, share)) = facts.most(exposed) else {
        return Outcome::Passed("no kernel communicates".into());
    };
    let limit = facts.thresholds.exposed_communication_ratio;
    if share <= limit {
        let (named, share) = (facts.named(device), rounded_percent(share));
        return Outcome::Passed(format!(
            "communication that nothing hides took {share} of the time of {named}"
        ));
    }
    Outcome::Found(vec![finding(facts, device, share, limit)])
}

/// Collectives in which the host itself waits.
fn on_the_host(facts: &TraceFacts<'_>) -> Outcome {
    let all = &facts.answers.host_communication;
    let Some(most) = all.iter().max_by_key(|one| one.covered_ns) else {
        return facts.unknown(NO_DEVICE);
    };
    let wall_ns = facts.wall_ns();
    let taken_ns = most.covered_ns.min(wall_ns);
    let share = ratio(taken_ns.into(), wall_ns.into());
    let limit = facts.thresholds.exposed_communication_ratio;
    if share <= limit {
        let share = rounded_percent(share);
        return Outcome::Passed(format!("collectives took {share} of the host's time"));
    }
    let issue = format!(
        "Collectives: {} of {} in {}",
        duration_ns(taken_ns),
        duration_ns(wall_ns),
        most.name
    );
    let remedy = "marey aggregate on the traces of all ranks says which of them comes late.";
    let how = "the collectives; a part of them may be waiting for another rank";
    let saved = saving(&Won::Within(wall_ns), None, taken_ns, how);
    Outcome::Found(vec![Finding {
        evidence: vec![
            Evidence::ratio("share of the time in collectives", share).against(limit),
            Evidence::count("calls", most.count),
        ],
        ..RULE.found(share, issue, remedy, saved)
    }])
}

fn finding(facts: &TraceFacts<'_>, device: &DeviceAnswers, share: f64, limit: f64) -> Finding {
    let overlap = &device.overlap;
    let exposed_ns = overlap.exposed_communication_ns;
    let mut evidence = vec![
        Evidence::ratio("share of its time in communication and nothing else", share)
            .against(limit),
        Evidence::ns("time in it", exposed_ns),
    ];
    let hidden = overlap.communication_overlap_ratio;
    evidence
        .extend(hidden.map(|ratio| {
            Evidence::ratio("share of the communication that computing hides", ratio)
        }));
    Finding {
        severity: Severity::of_share(share),
        issue: format!(
            "Exposed communication: {} computes nothing meanwhile for {} of {}",
            facts.named(device),
            duration_ns(exposed_ns),
            duration_ns(device.utilization.span_ns)
        ),
        remedy: "Start collectives early and wait for them late (async_op=True, buckets); compare the ranks: one that comes late \
                 makes all others wait."
            .into(),
        evidence,
        saving: Some(saving(
            &Won::Busy(device),
            None,
            exposed_ns,
            "the communication beside which nothing was computed; a part of it may be waiting for another rank",
        )),
        ..RULE.finding()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, launched};

    const ALL_REDUCE: &str = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

    #[test]
    fn communication_that_nothing_hides_is_found() {
        // Computes 100 to 160, talks 160 to 200: 40 of 100 µs.
        let alone = [launched("gemm", 1, 100, 60), launched(ALL_REDUCE, 2, 160, 40)];
        let found = only(check(&RULE, &alone));
        assert_eq!(found.evidence[0].figure.value, 0.4);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(40_000));
    }

    #[test]
    fn communication_behind_computing_and_a_trace_without_any_pass() {
        let hidden = [launched("gemm", 1, 100, 100), launched(ALL_REDUCE, 2, 120, 40)];
        assert!(matches!(check(&RULE, &hidden), Outcome::Passed(_)));
        let silent = check(&RULE, &[launched("gemm", 1, 100, 100)]);
        assert_eq!(silent, Outcome::Passed("no kernel communicates".into()));
    }
}
