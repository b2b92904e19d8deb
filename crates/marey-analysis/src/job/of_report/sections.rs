//! Sections of a report.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{at, nanoseconds, number, text, whole};
use crate::job::{RankSummary, SectionSums};

/// Call paths of Marey's reports; of others stages or timings by their names. In order of the path, and how many are left out.
pub(super) fn sections(report: &Value) -> (Vec<SectionSums>, u64) {
    let mut rows = match report.get("sections").and_then(Value::as_array) {
        Some(listed) if !listed.is_empty() => of_tree(listed),
        _ => of_names(report),
    };
    rows.sort_by_key(|row| std::cmp::Reverse(row.total_ns.max(row.open_ns.unwrap_or(0))));
    let n_left_out = rows.len().saturating_sub(RankSummary::MAX_SECTIONS);
    rows.truncate(RankSummary::MAX_SECTIONS);
    rows.sort_by(|a, b| (&a.path, a.is_iteration).cmp(&(&b.path, b.is_iteration)));
    (rows, n_left_out as u64)
}

/// A list in which each entry names its parent, which comes before it.
fn of_tree(listed: &[Value]) -> Vec<SectionSums> {
    let mut paths: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let row = |section: &Value| {
        let name = section.get("name")?.as_str()?.to_owned();
        let parent = whole(section, "parent").and_then(|parent| paths.get(&parent));
        let mut path = parent.cloned().unwrap_or_default();
        path.push(name);
        if let Some(id) = whole(section, "id") {
            paths.insert(id, path.clone());
        }
        Some(SectionSums {
            path,
            is_iteration: text(section, "kind").as_deref() == Some("iteration"),
            open_ns: number(section, "open.so_far").map(nanoseconds),
            ..sums(section, ["count", "total", "min", "max"])
        })
    };
    listed.iter().filter_map(row).collect()
}

fn of_names(report: &Value) -> Vec<SectionSums> {
    let named = [
        ("stage_analysis.stages", ["call_count", "total_time", "min_time", "max_time"]),
        ("timing_stats", ["count", "total", "min", "max"]),
    ];
    let of = |(path, keys): (&str, [&str; 4])| {
        let stages = at(report, path)?.as_object()?;
        let row = |(name, stage): (&String, &Value)| SectionSums {
            path: vec![name.clone()],
            ..sums(stage, keys)
        };
        (!stages.is_empty()).then(|| stages.iter().map(row).collect())
    };
    named.into_iter().find_map(of).unwrap_or_default()
}

fn sums(section: &Value, [count, total, min, max]: [&str; 4]) -> SectionSums {
    let time = |key: &str| number(section, key).map_or(0, nanoseconds);
    SectionSums {
        count: whole(section, count).unwrap_or(0),
        total_ns: time(total),
        min_ns: time(min),
        max_ns: time(max),
        errors: whole(section, "errors").unwrap_or(0),
        ..SectionSums::default()
    }
}
