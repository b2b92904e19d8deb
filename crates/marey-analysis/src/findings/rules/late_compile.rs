//! Is something compiled after the first step?
//!
//! ```text
//! main     |compile| step 0 | step 1 |-- step 2 --| step 3 |      the first is warm-up
//!                                      |recompile|                this one is not
//! worker              |-- compile --|                             beside the steps: nobody waits for it
//! ```

pub(super) mod trace;

use crate::StepPoint;
use crate::findings::prelude::*;
use crate::intervals::{Interval, length_ns};
use crate::quantity::{counted, rounded_percent, times};
use crate::questions::work::{Calls, Work, calls};
use crate::section_lookup::main_thread;

pub(super) const RULE: Rule = Rule {
    id: "late-compile",
    category: Category::Diffusion,
    checks: "something is compiled after the first step",
    limits: &["late_compile_ratio"],
    saves: "all compiling after the first step",
    of: &[
        Check::Run(
            "denoising steps; sections named as compiling, or steps that are all alike",
            check,
        ),
        Check::Trace(
            "what torch.compile tells the profiler of compiling (`dynamo_timed`) that began after the first step, as a share of the trace",
            trace::check,
        ),
    ],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let found = facts.diffusion.and_then(|d| d.steps.as_ref());
    let Some((steps, found)) = facts.steps().zip(found) else {
        return Outcome::Unknown("no denoising steps are known".into());
    };
    let mut late = calls(facts.run, |name| Work::Compiling.is_of(name));
    let n_named = (late.each.len() as u64).saturating_add(late.n_missing);
    late = late.of_thread(main_thread(facts.run));
    let warm_up_ends = steps.iter().map(|step| step.end_ns).min().unwrap_or(0);
    // Of each pipeline the first step compiles.
    let warm_ups: Vec<Interval> =
        found.each.iter().filter(|step| step.is_warm_up).filter_map(StepPoint::time).collect();
    let is_late = |at_ns: u64| {
        let mut within = warm_ups.iter();
        at_ns >= warm_up_ends && !within.any(|step| step.start_ns <= at_ns && at_ns <= step.end_ns)
    };
    late.each.retain(|call| is_late(call.time.start_ns));
    if n_named == 0 {
        return match found.outliers.len() {
            0 => Outcome::Passed(
                "no section is named as compiling, and no step took much longer than the others"
                    .into(),
            ),
            n => Outcome::Unknown(format!(
                "{} took much longer than the others, and no section says what was done in them",
                counted(n as u64, "step", "steps")
            )),
        };
    }
    let share = facts.share_of_wall(length_ns(&late.time()));
    if share <= facts.thresholds.late_compile_ratio {
        let what = format!(
            "compiling after the first step took {} of the wall time",
            rounded_percent(share)
        );
        return Outcome::passed_without(late.n_missing, what);
    }
    let slow: Vec<Interval> =
        found.outliers.iter().filter_map(|at| found.each.get(*at)?.time()).collect();
    Outcome::Found(vec![finding(facts, &late, &slow, share)])
}

fn finding(facts: &Facts<'_>, late: &Calls, slow_steps: &[Interval], share: f64) -> Finding {
    let time = late.time();
    let late_ns = length_ns(&time);
    let holds_compile = |step: &&Interval| {
        let mut starts = time.iter().map(|t| t.start_ns);
        starts.any(|at_ns| step.start_ns <= at_ns && at_ns <= step.end_ns)
    };
    let n_slow = slow_steps.iter().filter(holds_compile).count() as u64;
    Finding {
        severity: Severity::of_share(share),
        issue: format!(
            "Compiling goes on after the first step: {}, {} of the wall time",
            times(late.each.len() as u64),
            rounded_percent(share)
        ),
        remedy: "Keep shapes, guidance and offloading the same from step to step, or mark what changes as dynamic \
                 (torch.compile(dynamic=True), mark_dynamic); TORCH_LOGS=recompiles names what changed. Warm up with every \
                 resolution before measuring."
            .into(),
        evidence: vec![
            Evidence::ratio("share of the wall time", share)
                .against(facts.thresholds.late_compile_ratio),
            Evidence::ns("time compiling after the first step", late_ns),
            Evidence::count("steps much longer than the others with compiling in them", n_slow),
        ],
        intervals: Finding::longest(time),
        node: late.longest_node(),
        saving: Some(Saving::of_time(
            Some(late_ns),
            late_ns,
            "all of it: with shapes that stay the same nothing is compiled again",
        )),
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_made, check_run, only, steps_at};
    use marey::Run;
    use marey_testing::RunBuilder;

    const STEPS: [(u64, u64); 3] = [(10, 20), (20, 30), (30, 60)];

    fn compiling(name: &str, start_ns: u64, end_ns: u64) -> Run {
        // 0    10   20   30              60          100
        // |comp| 0  | 1  |       2       |
        RunBuilder::new()
            .section("compile_transformer", 0, 15, |_| {})
            .section(name, start_ns, end_ns, |_| {})
            .thread("worker")
            .section("compile", 30, 60, |_| {})
            .finish(100)
    }

    #[test]
    fn compiling_in_a_later_step_is_found_and_the_first_is_warm_up() {
        let mut diffusion = steps_at(&STEPS);
        if let Some(steps) = &mut diffusion.steps {
            steps.outliers = vec![2];
        }
        let run = compiling("recompile", 31, 51);
        let found = only(check_made(&RULE, &run, &diffusion));
        let figures: Vec<f64> = found.evidence.iter().map(|e| e.figure.value).collect();
        assert_eq!(figures, [0.2, 20.0, 1.0]);
        assert_eq!(
            found.issue,
            "Compiling goes on after the first step: once, 20 % of the wall time"
        );
        assert_eq!(found.saving.unwrap().estimate_ns, Some(20));
        assert_eq!(run.nodes[found.node.unwrap() as usize].name, "recompile");
    }

    #[test]
    fn a_hundredth_of_the_time_is_not_above_it() {
        let run = compiling("recompile", 31, 32);
        let passed = check_made(&RULE, &run, &steps_at(&STEPS));
        let expected = "compiling after the first step took 1 % of the wall time";
        assert_eq!(passed, Outcome::Passed(expected.into()));
    }

    #[test]
    fn without_names_even_steps_pass_and_uneven_ones_say_nothing() {
        let run = RunBuilder::new().section("denoise", 10, 60, |_| {}).finish(100);
        let mut diffusion = steps_at(&STEPS);
        let passed = check_made(&RULE, &run, &diffusion);
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
        if let Some(steps) = &mut diffusion.steps {
            steps.outliers = vec![2];
        }
        let unknown = check_made(&RULE, &run, &diffusion);
        assert!(matches!(unknown, Outcome::Unknown(_)), "{unknown:?}");
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
    }
}
