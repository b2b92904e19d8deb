//! Denoising steps: how long, and how steady.
//!
//! ```text
//! block       |------- 0 --------| |-- 1 --------|
//! step        |-- 0 --|1||2||3|    |0||1||2||3|
//!              warm-up  steady …
//! loop         0       0  0  0      1  1  1  1
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use marey::{Generation, Run};
use serde::Serialize;

use super::blocks::{BlockPoint, Blocks};
use super::durations::{Durations, Spread};
use super::loops::{MAX_PASSES, Place, places};
use super::passes::{Origin, Pass, Passes, Said, StepSource};
use super::thread_spans::{ThreadSpans, Turn};
use crate::intervals::Interval;
use crate::questions::pipelines::Pipelines;
use crate::stats::{float, median, rate, sum};

/// Denoising steps, each with all of its passes. A loop begins where number or time step turn back.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Steps {
    /// Where they are known from.
    pub source: StepSource,
    /// Generations, or blocks of one, that they were made for.
    pub n_loops: u64,
    /// Most steps of one loop.
    pub per_loop_max: u64,
    /// All steps, the first one too; `None` when no duration is known.
    pub all: Option<Durations>,
    /// The first step of each pipeline, apart from the rest; `None` when no duration of one is known.
    pub warm_up: Option<Durations>,
    /// All other steps; `None` when there is none whose duration is known.
    pub steady: Option<Durations>,
    /// Their time on the GPU; `None` when it was not measured.
    pub gpu_warm_up: Option<Durations>,
    /// All other steps' time on the GPU; `None` when none was measured.
    pub gpu_steady: Option<Durations>,
    /// Sum of the durations of all steps whose duration is known.
    pub total_ns: u64,
    /// Each step, in order of time.
    pub each: Vec<StepPoint>,
    /// Steps that were counted but not recorded one by one: they are in no other figure.
    pub not_recorded: u64,
    /// Steady steps that took much longer than the others, as indices into `each`, the longest first: longer than the median by more than
    /// five times the median absolute deviation, and by more than a tenth. A step is compared with those like it in its loop where these
    /// are five or more, else with those of its pipeline, and then it is also a tenth longer than the median of its loop's, of three or more.
    pub outliers: Vec<usize>,
    /// Lowest, mean and highest time step; `None` when no step said.
    pub timesteps: Option<Spread>,
    /// Lowest, mean and highest number of latent frames that a step worked on; `None` when no step said.
    pub frames: Option<Spread>,
    /// Latent frames of all loops that said, those of a loop once and not for each step; `None` when none did.
    pub total_frames: Option<u64>,
    /// `total_frames` in a second of the steps' time, of loops of which both are known; what threads did at the same time counts once.
    /// `None` when there are none.
    pub frames_per_second: Option<f64>,
    /// Loops in a second of the steps' time, of loops whose steps all have a known duration, likewise; `None` when there are none.
    pub loops_per_second: Option<f64>,
}

/// One denoising step.
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
    /// It is the first one of its pipeline.
    pub is_warm_up: bool,
    /// Which of the run's pipelines made it, in the order of their first calls; `None` when not known.
    pub pipeline: Option<usize>,
    /// Index into `Run::sessions`.
    pub session: Option<u32>,
    /// Index into `Run::threads`.
    pub thread: u32,
    /// The flow in which it was made, as in `Section::flow`.
    #[serde(skip)]
    pub flow: u16,
    /// That block, as an index into [`Blocks::each`].
    pub block_at: Option<usize>,
    /// Of an outlier the median that it was compared with; `None` of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_ns: Option<f64>,
    /// The program said so; otherwise a section did.
    #[serde(skip)]
    pub is_reported: bool,
}

impl Steps {
    /// How long a steady step took, by [`StepPoint::pace_ns`]. `None` where `steady` is.
    pub fn pace(&self) -> Option<Durations> {
        let steady = self.each.iter().filter(|step| !step.is_warm_up);
        Durations::of(steady.filter_map(StepPoint::pace_ns))
    }
}

/// What a report says of a step's pass.
pub(super) fn said(what: &Generation) -> Option<Said> {
    let Generation::Step(step) = what else {
        return None;
    };
    Some(Said {
        number: step.step,
        duration_ns: step.computation_ns,
        timestep: step.timestep,
        guidance_scale: step.guidance_scale,
        frames: step.block_size,
    })
}

/// The block that each pass is in: an index into `blocks`, which are in order of time.
///
/// ```text
/// blocks      |--- 0 ---|   |--- 1 ---|
/// steps        |a| |b|   |c| |d| |e|     |f|
/// reported     0   0     1   1   1       none: its block has not ended
/// sections     0   0    none 1   1       none
/// ```
fn blocks_of(passes: &Passes, blocks: &[BlockPoint]) -> Vec<Option<usize>> {
    let mut own: BTreeMap<(Option<u32>, u32), Vec<usize>> = BTreeMap::new();
    for (index, block) in blocks.iter().enumerate() {
        let of_thread = own.entry((block.session, block.thread)).or_default();
        of_thread.push(index);
    }
    let block_of = |pass: &Pass| {
        let own = own.get(&(pass.session, pass.thread))?;
        let next = own.partition_point(|index| blocks[*index].end_ns < pass.end_ns);
        let index = *own.get(next)?;
        let block = &blocks[index];
        let begun_ns = block.duration_ns.map(|ns| block.end_ns.saturating_sub(ns));
        // A reported time says how long, not since when.
        let is_within = block.is_reported || begun_ns.is_some_and(|ns| ns <= pass.end_ns);
        is_within.then_some(index)
    };
    passes.each.iter().map(block_of).collect()
}

