//! Denoising steps and blocks of frames: how long, and how steady.
//!
//! ```text
//! block       |------- 0 --------| |-- 1 --------|
//! step        |-- 0 --|1||2||3|    |0||1||2||3|
//!              warm-up  steady …
//! loop         0       0  0  0      1  1  1  1
//! ```
//!
//! A block's loop is the generation that it is of:
//!
//! ```text
//! session   |
//! blocks     |---- 0 ----|  |-- 1 --|  |-- 2 --|     |-- 3 --|
//! ends                   ^          ^          ^             ^
//! to first  |------------|
//! between                |----------|----------|-------------|
//! ```

use std::collections::{BTreeMap, BTreeSet};

use marey::Run;
use serde::Serialize;

use super::calls::InOrder;
use super::durations::{Durations, Spread, between, jitter};
use super::loops::{MAX_PASSES, Place, places};
use super::outliers::mark_outliers;
use super::passes::{Made, Passes, StepSource};
use super::work::{Work, units};
use crate::intervals::Interval;
use crate::questions::pipelines::Pipelines;
use crate::stats::{float, sum};

/// Denoising steps, each with all of its passes, or blocks of frames. A loop begins where number or time step turn back.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Steps {
    /// Where they are known from.
    pub source: StepSource,
    /// Generations, or blocks of one, that steps were made for.
    pub n_loops: u64,
    /// Most steps of one loop.
    pub per_loop_max: u64,
    /// All of them, the first one too; `None` when no duration is known.
    pub all: Option<Durations>,
    /// The first step of each pipeline, or the first block, apart from the rest; `None` when no duration of one is known.
    pub warm_up: Option<Durations>,
    /// All others; `None` when there is none whose duration is known.
    pub steady: Option<Durations>,
    /// Their time on the GPU; `None` when it was not measured.
    pub gpu_warm_up: Option<Durations>,
    /// All others' time on the GPU; `None` when none was measured.
    pub gpu_steady: Option<Durations>,
    /// Sum of the durations of all whose duration is known.
    pub total_ns: u64,
    /// Each one, in order of time.
    pub each: Vec<StepPoint>,
    /// Those that were counted but not recorded one by one: they are in no other figure.
    pub not_recorded: u64,
    /// Steady steps that took much longer than the others, as indices into `each`, the longest first: longer than the median by more than
    /// five times the median absolute deviation, and by more than a tenth. A step is compared with those like it in its loop where these
    /// are five or more, else with those of its pipeline, and then it is also a tenth longer than the median of its loop's, of three or more.
    pub outliers: Vec<usize>,
    /// Lowest, mean and highest time step; `None` when none was said.
    pub timesteps: Option<Spread>,
    /// Lowest, mean and highest number of latent frames that one worked on; `None` when none said.
    pub frames: Option<Spread>,
    /// Latent frames of all loops that said, those of a loop once and not for each step, and of all blocks; `None` when none did.
    pub total_frames: Option<u64>,
    /// `total_frames` in a second of their time, of loops or blocks of which both are known; what threads did at the same time counts once.
    /// `None` when there are none.
    pub frames_per_second: Option<f64>,
    /// Loops of steps in a second of their time, of loops whose steps all have a known duration, or blocks, likewise; `None` when there are
    /// none.
    pub loops_per_second: Option<f64>,
    /// Memory that the program said was in use, bytes; `None` when no block said.
    pub memory_bytes: Option<Spread>,
    /// To the end of the first one, from the start of its outermost session, or of the run where it is of none.
    pub time_to_first_ns: Option<u64>,
    /// Time between the ends of neighbours of one loop, so that the first one's own time is in none of them; `None` when no loop has two.
    pub between: Option<Durations>,
    /// Mean of the absolute differences of neighbouring times between; `None` when no loop has three.
    pub jitter_ns: Option<f64>,
}

