//! Does attention run without a fused kernel?
//!
//! ```text
//! stream   gemm  scale  softmax  gemm       eager: three passes over a matrix of the size of the sequence squared
//! stream   flash_fwd_kernel                 fused
//! ```
//!
//! By the names of kernels, which is what ran, whatever was asked for.

use super::RULE;
use crate::findings::prelude::*;
use crate::findings::trace_facts::{NO_DEVICE, TraceFacts, Won, saving};
use crate::quantity::{rounded_percent, times};
use crate::{AttentionPath, AttentionUse, DeviceAnswers};

pub(super) fn check(facts: &TraceFacts<'_>) -> Outcome {
    let devices = &facts.answers.devices;
    if devices.is_empty() {
        return facts.unknown(NO_DEVICE);
    }
    if devices.iter().all(|device| device.attention.is_empty()) {
        return Outcome::Unknown("no kernel of attention is known by its name".into());
    }
    let share = |device: &DeviceAnswers| eager(device).map_or(Some(0.0), |found| found.ratio);
    let Some((device, share)) = facts.most(share) else {
        return Outcome::Unknown("the kernels took no time".into());
    };
    let limit = facts.thresholds.eager_attention_ratio;
    match eager(device) {
        Some(eager) if share > limit => {
            Outcome::Found(vec![finding(facts, device, eager, share, limit)])
        }
        _ => Outcome::Passed(format!(
            "the softmaxes of attention without a fused kernel took {} of the kernels' time",
            rounded_percent(share)
        )),
    }
}

fn eager(device: &DeviceAnswers) -> Option<&AttentionUse> {
    let mut paths = device.attention.iter();
    paths.find(|used| used.path == AttentionPath::Eager)
}

fn finding(
    facts: &TraceFacts<'_>,
    device: &DeviceAnswers,
    eager: &AttentionUse,
    share: f64,
    limit: f64,
) -> Finding {
    let fused = device.attention.iter();
    let n_fused: u64 =
        fused.filter(|used| used.path != AttentionPath::Eager).map(|used| used.count).sum();
    let issue = format!(
        "Eager attention: {} runs it without a fused kernel {}, its softmaxes alone take {} of kernel time",
        facts.named(device),
        times(eager.count),
        rounded_percent(share)
    );
    let fell_back = match n_fused {
        0 => String::new(),
        1 => ", while another call was fused: these fell back".to_owned(),
        n => format!(", while {n} other calls were fused: these fell back"),
    };
    let took_ns = eager.total_ns.saturating_add(eager.preparing_ns);
    let remedy = "scaled_dot_product_attention, or another backend (set_attention_backend, attn_implementation). Under \
         sdpa_kernel(SDPBackend.FLASH_ATTENTION) torch says why no fused kernel fits: a mask, float32, the size of heads.";
    let how = "the softmaxes; the products of matrices beside them become a part of the fused kernel, and are not counted";
    let saved = saving(&Won::Busy(device), None, took_ns, how);
    Finding {
        evidence: vec![
            Evidence::ratio("share of the kernels' time in softmaxes of attention", share)
                .against(limit),
            Evidence::ns("time in them", took_ns),
            Evidence::count("calls", eager.count),
        ],
        confidence: Confidence::Medium,
        ..RULE.found(share, issue + &fell_back, remedy, saved)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, launched};

    /// A product, a softmax of `softmax_us`, another product.
    fn attention(softmax_us: u64) -> Vec<String> {
        vec![
            launched("ampere_sgemm_128x64", 1, 100, 40),
            launched("softmax_warp_forward", 2, 140, softmax_us),
            launched("ampere_sgemm_128x64", 3, 140 + softmax_us, 40),
        ]
    }

    #[test]
    fn softmaxes_between_products_are_found_with_their_share() {
        // 20 of 100 µs.
        let found = only(check(&RULE, &attention(20)));
        assert_eq!(found.evidence[0].figure.value, 0.2);
        assert_eq!(found.saving.as_ref().unwrap().at_most_ns, Some(20_000));
        assert!(!found.issue.contains("fell back"), "{}", found.issue);
    }

    #[test]
    fn beside_fused_calls_they_fell_back() {
        let mut events = attention(20);
        events.push(launched("pytorch_flash::flash_fwd_kernel", 4, 300, 10));
        let found = only(check(&RULE, &events));
        assert!(found.issue.contains("another call was fused"), "{}", found.issue);
    }

    #[test]
    fn fused_attention_and_a_short_softmax_pass_and_other_kernels_say_nothing() {
        let fused = [launched("flash_fwd_kernel", 1, 100, 40)];
        assert!(matches!(check(&RULE, &fused), Outcome::Passed(_)));
        // 4 of 84 µs.
        assert!(matches!(check(&RULE, &attention(4)), Outcome::Passed(_)));
        let other = [launched("elementwise_kernel", 1, 100, 40)];
        assert!(matches!(check(&RULE, &other), Outcome::Unknown(_)));
    }
}
