//! Frames a second, each rate with what it counts and what its time holds.
//!
//! Every frame counts once, however many steps worked on it. The time is that of blocks, or of denoising steps where no blocks are
//! known; text encoding and VAE decoding are taken out of it or put to it as their sections say, each moment counted once:
//!
//! ```text
//! main        |- text -| |----- block -----| |----- block -----|
//!                                    |vae|               |vae|
//! worker                                      |- vae -|
//! time        |........|.|===========|+++|.|=+++++++++++|=|+++|
//!
//! without both   =        with VAE   = and +        with both   = and + and text
//! ```
//!
//! What the worker decoded while the main thread made a block is not taken out of that block: both went on at the same time.
//!
//! Where all of them were made in sessions there is the rate that people call FPS, too: over the wall time of those sessions.

use std::collections::BTreeSet;

use marey::{Event, Run, Section, Value};
use serde::Serialize;

use super::calls::{attribute, calls};
use super::named::Named;
use super::steps::StepPoint;
use super::work::Work;
use crate::intervals::{Interval, common_length_ns, difference, length_ns, union, union_length_ns};
use crate::questions::session_assignment::SessionAssignment;
use crate::questions::streaming::{Counted, frames_by_session};
use crate::stats::{rate, sum};

/// Which frames a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// Frames of the latent video.
    Latent,
    /// Frames of pixels, as they were delivered, or decoded where nothing was delivered.
    Pixel,
}

impl FrameKind {
    fn frames(self) -> &'static str {
        match self {
            Self::Latent => "latent frames",
            Self::Pixel => "pixel frames",
        }
    }
}

/// Frames a second, and what that means.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct FrameRate {
    /// Which frames.
    pub kind: FrameKind,
    /// Frames that were counted, each once.
    pub frames: u64,
    /// The time that they are divided by.
    pub over_ns: u64,
    /// `frames` in a second of it.
    pub per_second: f64,
    /// The time holds text encoding; `None` when no text encoding was recorded, or not each call of it.
    pub includes_text_encoding: Option<bool>,
    /// The time holds VAE decoding; `None` when none was recorded, or not each call of it.
    pub includes_vae: Option<bool>,
    /// All of it in words: "latent frames in a second of blocks, without text encoding and VAE decoding".
    pub meaning: String,
}

/// The rates that are known: latent frames in the time of the work that said its frames, then pixel frames in that of all work, each
/// from the shortest time to the longest, which is that of their generations.
pub(super) fn rates(
    run: &Run,
    named: &Named,
    assignment: &SessionAssignment<'_>,
    work: Option<&Work<'_>>,
    (blocks, steps): (&[StepPoint], &[StepPoint]),
) -> Vec<FrameRate> {
    let mut found = Vec::new();
    if let Some((work, frames)) = work.and_then(|work| Some((work, work.amount?))) {
        let spans = Spans::new(run, named, assignment, work);
        found.extend(spans.rates(FrameKind::Latent, frames, &spans.makers));
    }
    if let Some(pixels) = Pixels::of(run, named, assignment) {
        let is_wanted = |session: Option<u32>| pixels.are_of(assignment.outermost(session));
        if let Some(whole) = Work::whole(blocks, steps, is_wanted) {
            let spans = Spans::new(run, named, assignment, &whole);
            let rates = spans.rates(FrameKind::Pixel, pixels.frames, &pixels.of);
            found.extend(rates.into_iter().map(|rate| pixels.named(rate)));
        }
    }
    found.extend(delivery(run, named, assignment));
    found
}

impl FrameRate {
    fn new(
        (kind, frames, over_ns): (FrameKind, u64, u64),
        [includes_text_encoding, includes_vae]: [Option<bool>; 2],
        meaning: String,
    ) -> Option<Self> {
        let per_second = rate(frames, over_ns)?;
        Some(Self {
            kind,
            frames,
            over_ns,
            per_second,
            includes_text_encoding,
            includes_vae,
            meaning,
        })
    }
}

/// When sections of a kind were open, with their threads.
type Calls = Vec<(u32, Interval)>;

/// Those that are wanted, by their index; `None` when there are none, or not all were recorded one by one.
fn calls_of(run: &Run, nodes: &[u32], is_wanted: impl Fn(usize) -> bool) -> Option<Calls> {
    let span = |(_, section): (usize, &Section)| (section.thread, Interval::of(section));
    let n_recorded = calls(run, nodes).count() as u64;
    let wanted: Calls = calls(run, nodes).filter(|(at, _)| is_wanted(*at)).map(span).collect();
    let counted = nodes.iter().filter_map(|node| run.totals.get(*node as usize));
    let counted = sum(counted.map(|totals| totals.count));
    (!wanted.is_empty() && counted <= n_recorded).then_some(wanted)
}

/// What of these is in the thread, or all of them.
fn spans_of(calls: &[(u32, Interval)], thread: Option<u32>) -> Vec<Interval> {
    let own = calls.iter().filter(|(other, _)| thread.is_none_or(|thread| *other == thread));
    union(own.map(|(_, span)| *span).collect())
}

