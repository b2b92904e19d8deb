//! Did a window of a profiler fail, or the process end in one?
//!
//! ```text
//! opened ──── recording ────✗          the process ended here: found
//! opened ──── recording ──── stopped ✗ the trace could not be written: found
//! opened ──── recording ──── stopped   passed
//! ```

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::{share, time_ns};
use crate::{WindowUse, Windows};

pub(super) const RULE: Rule = Rule {
    id: "failed-window",
    category: Category::Performance,
    checks: "a window of a profiler failed, or the process ended in one",
    limits: &[],
    saves: "none: what is missing saves nothing",
    of: &[Check::Run("windows of `marey.torch`", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let Some(windows) = facts.windows else {
        return Outcome::Unknown("no window of a profiler was opened".into());
    };
    let found: Vec<Finding> =
        windows.each.iter().filter_map(|window| finding(facts, window)).collect();
    if found.is_empty() {
        return Outcome::Passed(passed(facts, windows));
    }
    Outcome::Found(found)
}

fn passed(facts: &Facts<'_>, windows: &Windows) -> String {
    let passed = match windows.each.len() {
        1 => "the one window that was opened did not fail".into(),
        n => format!("none of {n} windows failed"),
    };
    let Some(own_ns) = windows.own_ns else {
        return passed;
    };
    let of_run = share(ratio(own_ns.into(), facts.run.wall_ns.max(1).into()));
    format!("{passed}; starting and stopping took {} ({of_run} of the run)", time_ns(own_ns))
}

fn finding(facts: &Facts<'_>, used: &WindowUse) -> Option<Finding> {
    let window = &used.window;
    let (issue, remedy, severity) = if used.is_cut_off {
        (
            format!("The process ended in the window {:?} of {}", window.name, window.instrument),
            "What was recorded until then is lost, the rest of this report is whole. A profiler keeps what it records in memory: lower \
             max_host_bytes, record fewer steps, no shapes and no stacks; where models are moved between devices give the window its pipe."
                .to_owned(),
            Severity::High,
        )
    } else {
        let failure = window.failures.first()?;
        (
            format!(
                "The window {:?} of {} failed during {}: {}",
                window.name, window.instrument, failure.during, failure.error
            ),
            "The program went on, the trace may be missing. Try the window in a short run of its own, with fewer steps and no shapes \
             or stacks."
                .to_owned(),
            Severity::Medium,
        )
    };
    let end_ns = window.stopped_ns.unwrap_or(facts.run.wall_ns);
    Some(Finding {
        severity,
        issue,
        remedy,
        evidence: vec![
            Evidence::count(
                "failures in the window",
                window.failures.len() as u64 + u64::from(used.is_cut_off),
            )
            .against(0.0),
        ],
        intervals: vec![Interval { start_ns: window.opened_ns.min(end_ns), end_ns }],
        ..RULE.finding()
    })
}

#[cfg(test)]
mod tests {
    use marey::{Run, Status, Window, WindowFailure};
    use marey_testing::RunBuilder;

    use super::*;
    use crate::findings::rules::tests::check_run;

    fn run(window: Window) -> Run {
        RunBuilder::new().with(|run| run.windows.push(window)).finish(40)
    }

    fn window() -> Window {
        Window {
            name: "flux".into(),
            instrument: "torch.profiler".into(),
            opened_ns: 10,
            recording_ns: Some(12),
            ..Window::default()
        }
    }

    #[test]
    fn a_window_in_which_the_process_ended_is_found() {
        let Outcome::Found(found) = check_run(&RULE, &run(window())) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "The process ended in the window \"flux\" of torch.profiler");
        assert_eq!(found[0].intervals, [Interval { start_ns: 10, end_ns: 40 }]);
    }

    #[test]
    fn a_failure_of_the_export_is_found() {
        let failure =
            WindowFailure { at_ns: 30, during: "export".into(), error: "OSError: no space".into() };
        let window = Window { stopped_ns: Some(20), failures: vec![failure], ..window() };
        let Outcome::Found(found) = check_run(&RULE, &run(window)) else {
            panic!("not found");
        };
        assert_eq!(
            found[0].issue,
            "The window \"flux\" of torch.profiler failed during export: OSError: no space"
        );
    }

    #[test]
    fn a_window_that_stopped_or_still_runs_passes() {
        let stopped = Window { stopped_ns: Some(20), ..window() };
        let passed = Outcome::Passed("the one window that was opened did not fail".into());
        assert_eq!(check_run(&RULE, &run(stopped)), passed);
        let mut running = run(window());
        running.status = Status::Running;
        assert_eq!(check_run(&RULE, &running), passed);
    }

    /// ```text
    /// window  10 ══════════════════ 30        of 40
    ///  start  10 ═══ 14
    ///   stop                  28 ══ 30
    /// ```
    #[test]
    fn what_starting_and_stopping_took_is_said() {
        let run = RunBuilder::new()
            .section("marey window start", 10, 14, |_| {})
            .section("marey window stop", 28, 30, |_| {})
            .with(|run| run.windows.push(Window { stopped_ns: Some(30), ..window() }))
            .finish(40);
        // 4 and 2 of 40 ns.
        let said = "the one window that was opened did not fail; starting and stopping took 6 ns (15 % of the run)";
        assert_eq!(check_run(&RULE, &run), Outcome::Passed(said.into()));
    }
}
