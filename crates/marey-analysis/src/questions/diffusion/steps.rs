//! Denoising steps: how long, and how steady.
//!
//! ```text
//! block       |------- 0 --------| |-- 1 --------|
//! step        |-- 0 --|1||2||3|    |0||1||2||3|
//!              warm-up  steady …
//! loop         0       0  0  0      1  1  1  1
//! ```

use std::collections::BTreeMap;

use marey::{DiffusionStep, Generation, Run};
use serde::Serialize;

use super::blocks::BlockPoint;
use super::durations::{Durations, Spread, rate, sum};
use super::loops::{Place, places};
use super::turns::{Said, StepSource, Turn, Turns};
use crate::stats::{float, median};

/// Denoising steps. A generation begins where the number of the step does not go on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steps {
    /// Where they are known from.
    pub source: StepSource,
    /// Generations, or blocks of one, that they were made for.
    pub n_loops: u64,
    /// Most steps of one loop.
    pub per_loop_max: u64,
    /// All steps, the first one too; `None` when no duration is known.
    pub all: Option<Durations>,
    /// The first step, apart from the rest; `None` when its duration is not known.
    pub warm_up: Option<Durations>,
    /// All other steps; `None` when there is none whose duration is known.
    pub steady: Option<Durations>,
    /// The first step's time on the GPU; `None` when it was not measured.
    pub gpu_warm_up: Option<Durations>,
    /// All other steps' time on the GPU; `None` when none was measured.
    pub gpu_steady: Option<Durations>,
    /// Sum of the durations of all steps whose duration is known.
    pub total_ns: u64,
    /// Each step, in order of time.
    pub each: Vec<StepPoint>,
    /// Steps that were counted but not recorded one by one: they are in no other figure.
    pub not_recorded: u64,
    /// Steady steps that took much longer than the others, as indices into `each`: longer than the median by more than five times the
    /// median absolute deviation, and by more than a tenth.
    pub outliers: Vec<usize>,
    /// Lowest, mean and highest time step; `None` when no step said.
    pub timesteps: Option<Spread>,
    /// Lowest, mean and highest number of latent frames that a step worked on; `None` when no step said.
    pub frames: Option<Spread>,
    /// Latent frames of all loops that said, those of a loop once and not for each step; `None` when none did.
    pub total_frames: Option<u64>,
    /// `total_frames` in a second of the steps' time, of loops of which both are known; `None` when there are none.
    pub frames_per_second: Option<f64>,
    /// Loops in a second of the steps' time, of loops whose steps all have a known duration; `None` when there are none.
    pub loops_per_second: Option<f64>,
}

/// One denoising step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepPoint {
    /// When it ended, since the start of the run.
    pub end_ns: u64,
    /// How long it took; `None` when not known.
    pub duration_ns: Option<u64>,
    /// Time on the GPU between the events at both ends of its section; `None` when not measured, or when it was reported.
    pub gpu_ns: Option<u64>,
    /// Number in its loop, from 0, as reported, otherwise counted.
    pub step: u64,
    /// The loop: a generation, or a block of one; from 0.
    pub loop_number: u64,
    /// Number of the block that it belongs to; `None` when the run has no blocks, or that block had not ended.
    pub block: Option<u64>,
    /// Time step of the schedule.
    pub timestep: Option<f64>,
    /// Latent frames that it worked on.
    pub frames: Option<u64>,
    /// Scale of the guidance.
    pub guidance_scale: Option<f64>,
    /// A cache answered (`true`) or was asked in vain (`false`); `None` when no cache said anything of it.
    pub is_cached: Option<bool>,
    /// It is part of the warm-up.
    pub is_warm_up: bool,
    /// Index into `Run::sessions`.
    pub session: Option<u32>,
    /// Index into `Run::threads`.
    pub thread: u32,
}

/// What a report says of a step's turn.
pub(super) fn said(what: &Generation) -> Option<Said> {
    let Generation::Step(step) = what else {
        return None;
    };
    Some(Said {
        number: step.step,
        duration_ns: step.computation_ns,
    })
}

