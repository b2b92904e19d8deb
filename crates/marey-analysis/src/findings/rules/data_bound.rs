//! Does the device wait for data or files?
//!
//! ```text
//! host     [launch a]  |---- DataLoader.__next__ ----| [launch b]
//! device          |--a--|╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌       |--b--|     nothing was left to do until there was data
//! ```
//!
//! A gap counts until its launch when the thread that was late with that spent most of the time loading, reading, writing or moving data.

use crate::findings::prelude::*;
use crate::findings::rules::late_gaps::LateGaps;
use crate::findings::trace_facts::{
    LAUNCHES_NOT_KNOWN, NO_DEVICE, TraceFacts, Won, of_span, saving,
};
use crate::quantity::{duration_ns, rounded_percent};
use crate::{DeviceAnswers, GapReason};

pub(super) const RULE: Rule = Rule {
    id: "data-bound",
    category: Category::Io,
    checks: "the device waits for data or files",
    limits: &[],
    saves: "no estimate; at most the gaps that it is blamed for",
    of: &[Check::Trace(
        "idle time until the host launched what came next, while it loaded, read, wrote or moved data (`DataLoader`, safetensors, files). Says what it did. The limit is a tenth of its time",
        check,
    )],
};

/// Share of its time that a device may wait for data.
const MOST_WAITING: f64 = 0.1;

const WORKERS: &str = "DataLoader(num_workers above 0, persistent_workers=True) loads while the GPU works; copy with pin_memory=True \
     and non_blocking=True.";
const MORE_WORKERS: &str = "More num_workers or a larger prefetch_factor of the DataLoader, or less work for each item; copy with \
     pin_memory=True and non_blocking=True.";

fn of_data(device: &DeviceAnswers) -> LateGaps<'_> {
    LateGaps::new(device, &[GapReason::Data])
}

fn check(facts: &TraceFacts<'_>) -> Outcome {
    let share = |device: &DeviceAnswers| of_span(device, of_data(device).total_ns()?);
    let Some((device, share)) = facts.most(share) else {
        let why = if facts.answers.devices.is_empty() { NO_DEVICE } else { LAUNCHES_NOT_KNOWN };
        return facts.unknown(why);
    };
    if share <= MOST_WAITING {
        let said = format!(
            "{} waited {} of its time for data or files",
            facts.named(device),
            rounded_percent(share)
        );
        return facts.passed(device, share, MOST_WAITING, said);
    }
    Outcome::Found(vec![finding(facts, device, share)])
}

fn finding(facts: &TraceFacts<'_>, device: &DeviceAnswers, share: f64) -> Finding {
    let late = of_data(device);
    let waited_ns = late.total_ns().unwrap_or_default();
    let operation = late.operation().and_then(|most| most.name.as_ref());
    let place = operation.map_or_else(String::new, |name| format!(", mostly in {name}"));
    let has_workers = operation.is_some_and(|name| name.contains("_MultiProcessingDataLoaderIter"));
    Finding {
        severity: Severity::of_share(share),
        issue: format!(
            "Data loading: {} idle for {} of {}{place}",
            facts.named(device),
            duration_ns(waited_ns),
            duration_ns(device.utilization.span_ns)
        ),
        remedy: if has_workers { MORE_WORKERS } else { WORKERS }.into(),
        evidence: vec![
            Evidence::ratio(
                "share of its time before launches for which the host loaded data",
                share,
            )
            .against(MOST_WAITING),
            Evidence::ns("time in them", waited_ns),
        ],
        intervals: Finding::longest(late.longest()),
        saving: Some(saving(
            &Won::Idle(device),
            None,
            waited_ns,
            "the idle time in which the host loaded data; loading has to be faster than the device to win all of it",
        )),
        ..RULE.finding()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::launch_bound;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, host, launched};

    /// ```text
    /// host     [1]     |- loader -|[2]      |- loader -|[3]
    /// device      |-1-|                |-2-|                |-3-|
    ///            12  22               52  62               92  102
    /// ```
    fn loads(name: &str) -> Vec<String> {
        let mut events: Vec<String> =
            (0..3).map(|n| launched("gemm", 10 + n * 40, 12 + n * 40, 10)).collect();
        events.push(host("user_annotation", name, 23, 25));
        events.push(host("user_annotation", name, 63, 25));
        events
    }

    #[test]
    fn a_device_that_waits_for_a_loader_is_told_so_and_not_to_launch_less() {
        // Gaps of 30 µs, 28 of each until the launch: 56 of 90 µs.
        let name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
        let found = only(check(&RULE, &loads(name)));
        assert_eq!(found.evidence[1].figure.value, 56_000.0);
        let issue = format!("Data loading: GPU idle for 56.0 µs of 90.0 µs, mostly in {name}");
        assert_eq!(found.issue, issue);
        assert_eq!(found.remedy, WORKERS);
        assert_eq!(found.intervals.len(), 2);
        let launching = check(&launch_bound::RULE, &loads(name));
        assert!(matches!(launching, Outcome::Passed(_)), "{launching:?}");
    }

    #[test]
    fn who_has_workers_is_told_to_take_more_of_them() {
        let name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
        assert_eq!(only(check(&RULE, &loads(name))).remedy, MORE_WORKERS);
    }

    #[test]
    fn other_ranges_in_the_same_gaps_are_no_data() {
        let passed = check(&RULE, &loads("forward"));
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
        let launching = check(&launch_bound::RULE, &loads("forward"));
        assert!(matches!(launching, Outcome::Found(_)), "{launching:?}");
    }
}
