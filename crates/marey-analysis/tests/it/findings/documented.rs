//! `docs/findings.md` names every rule and every limit, and no others.

use std::collections::BTreeSet;

use marey_analysis::findings::{RULES, THRESHOLDS};
use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::ranks::JobAnswers;
use marey_analysis::{Thresholds, job_findings, trace_answers, trace_findings};

const DOCUMENT: &str = include_str!("../../../../../docs/findings.md");

/// Cells of the rows of the table between `<!-- name -->` and `<!-- /name -->`, without its head.
fn rows(name: &str) -> Vec<Vec<&'static str>> {
    let after = DOCUMENT.split_once(&format!("<!-- {name} -->"));
    let table = after.and_then(|(_, after)| after.split_once(&format!("<!-- /{name} -->")));
    let table = table.map_or("", |(table, _)| table);
    let lines = table.lines().filter(|line| line.starts_with('|'));
    lines.skip(2).map(cells).collect()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// Names between backticks.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_table_of_rules_is_that_of_the_code() {
    let rows = rows("rules");
    let documented: Vec<(&str, &str)> = rows.iter().map(|row| (names(row[0])[0], row[1])).collect();
    let checked: Vec<(&str, &str)> = RULES.iter().map(|rule| (rule.id, rule.checks)).collect();
    assert_eq!(documented, checked);
    for row in &rows {
        assert!(row.len() == 5 && row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
}

#[test]
fn the_table_of_rules_of_traces_is_that_of_the_code() {
    let rows = rows("trace-rules");
    let documented: Vec<&str> = rows.iter().map(|row| names(row[0])[0]).collect();
    let trace = read(b"{\"traceEvents\": []}".as_slice(), Limits::default()).unwrap();
    let all = trace_findings(&trace_answers(&trace, None), &Thresholds::default());
    let mut checked: Vec<&str> = all.unchecked.iter().map(|one| one.rule).collect();
    checked.extend(all.passed.iter().map(|one| one.rule));
    let sorted = |mut names: Vec<_>| {
        names.sort_unstable();
        names
    };
    assert_eq!(sorted(documented), sorted(checked));
}

#[test]
fn the_table_of_rules_of_jobs_is_that_of_the_code() {
    let rows = rows("job-rules");
    let mut documented: Vec<(&str, &str)> =
        rows.iter().map(|row| (names(row[0])[0], row[1])).collect();
    let all = job_findings(&JobAnswers::default(), &Thresholds::default());
    let passed = all.passed.iter().map(|one| (one.rule, one.checks));
    let unchecked = all.unchecked.iter().map(|one| (one.rule, one.checks));
    let mut checked: Vec<(&str, &str)> = passed.chain(unchecked).collect();
    documented.sort_unstable();
    checked.sort_unstable();
    assert_eq!(documented, checked);
    for row in &rows {
        assert!(row.len() == 5 && row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
}

#[test]
fn the_table_of_limits_is_that_of_the_code() {
    let documented: Vec<(&str, f64, &str)> = rows("limits")
        .iter()
        .map(|row| (names(row[0])[0], row[1].parse().unwrap(), row[2]))
        .collect();
    let limits: Vec<(&str, f64, &str)> =
        THRESHOLDS.iter().map(|limit| (limit.name, limit.default, limit.meaning())).collect();
    assert_eq!(documented, limits);
}

#[test]
fn each_limit_belongs_to_a_rule() {
    let tables = [rows("rules"), rows("trace-rules"), rows("job-rules")];
    let rows = tables.iter().flatten();
    let used: BTreeSet<&str> = rows.flat_map(|row| names(row[2])).collect();
    let mut known: BTreeSet<&str> = THRESHOLDS.iter().map(|limit| limit.name).collect();
    // The analysis of deliveries has it.
    known.remove("playback_frames_per_second");
    assert_eq!(used, known);
}