/// The block that each turn is in: an index into `blocks`, which are in order of time.
///
/// ```text
/// blocks      |--- 0 ---|   |--- 1 ---|
/// steps        |a| |b|   |c| |d| |e|     |f|
/// reported     0   0     1   1   1       none: its block has not ended
/// sections     0   0    none 1   1       none
/// ```
pub(super) fn blocks_of(
    turns: &Turns,
    blocks: &[BlockPoint],
    source: &StepSource,
) -> Vec<Option<usize>> {
    let mut own: BTreeMap<(Option<u32>, u32), Vec<usize>> = BTreeMap::new();
    for (index, block) in blocks.iter().enumerate() {
        let of_thread = own.entry((block.session, block.thread)).or_default();
        of_thread.push(index);
    }
    let block_of = |turn: &Turn| {
        let own = own.get(&(turn.session, turn.thread))?;
        let next = own.partition_point(|index| blocks[*index].end_ns < turn.end_ns);
        let index = *own.get(next)?;
        let block = &blocks[index];
        let is_within = match source {
            // A reported time says how long, not since when.
            StepSource::Reported => true,
            _ => block
                .duration_ns
                .is_some_and(|ns| block.end_ns.saturating_sub(ns) <= turn.end_ns),
        };
        is_within.then_some(index)
    };
    turns.each.iter().map(block_of).collect()
}

/// GPU times by thread, node and start of the section.
struct GpuOfSections(BTreeMap<(u32, u32, u64), u64>);

impl GpuOfSections {
    /// Those of the steps' sections; none when steps were reported, because it is not known which section one was.
    fn new(run: &Run, turns: &Turns) -> Self {
        if turns.source == StepSource::Reported {
            return Self(BTreeMap::new());
        }
        let spans = run.gpu_spans.iter();
        Self(
            spans
                .map(|s| ((s.thread, s.node, s.start_ns), s.gpu_ns))
                .collect(),
        )
    }

    fn of(&self, run: &Run, turn: &Turn) -> Option<u64> {
        if self.0.is_empty() {
            return None;
        }
        let section = run.sections.get(turn.origin)?;
        let key = (section.thread, section.node, section.start_ns);
        self.0.get(&key).copied()
    }
}

/// Each step; `blocks_of` says which block it is in.
pub(super) fn points(
    run: &Run,
    turns: &Turns,
    blocks: &[BlockPoint],
    blocks_of: &[Option<usize>],
) -> Vec<StepPoint> {
    let block_of = |index: usize| blocks_of.get(index).copied().flatten();
    let places = places(&turns.each, block_of);
    let on_gpu = GpuOfSections::new(run, turns);
    let point = |(index, (turn, place)): (usize, (&Turn, Place))| {
        let said = report(run, turns, turn);
        StepPoint {
            end_ns: turn.end_ns,
            duration_ns: turn.duration_ns,
            gpu_ns: on_gpu.of(run, turn),
            step: place.number,
            loop_number: place.loop_number,
            block: block_of(index).map(|block| blocks[block].index),
            timestep: said.timestep.filter(|t| t.is_finite()),
            frames: said.block_size,
            guidance_scale: said.guidance_scale.filter(|scale| scale.is_finite()),
            is_cached: None,
            is_warm_up: index == 0,
            session: turn.session,
            thread: turn.thread,
        }
    };
    turns
        .each
        .iter()
        .zip(places)
        .enumerate()
        .map(point)
        .collect()
}

fn report(run: &Run, turns: &Turns, turn: &Turn) -> DiffusionStep {
    let is_reported = turns.source == StepSource::Reported;
    let record = is_reported
        .then(|| run.generation.get(turn.origin))
        .flatten();
    match record.map(|record| &record.what) {
        Some(Generation::Step(step)) => step.clone(),
        _ => DiffusionStep::default(),
    }
}

