//! What is the matter, or that nothing is.

use super::Cut;
use crate::escape::visible;
use crate::first_screen::Failure;
use crate::first_screen::amount::{share, time_ns};
use crate::first_screen::finding::{Checks, ScreenFinding};
use crate::first_screen::line::{Line, Style, paragraph, spelled};
use crate::first_screen::resources::SystemFigures;
use crate::quantity::counted;
use crate::width::wrapped;

/// Checks that are named.
const MOST_CHECKS: usize = 9;

/// Title, evidence, what to try.
pub(super) fn of(found: &ScreenFinding, cut: &Cut) -> Vec<Line> {
    let is_ascii = cut.is_ascii;
    let title = spelled(&visible(&found.title()), is_ascii);
    let mut lines = Vec::new();
    for (at, line) in paragraph(&title, 4, cut.width, 2).into_iter().enumerate() {
        lines.push(match at {
            0 => Line::plain("  ")
                .with("!", Style::Mark)
                .with(line[3..].to_owned(), Style::Plain),
            _ => Line::plain(line),
        });
    }
    let most = match cut.level {
        0..3 => 2,
        3..6 => 1,
        _ => 0,
    };
    let evidence = spelled(&visible(&found.evidence), is_ascii);
    if most > 0 && !evidence.is_empty() {
        lines.extend(
            paragraph(&evidence, 4, cut.width, most)
                .into_iter()
                .map(Line::plain),
        );
    }
    let tries = spelled(&visible(&found.tries), is_ascii);
    for (at, line) in paragraph(&tries, 9, cut.width, if cut.from(6) { 1 } else { 2 })
        .into_iter()
        .enumerate()
    {
        let text = if at == 0 {
            format!("    Try  {}", &line[9..])
        } else {
            line
        };
        lines.push(Line::plain(text));
    }
    lines
}

/// `7 steps completed. The failing step ran for 10.6 µs before it raised; the traceback is above.`
pub(super) fn failure(failed: Failure, cut: &Cut) -> Vec<Line> {
    let steps = failed.steps_done;
    let steps = (steps > 0).then(|| format!("{} completed. ", counted(steps, "step", "steps")));
    let what = if failed.is_step {
        "The failing step"
    } else {
        "What failed"
    };
    let ran = failed.ran_ns;
    let ran = ran.map(|ns| format!("{what} ran for {} before it raised; ", time_ns(ns)));
    let said = match ran {
        Some(ran) => format!(
            "{}{ran}the traceback is in its output.",
            steps.unwrap_or_default()
        ),
        None => format!("{}The error is in its output.", steps.unwrap_or_default()),
    };
    paragraph(&spelled(&said, cut.is_ascii), 2, cut.width, 2)
        .into_iter()
        .map(Line::plain)
        .collect()
}

/// `No issues found in 9 checks: …`, and why others could not be made.
pub(super) fn no_issue(checks: &Checks, system: Option<&SystemFigures>, cut: &Cut) -> Vec<Line> {
    let n = checks.passed.len() as u64;
    let idle = system.and_then(|system| system.gpus.iter().find(|gpu| gpu.busy_ratio <= 0.8));
    let all = counted(n, "check", "checks");
    let mut names: Vec<String> = checks
        .passed
        .iter()
        .map(|rule| rule.replace('-', " "))
        .collect();
    if names.len() > MOST_CHECKS {
        let more = names.split_off(MOST_CHECKS).len();
        names.push(format!("{more} more"));
    }
    let small = match checks.n_small {
        0 => String::new(),
        n => format!(
            " {} in all tables.",
            counted(n, "small finding is", "small findings are")
        ),
    };
    let (style, said) = match (n, idle) {
        (0, _) => (
            Style::Plain,
            "No check could be made: too little was recorded.".to_owned(),
        ),
        (_, Some(gpu)) => (
            Style::Plain,
            format!(
                "{all} found nothing, but GPU {} was idle for {} of the time.",
                gpu.name,
                share(1.0 - gpu.busy_ratio)
            ),
        ),
        _ if checks.n_small > 0 => (
            Style::Plain,
            format!("No finding costs 5 % of the run; {all} passed.{small}"),
        ),
        _ => (
            Style::Good,
            format!("No issues found in {all}: {}.", names.join(", ")),
        ),
    };
    let said = paragraph(&spelled(&visible(&said), cut.is_ascii), 2, cut.width, 2);
    let mut lines: Vec<Line> = said
        .into_iter()
        .map(|line| Line::default().with(line, style))
        .collect();
    if checks.n_skipped > 0 && !checks.missing.is_empty() && !cut.from(3) {
        let missing = match checks.missing.as_slice() {
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} or {last}", first.join(", ")),
            [] => String::new(),
        };
        let skipped = counted(checks.n_skipped, "check", "checks");
        let said = format!("{skipped} skipped: no {missing} were recorded.");
        lines.extend(
            wrapped(&said, cut.width.saturating_sub(2))
                .into_iter()
                .map(|line| Line::plain(format!("  {line}"))),
        );
    }
    lines
}
