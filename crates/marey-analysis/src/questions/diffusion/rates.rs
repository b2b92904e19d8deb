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

use super::blocks::BlockPoint;
use super::calls::{attribute, calls};
use super::named::Named;
use super::steps::StepPoint;
use super::work::Work;
use crate::intervals::{Interval, common_length_ns, difference, length_ns, union, union_length_ns};
use crate::questions::belonging::Belonging;
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
    belonging: &Belonging<'_>,
    work: Option<&Work>,
    (blocks, steps): (&[BlockPoint], &[StepPoint]),
) -> Vec<FrameRate> {
    let outermost = |session: Option<u32>| belonging.outermost(session);
    let sections = Belonging::new(run).into_sections();
    // What other generations encoded and decoded is no part of this work's time.
    let calls_of = |work: &Work| {
        let makers: BTreeSet<_> = work.sessions.iter().map(|one| outermost(*one)).collect();
        let is_of_work = |at: usize| {
            let session = outermost(sections.of(at));
            session.is_none() || makers.contains(&None) || makers.contains(&session)
        };
        [&named.text, &named.vae].map(|nodes| Calls::of(run, nodes, is_of_work))
    };
    let mut found = Vec::new();
    if let Some((work, frames)) = work.and_then(|work| Some((work, work.frames?))) {
        let spans = Spans::new(work, calls_of(work));
        let makers = work.sessions.iter().map(|one| outermost(*one)).collect();
        found.extend(spans.rates(FrameKind::Latent, frames));
        found.extend(spans.over_generations(FrameKind::Latent, frames, &makers, belonging));
    }
    if let Some(pixels) = Pixels::of(run, named, belonging) {
        let is_wanted = |session: Option<u32>| pixels.are_of(outermost(session));
        if let Some(whole) = Work::whole(blocks, steps, is_wanted) {
            let spans = Spans::new(&whole, calls_of(&whole));
            let (kind, frames) = (FrameKind::Pixel, pixels.frames);
            let mut rates = spans.rates(kind, frames);
            rates.extend(spans.over_generations(kind, frames, &pixels.of, belonging));
            found.extend(rates.into_iter().map(|rate| pixels.named(rate)));
        }
    }
    found.extend(delivery(run, named, belonging));
    found
}

/// Sections of a kind.
struct Calls {
    spans: Vec<(u32, Interval)>,
}

impl Calls {
    /// Those that are wanted, by their index; `None` when there are none, or not all were recorded one by one.
    fn of(run: &Run, nodes: &[u32], is_wanted: impl Fn(usize) -> bool) -> Option<Self> {
        let span = |(_, section): (usize, &Section)| (section.thread, Interval::of(section));
        let n_recorded = calls(run, nodes).count() as u64;
        let wanted = calls(run, nodes).filter(|(index, _)| is_wanted(*index));
        let spans: Vec<(u32, Interval)> = wanted.map(span).collect();
        let counted = nodes.iter().filter_map(|node| run.totals.get(*node as usize));
        let counted = sum(counted.map(|totals| totals.count));
        (!spans.is_empty() && counted <= n_recorded).then_some(Self { spans })
    }
}

/// Work, and what else there is to count.
struct Spans<'a> {
    work: &'a Work,
    text: Option<Calls>,
    vae: Option<Calls>,
}

impl<'a> Spans<'a> {
    fn new(work: &'a Work, [text, vae]: [Option<Calls>; 2]) -> Self {
        Self { work, text, vae }
    }

    /// Without both, with VAE decoding, with both; those that differ.
    fn rates(&self, kind: FrameKind, frames: u64) -> Vec<FrameRate> {
        let mut found: Vec<FrameRate> = Vec::new();
        for (with_text, with_vae) in [(false, false), (false, true), (true, true)] {
            let includes_text_encoding = self.text.as_ref().map(|_| with_text);
            let includes_vae = self.vae.as_ref().map(|_| with_vae);
            let is_new = found.iter().all(|rate| {
                (rate.includes_text_encoding, rate.includes_vae)
                    != (includes_text_encoding, includes_vae)
            });
            let over_ns = self.time_ns(with_text, with_vae);
            if let (true, Some(per_second)) = (is_new, rate(frames, over_ns)) {
                found.push(FrameRate {
                    kind,
                    frames,
                    over_ns,
                    per_second,
                    includes_text_encoding,
                    includes_vae,
                    meaning: meaning(kind, self.work.name, includes_text_encoding, includes_vae),
                });
            }
        }
        found
    }

