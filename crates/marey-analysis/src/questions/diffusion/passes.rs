//! Passes of a generating loop, steps or blocks, from what the program reported or from sections with such names.

use std::collections::{BTreeMap, BTreeSet};

use marey::{Generation, GenerationRecord, NodeKind, Run, Section};
use serde::Serialize;

use super::calls::{InOrder, attribute, calls, real};
use super::enclosing::Enclosing;
use super::loops::{MAX_PASSES, places};
use super::named::{Named, ancestors};
use super::steps::StepPoint;
use crate::questions::session_assignment::SessionAssignment;
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

/// What is done in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// A denoising step.
    Steps,
    /// A block of frames.
    Blocks,
}

impl Made {
    /// Call paths whose names say so.
    fn nodes(self, named: &Named) -> &[u32] {
        match self {
            Self::Steps => &named.steps,
            Self::Blocks => &named.blocks,
        }
    }

    /// Attributes of a section that are its number.
    fn numbers(self) -> &'static [&'static str] {
        match self {
            Self::Steps => &["step", "step_index", "index"],
            Self::Blocks => &["block", "block_index", "index"],
        }
    }

    /// What a report says of its pass; `None` of something else.
    fn said(self, what: &Generation) -> Option<StepPoint> {
        Some(match (self, what) {
            (Self::Steps, Generation::Step(step)) => StepPoint {
                number: step.step,
                duration_ns: step.computation_ns,
                timestep: step.timestep.filter(|t| t.is_finite()),
                guidance_scale: step.guidance_scale.filter(|scale| scale.is_finite()),
                frames: step.block_size,
                ..StepPoint::default()
            },
            (Self::Blocks, Generation::Block(block)) => StepPoint {
                number: block.index,
                duration_ns: block.computation_ns,
                frames: block.size,
                memory_bytes: block.memory_bytes,
                ..StepPoint::default()
            },
            _ => return None,
        })
    }
}

/// All passes of a kind, in order of their ends.
pub(super) struct Passes {
    pub(super) source: StepSource,
    pub(super) each: Vec<StepPoint>,
    /// Calls that were counted but not recorded one by one.
    pub(super) n_missing: u64,
}

impl Passes {
    /// What the program reported; of generations of which it reported nothing, sections. `None` when there are neither.
    pub(super) fn of(
        run: &Run,
        named: &Named,
        assignment: &SessionAssignment<'_>,
        made: Made,
    ) -> Option<Self> {
        let mut each = reported(run, named, assignment, made);
        let told = each.iter().map(|pass| assignment.outermost(pass.session));
        let told: BTreeSet<Option<u32>> = told.collect();
        let is_told = |session| told.contains(&assignment.outermost(session));
        // A report of no session speaks of the whole run.
        let are_all_told = told.contains(&None)
            || !told.is_empty()
                && (0..).zip(&run.sessions).all(|(session, _)| is_told(Some(session)));
        let mut source = StepSource::Reported;
        let mut n_missing = 0;
        if !are_all_told {
            let mut called = called(run, named, assignment, made);
            n_missing = n_not_recorded(run, made.nodes(named), called.len());
            // What lies in no session may be of what was reported.
            called.retain(|pass| {
                told.is_empty() || (pass.session.is_some() && !is_told(pass.session))
            });
            if told.is_empty() {
                source = StepSource::of_node(run, called.first()?.node?)?;
            }
            each.extend(called);
        }
        each.sort_by_key(|pass| pass.end_ns);
        leave_sessions_that_loops_outlast(&mut each, run);
        (!each.is_empty()).then_some(Self { source, each, n_missing })
    }
}

/// A thread that no session was begun for works for the only one that is open: not where that begins or ends within a loop of the thread's,
/// as numbers or time steps say.
///
/// ```text
/// session A   |------------|                 in another thread
/// steps     |0||1||2||3||4||5|  |0||1|       all of no session, since the loop goes on without A
/// ```
fn leave_sessions_that_loops_outlast(passes: &mut [StepPoint], run: &Run) {
    let of_sessions = run.sessions.iter().map(|session| session.thread);
    let have_own: BTreeSet<u32> =
        of_sessions.chain(run.session_work.iter().map(|work| work.thread)).collect();
    let (at, mut alone): (Vec<usize>, Vec<StepPoint>) = (0..)
        .zip(passes.iter().cloned())
        .filter(|(_, pass)| !have_own.contains(&pass.thread))
        .filter(|(_, pass)| pass.number.is_some() || pass.timestep.is_some())
        .unzip();
    for pass in &mut alone {
        pass.session = None;
    }
    let mut loops: BTreeMap<u64, Vec<(usize, bool)>> = BTreeMap::new();
    for (at, place) in at.into_iter().zip(places(&alone, |_| None, MAX_PASSES)) {
        loops.entry(place.loop_number).or_default().push((at, place.is_again));
    }
    for each in loops.values() {
        let steps = each.iter().filter(|(_, is_again)| !is_again);
        let n_within = steps.clone().filter(|(at, _)| passes[*at].session.is_some()).count();
        if (1..steps.count()).contains(&n_within) {
            for (at, _) in each {
                passes[*at].session = None;
            }
        }
    }
}

