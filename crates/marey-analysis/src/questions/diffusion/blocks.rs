//! Autoregressive blocks, or chunks of frames.
//!
//! ```text
//! session   |
//! blocks     |---- 0 ----|  |-- 1 --|  |-- 2 --|     |-- 3 --|
//! ends                   ^          ^          ^             ^
//! to first  |------------|
//! between                |----------|----------|-------------|
//! ```

use std::collections::BTreeMap;

use marey::{Generation, Run};
use serde::Serialize;

use super::durations::{Durations, Spread, between, jitter};
use super::loops::places;
use super::passes::{Origin, Passes, Said, StepSource};
use super::thread_spans::{ThreadSpans, Turn};
use crate::stats::{float, rate, sum};

/// Blocks of frames.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Blocks {
    /// Where they are known from.
    pub source: StepSource,
    /// All blocks, the first one too; `None` when no duration is known.
    pub all: Option<Durations>,
    /// The first block, which often includes loading and compilation; `None` when its duration is not known.
    pub warm_up: Option<Durations>,
    /// All other blocks; `None` when there is none whose duration is known.
    pub steady: Option<Durations>,
    /// Blocks in a second of the time that blocks took, that of several threads at once counted once; `None` when that is not known.
    pub per_second: Option<f64>,
    /// Latent frames in a second of the time that blocks took, of blocks of which both are known; `None` when there are none.
    pub frames_per_second: Option<f64>,
    /// Each block, in order of time.
    pub each: Vec<BlockPoint>,
    /// Blocks that were counted but not recorded one by one: they are in no other figure.
    pub not_recorded: u64,
    /// Latent frames of a block; `None` when no block said.
    pub frames: Option<Spread>,
    /// Latent frames of all blocks that said; `None` when none did.
    pub total_frames: Option<u64>,
    /// Memory that the program said was in use, bytes; `None` when no block said.
    pub memory_bytes: Option<Spread>,
    /// To the end of the first block, from the start of its outermost session, or of the run where it is of none.
    pub time_to_first_ns: Option<u64>,
    /// Time between the ends of neighbouring blocks of one generation, so that the first block's own time is in none of them; `None`
    /// when no generation has two blocks.
    pub between: Option<Durations>,
    /// Mean of the absolute differences of neighbouring times between; `None` when no generation has three blocks.
    pub jitter_ns: Option<f64>,
}

/// One block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct BlockPoint {
    /// When it ended.
    pub end_ns: u64,
    /// How long it took; `None` when not known.
    pub duration_ns: Option<u64>,
    /// Its number, as reported, otherwise counted.
    pub index: u64,
    /// The generation that it is of, from 0: another one begins in another session or thread, and where the number does not go on.
    pub generation: u64,
    /// Latent frames in it.
    pub frames: Option<u64>,
    /// Memory in use, as the program read it.
    pub memory_bytes: Option<u64>,
    /// Index into `Run::sessions`.
    pub session: Option<u32>,
    /// Index into `Run::threads`.
    pub thread: u32,
    /// The flow in which it was made, as in `Section::flow`.
    #[serde(skip)]
    pub flow: u16,
    /// The program said so; otherwise a section did.
    #[serde(skip)]
    pub is_reported: bool,
}

impl BlockPoint {
    pub(super) fn turn(&self) -> Turn {
        Turn {
            thread: self.thread,
            flow: self.flow,
            session: self.session,
            end_ns: self.end_ns,
            duration_ns: self.duration_ns,
        }
    }
}

/// What a report says of a block's pass.
pub(super) fn said(what: &Generation) -> Option<Said> {
    let Generation::Block(block) = what else {
        return None;
    };
    Some(Said {
        number: block.index,
        duration_ns: block.computation_ns,
        frames: block.size,
        ..Said::default()
    })
}

/// Figures of all blocks.
pub(super) fn blocks(run: &Run, passes: &Passes) -> Blocks {
    let each = points(run, passes);
    let mut of_known = each.iter().map(|block| block.duration_ns);
    let first = of_known.next().flatten();
    let steady = Durations::of(of_known.flatten());
    let ends = ends_by_generation(&each);
    let gaps: Vec<Vec<u64>> = ends.values().map(|ends| between(ends)).collect();
    let frames = || each.iter().filter_map(|block| block.frames);
    let memory = each.iter().filter_map(|block| block.memory_bytes);
    Blocks {
        source: passes.source.clone(),
        all: Durations::of(each.iter().filter_map(|block| block.duration_ns)),
        warm_up: Durations::of(first.into_iter()),
        steady,
        per_second: per_second(&each, |_| Some(1)),
        frames_per_second: per_second(&each, |block| block.frames),
        not_recorded: passes.n_missing,
        frames: Spread::of(frames().map(float)),
        total_frames: frames().reduce(u64::saturating_add),
        memory_bytes: Spread::of(memory.map(float)),
        time_to_first_ns: each
            .first()
            .map(|first| since_start_ns(run, first.session, first.end_ns)),
        between: Durations::of(gaps.iter().flatten().copied()),
        jitter_ns: jitter(gaps.iter().map(Vec::as_slice)),
        each,
    }
}

fn points(run: &Run, passes: &Passes) -> Vec<BlockPoint> {
    let places = places(&passes.each, |_| None, 1);
    let point = |(pass, place): (&super::passes::Pass, super::loops::Place)| {
        let reported = match pass.origin {
            Origin::Report(report) => run.generation.get(report),
            Origin::Section(_) => None,
        };
        let block = match reported.map(|record| &record.what) {
            Some(Generation::Block(block)) => block.clone(),
            _ => marey::BlockComputation::default(),
        };
        BlockPoint {
            end_ns: pass.end_ns,
            duration_ns: pass.duration_ns,
            index: place.number,
            generation: place.loop_number,
            frames: pass.frames,
            memory_bytes: block.memory_bytes,
            session: pass.session,
            thread: pass.thread,
            flow: pass.flow,
            is_reported: pass.is_reported(),
        }
    };
    passes.each.iter().zip(places).map(point).collect()
}

/// Amounts in a second of the blocks of which amount and duration are known.
fn per_second(each: &[BlockPoint], amount: impl Fn(&BlockPoint) -> Option<u64>) -> Option<f64> {
    let known = each
        .iter()
        .filter(|block| block.duration_ns.is_some())
        .filter_map(|block| Some((amount(block)?, block)));
    let known: Vec<(u64, &BlockPoint)> = known.collect();
    let amounts = sum(known.iter().map(|(amount, _)| *amount));
    let made = ThreadSpans::of(known.iter().map(|(_, block)| block.turn()));
    rate(amounts, made.time_ns())
}

fn ends_by_generation(each: &[BlockPoint]) -> BTreeMap<u64, Vec<u64>> {
    let mut ends: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for block in each {
        ends.entry(block.generation).or_default().push(block.end_ns);
    }
    ends
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