    /// In the wall time of the generations that made them, each moment once; `None` where some were made in none.
    fn over_generations(
        &self,
        kind: FrameKind,
        frames: u64,
        makers: &BTreeSet<Option<u32>>,
        belonging: &Belonging<'_>,
    ) -> Option<FrameRate> {
        let makers: Option<Vec<u32>> = makers.iter().copied().collect();
        let makers = makers?.into_iter();
        let over_ns = union_length_ns(union(makers.map(|one| belonging.interval(one)).collect()));
        Some(FrameRate {
            kind,
            frames,
            over_ns,
            per_second: rate(frames, over_ns)?,
            includes_text_encoding: self.text.as_ref().map(|_| true),
            includes_vae: self.vae.as_ref().map(|_| true),
            meaning: format!(
                "{} in a second of the generations that made them, with all that went on meanwhile",
                kind.frames()
            ),
        })
    }

    fn time_ns(&self, with_text: bool, with_vae: bool) -> u64 {
        let parts = [(&self.text, with_text), (&self.vae, with_vae)];
        let of = |wanted: bool| -> Vec<(u32, Interval)> {
            let kept = parts.iter().filter(|(_, with)| *with == wanted);
            let calls = kept.filter_map(|(calls, _)| calls.as_ref());
            calls.flat_map(|calls| calls.spans.iter().copied()).collect()
        };
        let taken_out = self.not_counted_ns(&of(false));
        let put_to = self.outside_work_ns(&of(true));
        let work_ns = self.work.made.duration_ns.saturating_sub(taken_out);
        work_ns.saturating_add(put_to)
    }

    /// What the durations of all work have too much: time of the spans that lies in the work of their own thread, and work of
    /// several threads at once.
    fn not_counted_ns(&self, spans: &[(u32, Interval)]) -> u64 {
        let mut threads: Vec<u32> =
            self.work.made.spans.iter().map(|(thread, _)| *thread).collect();
        threads.sort_unstable();
        threads.dedup();
        let left = threads.into_iter().flat_map(|thread| {
            let of_thread = |spans: &[(u32, Interval)]| {
                let own = spans.iter().filter(|(other, _)| *other == thread);
                union(own.map(|(_, span)| *span).collect())
            };
            difference(&of_thread(&self.work.made.spans), &of_thread(spans))
        });
        let all_ns = sum(self.work.made.spans.iter().map(|(_, span)| span.length_ns()));
        all_ns.saturating_sub(union_length_ns(left.collect()))
    }

    /// Time of the spans in which no work of any thread went on.
    fn outside_work_ns(&self, spans: &[(u32, Interval)]) -> u64 {
        let all = |spans: &[(u32, Interval)]| union(spans.iter().map(|(_, span)| *span).collect());
        let spans = all(spans);
        length_ns(&spans).saturating_sub(common_length_ns(&spans, &all(&self.work.made.spans)))
    }
}

const TEXT: &str = "text encoding";
const VAE: &str = "VAE decoding";