fn reported(
    run: &Run,
    named: &Named,
    assignment: &SessionAssignment<'_>,
    made: Made,
) -> Vec<StepPoint> {
    let pass = |record: &GenerationRecord| {
        let said = made.said(&record.what)?;
        Some(StepPoint {
            end_ns: record.at_ns,
            thread: record.thread,
            flow: record.flow,
            session: assignment.of_record(record.session, Some(record.thread), record.at_ns),
            n_passes: 1,
            ..said
        })
    };
    let mut each: Vec<StepPoint> = run.generation.iter().filter_map(pass).collect();
    if each.iter().any(|pass| pass.duration_ns.is_none()) {
        take_durations(&mut each, run, made.nodes(named));
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
fn take_durations(reports: &mut [StepPoint], run: &Run, nodes: &[u32]) {
    let in_tasks = calls(run, nodes).filter(|(_, section)| section.flow != 0);
    // Of tasks it is not known which one a report was made in.
    let in_tasks: BTreeSet<u32> = in_tasks.map(|(_, section)| section.thread).collect();
    let sections = calls(run, nodes).filter(|(_, section)| !in_tasks.contains(&section.thread));
    let begun = sections.map(|(at, s)| (s.thread, s.start_ns, (s.end_ns, at)));
    let begun = InOrder::of(begun);
    let owner = |pass: &StepPoint| Some(begun.until(&pass.thread, pass.end_ns)?.1.1);
    let mut n_reports: BTreeMap<usize, u64> = BTreeMap::new();
    for owner in reports.iter().filter_map(owner) {
        *n_reports.entry(owner).or_default() += 1;
    }
    for pass in reports.iter_mut().filter(|pass| pass.duration_ns.is_none()) {
        let only = owner(pass).filter(|owner| n_reports[owner] == 1);
        let section = only.map(|at| &run.sections[at]);
        pass.duration_ns = section.filter(|s| !s.has_pauses).map(Section::duration_ns);
    }
}

/// Calls of the sections that are passes.
fn called(
    run: &Run,
    named: &Named,
    assignment: &SessionAssignment<'_>,
    made: Made,
) -> Vec<StepPoint> {
    let nodes = made.nodes(named);
    if nodes.is_empty() {
        return Vec::new();
    }
    let enclosing = Enclosing::new(run, nodes, &named.blocks);
    let timesteps = timesteps(run);
    let ends = match made {
        Made::Steps => ends_between(run, nodes, &[&named.text[..], &named.vae].concat()),
        Made::Blocks => InOrder::of(std::iter::empty()),
    };
    let on_gpu = run.gpu_spans.iter().map(|s| ((s.thread, s.node, s.start_ns), s.gpu_ns));
    let on_gpu: BTreeMap<(u32, u32, u64), u64> = on_gpu.collect();
    let pass = |(at, section): (usize, &Section)| {
        let place = (section.thread, section.flow);
        let number = attribute(run, at, made.numbers());
        let ended_ns = ends.until(&place, section.start_ns).map(|(end_ns, ())| end_ns);
        // What the first section within it said: the scheduler's step of a denoising step, say.
        let within = timesteps.from(&place, section.start_ns);
        let within = within.filter(|(start_ns, _)| *start_ns < section.end_ns);
        let within = || real(run, within?.1, &["timestep"]);
        StepPoint {
            end_ns: section.end_ns,
            duration_ns: Some(section.duration_ns()),
            n_passes: 1,
            gpu_ns: on_gpu.get(&(section.thread, section.node, section.start_ns)).copied(),
            thread: section.thread,
            session: assignment.of_section(at),
            // Of a task that was not asked for its number each outermost section has one of its own.
            flow: 0,
            number,
            timestep: real(run, at, &["timestep", "t"]).or_else(within),
            guidance_scale: real(run, at, &["guidance_scale"]),
            frames: attribute(run, at, &["frames", "num_frames", "block_size"]),
            within_ns: enclosing.loop_of(section).max(ended_ns.filter(|_| number.is_none())),
            node: Some(section.node),
            ..StepPoint::default()
        }
    };
    // One that failed made nothing, and took as long as that lasted.
    calls(run, nodes).filter(|(_, section)| !section.is_failed).map(pass).collect()
}

/// Calls that were counted, beyond those that were recorded one by one.
fn n_not_recorded(run: &Run, nodes: &[u32], n_recorded: usize) -> u64 {
    let counted = nodes.iter().filter_map(|node| run.totals.get(*node as usize));
    let counted = sum(counted.map(|totals| totals.count.saturating_sub(totals.errors)));
    counted.saturating_sub(n_recorded as u64)
}

/// Sections that say a time step, by thread and flow, in order of their beginnings.
fn timesteps(run: &Run) -> InOrder<(u32, u16), usize> {
    let saying = run.section_attributes.iter().filter_map(|given| {
        real(run, given.section, &["timestep"])?;
        let section = run.sections.get(given.section)?;
        Some(((section.thread, section.flow), section.start_ns, given.section))
    });
    InOrder::of(saying)
}

/// When prompts were encoded or latents decoded, in no step: between two images, by thread and flow.
///
/// ```text
/// text_encoding |--|                      |--|
/// step              |0||1||2|                 |0||1||2|
/// vae_decode                 |---|                     |---|
/// loop               0  0  0                   1  1  1
/// ```
fn ends_between(run: &Run, steps: &[u32], between: &[u32]) -> InOrder<(u32, u16), ()> {
    let is_step = |node: usize| steps.iter().any(|step| *step as usize == node);
    let is_in_step = |node: &u32| ancestors(&run.nodes, *node as usize).any(is_step);
    let nodes: Vec<u32> = between.iter().copied().filter(|node| !is_in_step(node)).collect();
    InOrder::of(calls(run, &nodes).map(|(_, s)| ((s.thread, s.flow), s.end_ns, ())))
}

impl StepSource {
    fn of_node(run: &Run, node: u32) -> Option<Self> {
        let node = run.nodes.get(node as usize)?;
        Some(match node.kind {
            NodeKind::Iteration => Self::Iterations(node.name.clone()),
            NodeKind::Section => Self::Sections(node.name.clone()),
        })
    }
}