/// One denoising step, or one block of frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct StepPoint {
    /// When it ended, since the start of the run.
    pub end_ns: u64,
    /// How long all of its passes took; `None` when that of one is not known.
    pub duration_ns: Option<u64>,
    /// Passes through the network that were reported or recorded one by one: 2 where guidance or a second evaluation have their own.
    pub n_passes: u64,
    /// Time on the GPU between the events at both ends of its section; `None` when not measured, or when it was reported.
    pub gpu_ns: Option<u64>,
    /// Number in its loop, from 0, as reported, otherwise counted.
    pub step: u64,
    /// The loop: a generation, or a block of one; from 0. Another one begins in another session or thread, and where the number turns back.
    pub loop_number: u64,
    /// Number of the block that a step belongs to; `None` when the run has no blocks, or that block had not ended.
    pub block: Option<u64>,
    /// Time step of the schedule, in the program's own scale.
    pub timestep: Option<f64>,
    /// Latent frames that it worked on.
    pub frames: Option<u64>,
    /// Scale of the guidance.
    pub guidance_scale: Option<f64>,
    /// Memory in use after a block, as the program read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// A cache answered (`true`) or was asked in vain (`false`); `None` when no cache said anything of it.
    pub is_cached: Option<bool>,
    /// It is the first step of its pipeline, or the first block.
    pub is_warm_up: bool,
    /// Which of the run's pipelines made the step, in the order of their first calls; `None` when not known.
    pub pipeline: Option<usize>,
    /// Index into `Run::sessions`.
    pub session: Option<u32>,
    /// Index into `Run::threads`.
    pub thread: u32,
    /// The flow in which it was made, as in `Section::flow`; 0 of sections.
    #[serde(skip)]
    pub flow: u16,
    /// That block, as an index into the blocks of the run.
    pub block_at: Option<usize>,
    /// Of an outlier the median that it was compared with; `None` of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_ns: Option<f64>,
    /// Number as the program said.
    #[serde(skip)]
    pub number: Option<u64>,
    /// Of sections: since when its loop can have run. That is the beginning of the call that the loop ran in or, where steps have no
    /// numbers, the end of what was encoded or decoded last.
    #[serde(skip)]
    pub within_ns: Option<u64>,
    /// The call path of its section; `None` of what the program reported.
    #[serde(skip)]
    pub node: Option<u32>,
}

impl StepPoint {
    /// How long it took on the host or, where that was longer, on the GPU: a host that only launches work is ahead of it. `None` where its
    /// duration is not known.
    pub fn pace_ns(&self) -> Option<u64> {
        Some(self.duration_ns?.max(self.gpu_ns.unwrap_or(0)))
    }

    /// From its end as long back as it took; `None` where that is not known.
    pub fn time(&self) -> Option<Interval> {
        Some(Interval {
            start_ns: self.end_ns.saturating_sub(self.duration_ns?),
            end_ns: self.end_ns,
        })
    }

    /// Steps of which this is the same are expected to take alike: those of one pipeline with as many passes, that a cache answered, or
    /// that none did.
    pub(crate) fn alike(&self) -> (Option<usize>, bool, u64) {
        (self.pipeline, self.is_cached == Some(true), self.n_passes)
    }

    /// Takes a later pass of the same step.
    fn join(&mut self, later: &Self) {
        let both = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        self.end_ns = later.end_ns;
        self.duration_ns = both(self.duration_ns, later.duration_ns);
        self.gpu_ns = both(self.gpu_ns, later.gpu_ns);
        self.n_passes += 1;
        self.timestep = self.timestep.or(later.timestep);
        self.frames = self.frames.max(later.frames);
        let scales = self.guidance_scale.into_iter().chain(later.guidance_scale);
        self.guidance_scale = scales.reduce(f64::max);
    }
}

impl Passes {
    /// Each step or block, in order of their ends: passes of one step together.
    pub(super) fn joined(
        &mut self,
        made: Made,
        blocks: &[StepPoint],
        pipelines: &Pipelines<'_>,
    ) -> Vec<StepPoint> {
        self.find_blocks(blocks);
        let passes = &self.each;
        let max_passes = if made == Made::Steps { MAX_PASSES } else { 1 };
        let places = places(passes, |at| passes[at].block_at, max_passes);
        let mut steps: Vec<StepPoint> = Vec::with_capacity(passes.len());
        let mut last_of_loop: BTreeMap<u64, usize> = BTreeMap::new();
        for (pass, Place { loop_number, number: step, is_again }) in passes.iter().zip(places) {
            let last = last_of_loop.get(&loop_number).filter(|_| is_again);
            if let Some(last) = last {
                steps[*last].join(pass);
            } else {
                last_of_loop.insert(loop_number, steps.len());
                steps.push(StepPoint { step, loop_number, ..pass.clone() });
            }
        }
        // A step of two passes may end after one of another thread that began later.
        steps.sort_by_key(|step| step.end_ns);
        let mut warmed_up = BTreeSet::new();
        for step in &mut steps {
            step.pipeline = pipelines.of(step.session).filter(|_| made == Made::Steps);
            step.is_warm_up = warmed_up.insert(step.pipeline);
        }
        steps
    }

