//! Do single denoising steps take much longer than the others?
//!
//! ```text
//! step     0     1    2    3           4           5
//! time   |warm-|----|----|----|-------------------|----|
//!                             |med |-- excess ----|          what the step took beyond the median of those like it
//! ```
//!
//! Which steps are much longer is said where steps are found ([`crate::Steps::outliers`]); here it counts what they cost. A step in which
//! something is compiled is left to `late-compile`.

use crate::findings::prelude::*;
use crate::intervals::{Interval, union_length_ns};
use crate::quantity::{counted, rounded, rounded_percent, time_s};
use crate::questions::diffusion::{StepPoint, Steps};
use crate::questions::work::{Work, calls};
use crate::section_lookup::main_thread;

pub(super) const RULE: Rule = Rule {
    id: "step-outliers",
    category: Category::Diffusion,
    checks: "single denoising steps take much longer than the others",
    limits: &["step_outliers_ratio"],
    saves: "what these steps took beyond the median of steps like them",
    of: &[Check::Run("denoising steps with their times", check)],
};

/// A step that took much longer than those like it.
struct Slow<'a> {
    step: &'a StepPoint,
    duration_ns: u64,
    median_ns: f64,
}

impl Slow<'_> {
    fn time(&self) -> Interval {
        self.step.time().unwrap_or_default()
    }

    /// The end of the step, as long as it took beyond the median.
    fn excess(&self) -> Interval {
        let usual_ns = whole(self.median_ns);
        Interval {
            start_ns: self.time().start_ns.saturating_add(usual_ns),
            end_ns: self.step.end_ns,
        }
    }

    fn times_median(&self) -> f64 {
        float(self.duration_ns) / self.median_ns
    }
}

fn check(facts: &Facts<'_>) -> Outcome {
    let Some(steps) = facts.diffusion.and_then(|found| found.steps.as_ref()) else {
        return Outcome::Unknown("no denoising steps are known".into());
    };
    if steps.steady.is_none() {
        return Outcome::Unknown("no step after the first has a known duration".into());
    }
    let slow = slow_steps(facts, steps);
    let Some(longest) = slow.first() else {
        let what = "no step took much longer than the others".into();
        return Outcome::passed_without(steps.not_recorded, what);
    };
    let excess_ns = union_length_ns(slow.iter().map(Slow::excess).collect());
    let share = facts.share_of_wall(excess_ns);
    if share <= facts.thresholds.step_outliers_ratio {
        let what = format!(
            "slow steps ({}) took {} of the wall time beyond the median step",
            slow.len(),
            rounded_percent(share)
        );
        return Outcome::passed_without(steps.not_recorded, what);
    }
    Outcome::Found(vec![finding(facts, &slow, longest, excess_ns)])
}

/// The longest first.
fn slow_steps<'a>(facts: &Facts<'_>, steps: &'a Steps) -> Vec<Slow<'a>> {
    let compiling = calls(facts.run, |name| Work::Compiling.is_of(name));
    let compiling = compiling.of_thread(main_thread(facts.run));
    let slow = steps.outliers.iter().filter_map(|at| {
        let step = steps.each.get(*at)?;
        Some(Slow {
            step,
            duration_ns: step.duration_ns?,
            median_ns: step.usual_ns.filter(|ns| *ns > 0.0)?,
        })
    });
    let holds_compile = |slow: &Slow<'_>| {
        let time = slow.time();
        let mut starts = compiling.each.iter().map(|call| call.time.start_ns);
        starts.any(|at_ns| time.start_ns <= at_ns && at_ns <= time.end_ns)
    };
    slow.filter(|slow| !holds_compile(slow)).collect()
}

