//! What did the reports of single ranks find?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::placed;
use crate::job::{RankFinding, RankSummary};

/// What a rule found in single ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct RankFindingRow {
    /// The rule.
    pub rule: String,
    /// As the finding says it, of the most severe one.
    pub severity: String,
    /// The ranks, by place.
    pub places: Vec<u32>,
    /// What was found in one of them.
    pub issue: String,
}

/// From the most severe on, as Marey and as other profilers say it; what is none of them is last.
const SEVERITIES: [&str; 6] = ["critical", "high", "warning", "medium", "low", "note"];

/// Findings of ranks by rule: the most severe first, then those of the most ranks. A rule that found several things in a rank counts once for
/// it. Severity and issue are of the most severe finding, of equals that of the lowest rank.
pub(super) fn single_findings(places: &[&RankSummary]) -> Vec<RankFindingRow> {
    let mut by_rule: BTreeMap<&str, Vec<(u32, &RankFinding)>> = BTreeMap::new();
    for (place, rank) in placed(places) {
        for finding in &rank.findings {
            let of_rule = by_rule.entry(&finding.rule).or_default();
            of_rule.push((place, finding));
        }
    }
    let row = |(rule, of_rule): (&str, Vec<(u32, &RankFinding)>)| {
        let (_, worst) = of_rule.iter().min_by_key(|(_, one)| grade(&one.severity))?;
        let mut places: Vec<u32> = of_rule.iter().map(|(place, _)| *place).collect();
        places.dedup();
        Some(RankFindingRow {
            rule: rule.to_owned(),
            severity: worst.severity.clone(),
            issue: worst.issue.clone(),
            places,
        })
    };
    let mut rows: Vec<RankFindingRow> = by_rule.into_iter().filter_map(row).collect();
    rows.sort_by_key(|row| (grade(&row.severity), Reverse(row.places.len())));
    rows
}

/// 0 is the most severe.
fn grade(severity: &str) -> usize {
    let mut known = SEVERITIES.iter();
    let at = known.position(|one| severity.eq_ignore_ascii_case(one));
    at.unwrap_or(SEVERITIES.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(findings: &[(&str, &str)]) -> RankSummary {
        let finding = |&(rule, severity): &(&str, &str)| RankFinding {
            rule: rule.into(),
            severity: severity.into(),
            issue: format!("{rule} is {severity}"),
        };
        RankSummary { findings: findings.iter().map(finding).collect(), ..RankSummary::default() }
    }

    #[test]
    fn findings_are_put_together_by_rule() {
        let ranks = [
            rank(&[("slow-host", "low")]),
            rank(&[("memory", "high"), ("slow-host", "medium")]),
            rank(&[]),
            rank(&[("slow-host", "low"), ("slow-host", "low"), ("odd", "?")]),
        ];
        let rows = single_findings(&ranks.each_ref());
        let row = |rule: &str, severity: &str, places: &[u32]| RankFindingRow {
            rule: rule.into(),
            severity: severity.into(),
            issue: format!("{rule} is {severity}"),
            places: places.to_vec(),
        };
        assert_eq!(
            rows,
            [
                row("memory", "high", &[1]),
                row("slow-host", "medium", &[0, 1, 3]),
                row("odd", "?", &[3]),
            ]
        );
        assert!(single_findings(&[]).is_empty());
    }
}