    /// Gives passes the blocks that they are in, which are in order of time.
    ///
    /// ```text
    /// blocks      |--- 0 ---|   |--- 1 ---|
    /// steps        |a| |b|   |c| |d| |e|     |f|
    /// reported     0   0     1   1   1       none: its block has not ended
    /// sections     0   0    none 1   1       none
    /// ```
    fn find_blocks(&mut self, blocks: &[StepPoint]) {
        let own = blocks.iter().enumerate();
        let own = own.map(|(at, block)| ((block.session, block.thread), block.end_ns, at));
        let own = InOrder::of(own);
        for pass in &mut self.each {
            // A reported time says how long, not since when.
            let is_around = |block: &StepPoint| {
                block.node.is_none() || block.time().is_some_and(|t| t.start_ns <= pass.end_ns)
            };
            let next = own.from(&(pass.session, pass.thread), pass.end_ns);
            let around = next.map(|(_, at)| at).filter(|at| is_around(&blocks[*at]));
            pass.block_at = around;
            pass.block = around.map(|at| blocks[at].step);
        }
    }
}

impl Steps {
    /// Figures of all of them.
    pub(super) fn of(run: &Run, passes: Passes, made: Made, mut each: Vec<StepPoint>) -> Self {
        let outliers = if made == Made::Steps { mark_outliers(&mut each) } else { Vec::new() };
        let of = |is_warm_up: bool, time: fn(&StepPoint) -> Option<u64>| {
            Durations::of(each.iter().filter(|step| step.is_warm_up == is_warm_up).filter_map(time))
        };
        let units = units(&each, made);
        let mut ends: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for step in &each {
            ends.entry(step.loop_number).or_default().push(step.end_ns);
        }
        let gaps: Vec<Vec<u64>> = ends.values().map(|ends| between(ends)).collect();
        let numbers =
            |of: fn(&StepPoint) -> Option<u64>| Spread::of(each.iter().filter_map(of).map(float));
        Self {
            source: passes.source,
            n_loops: ends.len() as u64,
            per_loop_max: ends.values().map(|ends| ends.len() as u64).max().unwrap_or(0),
            all: Durations::of(each.iter().filter_map(|step| step.duration_ns)),
            warm_up: of(true, |step| step.duration_ns),
            steady: of(false, |step| step.duration_ns),
            gpu_warm_up: of(true, |step| step.gpu_ns),
            gpu_steady: of(false, |step| step.gpu_ns),
            total_ns: sum(each.iter().filter_map(|step| step.duration_ns)),
            not_recorded: passes.n_missing,
            outliers,
            timesteps: Spread::of(each.iter().filter_map(|step| step.timestep)),
            frames: numbers(|step| step.frames),
            total_frames: units.values().filter_map(|unit| unit.frames).reduce(u64::saturating_add),
            frames_per_second: Work::of(&each, made, |unit| unit.frames).per_second(),
            loops_per_second: Work::of(&each, made, |_| Some(1)).per_second(),
            memory_bytes: numbers(|block| block.memory_bytes),
            time_to_first_ns: each
                .first()
                .map(|first| since_start_ns(run, first.session, first.end_ns)),
            between: Durations::of(gaps.iter().flatten().copied()),
            jitter_ns: jitter(gaps.iter().map(Vec::as_slice)),
            each,
        }
    }

    /// How long a steady step took, by [`StepPoint::pace_ns`]. `None` where `steady` is.
    pub fn pace(&self) -> Option<Durations> {
        let steady = self.each.iter().filter(|step| !step.is_warm_up);
        Durations::of(steady.filter_map(StepPoint::pace_ns))
    }
}

/// Until a moment since the outermost of the sessions around a session began, or since the start of the run without one.
pub(super) fn since_start_ns(run: &Run, session: Option<u32>, at_ns: u64) -> u64 {
    let get = |at: u32| run.sessions.get(at as usize);
    let around = std::iter::successors(session.and_then(get), |session| get(session.parent?));
    // As many as there can be; a damaged capture cannot loop for ever.
    let outermost = around.take(run.sessions.len()).last();
    at_ns.saturating_sub(outermost.map_or(0, |session| session.start_ns))
}

#[cfg(test)]
mod tests;