fn finding(facts: &Facts<'_>, slow: &[Slow<'_>], longest: &Slow<'_>, excess_ns: u64) -> Finding {
    let share = facts.share_of_wall(excess_ns);
    let (one, several) = ("slow denoising step", "slow denoising steps");
    Finding {
        severity: Severity::of_share(share),
        issue: format!(
            "{}: up to {} × the median step",
            counted(slow.len() as u64, one, several),
            rounded(longest.times_median())
        ),
        remedy: "Look at what ran during these steps in the timeline. Typical causes are weights that are loaded or offloaded, \
                 a new shape that is tuned or compiled (cudnn.benchmark, torch.compile), garbage collection (gc.freeze, gc.disable \
                 during the loop) and files that are written. Sections around these show which it was."
            .into(),
        evidence: vec![
            Evidence::ratio("share of the wall time beyond the median step", share)
                .against(facts.thresholds.step_outliers_ratio),
            Evidence::count("slow steps", slow.len() as u64),
            Evidence::ns(named(facts, longest), longest.duration_ns),
            Evidence::new("median step", longest.median_ns, FigureUnit::Ns),
        ],
        intervals: Finding::longest(slow.iter().map(Slow::time)),
        saving: Some(Saving::of_time(
            Some(excess_ns),
            excess_ns,
            "these steps at the time of the median step",
        )),
        // That the steps were longer was measured; why was not.
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

/// `longest: step 3 of block 4 in session clip, from 6.924 s on`.
fn named(facts: &Facts<'_>, slow: &Slow<'_>) -> String {
    let step = slow.step;
    let block = step.block.map(|block| format!(" of block {block}"));
    let session = step.session.and_then(|session| facts.run.sessions.get(session as usize));
    let session = session.map(|session| format!(" in session {}", session.name));
    format!(
        "longest: step {}{}{}, from {} s on",
        step.step,
        block.unwrap_or_default(),
        session.unwrap_or_default(),
        time_s(slow.time().start_ns)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Diffusion;
    use crate::findings::rules::tests::{check_made, check_run, only, steps};
    use marey::{BlockComputation, DiffusionStep, Generation, Run};
    use marey_testing::RunBuilder;

    const MS: u64 = 1_000_000;

    /// Steps of these ms from 0 on.
    fn of_ms(durations: &[u64]) -> Diffusion {
        let ns: Vec<u64> = durations.iter().map(|ms| ms * MS).collect();
        steps(0, &ns)
    }

    fn wall(ms: u64) -> Run {
        RunBuilder::new().finish(ms * MS)
    }

    #[test]
    fn a_step_of_13_times_the_median_is_found_with_what_it_took_beyond_it() {
        // ms  |- 90 -| 25 | 25 | 25 |----- 325 -----| 25 | 34 | 25 |      90: warm-up; 34 is the other outlier
        let made = of_ms(&[90, 25, 25, 25, 325, 25, 34, 25]);
        let found = only(check_made(&RULE, &wall(1000), &made));
        assert_eq!(found.issue, "2 slow denoising steps: up to 13 × the median step");
        let figures: Vec<f64> = found.evidence.iter().map(|e| e.figure.value).collect();
        // 300 and 9 ms beyond the median, of 1 000.
        assert_eq!(figures, [0.309, 2.0, 325e6, 25e6]);
        assert_eq!(found.evidence[0].limit, Some(0.02));
        assert_eq!(found.evidence[2].what, "longest: step 4, from 0.165 s on");
        assert_eq!(found.severity, Severity::High);
        let saving = found.saving.unwrap();
        assert_eq!((saving.estimate_ns, saving.at_most_ns), (Some(309 * MS), Some(309 * MS)));
        let times: Vec<(u64, u64)> =
            found.intervals.iter().map(|i| (i.start_ns / MS, i.end_ns / MS)).collect();
        assert_eq!(times, [(165, 490), (515, 549)]);
    }

    #[test]
    fn how_severe_it_is_goes_by_the_share_of_the_time() {
        // 300 ms beyond the median: of 3 s a tenth, of 10 s 3 %.
        let made = of_ms(&[25, 25, 25, 25, 325, 25]);
        let severity = |wall_ms| only(check_made(&RULE, &wall(wall_ms), &made)).severity;
        assert_eq!(severity(3_000), Severity::Medium);
        assert_eq!(severity(10_000), Severity::Low);
    }

    #[test]
    fn what_takes_next_to_no_time_passes() {
        let made = of_ms(&[25, 25, 25, 25, 325, 25]);
        let passed = check_made(&RULE, &wall(15_000), &made);
        let expected = "slow steps (1) took 2 % of the wall time beyond the median step";
        assert_eq!(passed, Outcome::Passed(expected.into()));
        let even = check_made(&RULE, &wall(1_000), &of_ms(&[90, 25, 25, 26, 25]));
        let expected = "no step took much longer than the others";
        assert_eq!(even, Outcome::Passed(expected.into()));
    }

    #[test]
    fn without_steps_or_steady_ones_it_is_not_known() {
        for (run, made) in [(wall(1_000), of_ms(&[25])), (wall(1_000), Diffusion::default())] {
            let found = check_made(&RULE, &run, &made);
            assert!(matches!(found, Outcome::Unknown(_)), "{found:?}");
        }
        assert!(matches!(check_run(&RULE, &wall(1)), Outcome::Unknown(_)));
    }

    #[test]
    fn a_step_in_which_something_is_compiled_is_left_to_that_rule() {
        let made = of_ms(&[25, 25, 25, 25, 325, 25]);
        let run = RunBuilder::new()
            .section("torch.compile", 110 * MS, 300 * MS, |_| {})
            .finish(1_000 * MS);
        let expected = "no step took much longer than the others";
        assert_eq!(check_made(&RULE, &run, &made), Outcome::Passed(expected.into()));
    }

    #[test]
    fn the_longest_is_named_with_its_block_and_session() {
        // ms       0    100   200   300   400   500          1 100    1 200
        // clip     |- steps of 100 ------------|---- 600 ------|-100-|        block 3, 1 200 long
        let mut builder = RunBuilder::new().session("clip", 0, Some(1_300 * MS), vec![]);
        let mut end_ms = 0;
        for (step, ms) in [100, 100, 100, 100, 100, 600, 100].into_iter().enumerate() {
            end_ms += ms;
            let report = DiffusionStep {
                step: Some(step as u64),
                computation_ns: Some(ms * MS),
                ..DiffusionStep::default()
            };
            builder = builder.generation(end_ms * MS, Some(0), Generation::Step(report));
        }
        let block = BlockComputation {
            index: Some(3),
            computation_ns: Some(1_200 * MS),
            ..BlockComputation::default()
        };
        let run =
            builder.generation(1_200 * MS, Some(0), Generation::Block(block)).finish(1_300 * MS);
        let found = only(check_run(&RULE, &run));
        let expected = "longest: step 5 of block 3 in session clip, from 0.500 s on";
        assert_eq!(found.evidence[2].what, expected);
        assert_eq!(found.issue, "1 slow denoising step: up to 6 × the median step");
    }
}
