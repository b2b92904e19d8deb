//! Ranks side by side in a line: their own time and what they wait, or their wall times; and the most memory of any.

use marey_analysis::ranks::JobAnswers;

use super::headline::ranks_text;
use super::rank_name;
use crate::first_screen::{Facts, Labelled};
use crate::json::object::object;
use crate::quantity::{Column, Unit, float, size_of};

/// Figures that are listed; of more the first and the last.
const MOST: usize = 8;

pub(super) fn lines(job: &JobAnswers) -> Vec<Labelled> {
    let stragglers = &job.stragglers;
    let mut lines = Vec::new();
    if stragglers.is_waiting_known {
        let own: Vec<(u32, u64)> = stragglers
            .ranks
            .iter()
            .map(|rank| (rank.place, rank.own_ns))
            .collect();
        let waits = stragglers.ranks.iter();
        let waits: Vec<(u32, u64)> = waits
            .filter_map(|rank| Some((rank.place, rank.waiting_ns?)))
            .collect();
        lines.push(("Own time", "own_s", own));
        lines.push(("Waiting", "waiting_s", waits));
    } else {
        let walls = (0_u32..).zip(&job.members);
        let walls = walls
            .map(|(place, member)| (place, member.wall_ns))
            .collect();
        lines.push(("Ranks", "ranks_s", walls));
    }
    let shown = lines.into_iter().filter(|(.., each)| each.len() > 1);
    let mut lines: Vec<Labelled> = shown
        .map(|(label, key, each)| line(job, label, key, each))
        .collect();
    lines.extend(memory(job));
    lines
}

/// `rank 5: 12.0 · rank 4: 11.9 · ranks 2-3, 6: 10.0 ms`, the longest first; those that read the same together.
fn line(
    job: &JobAnswers,
    label: &'static str,
    key: &'static str,
    mut each: Vec<(u32, u64)>,
) -> Labelled {
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
        format!("{word}{}: {number}{end}", ranks_text(job, places))
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
    let facts: std::collections::BTreeMap<String, f64> =
        each.iter().take(MOST).map(seconds).collect();
    Labelled::new(
        label,
        parts,
        Facts::key(key, &serde_json::to_string(&facts).unwrap_or_default()),
    )
}

/// The highest peak of any rank: of torch's allocator, else of the process.
fn memory(job: &JobAnswers) -> Option<Labelled> {
    let ranks = &job.resources.ranks;
    let torch = ranks
        .iter()
        .filter_map(|rank| Some((rank.machine.torch_allocated_peak_bytes?, rank.place)));
    let process = ranks
        .iter()
        .filter_map(|rank| Some((rank.machine.process_memory_peak_bytes?, rank.place)));
    let highest = |of: Vec<(u64, u32)>, whose: &'static str| {
        let (bytes, place) = of
            .into_iter()
            .max_by_key(|(bytes, place)| (*bytes, std::cmp::Reverse(*place)))?;
        Some((bytes, place, whose))
    };
    let found = [
        highest(torch.collect(), "torch"),
        highest(process.collect(), "process"),
    ];
    let found: Vec<(u64, u32, &str)> = found.into_iter().flatten().collect();
    let text = |(bytes, place, whose): &(u64, u32, &str)| {
        format!(
            "peak {} on {} ({whose})",
            size_of(*bytes),
            rank_name(job, *place)
        )
    };
    let facts: Vec<_> = found
        .iter()
        .map(|(bytes, place, whose)| object! { peak_bytes: bytes, rank: rank_name(job, *place), source: whose })
        .collect();
    let facts = Facts::of(&object! { memory: facts });
    let said: Vec<String> = found.iter().map(text).collect();
    (!said.is_empty()).then(|| Labelled::new("Memory", said, facts))
}
