//! Passes of a generating loop, steps or blocks, from what the program reported or from sections with such names.

use std::collections::{BTreeMap, BTreeSet};

use marey::{Generation, GenerationRecord, NodeKind, Run, Section};
use serde::Serialize;

use super::calls::{attribute, calls, real};
use super::enclosing::Enclosing;
use super::named::{Named, ancestors};
use crate::questions::belonging::Belonging;
use crate::stats::sum;

/// Where steps or blocks are known from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepSource {
    /// The program reported them; of sessions in which it reported none, sections have them.
    Reported,
    /// The iterations of this loop, as the user named it; the first of such names where there are several (`denoising_step_0`, …).
    Iterations(String),
    /// The calls of this section, likewise.
    Sections(String),
}

/// What a pass is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// A report, as an index into `Run::generation`.
    Report(usize),
    /// A call, as an index into `Run::sections`.
    Section(usize),
}

impl Default for Origin {
    fn default() -> Self {
        Self::Report(0)
    }
}

/// One report, or one call.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    pub(super) end_ns: u64,
    /// `None` when not known.
    pub(super) duration_ns: Option<u64>,
    pub(super) thread: u32,
    /// The task of a report, as in [`marey::Section::flow`].
    pub(super) flow: u16,
    pub(super) session: Option<u32>,
    /// As the program said.
    pub(super) number: Option<u64>,
    /// Time step of the schedule, in the program's own scale.
    pub(super) timestep: Option<f64>,
    /// Scale of the guidance.
    pub(super) guidance_scale: Option<f64>,
    /// Latent frames that were worked on.
    pub(super) frames: Option<u64>,
    /// Of sections: since when its loop can have run. That is the beginning of the call that the loop ran in or, where steps have no
    /// numbers, the end of what was encoded or decoded last.
    pub(super) within_ns: Option<u64>,
    pub(super) origin: Origin,
}

impl Pass {
    pub(super) fn is_reported(&self) -> bool {
        matches!(self.origin, Origin::Report(_))
    }
}

/// All passes of a kind, in order of their ends.
pub(super) struct Passes {
    pub(super) source: StepSource,
    pub(super) each: Vec<Pass>,
    /// Calls that were counted but not recorded one by one.
    pub(super) n_missing: u64,
}

/// Time steps that sections say, by thread and flow, in order of their beginnings.
struct Timesteps(BTreeMap<(u32, u16), Vec<(u64, f64)>>);

impl Timesteps {
    fn of(run: &Run) -> Self {
        let mut found: BTreeMap<(u32, u16), Vec<(u64, f64)>> = BTreeMap::new();
        for given in &run.section_attributes {
            let timestep = real(run, given.section, &["timestep"]);
            if let Some((section, timestep)) = run.sections.get(given.section).zip(timestep) {
                let of_flow = found.entry((section.thread, section.flow)).or_default();
                of_flow.push((section.start_ns, timestep));
            }
        }
        for of_flow in found.values_mut() {
            of_flow.sort_by_key(|(start_ns, _)| *start_ns);
        }
        Self(found)
    }

    /// What the first section within a pass said: the scheduler's step of a denoising step, say.
    fn within(&self, pass: &Section) -> Option<f64> {
        let of_flow = self.0.get(&(pass.thread, pass.flow))?;
        let at = of_flow.partition_point(|(start_ns, _)| *start_ns < pass.start_ns);
        let (start_ns, timestep) = of_flow.get(at)?;
        (*start_ns < pass.end_ns).then_some(*timestep)
    }
}

/// What a report says about its pass.
#[derive(Default)]
pub(super) struct Said {
    pub(super) number: Option<u64>,
    pub(super) duration_ns: Option<u64>,
    pub(super) timestep: Option<f64>,
    pub(super) guidance_scale: Option<f64>,
    pub(super) frames: Option<u64>,
}

/// How passes of a kind are told.
pub(super) struct Kind<'a> {
    /// Call paths whose names say so.
    pub(super) nodes: &'a [u32],
    /// Call paths of what lies between two loops of passes without numbers.
    pub(super) between: &'a [u32],
    /// What a report of this kind says.
    pub(super) said: fn(&Generation) -> Option<Said>,
    /// Attributes of a section that are its number.
    pub(super) numbers: &'static [&'static str],
}

