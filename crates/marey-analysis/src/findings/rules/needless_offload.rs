//! Are models moved off a device on which they would have fitted?
//!
//! ```text
//! device   |==================================|   24 GB
//! limit    |===============================|      90 %: beyond it nothing fits for sure
//! peak     |=============|                        12 GB, with offloading
//! moved                  |=======|                 6 GB: all of what was moved away, had it stayed
//! ```

use std::collections::BTreeMap;

use marey::profiling_config::words_of_name;
use marey::{MemorySource, Value};

use crate::findings::prelude::*;
use crate::intervals::length_ns;
use crate::quantity::rounded_percent;
use crate::questions::work::{Call, Calls, Work, calls, has_phrase};
use crate::section_lookup::main_thread;

pub(super) const RULE: Rule = Rule {
    id: "needless-offload",
    category: Category::Memory,
    checks: "models are moved off a device on which they would have fitted",
    limits: &["memory_ratio", "offload_ratio"],
    saves: "all sections named as offloading",
    of: &[Check::Run(
        "sections named as offloading, with an attribute `bytes` or memory readings before and after; memory of GPUs",
        check,
    )],
};

/// Attributes that say what is moved.
const WHAT: [&str; 3] = ["model", "component", "module"];

/// A device with the least room left.
struct Room {
    peak_bytes: f64,
    total_bytes: f64,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let moves = calls(facts.run, |name| Work::Offloading.is_of(name));
    let moves = moves.of_thread(main_thread(facts.run));
    if moves.each.is_empty() {
        return Outcome::Unknown("no section is named as offloading".into());
    }
    let share = facts.share_of_wall(length_ns(&moves.time()));
    if share <= facts.thresholds.offload_ratio {
        let what = format!("offloading takes {} of the wall time", rounded_percent(share));
        return Outcome::passed_without(moves.n_missing, what);
    }
    let Some(room) = room(facts) else {
        return Outcome::Unknown("the memory of the device was not read".into());
    };
    let Some(moved_bytes) = moved_bytes(facts, &moves) else {
        return Outcome::Unknown(
            "how much offloading moves is not known: give its sections an attribute bytes, or read memory before and after".into(),
        );
    };
    let needed = room.peak_bytes + moved_bytes;
    if needed > room.total_bytes * facts.thresholds.memory_ratio {
        return Outcome::Passed(format!(
            "without offloading memory would be {} full",
            rounded_percent(needed / room.total_bytes)
        ));
    }
    Outcome::Found(vec![finding(facts, &moves, share, &room, moved_bytes)])
}

fn room(facts: &Facts<'_>) -> Option<Room> {
    let gpus = &facts.telemetry.gpus.as_ref()?.each;
    // Torch's own peak is right between two readings, too.
    let counted = facts.memory.iter().flat_map(|memory| &memory.sources);
    let counted = counted
        .filter(|source| matches!(source.source, MemorySource::TorchCuda(_)))
        .filter_map(|source| source.counted_peak_bytes)
        .max()
        .map_or(0.0, float);
    // Where memory is the machine's, others fill it, too: what would have fitted is not known.
    let rooms = gpus.iter().filter(|gpu| !gpu.shares_memory).filter_map(|gpu| {
        let total_bytes = gpu.memory_total?.max;
        let peak_bytes = gpu.memory_used?.max.max(counted);
        (total_bytes > 0.0).then_some(Room { peak_bytes, total_bytes })
    });
    let left = |room: &Room| room.total_bytes - room.peak_bytes;
    rooms.min_by(|a, b| left(a).total_cmp(&left(b)))
}

/// Bytes of all that was moved away, each component once; `None` when that of one of them is not known.
fn moved_bytes(facts: &Facts<'_>, moves: &Calls) -> Option<f64> {
    let name =
        |call: &Call| facts.run.nodes.get(call.node as usize).map(|n| words_of_name(&n.name));
    let is_away = |call: &&Call| {
        name(call).is_some_and(|words| {
            has_phrase(&words, &["offload", "offloading", "unload", "swap out"])
        })
    };
    let away: Vec<&Call> = moves.each.iter().filter(is_away).collect();
    let mut by_component: BTreeMap<(u32, String), Option<u64>> = BTreeMap::new();
    for call in away {
        let given: Vec<&(String, Value)> = attributes(facts, call).collect();
        let what = given.iter().find(|(name, _)| WHAT.contains(&name.as_str()));
        let what = what.map_or(String::new(), |(_, value)| value.to_string());
        let said = given.iter().find_map(|(name, value)| bytes(name, value));
        let size = said.or_else(|| fall(facts, call));
        let known = by_component.entry((call.node, what)).or_default();
        *known = (*known).max(size);
    }
    let sizes: Option<Vec<u64>> = by_component.into_values().collect();
    let sizes = sizes.filter(|sizes| !sizes.is_empty())?;
    Some(sizes.into_iter().map(float).sum())
}

fn attributes<'a>(facts: &Facts<'a>, call: &Call) -> impl Iterator<Item = &'a (String, Value)> {
    let given = &facts.run.section_attributes;
    let first = given.partition_point(|g| g.section < call.section);
    let section = call.section;
    given[first..].iter().take_while(move |g| g.section == section).flat_map(|g| &g.attributes)
}