/// GPU times by thread, node and start of the section.
struct GpuOfSections(BTreeMap<(u32, u32, u64), u64>);

impl GpuOfSections {
    /// None when all steps were reported, because it is not known which section one was.
    fn new(run: &Run, passes: &Passes) -> Self {
        if passes.each.iter().all(Pass::is_reported) {
            return Self(BTreeMap::new());
        }
        let spans = run.gpu_spans.iter();
        Self(spans.map(|s| ((s.thread, s.node, s.start_ns), s.gpu_ns)).collect())
    }

    fn of(&self, run: &Run, pass: &Pass) -> Option<u64> {
        let Origin::Section(section) = pass.origin else {
            return None;
        };
        let section = run.sections.get(section)?;
        let key = (section.thread, section.node, section.start_ns);
        self.0.get(&key).copied()
    }
}

/// Each step, in order of their ends.
pub(super) fn points(
    run: &Run,
    pipelines: &Pipelines<'_>,
    passes: &Passes,
    blocks: Option<&Blocks>,
) -> Vec<StepPoint> {
    let of_blocks = blocks.map_or(&[][..], |blocks| &blocks.each);
    let blocks_of = blocks_of(passes, of_blocks);
    let places = places(&passes.each, |index| blocks_of[index], MAX_PASSES);
    let on_gpu = GpuOfSections::new(run, passes);
    let mut steps: Vec<StepPoint> = Vec::with_capacity(places.len());
    let mut last_of_loop: BTreeMap<u64, usize> = BTreeMap::new();
    for ((pass, place), block_at) in passes.each.iter().zip(places).zip(blocks_of) {
        let mut step = StepPoint::of(pass, place);
        step.gpu_ns = on_gpu.of(run, pass);
        step.block = block_at.map(|block| of_blocks[block].index);
        step.block_at = block_at;
        let last = last_of_loop.get(&place.loop_number).filter(|_| place.is_again);
        if let Some(last) = last {
            steps[*last].join(&step);
        } else {
            last_of_loop.insert(place.loop_number, steps.len());
            steps.push(step);
        }
    }
    // A step of two passes may end after one of another thread that began later.
    steps.sort_by_key(|step| step.end_ns);
    let mut warmed_up = BTreeSet::new();
    for step in &mut steps {
        step.pipeline = pipelines.of(step.session);
        step.is_warm_up = warmed_up.insert(step.pipeline);
    }
    steps
}

impl StepPoint {
    fn of(pass: &Pass, place: Place) -> Self {
        Self {
            end_ns: pass.end_ns,
            duration_ns: pass.duration_ns,
            n_passes: 1,
            step: place.number,
            loop_number: place.loop_number,
            timestep: pass.timestep,
            frames: pass.frames,
            guidance_scale: pass.guidance_scale,
            session: pass.session,
            thread: pass.thread,
            flow: pass.flow,
            is_reported: pass.is_reported(),
            ..Self::default()
        }
    }

    /// How long it took on the host or, where that was longer, on the GPU: a host that only launches work is ahead of it. `None` where its
    /// duration is not known.
    pub fn pace_ns(&self) -> Option<u64> {
        Some(self.duration_ns?.max(self.gpu_ns.unwrap_or(0)))
    }

    /// From its end as long back as it took; `None` where that is not known.
    pub(crate) fn time(&self) -> Option<Interval> {
        Some(Interval {
            start_ns: self.end_ns.saturating_sub(self.duration_ns?),
            end_ns: self.end_ns,
        })
    }

    pub(super) fn turn(&self) -> Turn {
        Turn {
            thread: self.thread,
            flow: self.flow,
            session: self.session,
            end_ns: self.end_ns,
            duration_ns: self.duration_ns,
        }
    }

    /// Steps of which this is the same are expected to take alike: those of one pipeline with as many passes, that a cache answered, or
    /// that none did.
    pub(crate) fn alike(&self) -> (Option<usize>, bool, u64) {
        (self.pipeline, self.is_cached == Some(true), self.n_passes)
    }

