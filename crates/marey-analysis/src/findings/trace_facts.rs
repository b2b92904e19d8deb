//! What rules look at in a trace, and what can be won there.

#[cfg(test)]
pub(super) mod made;

use super::{Outcome, Saving, Thresholds};
use crate::stats::ratio;
use crate::{DeviceAnswers, TraceAnswers};

/// What rules of traces look at.
pub(super) struct TraceFacts<'a> {
    pub(super) answers: &'a TraceAnswers,
    pub(super) thresholds: &'a Thresholds,
}

/// Why nothing can be said of a trace of the host alone.
pub(super) const NO_DEVICE: &str =
    "the trace has no work of a device; record it with ProfilerActivity.CUDA";

/// Why nothing can be said of gaps when no launch is known.
pub(super) const LAUNCHES_NOT_KNOWN: &str =
    "the trace does not say which calls launched what; record it with ProfilerActivity.CPU, too";

impl TraceFacts<'_> {
    /// The device of which `share` is largest, with that; of equals the first. `None` when there is none.
    pub(super) fn most(
        &self,
        share: impl Fn(&DeviceAnswers) -> Option<f64>,
    ) -> Option<(&DeviceAnswers, f64)> {
        let known = self.answers.devices.iter();
        let known = known.filter_map(|device| Some((device, share(device)?)));
        known.reduce(|most, next| if next.1 > most.1 { next } else { most })
    }

    /// Why something is not known: work is missing, or else this.
    pub(super) fn unknown(&self, otherwise: &str) -> Outcome {
        let lack = self.answers.coverage.lack();
        Outcome::Unknown(lack.unwrap_or_else(|| otherwise.to_owned()))
    }

    /// A share of a device's time that is not above its limit: passed, unless work is missing for so much that it may be.
    pub(super) fn passed(
        &self,
        device: &DeviceAnswers,
        share: f64,
        limit: f64,
        said: String,
    ) -> Outcome {
        let unknown = of_span(device, device.utilization.unknown_ns);
        if share + unknown.unwrap_or_default() > limit {
            self.unknown(&said)
        } else {
            Outcome::Passed(said)
        }
    }

    /// How a sentence calls the device.
    pub(super) fn named(&self, device: &DeviceAnswers) -> String {
        match self.answers.devices.len() {
            1 => "GPU".to_owned(),
            _ => format!("GPU {}", device.device),
        }
    }

    /// From the first event of host and devices to the last; 0 of a trace in which neither did anything.
    pub(super) fn wall_ns(&self) -> u64 {
        let of_part = self.answers.scope.as_ref().map(|_| self.answers.span_ns);
        let account = self.answers.account.as_ref();
        let wall_ns = account.map(|account| account.wall.length_ns());
        wall_ns.or(of_part).unwrap_or_default()
    }

    /// torch.compile made some of what ran.
    pub(super) fn is_compiled(&self) -> bool {
        let mut operators = self.answers.operators.rows.iter();
        operators.any(|row| row.name.starts_with("Torch-Compiled Region"))
    }

    /// Python's stacks were recorded.
    pub(super) fn has_stacks(&self) -> bool {
        !self.answers.modules.rows.is_empty()
    }
}

/// Where time can be won.
pub(super) enum Won<'a> {
    /// Where a device did nothing, between its first and its last work: all that the host can be to blame for.
    Idle(&'a DeviceAnswers),
    /// Where it worked.
    Busy(&'a DeviceAnswers),
    /// In so many nanoseconds of the trace.
    Within(u64),
}

/// What a rule saves: no more than `at_most_ns`, nor than there is to be won. Every saving of a trace is made here.
pub(super) fn saving(
    won: &Won<'_>,
    estimate_ns: Option<u64>,
    at_most_ns: u64,
    how: &str,
) -> Saving {
    let limit_ns = match won {
        Won::Idle(device) => device.utilization.idle_ns,
        Won::Busy(device) => device.utilization.busy_ns,
        Won::Within(limit_ns) => *limit_ns,
    };
    let estimate_ns = estimate_ns.map(|estimate_ns| estimate_ns.min(limit_ns));
    Saving::of_time(estimate_ns, at_most_ns.min(limit_ns), how)
}

/// A part of the time from a device's first to its last work, 0 to 1; `None` when that is nothing.
pub(super) fn of_span(device: &DeviceAnswers, part_ns: u64) -> Option<f64> {
    let span_ns = device.utilization.span_ns;
    (span_ns > 0).then(|| ratio(part_ns.min(span_ns).into(), span_ns.into()))
}

#[cfg(test)]
mod tests {
    use super::made::{answers, launched};
    use super::*;
    use crate::findings::rules::tests::rules_of;
    use crate::findings::trace_findings;

    #[test]
    fn of_a_trace_of_the_host_alone_nothing_is_known() {
        let host = answers(&[]);
        let all = trace_findings(&host, &Thresholds::default());
        assert_eq!((all.found.len(), all.passed.len()), (0, 0));
        assert_eq!(all.unchecked.len(), rules_of("trace"));
    }

    #[test]
    fn no_saving_is_more_than_there_is_to_be_won() {
        // Works 100 to 160 and 200 to 240: busy 100, idle 40 of 140 µs.
        let made = answers(&[launched("a", 1, 100, 60), launched("b", 2, 200, 40)]);
        let device = &made.devices[0];
        let of = |won: &Won<'_>, us: u64| {
            let saving = saving(won, Some(us * 1_000), us * 1_000, "");
            assert_eq!(saving.estimate_ns, saving.at_most_ns);
            saving.at_most_ns.unwrap() / 1_000
        };
        assert_eq!((of(&Won::Idle(device), 30), of(&Won::Idle(device), 90)), (30, 40));
        assert_eq!((of(&Won::Busy(device), 90), of(&Won::Busy(device), 110)), (90, 100));
        assert_eq!(of(&Won::Within(7_000), 90), 7);
    }

    #[test]
    fn no_rule_fires_on_a_trace_whose_device_never_waits() {
        // Ten kernels of 100 µs one after the other, launched ahead of time.
        let kernels = (0..10).map(|n| launched("gemm_kernel", n, 100 + n * 100, 100));
        let healthy = answers(&kernels.collect::<Vec<_>>());
        let all = trace_findings(&healthy, &Thresholds::default());
        assert_eq!(all.found, []);
        assert!(all.passed.len() >= 3, "{all:?}");
    }
}