fn bytes(name: &str, value: &Value) -> Option<u64> {
    let is_size = has_phrase(&words_of_name(name), &["bytes", "nbytes"]);
    match value {
        Value::Int(bytes) if is_size => u64::try_from(*bytes).ok().filter(|bytes| *bytes > 0),
        _ => None,
    }
}

/// What memory of the device fell by between the first and the last reading during the call; `None` when it did not.
fn fall(facts: &Facts<'_>, call: &Call) -> Option<u64> {
    let first = facts.run.memory.partition_point(|r| r.at_ns < call.time.start_ns);
    let during = facts.run.memory[first..].iter().take_while(|r| r.at_ns <= call.time.end_ns);
    let mut by_device: BTreeMap<MemorySource, (u64, u64)> = BTreeMap::new();
    for reading in during.filter(|r| matches!(r.source, MemorySource::TorchCuda(_))) {
        let bytes = reading.allocated_bytes;
        by_device.entry(reading.source).or_insert((bytes, bytes)).1 = bytes;
    }
    let falls = by_device.into_values().map(|(first, last)| first.saturating_sub(last));
    falls.max().filter(|bytes| *bytes > 0)
}

fn finding(facts: &Facts<'_>, moves: &Calls, share: f64, room: &Room, moved_bytes: f64) -> Finding {
    let time = moves.time();
    let moves_ns = length_ns(&time);
    let needed = room.peak_bytes + moved_bytes;
    let limits = facts.thresholds;
    Finding {
        severity: Severity::of_share(share),
        issue: format!(
            "Offloading takes {} of the wall time, and without it memory would be only {} full",
            rounded_percent(share),
            rounded_percent(needed / room.total_bytes)
        ),
        remedy: "Keep these models on the device (no enable_model_cpu_offload), or offload only the largest that is used once. \
                 Watch the peak in the first run without: it was estimated."
            .into(),
        evidence: vec![
            Evidence::ratio("share of the wall time", share).against(limits.offload_ratio),
            Evidence::new("peak with all models kept, estimated", needed, FigureUnit::Bytes)
                .against(room.total_bytes * limits.memory_ratio),
            Evidence::new("peak in use", room.peak_bytes, FigureUnit::Bytes),
            Evidence::new("moved away, each model once", moved_bytes, FigureUnit::Bytes),
        ],
        intervals: Finding::longest(time),
        node: moves.longest_node(),
        saving: Some(Saving::of_time(
            Some(moves_ns),
            moves_ns,
            "all sections that are named as offloading, on the main thread",
        )),
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_run, only};
    use marey::{MemoryReading, Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    const GB: f64 = 1e9;

    /// A text encoder of `moved` bytes goes and comes, 10 of 100 each; the device of 20 GB has a peak of `peak`.
    fn run(moved: i64, peak: f64) -> Run {
        let gauge = |name| SeriesInfo::gauge(name, "GPU-1", Unit::Bytes);
        RunBuilder::new()
            .section("generate", 0, 100, |s| {
                s.section("offload_text_encoder", 20, 30, |_| {});
                s.attributes(vec![("bytes".into(), moved.into())]);
                s.section("onload_text_encoder", 60, 70, |_| {});
            })
            .series(gauge("gpu.memory.used"), &[(10, 4.0 * GB), (50, peak)])
            .series(gauge("gpu.memory.total"), &[(10, 20.0 * GB), (50, 20.0 * GB)])
            .finish(100)
    }

    #[test]
    fn what_would_have_fitted_is_moved_for_nothing() {
        // 12 + 5 of 20 GB: 85 %.
        let found = only(check_run(&RULE, &run(5_000_000_000, 12.0 * GB)));
        assert_eq!(found.evidence[1].figure.value, 17.0 * GB);
        assert_eq!(found.evidence[1].limit, Some(18.0 * GB));
        assert_eq!(found.saving.unwrap().estimate_ns, Some(20));
        assert_eq!(found.severity, Severity::High);
    }

    #[test]
    fn what_would_fill_memory_beyond_its_limit_has_to_move() {
        let passed = check_run(&RULE, &run(7_000_000_000, 12.0 * GB));
        let expected = "without offloading memory would be 95 % full";
        assert_eq!(passed, Outcome::Passed(expected.into()));
    }

    #[test]
    fn the_size_is_also_known_from_readings_before_and_after() {
        let reading = |at_ns, allocated_bytes| MemoryReading {
            at_ns,
            label: None,
            source: MemorySource::TorchCuda(0),
            allocated_bytes,
            reserved_bytes: None,
            peak_bytes: None,
            session: None,
        };
        let mut known = run(0, 12.0 * GB);
        known.memory = vec![reading(20, 9_000_000_000), reading(30, 4_000_000_000)];
        let found = only(check_run(&RULE, &known));
        assert_eq!(found.evidence[3].figure.value, 5.0 * GB);
    }

    #[test]
    fn without_sizes_memory_or_names_the_run_does_not_say() {
        let mut unread = run(5_000_000_000, 12.0 * GB);
        unread.series.clear();
        let mut shared = run(5_000_000_000, 12.0 * GB);
        let facts = [("gpu.0.uuid", "GPU-1"), ("gpu.0.shares_memory", "true")];
        let facts = facts.map(|(key, value)| (key.to_owned(), value.to_owned()));
        shared.info.facts.extend(facts);
        let unnamed = RunBuilder::new().section("denoise", 0, 50, |_| {}).finish(100);
        for run in [run(0, 12.0 * GB), unread, shared, unnamed] {
            assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
        }
    }
}
