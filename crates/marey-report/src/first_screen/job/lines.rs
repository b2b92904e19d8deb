//! Ranks side by side in a line: their own time and what they wait, or their wall times; and the most memory of any.

use std::collections::BTreeMap;

use marey_analysis::job::MachineSums;
use marey_analysis::ranks::JobAnswers;

use super::rank_name;
use crate::first_screen::Labelled;
use crate::json::object::{Fields, Json, object};
use crate::quantity::{Column, Unit, float, size_of};
use crate::rank_report::listed_ranks;

/// Figures that are listed; of more the first and the last.
const MOST: usize = 8;

/// With the same for programs.
pub(super) fn lines(job: &JobAnswers) -> (Vec<Labelled>, impl Fields + Json + use<>) {
    let (own, waits, walls) = times(job);
    let (own, own_s) = line(job, "Own time", own).unzip();
    let (waiting, waiting_s) = line(job, "Waiting", waits).unzip();
    let (ranks, ranks_s) = line(job, "Ranks", walls).unzip();
    let (memory, peaks) = memory(job).unzip();
    let lines = [own, waiting, ranks, memory].into_iter().flatten();
    let facts = object! {
        /// Own time of the ranks that took longest, by rank.
        own_s?: own_s,
        /// What those that waited longest waited in collectives.
        waiting_s?: waiting_s,
        /// Wall times, where it is not known what was waiting.
        ranks_s?: ranks_s,
        /// The highest peak of any rank.
        memory?: peaks,
    };
    (lines.collect(), facts)
}

/// A rank by its place, and how long.
type Times = Vec<(u32, u64)>;

/// Own times and what was waited, or wall times where that is not known.
fn times(job: &JobAnswers) -> (Times, Times, Times) {
    let stragglers = &job.stragglers;
    if !stragglers.is_waiting_known {
        let walls = (0_u32..).zip(&job.members);
        let walls = walls.map(|(place, member)| (place, member.wall_ns)).filter(|(_, ns)| *ns > 0);
        return (Vec::new(), Vec::new(), walls.collect());
    }
    let ranks = || stragglers.ranks.iter();
    let waits = ranks().filter_map(|rank| Some((rank.place, rank.waiting_ns?)));
    let own = ranks().map(|rank| (rank.place, rank.own_ns));
    (own.collect(), waits.collect(), Vec::new())
}

/// `rank 5: 12.0 · rank 4: 11.9 · ranks 2-3, 6: 10.0 ms`, the longest first; those that read the same together. With seconds by rank for
/// programs; `None` of fewer than two.
fn line(
    job: &JobAnswers,
    label: &'static str,
    mut each: Times,
) -> Option<(Labelled, BTreeMap<String, f64>)> {
    if each.len() < 2 {
        return None;
    }
    each.sort_by_key(|(place, ns)| (std::cmp::Reverse(*ns), *place));
    let most = each.first().map_or(0, |(_, ns)| *ns);
    let column = Column::of(Unit::Time, most);
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for (place, ns) in &each {
        let shown = column.text(*ns);
        match groups.last_mut().filter(|(last, _)| *last == shown) {
            Some((_, places)) => places.push(*place),
            None => groups.push((shown, vec![*place])),
        }
    }
    let unit = groups.first().and_then(|(shown, _)| shown.rsplit_once(' '));
    let unit = unit.map(|(_, unit)| format!(" {unit}")).unwrap_or_default();
    let n = groups.len();
    let is_named = job.members.iter().all(|member| member.rank.is_some());
    let text = |at: usize| {
        let (shown, places) = &groups[at];
        let number = shown.strip_suffix(unit.as_str()).unwrap_or(shown);
        let word = match places.len() {
            _ if !is_named => "",
            1 => "rank ",
            _ => "ranks ",
        };
        let end = if at + 1 == n { unit.as_str() } else { "" };
        format!("{word}{}: {number}{end}", listed_ranks(&job.members, places))
    };
    let mut parts: Vec<String> = match n {
        0..=MOST => (0..n).map(text).collect(),
        _ => (0..MOST - 2).map(text).collect(),
    };
    if n > MOST {
        parts.push("…".into());
        parts.push(text(n - 1));
    }
    let seconds = |(place, ns): &(u32, u64)| (rank_name(job, *place), float(*ns) / 1e9);
    let facts = each.iter().take(MOST).map(seconds).collect();
    Some((Labelled::new(label, parts), facts))
}

/// The highest peak of any rank: of torch's allocator, else of the process.
fn memory(job: &JobAnswers) -> Option<(Labelled, Vec<impl Json + use<>>)> {
    let ranks = &job.resources.ranks;
    let highest = |whose: &'static str, of: fn(&MachineSums) -> Option<u64>| {
        let known = ranks.iter().filter_map(|rank| Some((of(&rank.machine)?, rank.place)));
        let most = known.max_by_key(|(bytes, place)| (*bytes, std::cmp::Reverse(*place)));
        most.map(|(bytes, place)| (bytes, place, whose))
    };
    let found = [
        highest("torch", |machine| machine.torch_allocated_peak_bytes),
        highest("process", |machine| machine.process_memory_peak_bytes),
    ];
    let found: Vec<(u64, u32, &'static str)> = found.into_iter().flatten().collect();
    let text = |(bytes, place, whose): &(u64, u32, &str)| {
        format!("peak {} on {} ({whose})", size_of(*bytes), rank_name(job, *place))
    };
    let facts: Vec<_> = found
        .iter()
        .map(|(bytes, place, whose)| object! { peak_bytes: *bytes, rank: rank_name(job, *place), source: *whose })
        .collect();
    let said: Vec<String> = found.iter().map(text).collect();
    (!said.is_empty()).then(|| (Labelled::new("Memory", said), facts))
}
