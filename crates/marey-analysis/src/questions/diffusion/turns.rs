//! Turns of a generating loop, steps or blocks, from what the program reported or from sections with such names.

use std::collections::BTreeMap;

use marey::{Generation, GenerationRecord, Run, Section};
use serde::Serialize;

use super::calls::{attribute, calls, length_ns};
use super::enclosing::Enclosing;
use super::named::Named;
use crate::questions::belonging::Belonging;

/// Where steps or blocks are known from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepSource {
    /// The program reported them.
    Reported,
    /// The turns of this loop, as the user named it; the first of such names where there are several (`denoising_step_0`, …).
    Iterations(String),
    /// The calls of this section, likewise.
    Sections(String),
}

/// One turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    pub(super) end_ns: u64,
    /// `None` when not known.
    pub(super) duration_ns: Option<u64>,
    pub(super) thread: u32,
    pub(super) session: Option<u32>,
    /// As the program said.
    pub(super) number: Option<u64>,
    /// Of sections: the beginning of the call that the loop ran in.
    pub(super) within_ns: Option<u64>,
    /// The report, as an index into `Run::generation`, or the section, as an index into `Run::sections`.
    pub(super) origin: usize,
}

/// All turns of a kind, in order of their ends.
pub(super) struct Turns {
    pub(super) source: StepSource,
    pub(super) each: Vec<Turn>,
    /// Calls that were counted but not recorded one by one.
    pub(super) n_missing: u64,
}

/// What a report says about its turn.
pub(super) struct Said {
    pub(super) number: Option<u64>,
    pub(super) duration_ns: Option<u64>,
}

/// How turns of a kind are told.
pub(super) struct Kind<'a> {
    /// Call paths whose names say so.
    pub(super) nodes: &'a [u32],
    /// What a report of this kind says.
    pub(super) said: fn(&Generation) -> Option<Said>,
    /// Attributes of a section that are its number.
    pub(super) numbers: &'static [&'static str],
}

/// What the program reported, otherwise sections; `None` when there are neither.
pub(super) fn turns(
    run: &Run,
    named: &Named,
    belonging: &Belonging<'_>,
    kind: &Kind<'_>,
) -> Option<Turns> {
    let mut each = reported(run, belonging, kind);
    if !each.is_empty() {
        each.sort_by_key(|turn| (turn.end_ns, turn.origin));
        return Some(Turns {
            source: StepSource::Reported,
            each,
            n_missing: 0,
        });
    }
    called(run, named, belonging, kind)
}

fn reported(run: &Run, belonging: &Belonging<'_>, kind: &Kind<'_>) -> Vec<Turn> {
    let turn = |(origin, record): (usize, &GenerationRecord)| {
        let said = (kind.said)(&record.what)?;
        Some(Turn {
            end_ns: record.at_ns,
            duration_ns: said.duration_ns,
            thread: record.thread,
            session: belonging.of_record(record.session, Some(record.thread), record.at_ns),
            number: said.number,
            within_ns: None,
            origin,
        })
    };
    let mut each: Vec<Turn> = run.generation.iter().enumerate().filter_map(turn).collect();
    if each.iter().any(|turn| turn.duration_ns.is_none()) {
        take_durations(&mut each, run, kind.nodes);
    }
    each
}

/// Gives reports without a time that of the section that they were made in or after.
///
/// ```text
/// sections   |-- a --|   |-- b --|   |-- c --|
/// reports             0          1           2 3
///                     a          b           none: one of them is not about c
/// ```
fn take_durations(reports: &mut [Turn], run: &Run, nodes: &[u32]) {
    let mut by_thread: BTreeMap<u32, Vec<&Section>> = BTreeMap::new();
    for (_, section) in calls(run, nodes) {
        by_thread.entry(section.thread).or_default().push(section);
    }
    // Of tasks it is not known which one a report was made in.
    by_thread.retain(|_, sections| sections.iter().all(|section| section.flow == 0));
    for sections in by_thread.values_mut() {
        sections.sort_by_key(|section| (section.start_ns, section.end_ns));
    }
    let owner = |turn: &Turn| {
        let sections = by_thread.get(&turn.thread)?;
        let begun = sections.partition_point(|section| section.start_ns <= turn.end_ns);
        Some((turn.thread, begun.checked_sub(1)?))
    };
    let owners: Vec<Option<(u32, usize)>> = reports.iter().map(owner).collect();
    let mut n_reports: BTreeMap<(u32, usize), u64> = BTreeMap::new();
    for owner in owners.iter().flatten() {
        *n_reports.entry(*owner).or_default() += 1;
    }
    for (turn, owner) in reports.iter_mut().zip(owners) {
        let only =
            owner.filter(|owner| turn.duration_ns.is_none() && n_reports.get(owner) == Some(&1));
        let section = only.and_then(|(thread, index)| by_thread.get(&thread)?.get(index).copied());
        if let Some(section) = section.filter(|section| !section.has_pauses) {
            turn.duration_ns = Some(length_ns(section));
        }
    }
}

fn called(run: &Run, named: &Named, belonging: &Belonging<'_>, kind: &Kind<'_>) -> Option<Turns> {
    let enclosing = Enclosing::new(run, kind.nodes, &named.blocks);
    let turn = |(origin, section): (usize, &Section)| Turn {
        end_ns: section.end_ns,
        duration_ns: Some(length_ns(section)),
        thread: section.thread,
        session: belonging.of_record(None, Some(section.thread), section.end_ns),
        number: attribute(run, origin, kind.numbers),
        within_ns: enclosing.loop_of(section).map(|call| call.start_ns),
        origin,
    };
    let mut each: Vec<Turn> = calls(run, kind.nodes).map(turn).collect();
    each.sort_by_key(|turn| (turn.end_ns, turn.origin));
    let counted = kind
        .nodes
        .iter()
        .filter_map(|node| run.totals.get(*node as usize));
    let counted = counted
        .map(|totals| totals.count)
        .fold(0, u64::saturating_add);
    let first = run
        .nodes
        .get(run.sections[each.first()?.origin].node as usize)?;
    let name = first.name.clone();
    Some(Turns {
        source: match first.kind {
            marey::NodeKind::Iteration => StepSource::Iterations(name),
            marey::NodeKind::Section => StepSource::Sections(name),
        },
        n_missing: counted.saturating_sub(each.len() as u64),
        each,
    })
}