fn meaning(kind: FrameKind, over: &str, text: Option<bool>, vae: Option<bool>) -> String {
    let listed = |wanted: Option<bool>| {
        let parts = [(TEXT, text), (VAE, vae)];
        let named = parts.into_iter().filter(|(_, is_in)| *is_in == wanted);
        let named: Vec<&str> = named.map(|(name, _)| name).collect();
        (!named.is_empty()).then(|| named.join(" and "))
    };
    let frames = kind.frames();
    let part = |before: &str, wanted: Option<bool>, after: &str| {
        listed(wanted).map_or_else(String::new, |names| format!("{before}{names}{after}"))
    };
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
    fn of(run: &Run, named: &Named, belonging: &Belonging<'_>) -> Option<Self> {
        let outermost = |session: Option<u32>| belonging.outermost(session);
        let by_session = frames_by_session(run, belonging);
        let delivered = sum(by_session.values().flatten().map(|(_, frames)| *frames));
        let delivering: BTreeSet<_> = by_session.into_keys().map(outermost).collect();
        let only_delivered = (delivered > 0).then_some(Self {
            frames: delivered,
            how: None,
            of: delivering.clone(),
        });
        // What was delivered in no session may be what any of them decoded.
        if delivering.contains(&None) || named.vae.is_empty() {
            return only_delivered;
        }
        let sessions = Belonging::new(run).into_sections();
        let is_other = |session: Option<u32>| !delivering.contains(&outermost(session));
        let others: Vec<(usize, &Section)> =
            calls(run, &named.vae).filter(|(at, _)| is_other(sessions.of(*at))).collect();
        if others.is_empty() {
            return only_delivered;
        }
        Calls::of(run, &named.vae, |_| true)?;
        let decoded = Self::by_attributes(run, &others)
            .or_else(|| Self::by_events(run, &others, is_other))
            .filter(|decoded| decoded.frames > 0)?;
        let mut of = delivering.clone();
        of.extend(others.iter().map(|(at, _)| outermost(sessions.of(*at))));
        let prefix = if delivered > 0 { "delivered or " } else { "" };
        Some(Self {
            frames: decoded.frames.saturating_add(delivered),
            how: decoded.how.map(|how| format!("{prefix}{how}")),
            of,
        })
    }

    /// Whether a generation made some of them, or may have: work of no session may be of any.
    fn are_of(&self, outermost: Option<u32>) -> bool {
        outermost.is_none() || self.of.contains(&None) || self.of.contains(&outermost)
    }

    /// Calls that failed made none.
    fn by_attributes(run: &Run, calls: &[(usize, &Section)]) -> Option<Self> {
        let mut found: Option<Self> = None;
        for (index, section) in calls.iter().filter(|(_, section)| !section.is_failed) {
            let said = ["frames", "num_frames"]
                .into_iter()
                .find_map(|name| Some((name, attribute(run, *index, &[name])?)));
            let (attribute, frames) = said?;
            let name = &run.nodes[section.node as usize].name;
            let decoded = found.get_or_insert_with(|| Self {
                frames: 0,
                how: Some(format!("decoded, by the attribute `{attribute}` of {name}")),
                of: BTreeSet::new(),
            });
            decoded.frames = decoded.frames.saturating_add(frames);
        }
        found
    }

    /// What instrumented pipelines say after each call that made frames, in an event: one for each outermost call that did not fail.
    fn by_events(
        run: &Run,
        calls: &[(usize, &Section)],
        is_wanted: impl Fn(Option<u32>) -> bool,
    ) -> Option<Self> {
        let said = run.events.iter();
        let said = said.filter(|event| event.name == FRAMES_DECODED && is_wanted(event.session));
        let frames: Vec<u64> = said.filter_map(frames_of).collect();
        let each: Vec<&Section> = calls.iter().map(|(_, section)| *section).collect();
        let holds = |outer: &Section, inner: &Section| {
            !std::ptr::eq(outer, inner)
                && (outer.thread, outer.flow) == (inner.thread, inner.flow)
                && outer.start_ns <= inner.start_ns
                && inner.end_ns <= outer.end_ns
        };
        let is_outermost = |one: &&&Section| !each.iter().any(|outer| holds(outer, one));
        let outermost = each.iter().filter(is_outermost);
        let n_made = outermost.filter(|section| !section.is_failed).count();
        (n_made == frames.len()).then(|| Self {
            frames: sum(frames.into_iter()),
            how: Some("decoded, by what the decoder returned".into()),
            of: BTreeSet::new(),
        })
    }

    fn named(&self, mut rate: FrameRate) -> FrameRate {
        if let Some(how) = &self.how {
            rate.meaning.push_str("; ");
            rate.meaning.push_str(how);
        }
        rate
    }
}

/// The event in which an instrumented pipeline says what a call of its decoder made.
const FRAMES_DECODED: &str = "frames_decoded";

fn frames_of(event: &Event) -> Option<u64> {
    let frames = event.attributes.iter().find(|(name, _)| name == "frames");
    match frames?.1 {
        Value::Int(frames) => u64::try_from(frames).ok(),
        _ => None,
    }
}

/// Frames after each session's first delivery, over the time from it to the last.
fn delivery(run: &Run, named: &Named, belonging: &Belonging<'_>) -> Option<FrameRate> {
    let found = Counted::of(run, belonging);
    let is_in = |nodes: &[u32]| {
        let calls = Calls::of(run, nodes, |_| true)?.spans;
        let union = union(calls.into_iter().map(|(_, span)| span).collect());
        Some(common_length_ns(&union, &found.spans) > 0)
    };
    let since = match found.n_sessions {
        0 | 1 => "from the first delivery to the last",
        _ => "from each session's first delivery to its last",
    };
    Some(FrameRate {
        kind: FrameKind::Pixel,
        frames: found.frames,
        over_ns: found.over_ns(),
        per_second: found.per_second()?,
        includes_text_encoding: is_in(&named.text),
        includes_vae: is_in(&named.vae),
        meaning: format!(
            "pixel frames delivered in a second, {since}, with all that went on meanwhile"
        ),
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests;