/// Work, and what else there is to count.
struct Spans<'a> {
    work: &'a Work<'a>,
    assignment: &'a SessionAssignment<'a>,
    /// The outermost sessions that it was made in.
    makers: BTreeSet<Option<u32>>,
    /// Text encoding and VAE decoding.
    others: [Option<Calls>; 2],
}

impl<'a> Spans<'a> {
    fn new(
        run: &Run,
        named: &Named,
        assignment: &'a SessionAssignment<'a>,
        work: &'a Work<'a>,
    ) -> Self {
        let makers = work.sessions().into_iter().map(|one| assignment.outermost(one));
        let makers: BTreeSet<Option<u32>> = makers.collect();
        // What other generations encoded and decoded is no part of this work's time.
        let is_of_work = |at: usize| {
            let session = assignment.outermost(assignment.of_section(at));
            session.is_none() || makers.contains(&None) || makers.contains(&session)
        };
        let others = [&named.text, &named.vae].map(|nodes| calls_of(run, nodes, is_of_work));
        Self { work, assignment, makers, others }
    }

    /// Without both, with VAE decoding, with both; those that differ. Then in the wall time of the generations that made them, each moment
    /// once, unless some were made in none.
    fn rates(
        &self,
        kind: FrameKind,
        frames: u64,
        makers: &BTreeSet<Option<u32>>,
    ) -> Vec<FrameRate> {
        let mut found: Vec<FrameRate> = Vec::new();
        for with in [[false, false], [false, true], [true, true]] {
            let [text, vae] = [0, 1].map(|at| self.others[at].as_ref().map(|_| with[at]));
            let is_known =
                |rate: &FrameRate| (rate.includes_text_encoding, rate.includes_vae) == (text, vae);
            if !found.iter().any(is_known) {
                let meaning = meaning(kind, self.work.name(), text, vae);
                found.extend(FrameRate::new(
                    (kind, frames, self.time_ns(with)),
                    [text, vae],
                    meaning,
                ));
            }
        }
        let makers: Option<Vec<u32>> = makers.iter().copied().collect();
        let over_generations = makers.and_then(|makers| {
            let times = makers.into_iter().map(|one| self.assignment.interval(one));
            let includes = self.others.each_ref().map(|calls| calls.as_ref().map(|_| true));
            let meaning = format!(
                "{} in a second of the generations that made them, with all that went on meanwhile",
                kind.frames()
            );
            let over_ns = union_length_ns(times.collect());
            FrameRate::new((kind, frames, over_ns), includes, meaning)
        });
        found.extend(over_generations);
        found
    }

    fn time_ns(&self, with: [bool; 2]) -> u64 {
        let of = |wanted: bool| -> Calls {
            let kept = self.others.iter().zip(with).filter(|(_, with)| *with == wanted);
            kept.filter_map(|(calls, _)| calls.as_ref()).flatten().copied().collect()
        };
        let work_ns = self.work.duration_ns.saturating_sub(self.not_counted_ns(&of(false)));
        work_ns.saturating_add(self.outside_work_ns(&of(true)))
    }

    /// What the durations of all work have too much: time of the spans that lies in the work of their own thread, and work of
    /// several threads at once.
    fn not_counted_ns(&self, spans: &[(u32, Interval)]) -> u64 {
        let work = &self.work.spans;
        let threads: BTreeSet<u32> = work.iter().map(|(thread, _)| *thread).collect();
        let left = threads.into_iter().flat_map(|thread| {
            difference(&spans_of(work, Some(thread)), &spans_of(spans, Some(thread)))
        });
        let all_ns = sum(work.iter().map(|(_, span)| span.length_ns()));
        all_ns.saturating_sub(union_length_ns(left.collect()))
    }

    /// Time of the spans in which no work of any thread went on.
    fn outside_work_ns(&self, spans: &[(u32, Interval)]) -> u64 {
        let spans = spans_of(spans, None);
        let within_ns = common_length_ns(&spans, &spans_of(&self.work.spans, None));
        length_ns(&spans).saturating_sub(within_ns)
    }
}

fn meaning(kind: FrameKind, over: &str, text: Option<bool>, vae: Option<bool>) -> String {
    let part = |before: &str, wanted: Option<bool>, after: &str| {
        let parts = [("text encoding", text), ("VAE decoding", vae)].into_iter();
        let named = parts.filter(|(_, is_in)| *is_in == wanted).map(|(name, _)| name);
        let named: Vec<&str> = named.collect();
        if named.is_empty() {
            String::new()
        } else {
            before.to_owned() + &named.join(" and ") + after
        }
    };
    let frames = kind.frames();
    let with = part(", with ", Some(true), "");
    let without = part(", without ", Some(false), "");
    let unknown = part("; ", None, " not recorded apart");
    format!("{frames} in a second of {over}{with}{without}{unknown}")
}

/// Frames of pixels: those that were delivered and, of generations that delivered none, those that VAE decoding said it made.
struct Pixels {
    frames: u64,
    /// Who said so of what was decoded, of the first call; `None` where all were delivered.
    how: Option<String>,
    /// The outermost sessions that they are of; with `None` among them they may be of any.
    of: BTreeSet<Option<u32>>,
}

