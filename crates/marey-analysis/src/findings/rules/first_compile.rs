//! Is compiling before the second step much of the trace?
//!
//! ```text
//! host     |---- compile ----| step 0 || step 1 || step 2 |      a warm-up in front of the trace would have it
//! ```

use crate::Compilation;
use crate::findings::prelude::*;
use crate::findings::rules::late_compile::trace::{idle_ns, warm_up_end};
use crate::findings::trace_facts::{TraceFacts, Won, saving};
use crate::intervals::{Interval, length_ns};
use crate::quantity::{duration_ns, rounded_percent};

pub(super) const RULE: Rule = Rule {
    id: "first-compile",
    category: Category::Diffusion,
    checks: "compiling before the second step is much of the trace",
    limits: &[],
    saves: "what a warm cache of compiled code would save of it",
    of: &[Check::Trace(
        "what torch.compile tells the profiler of compiling (`dynamo_timed`) that began before the second step, as a share of the trace. The limit is 0.1",
        check,
    )],
};

/// Share of the trace.
const MOST: f64 = 0.1;

fn check(facts: &TraceFacts<'_>) -> Outcome {
    let wall_ns = facts.wall_ns();
    if wall_ns == 0 {
        return Outcome::Unknown("the trace has no time".into());
    }
    let is_early = |one: &&Compilation| {
        let end_ns = warm_up_end(facts, one.document);
        end_ns.is_none_or(|end_ns| one.time.start_ns < end_ns)
    };
    let early = facts.answers.compilations.first.iter().filter(is_early);
    let early: Vec<Interval> = early.map(|one| one.time).collect();
    let taken_ns = length_ns(&early).min(wall_ns);
    let share = ratio(taken_ns.into(), wall_ns.into());
    if share <= MOST {
        let shown = rounded_percent(share);
        return Outcome::Passed(format!("compiling at the start took {shown} of the time"));
    }
    let in_first_step = early.iter().all(|time| {
        let mut starts = facts.answers.parts.steps.iter().filter_map(|list| list.parts.first());
        starts.any(|first| first.start_ns <= time.start_ns)
    });
    let place = if in_first_step { "step 0" } else { "or before step 0" };
    let issue =
        format!("torch.compile: {} of {}, in {place}", duration_ns(taken_ns), duration_ns(wall_ns));
    let remedy =
        "A warm-up call before the trace; a compile cache between runs (TORCHINDUCTOR_CACHE_DIR).";
    let how = "all of it, where the call that is traced is not the first";
    let saved = saving(&Won::Within(idle_ns(facts)), Some(taken_ns), taken_ns, how);
    Outcome::Found(vec![Finding {
        evidence: vec![Evidence::ratio("share of the trace", share).against(MOST)],
        intervals: Finding::longest(early),
        ..RULE.found(share, issue, remedy, saved)
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::late_compile;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, host};

    /// Step 0 of 960 µs, of which 900 compile; three more of 10 µs.
    fn first_run() -> Vec<String> {
        let mut events = vec![
            host("user_annotation", "denoising_step 0", 0, 960),
            host("cpu_op", "bytecode_tracing (dynamo_timed)", 20, 900),
        ];
        let later = (1..4_u64).map(|n| {
            let name = format!("denoising_step {n}");
            host("user_annotation", &name, 950 + n * 10, 10)
        });
        events.extend(later);
        events
    }

    #[test]
    fn a_first_step_that_compiles_is_found_and_is_no_late_compile() {
        // 900 of 990 µs.
        let found = only(check(&RULE, &first_run()));
        assert_eq!(found.issue, "torch.compile: 900 µs of 990 µs, in step 0");
        let late = check(&late_compile::RULE, &first_run());
        assert!(matches!(late, Outcome::Passed(_)), "{late:?}");
        let warm = check(&RULE, &first_run()[2..]);
        assert!(matches!(warm, Outcome::Passed(_)), "{warm:?}");
    }
}
