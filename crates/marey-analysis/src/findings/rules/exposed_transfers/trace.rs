//! Does the device stand still while data moves?
//!
//! ```text
//! kernels  |--a--|       |----b----|
//! copies         |-copy-|    |copy|        the first holds everything up, the second is hidden behind b
//! ```

use super::RULE;
use crate::findings::prelude::*;
use crate::findings::trace_facts::{NO_DEVICE, TraceFacts, Won, of_span, saving};
use crate::quantity::{duration_ns, rounded_percent};
use crate::{DeviceAnswers, TransferMemory};

pub(super) fn check(facts: &TraceFacts<'_>) -> Outcome {
    let exposed = |device: &DeviceAnswers| of_span(device, device.overlap.exposed_memory_ns);
    let Some((device, share)) = facts.most(exposed) else {
        return facts.unknown(NO_DEVICE);
    };
    let limit = facts.thresholds.exposed_transfer_ratio;
    if share <= limit {
        let (named, share) = (facts.named(device), rounded_percent(share));
        return Outcome::Passed(format!(
            "copies without a kernel beside them took {share} of the time of {named}"
        ));
    }
    Outcome::Found(vec![finding(facts, device, share, limit)])
}

fn finding(facts: &TraceFacts<'_>, device: &DeviceAnswers, share: f64, limit: f64) -> Finding {
    let exposed_ns = device.overlap.exposed_memory_ns;
    let mut evidence = vec![
        Evidence::ratio("share of its time in copies and nothing else", share).against(limit),
        Evidence::ns("time in them", exposed_ns),
        Evidence::ns("copies behind kernels", device.overlap.hidden_memory_ns),
        Evidence::ns(
            "of them from or to pageable memory, which cannot be hidden",
            pageable_ns(device),
        ),
    ];
    evidence.retain(|one| one.figure.value > 0.0);
    let issue = format!(
        "Exposed copies: {} runs no kernel meanwhile for {} of {}",
        facts.named(device),
        duration_ns(exposed_ns),
        duration_ns(device.utilization.span_ns)
    );
    let remedy = "Copy from pinned memory with non_blocking=True on a stream of its own (group offloading: use_stream=True); keep \
         on the GPU what each step needs.";
    let how = "the copies that nothing was hidden behind; they go as far as there is work to do meanwhile";
    let saved = saving(&Won::Busy(device), None, exposed_ns, how);
    Finding { evidence, ..RULE.found(share, issue, remedy, saved) }
}

/// Exposed copies between the device and pageable memory.
fn pageable_ns(device: &DeviceAnswers) -> u64 {
    let rows = device.transfers_by_memory.iter();
    let rows = rows.filter(|row| row.host_memory == Some(TransferMemory::Pageable));
    rows.fold(0, |sum, row| sum.saturating_add(row.exposed_ns))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, copied, launched};

    fn pageable(found: &Finding) -> Option<f64> {
        let what = "of them from or to pageable memory, which cannot be hidden";
        let one = found.evidence.iter().find(|one| one.what == what)?;
        Some(one.figure.value)
    }

    #[test]
    fn a_copy_that_the_device_waits_for_is_found_and_one_behind_a_kernel_is_not() {
        // Kernel 100 to 180, copy 180 to 200: 20 of 100 µs.
        let exposed =
            [launched("gemm", 1, 100, 80), copied("Memcpy HtoD (Pageable -> Device)", 2, 180, 20)];
        let found = only(check(&RULE, &exposed));
        assert_eq!(found.evidence[0].figure.value, 0.2);
        assert_eq!(found.saving.as_ref().unwrap().at_most_ns, Some(20_000));
        assert_eq!(pageable(&found), Some(20_000.0));
        let pinned =
            [launched("gemm", 1, 100, 80), copied("Memcpy HtoD (Pinned -> Device)", 2, 180, 20)];
        assert_eq!(pageable(&only(check(&RULE, &pinned))), None);
        let hidden =
            [launched("gemm", 1, 100, 80), copied("Memcpy HtoD (Pinned -> Device)", 2, 110, 20)];
        let passed = check(&RULE, &hidden);
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }
}