impl Pixels {
    /// `None` unless each generation that decoded anything delivered frames, or each of its calls was recorded and said how many.
    fn of(run: &Run, named: &Named, assignment: &SessionAssignment<'_>) -> Option<Self> {
        let outermost = |session: Option<u32>| assignment.outermost(session);
        let by_session = frames_by_session(run, assignment);
        let delivered = sum(by_session.values().flatten().map(|(_, frames)| *frames));
        let mut of: BTreeSet<_> = by_session.into_keys().map(outermost).collect();
        let is_other = |session: Option<u32>| !of.contains(&outermost(session));
        let others = calls(run, &named.vae).filter(|(at, _)| is_other(assignment.of_section(*at)));
        let others: Vec<(usize, &Section)> = others.collect();
        // What was delivered in no session may be what any of them decoded.
        if of.contains(&None) || others.is_empty() {
            return (delivered > 0).then_some(Self { frames: delivered, how: None, of });
        }
        calls_of(run, &named.vae, |_| true)?;
        let decoded = by_attributes(run, &others).or_else(|| by_events(run, &others, is_other));
        let (frames, how) = decoded.filter(|(frames, _)| *frames > 0)?;
        of.extend(others.iter().map(|(at, _)| outermost(assignment.of_section(*at))));
        let prefix = if delivered > 0 { "delivered or " } else { "" };
        Some(Self {
            frames: frames.saturating_add(delivered),
            how: Some(format!("{prefix}decoded, by {how}")),
            of,
        })
    }

    /// Whether a generation made some of them, or may have: work of no session may be of any.
    fn are_of(&self, outermost: Option<u32>) -> bool {
        outermost.is_none() || self.of.contains(&None) || self.of.contains(&outermost)
    }

    fn named(&self, mut rate: FrameRate) -> FrameRate {
        if let Some(how) = &self.how {
            rate.meaning.push_str("; ");
            rate.meaning.push_str(how);
        }
        rate
    }
}

/// What calls say that they decoded, and how the first of them does. Calls that failed made none.
fn by_attributes(run: &Run, calls: &[(usize, &Section)]) -> Option<(u64, String)> {
    let mut found = None;
    for (at, section) in calls.iter().filter(|(_, section)| !section.is_failed) {
        let said = ["frames", "num_frames"]
            .into_iter()
            .find_map(|name| Some((name, attribute(run, *at, &[name])?)));
        let (attribute, frames) = said?;
        let name = &run.nodes[section.node as usize].name;
        let first = || (0, format!("the attribute `{attribute}` of {name}"));
        let (all, _): &mut (u64, String) = found.get_or_insert_with(first);
        *all = all.saturating_add(frames);
    }
    found
}

/// The event in which an instrumented pipeline says what a call of its decoder made.
const FRAMES_DECODED: &str = "frames_decoded";

/// What instrumented pipelines say after each call that made frames, in an event: one for each outermost call that did not fail.
fn by_events(
    run: &Run,
    calls: &[(usize, &Section)],
    is_wanted: impl Fn(Option<u32>) -> bool,
) -> Option<(u64, String)> {
    let said = run.events.iter();
    let said = said.filter(|event| event.name == FRAMES_DECODED && is_wanted(event.session));
    let frames: Vec<u64> = said.filter_map(frames_of).collect();
    let holds = |(outer, around): &(usize, &Section), (inner, within): &(usize, &Section)| {
        outer != inner
            && (around.thread, around.flow) == (within.thread, within.flow)
            && around.start_ns <= within.start_ns
            && within.end_ns <= around.end_ns
    };
    let outermost = calls.iter().filter(|one| !calls.iter().any(|outer| holds(outer, one)));
    let n_made = outermost.filter(|(_, section)| !section.is_failed).count();
    let all = sum(frames.iter().copied());
    (n_made == frames.len()).then(|| (all, "what the decoder returned".into()))
}

fn frames_of(event: &Event) -> Option<u64> {
    let frames = event.attributes.iter().find(|(name, _)| name == "frames");
    match frames?.1 {
        Value::Int(frames) => u64::try_from(frames).ok(),
        _ => None,
    }
}

/// Frames after each session's first delivery, over the time from it to the last.
fn delivery(run: &Run, named: &Named, assignment: &SessionAssignment<'_>) -> Option<FrameRate> {
    let found = Counted::of(run, assignment);
    let includes = [&named.text, &named.vae].map(|nodes| {
        let calls = calls_of(run, nodes, |_| true)?;
        Some(common_length_ns(&spans_of(&calls, None), &found.spans) > 0)
    });
    let since = match found.n_sessions {
        0 | 1 => "from the first delivery to the last",
        _ => "from each session's first delivery to its last",
    };
    let meaning =
        format!("pixel frames delivered in a second, {since}, with all that went on meanwhile");
    FrameRate::new((FrameKind::Pixel, found.frames, found.over_ns()), includes, meaning)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests;
