//! Is something compiled after the first step?
//!
//! ```text
//! host     |compile| step 0 || step 1 ||---- step 2 ----|      the first is warm-up
//!                                        |recompile|           this one is not
//! ```

use super::RULE;
use crate::Compilation;
use crate::findings::prelude::*;
use crate::findings::trace_facts::{TraceFacts, Won, saving};
use crate::intervals::{Interval, length_ns};
use crate::quantity::{rounded_percent, times};

pub(super) fn check(facts: &TraceFacts<'_>) -> Outcome {
    let answers = facts.answers;
    if facts.wall_ns() == 0 {
        return Outcome::Unknown("the trace has no time".into());
    }
    if answers.compilations.count == 0 {
        return Outcome::Passed("nothing is compiled in the trace".into());
    }
    let known = |one: &&Compilation| warm_up_end(facts, one.document).is_some();
    let all = &answers.compilations.first;
    if !all.iter().any(|one| known(&one)) {
        return Outcome::Unknown("something is compiled, but the trace tells no steps".into());
    }
    let is_late = |one: &&Compilation| {
        let end_ns = warm_up_end(facts, one.document);
        end_ns.is_some_and(|end_ns| one.time.start_ns >= end_ns)
    };
    let late: Vec<Interval> = all.iter().filter(is_late).map(|one| one.time).collect();
    let late_ns = length_ns(&late).min(answers.span_ns);
    let share = ratio(late_ns.into(), answers.span_ns.into());
    let limit = facts.thresholds.late_compile_ratio;
    if share <= limit {
        let shown = rounded_percent(share);
        return Outcome::Passed(format!("compiling after the first step took {shown} of the time"));
    }
    Outcome::Found(vec![finding(late, idle_ns(facts), (late_ns, share), limit)])
}

/// The end of the first step of a document; `None` without steps.
pub(in crate::findings) fn warm_up_end(facts: &TraceFacts<'_>, document: u32) -> Option<u64> {
    let parts = &facts.answers.parts;
    let lists = parts.steps.iter().chain(&parts.profiler_steps);
    let mut here = lists.filter(|list| list.document == document);
    let first = here.find_map(|list| list.parts.first())?;
    Some(first.start_ns.saturating_add(first.host_ns))
}

/// How long the device that does least does nothing; all of a trace without devices.
pub(in crate::findings) fn idle_ns(facts: &TraceFacts<'_>) -> u64 {
    let devices = facts.answers.devices.iter();
    let least_busy_ns = devices.map(|device| device.utilization.busy_ns).min();
    let span_ns = facts.answers.span_ns;
    span_ns.saturating_sub(least_busy_ns.unwrap_or_default())
}

fn finding(late: Vec<Interval>, idle_ns: u64, (late_ns, share): (u64, f64), limit: f64) -> Finding {
    let issue = format!(
        "Compiling after the first step: {}, {} of the time",
        times(late.len() as u64),
        rounded_percent(share)
    );
    let remedy = "The same shapes, guidance and offloading in each step, or torch.compile(dynamic=True) and mark_dynamic; \
         TORCH_LOGS=recompiles names what changed.";
    let how = "all of it, as far as the device had nothing to do: with shapes that stay the same nothing is compiled again";
    let saved = saving(&Won::Within(idle_ns), Some(late_ns), late_ns, how);
    Finding {
        evidence: vec![
            Evidence::ratio("share of the time", share).against(limit),
            Evidence::ns("time compiling after the first step", late_ns),
        ],
        intervals: Finding::longest(late),
        ..RULE.found(share, issue, remedy, saved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, launched};

    /// Four steps of 100 µs, and 40 µs of compiling from this moment on.
    fn compiling_at(at_us: u64, name: &str) -> Vec<String> {
        let step = |n: u64| {
            let begin = n * 100;
            [
                format!(
                    r#"{{"ph":"X","cat":"user_annotation","name":"denoising_step {n}","pid":9,"tid":9,"ts":{begin},"dur":100}}"#
                ),
                launched("gemm", begin + 5, begin + 10, 10),
            ]
        };
        let mut events: Vec<String> = (0..4).flat_map(step).collect();
        events.push(format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":9,"tid":9,"ts":{at_us},"dur":40}}"#
        ));
        events
    }

    #[test]
    fn compiling_after_the_first_step_is_found() {
        // 40 of 400 µs, in the third step.
        let found = only(check(&RULE, &compiling_at(210, "dynamo")));
        assert!((found.evidence[0].figure.value - 0.1).abs() < 1e-9);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(40_000));
        let part = "build_guards (dynamo_timed)";
        assert!(matches!(check(&RULE, &compiling_at(210, part)), Outcome::Found(_)));
    }

    #[test]
    fn no_more_can_be_won_than_the_device_had_nothing_to_do() {
        // It works for 390 of 400 µs.
        let mut busy = compiling_at(210, "dynamo");
        busy.push(launched("gemm", 3, 4, 390));
        let saving = only(check(&RULE, &busy)).saving.unwrap();
        let expected = (Some(10_000), Some(10_000));
        assert_eq!((saving.estimate_ns, saving.at_most_ns), expected);
    }

    #[test]
    fn a_warm_up_passes_and_so_does_calling_what_was_compiled() {
        let warm_up = check(&RULE, &compiling_at(20, "dynamo"));
        assert!(matches!(warm_up, Outcome::Passed(_)), "{warm_up:?}");
        let called = check(&RULE, &compiling_at(210, "Torch-Compiled Region: 0/0"));
        assert_eq!(called, Outcome::Passed("nothing is compiled in the trace".into()));
    }
}
