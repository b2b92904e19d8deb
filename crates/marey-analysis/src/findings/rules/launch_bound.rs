//! Does the GPU wait for the host during steps?
//!
//! ```text
//! step        |--- 0 ---|--- 1 ---|--- 2 ---|
//! GPU works      40 %      35 %      45 %        less than half of the steps' time …
//! process        1.0       1.0       1.0 cores   … while a thread of the host never rests: it launches
//! ```

mod trace;

use crate::findings::prelude::*;
use crate::intervals::{Interval, length_ns};
use crate::quantity::{cores_of, rounded_percent};
use crate::questions::during::{During, during, highest_during};

pub(super) const RULE: Rule = Rule {
    id: "launch-bound",
    category: Category::Performance,
    checks: "the GPU waits for the host to launch its work",
    limits: &["busy_thread_cores", "gpu_utilization_ratio"],
    saves: "no estimate; at most the part of the steps in which the GPU did not work",
    of: &[
        Check::Run(
            "two seconds of denoising steps and more, utilisation of GPUs, processor time of the process",
            check,
        ),
        Check::Trace(
            "idle time until the host launched what came next, while it was in operators and calls, or in Python between them (or in nothing that was recorded). Says which of the two took more of it, and what the host did. The limit is a fifth of its time",
            trace::check,
        ),
    ],
};

/// With so many cores busy it is more than one thread that launches.
const SEVERAL_THREADS: f64 = 1.5;

fn check(facts: &Facts<'_>) -> Outcome {
    let Some(time) = facts.step_time() else {
        return Outcome::Unknown("no denoising steps are known".into());
    };
    let read = Facts::utilization_time(&time);
    let Some(gpu) = highest_during(facts.run, "gpu.utilization", &read) else {
        return Outcome::Unknown(
            "the utilisation of GPUs was not read during the steps, or they lasted less than two seconds"
                .into(),
        );
    };
    let Some(cores) = cores(facts, &time) else {
        return Outcome::Unknown(
            "the processor time of the process was not read during the steps".into(),
        );
    };
    let limits = facts.thresholds;
    if gpu.value < limits.gpu_utilization_ratio && cores >= limits.busy_thread_cores {
        return Outcome::Found(vec![finding(facts, time, gpu, cores)]);
    }
    Outcome::Passed(format!(
        "the GPU worked {} of the time of steps, the process kept {} busy",
        rounded_percent(gpu.value),
        cores_of(cores)
    ))
}

/// Cores that the process kept busy.
fn cores(facts: &Facts<'_>, time: &[Interval]) -> Option<f64> {
    let user = during(facts.run, "process.cpu.user", "", time)?;
    let system = during(facts.run, "process.cpu.system", "", time)?;
    Some(user.value + system.value)
}

fn finding(facts: &Facts<'_>, time: Vec<Interval>, gpu: During, cores: f64) -> Finding {
    let limits = facts.thresholds;
    let steps_ns = length_ns(&time);
    let idle_ns = part_of(steps_ns, 1.0 - gpu.value);
    Finding {
        severity: Severity::of_share(facts.share_of_wall(idle_ns)),
        issue: format!(
            "The GPU works only {} of the time of denoising steps, while the process keeps {} busy: it waits for launches",
            rounded_percent(gpu.value),
            cores_of(cores)
        ),
        remedy: "Launch less often: torch.compile the transformer (mode=\"reduce-overhead\" records CUDA graphs), batch the \
                 conditional and unconditional passes, take Python hooks and copies to the host out of the step."
            .into(),
        evidence: vec![
            Evidence::ratio("share of the steps in which the GPU worked", gpu.value)
                .against(limits.gpu_utilization_ratio),
            Evidence::new("cores that the process kept busy", cores, FigureUnit::Number)
                .against(limits.busy_thread_cores),
            Evidence::ns("time in steps", steps_ns),
        ],
        intervals: Finding::longest(time),
        saving: Some(Saving::of_time(
            None,
            idle_ns,
            "the part of the steps in which the GPU did not work: they cannot be shorter than its work",
        )),
        confidence: if cores > SEVERAL_THREADS {
            Confidence::Low
        } else {
            Confidence::Medium
        },
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_made, check_run, only, steps_at};
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    const S: u64 = 1_000_000_000;
    const STEPS: [(u64, u64); 2] = [(2 * S, 4 * S), (4 * S, 6 * S)];

    /// Ten seconds with two steps of 2 s, the GPU at `gpu`, the process at `cores` all the time.
    fn run(gpu: f64, cores: f64) -> Run {
        let cumulative = |name| SeriesInfo::cumulative(name, "", Unit::Seconds);
        let each = [0.0, 2.0, 4.0, 6.0, 8.0];
        let at = |s: f64| (part_of(10 * S, s / 10.0), s);
        let user: Vec<_> =
            each.iter().map(|s| at(*s)).map(|(t, s)| (t, s * (cores - 0.1))).collect();
        let system: Vec<_> = each.iter().map(|s| at(*s)).map(|(t, s)| (t, s * 0.1)).collect();
        let used: Vec<_> = each.iter().map(|s| at(*s)).map(|(t, _)| (t, gpu)).collect();
        RunBuilder::new()
            .series(cumulative("process.cpu.user"), &user)
            .series(cumulative("process.cpu.system"), &system)
            .series(SeriesInfo::gauge("gpu.utilization", "GPU-1", Unit::Ratio), &used)
            .finish(10 * S)
    }

    #[test]
    fn an_idle_gpu_behind_a_busy_thread_is_launch_bound() {
        // 4 s of steps, of which the GPU works 25 %: 3 s at most.
        let found = only(check_made(&RULE, &run(0.25, 1.0), &steps_at(&STEPS)));
        assert_eq!(found.saving.unwrap().at_most_ns, Some(3 * S));
        assert_eq!(found.confidence, Confidence::Medium);
        assert_eq!(found.severity, Severity::High);
        let many = only(check_made(&RULE, &run(0.25, 4.0), &steps_at(&STEPS)));
        assert_eq!(many.confidence, Confidence::Low);
    }

    #[test]
    fn a_gpu_at_half_or_a_host_that_rests_is_not() {
        for (gpu, cores) in [(0.5, 1.0), (0.25, 0.8)] {
            let passed = check_made(&RULE, &run(gpu, cores), &steps_at(&STEPS));
            assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
        }
    }

    #[test]
    fn a_run_without_steps_or_readings_cannot_tell() {
        assert!(matches!(check_run(&RULE, &run(0.25, 1.0)), Outcome::Unknown(_)));
        // Steps of 1.9 s: what is read in them is of the time before, or too short for a mean.
        let short = steps_at(&[(2 * S, 2 * S + 19 * S / 10)]);
        let short = check_made(&RULE, &run(0.25, 1.0), &short);
        assert!(matches!(short, Outcome::Unknown(_)), "{short:?}");
        let unread = RunBuilder::new().finish(10 * S);
        let unread = check_made(&RULE, &unread, &steps_at(&STEPS));
        assert!(matches!(unread, Outcome::Unknown(_)));
    }
}
