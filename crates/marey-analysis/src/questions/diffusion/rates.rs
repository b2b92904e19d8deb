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

use marey::{Generation, Run, Section};
use serde::Serialize;

use super::calls::{attribute, calls};
use super::durations::{rate, sum};
use super::named::Named;
use super::work::Work;
use crate::intervals::{Interval, common_length_ns, intersection, union, union_length_ns};
use crate::questions::streaming::Counted;

/// Which frames a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// Frames of the latent video.
    Latent,
    /// Frames of pixels, as they were delivered, or decoded where nothing was delivered.
    Pixel,
}

/// Frames a second, and what that means.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// The rates that are known: latent frames, then pixel frames, from the shortest time to the longest.
pub(super) fn rates(run: &Run, named: &Named, work: Option<&Work>) -> Vec<FrameRate> {
    let mut found = Vec::new();
    if let Some(work) = work {
        let spans = Spans {
            work,
            text: Calls::of(run, &named.text),
            vae: Calls::of(run, &named.vae),
        };
        if let Some(frames) = work.frames {
            found.extend(spans.rates(FrameKind::Latent, frames));
        }
        if let Some(frames) = delivered(run) {
            found.extend(spans.rates(FrameKind::Pixel, frames));
        } else if let Some(decoded) = Decoded::of(run, named) {
            let rates = spans.rates(FrameKind::Pixel, decoded.frames);
            found.extend(rates.into_iter().map(|rate| decoded.named(rate)));
        }
    }
    found.extend(delivery(run, named));
    found
}

/// The times of which `taken` has no part; both are ascending and disjoint.
fn without(times: &[Interval], taken: &[Interval]) -> Vec<Interval> {
    let both = intersection(times, taken);
    let mut cuts = both.iter().peekable();
    let mut left = Vec::new();
    for time in times {
        let mut start_ns = time.start_ns;
        while let Some(cut) = cuts.next_if(|cut| cut.end_ns <= time.end_ns) {
            let end_ns = cut.start_ns;
            left.push(Interval { start_ns, end_ns });
            start_ns = cut.end_ns;
        }
        let end_ns = time.end_ns;
        left.push(Interval { start_ns, end_ns });
    }
    left
}

/// Sections of a kind.
struct Calls {
    spans: Vec<(u32, Interval)>,
}

impl Calls {
    /// `None` when there are none, or not all were recorded one by one.
    fn of(run: &Run, nodes: &[u32]) -> Option<Self> {
        let span = |(_, section): (usize, &Section)| {
            let (start_ns, end_ns) = (section.start_ns, section.end_ns);
            (section.thread, Interval { start_ns, end_ns })
        };
        let spans: Vec<(u32, Interval)> = calls(run, nodes).map(span).collect();
        let counted = nodes
            .iter()
            .filter_map(|node| run.totals.get(*node as usize));
        let counted = sum(counted.map(|totals| totals.count));
        (!spans.is_empty() && counted <= spans.len() as u64).then_some(Self { spans })
    }
}

/// Work, and what else there is to count.
struct Spans<'a> {
    work: &'a Work,
    text: Option<Calls>,
    vae: Option<Calls>,
}

impl Spans<'_> {
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

    fn time_ns(&self, with_text: bool, with_vae: bool) -> u64 {
        let parts = [(&self.text, with_text), (&self.vae, with_vae)];
        let of = |wanted: bool| -> Vec<(u32, Interval)> {
            let kept = parts.iter().filter(|(_, with)| *with == wanted);
            let calls = kept.filter_map(|(calls, _)| calls.as_ref());
            calls
                .flat_map(|calls| calls.spans.iter().copied())
                .collect()
        };
        let taken_out = self.not_counted_ns(&of(false));
        let put_to = self.outside_work_ns(&of(true));
        let work_ns = self.work.duration_ns.saturating_sub(taken_out);
        work_ns.saturating_add(put_to)
    }

    /// What the durations of all work have too much: time of the spans that lies in the work of their own thread, and work of
    /// several threads at once.
    fn not_counted_ns(&self, spans: &[(u32, Interval)]) -> u64 {
        let mut threads: Vec<u32> = self.work.spans.iter().map(|(thread, _)| *thread).collect();
        threads.sort_unstable();
        threads.dedup();
        let left = threads.into_iter().flat_map(|thread| {
            let of_thread = |spans: &[(u32, Interval)]| {
                let own = spans.iter().filter(|(other, _)| *other == thread);
                union(own.map(|(_, span)| *span).collect())
            };
            without(&of_thread(&self.work.spans), &of_thread(spans))
        });
        let all_ns = sum(self.work.spans.iter().map(|(_, span)| span.length_ns()));
        all_ns.saturating_sub(union_length_ns(left.collect()))
    }

    /// Time of the spans in which no work of any thread went on.
    fn outside_work_ns(&self, spans: &[(u32, Interval)]) -> u64 {
        let all = |spans: &[(u32, Interval)]| union(spans.iter().map(|(_, span)| *span).collect());
        let spans = all(spans);
        let length_ns = union_length_ns(spans.clone());
        length_ns.saturating_sub(common_length_ns(&spans, &all(&self.work.spans)))
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
    let frames = match kind {
        FrameKind::Latent => "latent frames",
        FrameKind::Pixel => "pixel frames",
    };
    let part = |before: &str, wanted: Option<bool>, after: &str| {
        listed(wanted).map_or_else(String::new, |names| format!("{before}{names}{after}"))
    };
    let with = part(", with ", Some(true), "");
    let without = part(", without ", Some(false), "");
    let unknown = part("; ", None, " not recorded apart");
    format!("{frames} in a second of {over}{with}{without}{unknown}")
}

/// Frames that were delivered.
fn delivered(run: &Run) -> Option<u64> {
    let frames = run
        .generation
        .iter()
        .filter_map(|record| match &record.what {
            Generation::Streaming(event) => event.frames,
            _ => None,
        });
    frames
        .reduce(u64::saturating_add)
        .filter(|frames| *frames > 0)
}

/// Frames that VAE decoding said it made.
struct Decoded {
    /// Of all calls.
    frames: u64,
    /// The attribute and the section of the first call that said.
    attribute: &'static str,
    section: String,
}

impl Decoded {
    /// `None` unless each call was recorded and said how many.
    fn of(run: &Run, named: &Named) -> Option<Self> {
        Calls::of(run, &named.vae)?;
        let mut found: Option<Self> = None;
        for (index, section) in calls(run, &named.vae) {
            let said = ["frames", "num_frames"]
                .into_iter()
                .find_map(|name| Some((name, attribute(run, index, &[name])?)));
            let (attribute, frames) = said?;
            let name = || run.nodes[section.node as usize].name.clone();
            let decoded = found.get_or_insert_with(|| Self {
                frames: 0,
                attribute,
                section: name(),
            });
            decoded.frames = decoded.frames.saturating_add(frames);
        }
        found.filter(|decoded| decoded.frames > 0)
    }

    fn named(&self, mut rate: FrameRate) -> FrameRate {
        let (attribute, section) = (self.attribute, &self.section);
        let how = format!("; decoded, by the attribute `{attribute}` of {section}");
        rate.meaning.push_str(&how);
        rate
    }
}

/// Frames after each session's first delivery, over the time from it to the last.
fn delivery(run: &Run, named: &Named) -> Option<FrameRate> {
    let found = Counted::of(run);
    let is_in = |nodes: &[u32]| {
        let calls = Calls::of(run, nodes)?.spans;
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