/// What the program reported; of generations of which it reported nothing, sections. `None` when there are neither.
pub(super) fn passes(
    run: &Run,
    named: &Named,
    belonging: &Belonging<'_>,
    kind: &Kind<'_>,
) -> Option<Passes> {
    let reported = reported(run, belonging, kind);
    // A report of no session speaks of the whole run.
    if reported.iter().any(|pass| pass.session.is_none()) {
        return Passes::new(StepSource::Reported, reported, 0);
    }
    let told = reported.iter().filter_map(|pass| belonging.outermost(pass.session));
    let told: BTreeSet<u32> = told.collect();
    let is_told = |session: Option<u32>| {
        belonging.outermost(session).is_some_and(|session| told.contains(&session))
    };
    let all_told = (0..).zip(&run.sessions).all(|(session, _)| is_told(Some(session)));
    if !reported.is_empty() && all_told {
        return Passes::new(StepSource::Reported, reported, 0);
    }
    let (mut called, n_missing) = called(run, named, kind);
    called.retain(|pass| !is_told(pass.session));
    if reported.is_empty() {
        return Passes::new(StepSource::of_section(run, called.first()?)?, called, n_missing);
    }
    // What lies in no session may be of what was reported.
    called.retain(|pass| pass.session.is_some());
    called.extend(reported);
    Passes::new(StepSource::Reported, called, n_missing)
}

