//! Does decoding take much of the trace?
//!
//! ```text
//! wall     | encode |----- denoise -----|------------ decode ------------|      more than three tenths
//! ```

use super::RULE;
use crate::findings::prelude::*;
use crate::findings::trace_facts::{TraceFacts, Won, saving};
use crate::quantity::{duration_ns, rounded_percent};
use crate::{HostKind, OperatorRow, PhaseRole};

const SLOW: &str = "PyTorch takes its own slow convolution instead of oneDNN: see torch.backends.mkldnn.is_available() and .enabled; \
     then fewer pixels or a smaller decoder.";
const ON_DEVICE: &str =
    "torch.compile(vae.decode) in half precision, or a small decoder (AutoencoderTiny).";
const ON_HOST: &str = "A smaller decoder (TAEHV, AutoencoderTiny) or fewer output pixels.";

pub(super) fn check(facts: &TraceFacts<'_>) -> Outcome {
    let rows = facts.answers.account.iter().flat_map(|account| &account.rows);
    let decoding = rows.filter(|row| row.role == Some(PhaseRole::Vae));
    let Some(row) = decoding.max_by_key(|row| row.held_ns) else {
        return Outcome::Unknown("the trace has no name for decoding".into());
    };
    let share = ratio(row.held_ns.into(), facts.wall_ns().max(1).into());
    let limit = facts.thresholds.stage_ratio;
    if share <= limit {
        let share = rounded_percent(share);
        return Outcome::Passed(format!("{} took {share} of the time", row.name));
    }
    let is_host_alone = facts.answers.devices.is_empty();
    let operators = facts.answers.operators.rows.iter();
    let mut operators = operators.filter(|row| row.kind == HostKind::Operator);
    let most = operators.next().filter(|_| is_host_alone);
    let mut evidence = vec![Evidence::ratio("share of the trace", share).against(limit)];
    let calls = Evidence::count("calls", row.count);
    evidence.extend((row.count > 1).then_some(calls));
    evidence.extend(most.map(|most| {
        let what = format!("{}, most of all operators of the trace,", most.name);
        Evidence::ns(what, most.self_ns)
    }));
    let is_slow = |most: &OperatorRow| most.name.contains("slow_conv");
    let remedy = match most {
        Some(most) if is_slow(most) => SLOW,
        _ if is_host_alone => ON_HOST,
        _ => ON_DEVICE,
    };
    let issue = format!(
        "{}: {}, {} of the trace",
        row.name,
        duration_ns(row.held_ns),
        rounded_percent(share)
    );
    let how = "all of decoding; a smaller decoder takes a part of it";
    let saved = saving(&Won::Within(facts.wall_ns()), None, row.held_ns, how);
    Outcome::Found(vec![Finding { evidence, ..RULE.found(share, issue, remedy, saved) }])
}

#[cfg(test)]
mod tests {
    use marey::Thresholds;

    use super::*;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, check_against, host};

    /// Denoises for 60 µs, decodes for 40, mostly in an operator.
    fn decodes_with(operator: &str) -> Vec<String> {
        vec![
            host("user_annotation", "denoising_step 0", 0, 60),
            host("user_annotation", "vae_decode", 60, 40),
            host("cpu_op", operator, 62, 30),
        ]
    }

    #[test]
    fn decoding_of_four_tenths_is_found_and_slow_convolutions_are_named() {
        let found = only(check(&RULE, &decodes_with("aten::slow_conv3d_forward")));
        assert_eq!(found.issue, "vae_decode: 40.0 µs, 40 % of the trace");
        assert_eq!(found.remedy, SLOW);
        assert_eq!(only(check(&RULE, &decodes_with("aten::addmm"))).remedy, ON_HOST);
        let of_user = Thresholds { stage_ratio: 0.5, ..Thresholds::default() };
        let asked = check_against(&RULE, &decodes_with("aten::addmm"), &of_user);
        assert!(matches!(asked, Outcome::Passed(_)), "{asked:?}");
        let mut long = decodes_with("aten::addmm");
        // 40 of 200 µs.
        long.push(host("user_annotation", "save", 100, 100));
        assert!(matches!(check(&RULE, &long), Outcome::Passed(_)));
    }
}