    /// Takes a later pass of the same step.
    fn join(&mut self, later: &Self) {
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

fn both(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}

/// Figures of all steps.
pub(super) fn steps(passes: &Passes, mut each: Vec<StepPoint>) -> Steps {
    let outliers = outliers(&each);
    for outlier in &outliers {
        each[outlier.index].usual_ns = Some(outlier.usual_ns);
    }
    let of = |is_warm_up: bool, time: fn(&StepPoint) -> Option<u64>| {
        Durations::of(each.iter().filter(|step| step.is_warm_up == is_warm_up).filter_map(time))
    };
    let loops = Loops::of(&each);
    let frames = each.iter().filter_map(|step| step.frames);
    Steps {
        source: passes.source.clone(),
        n_loops: loops.0.len() as u64,
        per_loop_max: loops.0.values().map(|found| found.n_steps).max().unwrap_or(0),
        all: Durations::of(each.iter().filter_map(|step| step.duration_ns)),
        warm_up: of(true, |step| step.duration_ns),
        steady: of(false, |step| step.duration_ns),
        gpu_warm_up: of(true, |step| step.gpu_ns),
        gpu_steady: of(false, |step| step.gpu_ns),
        total_ns: sum(each.iter().filter_map(|step| step.duration_ns)),
        not_recorded: passes.n_missing,
        outliers: outliers.iter().map(|outlier| outlier.index).collect(),
        timesteps: Spread::of(each.iter().filter_map(|step| step.timestep)),
        frames: Spread::of(frames.map(float)),
        total_frames: loops.frames(),
        frames_per_second: loops.per_second(&each, |found| found.frames),
        loops_per_second: loops.per_second(&each, |_| Some(1)),
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
            let found = loops
                .entry(step.loop_number)
                .or_insert_with(|| OneLoop { duration_ns: Some(0), ..OneLoop::default() });
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
    fn per_second(
        &self,
        each: &[StepPoint],
        amount: impl Fn(&OneLoop) -> Option<u64>,
    ) -> Option<f64> {
        let known = self.0.iter().filter_map(|(number, found)| {
            found.duration_ns?;
            Some((*number, amount(found)?))
        });
        let known: BTreeMap<u64, u64> = known.collect();
        let steps = each.iter();
        let of_known = steps.filter(|step| known.contains_key(&step.loop_number));
        let made = ThreadSpans::of(of_known.map(StepPoint::turn));
        rate(sum(known.into_values()), made.time_ns())
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

/// Alike steps of a loop that are enough to be compared among themselves.
const ENOUGH: usize = 5;

/// A step that took much longer than others, and their median.
struct Outlier {
    index: usize,
    ns: u64,
    usual_ns: f64,
}

/// The longest first.
fn outliers(each: &[StepPoint]) -> Vec<Outlier> {
    let known = each.iter().enumerate();
    let known = known.filter_map(|(index, step)| Some((index, step, step.duration_ns?)));
    let mut loops: BTreeMap<_, Vec<(usize, u64)>> = BTreeMap::new();
    let mut alike: BTreeMap<_, Vec<(usize, u64)>> = BTreeMap::new();
    let mut lengths: BTreeMap<_, usize> = BTreeMap::new();
    for step in each {
        *lengths.entry(step.loop_number).or_default() += 1;
    }
    for (index, step, ns) in known.filter(|(_, step, _)| !step.is_warm_up) {
        let of_loop = loops.entry((step.loop_number, step.alike())).or_default();
        of_loop.push((index, ns));
        // Loops of another length, or of another thread, may make something else.
        let length = lengths.get(&step.loop_number);
        let of_all = alike.entry((step.alike(), length, step.thread));
        of_all.or_default().push((index, ns));
    }
    let is_long_for_its_loop = |found: &Outlier| {
        let step = &each[found.index];
        let own = &loops[&(step.loop_number, step.alike())];
        own.len() < ENOUGH && (own.len() < 3 || float(found.ns) > middle(own) * EXCESS)
    };
    let far = alike.values().flat_map(|steps| far_above(steps));
    let long_loops = loops.values().filter(|own| own.len() >= ENOUGH);
    let of_long_loops = long_loops.flat_map(|steps| far_above(steps));
    let mut found: Vec<Outlier> = far.filter(is_long_for_its_loop).chain(of_long_loops).collect();
    found.sort_by_key(|outlier| Reverse(outlier.ns));
    found
}

fn middle(steps: &[(usize, u64)]) -> f64 {
    let mut sorted: Vec<u64> = steps.iter().map(|(_, ns)| *ns).collect();
    sorted.sort_unstable();
    median(&sorted).unwrap_or(0.0)
}

/// Those that are much longer than their median.
fn far_above(steps: &[(usize, u64)]) -> impl Iterator<Item = Outlier> + '_ {
    let usual_ns = middle(steps);
    let mut deviations: Vec<f64> =
        steps.iter().map(|(_, ns)| (float(*ns) - usual_ns).abs()).collect();
    deviations.sort_unstable_by(f64::total_cmp);
    let (lower, upper) = ((deviations.len() - 1) / 2, deviations.len() / 2);
    let deviation = f64::midpoint(deviations[lower], deviations[upper]);
    let limit = (usual_ns + DEVIATIONS * deviation).max(usual_ns * EXCESS);
    let far = steps.iter().filter(move |(_, ns)| float(*ns) > limit);
    far.map(move |(index, ns)| Outlier { index: *index, ns: *ns, usual_ns })
}

#[cfg(test)]
mod tests;