fn reported(run: &Run, belonging: &Belonging<'_>, kind: &Kind<'_>) -> Vec<Pass> {
    let pass = |(origin, record): (usize, &GenerationRecord)| {
        let said = (kind.said)(&record.what)?;
        Some(Pass {
            end_ns: record.at_ns,
            duration_ns: said.duration_ns,
            thread: record.thread,
            flow: record.flow,
            session: belonging.of_record(record.session, Some(record.thread), record.at_ns),
            number: said.number,
            timestep: said.timestep.filter(|t| t.is_finite()),
            guidance_scale: said.guidance_scale.filter(|scale| scale.is_finite()),
            frames: said.frames,
            within_ns: None,
            origin: Origin::Report(origin),
        })
    };
    let mut each: Vec<Pass> = run.generation.iter().enumerate().filter_map(pass).collect();
    if each.iter().any(|pass| pass.duration_ns.is_none()) {
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
fn take_durations(reports: &mut [Pass], run: &Run, nodes: &[u32]) {
    let mut by_thread: BTreeMap<u32, Vec<&Section>> = BTreeMap::new();
    for (_, section) in calls(run, nodes) {
        by_thread.entry(section.thread).or_default().push(section);
    }
    // Of tasks it is not known which one a report was made in.
    by_thread.retain(|_, sections| sections.iter().all(|section| section.flow == 0));
    for sections in by_thread.values_mut() {
        sections.sort_by_key(|section| (section.start_ns, section.end_ns));
    }
    let owner = |pass: &Pass| {
        let sections = by_thread.get(&pass.thread)?;
        let begun = sections.partition_point(|section| section.start_ns <= pass.end_ns);
        Some((pass.thread, begun.checked_sub(1)?))
    };
    let owners: Vec<Option<(u32, usize)>> = reports.iter().map(owner).collect();
    let mut n_reports: BTreeMap<(u32, usize), u64> = BTreeMap::new();
    for owner in owners.iter().flatten() {
        *n_reports.entry(*owner).or_default() += 1;
    }
    for (pass, owner) in reports.iter_mut().zip(owners) {
        let only =
            owner.filter(|owner| pass.duration_ns.is_none() && n_reports.get(owner) == Some(&1));
        let section = only.and_then(|(thread, index)| by_thread.get(&thread)?.get(index).copied());
        if let Some(section) = section.filter(|section| !section.has_pauses) {
            pass.duration_ns = Some(section.duration_ns());
        }
    }
}

/// Calls of the sections that are passes, and how many were counted but not recorded one by one.
fn called(run: &Run, named: &Named, kind: &Kind<'_>) -> (Vec<Pass>, u64) {
    if kind.nodes.is_empty() {
        return (Vec::new(), 0);
    }
    let sessions = Belonging::new(run).into_sections();
    let enclosing = Enclosing::new(run, kind.nodes, &named.blocks);
    let timesteps = Timesteps::of(run);
    let ends = Ends::of(run, kind);
    let pass = |(origin, section): (usize, &Section)| {
        let number = attribute(run, origin, kind.numbers);
        let within_ns = enclosing.loop_of(section).map(|call| call.start_ns);
        Pass {
            end_ns: section.end_ns,
            duration_ns: Some(section.duration_ns()),
            thread: section.thread,
            session: sessions.of(origin),
            // Of a task that was not asked for its number each outermost section has one of its own.
            flow: 0,
            number,
            timestep: real(run, origin, &["timestep", "t"]).or_else(|| timesteps.within(section)),
            guidance_scale: real(run, origin, &["guidance_scale"]),
            frames: attribute(run, origin, &["frames", "num_frames", "block_size"]),
            within_ns: match number {
                Some(_) => within_ns,
                None => within_ns.max(ends.before(section)),
            },
            origin: Origin::Section(origin),
        }
    };
    // One that failed made nothing, and took as long as that lasted.
    let made = calls(run, kind.nodes).filter(|(_, section)| !section.is_failed);
    let each: Vec<Pass> = made.map(pass).collect();
    let totals = kind.nodes.iter();
    let counted = totals.filter_map(|node| run.totals.get(*node as usize));
    let counted = sum(counted.map(|totals| totals.count.saturating_sub(totals.errors)));
    let n_missing = counted.saturating_sub(each.len() as u64);
    (each, n_missing)
}

/// When prompts were encoded or latents decoded, in no step: between two images, by thread and flow.
///
/// ```text
/// text_encoding |--|                      |--|
/// step              |0||1||2|                 |0||1||2|
/// vae_decode                 |---|                     |---|
/// loop               0  0  0                   1  1  1
/// ```
struct Ends(BTreeMap<(u32, u16), Vec<u64>>);

impl Ends {
    fn of(run: &Run, kind: &Kind<'_>) -> Self {
        let is_in_step =
            |node: &u32| ancestors(&run.nodes, *node as usize).any(|id| kind.has_node(id));
        let between = kind.between.iter().copied();
        let nodes: Vec<u32> = between.filter(|node| !is_in_step(node)).collect();
        let mut found: BTreeMap<(u32, u16), Vec<u64>> = BTreeMap::new();
        for (_, section) in calls(run, &nodes) {
            let of_flow = found.entry((section.thread, section.flow)).or_default();
            of_flow.push(section.end_ns);
        }
        for ends in found.values_mut() {
            ends.sort_unstable();
        }
        Self(found)
    }

    /// The last one before a step.
    fn before(&self, step: &Section) -> Option<u64> {
        let of_flow = self.0.get(&(step.thread, step.flow))?;
        let before = of_flow.partition_point(|end_ns| *end_ns <= step.start_ns);
        of_flow[..before].last().copied()
    }
}

impl Kind<'_> {
    fn has_node(&self, node: usize) -> bool {
        self.nodes.iter().any(|id| *id as usize == node)
    }
}

impl Passes {
    /// `None` without any.
    fn new(source: StepSource, mut each: Vec<Pass>, n_missing: u64) -> Option<Self> {
        each.sort_by_key(|pass| (pass.end_ns, pass.origin));
        (!each.is_empty()).then_some(Self { source, each, n_missing })
    }
}

impl StepSource {
    fn of_section(run: &Run, first: &Pass) -> Option<Self> {
        let Origin::Section(section) = first.origin else {
            return None;
        };
        let node = run.nodes.get(run.sections.get(section)?.node as usize)?;
        Some(match node.kind {
            NodeKind::Iteration => Self::Iterations(node.name.clone()),
            NodeKind::Section => Self::Sections(node.name.clone()),
        })
    }
}