/// Figures of all steps.
pub(super) fn steps(turns: &Turns, each: Vec<StepPoint>) -> Steps {
    let of_warm_up = |wanted: bool| {
        let steps = each.iter().filter(move |step| step.is_warm_up == wanted);
        Durations::of(steps.filter_map(|step| step.duration_ns))
    };
    let gpu = |wanted: bool| {
        let steps = each.iter().filter(move |step| step.is_warm_up == wanted);
        Durations::of(steps.filter_map(|step| step.gpu_ns))
    };
    let loops = Loops::of(&each);
    let frames = each.iter().filter_map(|step| step.frames);
    Steps {
        source: turns.source.clone(),
        n_loops: loops.0.len() as u64,
        per_loop_max: loops
            .0
            .values()
            .map(|found| found.n_steps)
            .max()
            .unwrap_or(0),
        all: Durations::of(each.iter().filter_map(|step| step.duration_ns)),
        warm_up: of_warm_up(true),
        steady: of_warm_up(false),
        gpu_warm_up: gpu(true),
        gpu_steady: gpu(false),
        total_ns: sum(each.iter().filter_map(|step| step.duration_ns)),
        not_recorded: turns.n_missing,
        outliers: outliers(&each),
        timesteps: Spread::of(each.iter().filter_map(|step| step.timestep)),
        frames: Spread::of(frames.map(float)),
        total_frames: loops.frames(),
        frames_per_second: loops.per_second(|found| found.frames),
        loops_per_second: loops.per_second(|_| Some(1)),
        each,
    }
}

/// Loops by number.
struct Loops(BTreeMap<u64, OneLoop>);

/// What is known of one loop.
#[derive(Default)]
struct OneLoop {
    n_steps: u64,
    /// Most that one of its steps worked on.
    frames: Option<u64>,
    /// `None` when the duration of a step is not known.
    duration_ns: Option<u64>,
}

impl Loops {
    fn of(each: &[StepPoint]) -> Self {
        let mut loops: BTreeMap<u64, OneLoop> = BTreeMap::new();
        for step in each {
            let found = loops.entry(step.loop_number).or_insert_with(|| OneLoop {
                duration_ns: Some(0),
                ..OneLoop::default()
            });
            found.n_steps += 1;
            found.frames = found.frames.max(step.frames);
            let known = found.duration_ns.zip(step.duration_ns);
            found.duration_ns = known.map(|(sum, ns)| sum.saturating_add(ns));
        }
        Self(loops)
    }

    fn frames(&self) -> Option<u64> {
        let said = self.0.values().filter_map(|found| found.frames);
        said.reduce(u64::saturating_add)
    }

    /// Amounts in a second of the steps of loops of which amount and time are known.
    fn per_second(&self, amount: impl Fn(&OneLoop) -> Option<u64>) -> Option<f64> {
        let known = self
            .0
            .values()
            .filter_map(|found| Some((amount(found)?, found.duration_ns?)));
        let known: Vec<(u64, u64)> = known.collect();
        rate(
            sum(known.iter().map(|(amount, _)| *amount)),
            sum(known.iter().map(|(_, ns)| *ns)),
        )
    }
}

/// Latent frames of each loop of which frames and time are known, by number.
pub(super) fn frames_of_loops(each: &[StepPoint]) -> BTreeMap<u64, u64> {
    let known = Loops::of(each).0.into_iter();
    known
        .filter_map(|(number, found)| {
            found.duration_ns?;
            Some((number, found.frames?))
        })
        .collect()
}

const DEVIATIONS: f64 = 5.0;
const EXCESS: f64 = 1.1;

fn outliers(each: &[StepPoint]) -> Vec<usize> {
    let steady = || {
        let steps = each.iter().enumerate();
        let steady = steps.filter(|(_, step)| !step.is_warm_up);
        steady.filter_map(|(index, step)| Some((index, step.duration_ns?)))
    };
    let mut sorted: Vec<u64> = steady().map(|(_, ns)| ns).collect();
    sorted.sort_unstable();
    let Some(middle) = median(&sorted) else {
        return Vec::new();
    };
    let mut deviations: Vec<f64> = sorted
        .iter()
        .map(|ns| (float(*ns) - middle).abs())
        .collect();
    deviations.sort_unstable_by(f64::total_cmp);
    let (lower, upper) = ((deviations.len() - 1) / 2, deviations.len() / 2);
    let deviation = f64::midpoint(deviations[lower], deviations[upper]);
    let limit = (middle + DEVIATIONS * deviation).max(middle * EXCESS);
    steady()
        .filter(|(_, ns)| float(*ns) > limit)
        .map(|(index, _)| index)
        .collect()
}

#[cfg(test)]
mod tests;
