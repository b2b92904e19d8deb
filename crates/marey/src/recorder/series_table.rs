//! What samplers read last, in shared memory: for live viewers, and so that a kill does not lose the time bucket that is being filled.
//!
//! A sampler writes each round into the half of its words that the number of rounds does not select, and then counts the round, so that
//! a reader finds a whole round at every moment.
//!
//! | words of a sampler | content |
//! |---|---|
//! | 0 | rounds so far; their lowest bit selects the half |
//! | 1 | series « 32 · first series of the table; 0 when the sampler has ended |
//! | 2..7, 8..13 | halves: bucket's start · its width · first round in it · last round in it (ticks) · rounds in it |
//! | 14, 15 | what word 1 was · number of the sampler in its notes |
//!
//! | words of a series | content |
//! |---|---|
//! | 0 | length of the text in bytes · unit « 32 · kind « 40 |
//! | 1..13 | name, a newline, and subject, cut at 96 bytes |
//! | 13..18, 18..23 | halves: readings in the bucket · min · max · sum · last, also of a bucket before |
//! | 23 | when the last reading was taken (ticks); 0 before the first |

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::layout::{
    GROUP_WORDS, HEADER_WORDS, MAX_GROUPS, ProcessLayout, SERIES_WORDS, high, low, process,
};
use crate::note::{Note, Readings, Samples};
use crate::series::SeriesInfo;
use crate::wire::{Decoder, Wire};

const TEXT: usize = 1;
const HALF: [usize; 2] = [13, 18];
const READ_AT: usize = 23;
const GROUP_HALF: [usize; 2] = [2, 8];
const EXTENT: usize = 14;
const GROUP: usize = 15;
/// Values in one note.
pub(crate) const SERIES_PER_NOTE: usize = 512;

/// The table of one process; also of another one, for a reader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesTable<'a> {
    header: &'a [AtomicU64],
    groups: &'a [AtomicU64],
    series: &'a [AtomicU64],
}

/// A time bucket that is being filled. Times are ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) start: u64,
    pub(crate) width: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) rounds: u32,
}

/// The place of one sampler in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupPlace {
    slot: u32,
    group: u32,
    first: u32,
    n: u32,
}

impl GroupPlace {
    /// Number of the sampler in its notes; no other one of the recording has it.
    pub(crate) fn group(self) -> u32 {
        self.group
    }

    /// Series that found room.
    pub(crate) fn n_series(self) -> usize {
        self.n as usize
    }
}

impl<'a> SeriesTable<'a> {
    pub(crate) fn new(words: &'a [AtomicU64], layout: &ProcessLayout) -> Self {
        Self {
            header: &words[..HEADER_WORDS],
            groups: &words[layout.groups..layout.series],
            series: &words[layout.series..layout.histograms],
        }
    }

    /// Places a sampler with its series; what does not fit is left out. `None` when there are too many samplers. One caller at a time.
    pub(crate) fn place(&self, infos: &[SeriesInfo], group: u32) -> Option<GroupPlace> {
        let (slot, first, n) = self.retired_room(infos.len()).or_else(|| {
            let slot = self.n_slots();
            let first = low(self.header[process::N_SERIES].load(Relaxed));
            let room = self.series.len() / SERIES_WORDS - first as usize;
            let n = u32::try_from(infos.len().min(room)).ok()?;
            (slot < MAX_GROUPS).then_some((slot, first, n))
        })?;
        for (at, info) in (first..).zip(&infos[..n as usize]) {
            self.describe(at, info);
        }
        let words = self.group_words(slot)?;
        for word in words {
            word.store(0, Relaxed);
        }
        let extent = u64::from(n) << 32 | u64::from(first);
        words[EXTENT].store(extent, Relaxed);
        words[GROUP].store(group.into(), Relaxed);
        words[1].store(extent, Relaxed);
        if slot == self.n_slots() {
            self.header[process::N_SERIES].store(u64::from(first + n), Relaxed);
            self.header[process::N_GROUPS].store(u64::from(slot) + 1, Release);
        }
        Some(GroupPlace { slot, group, first, n })
    }

    /// Takes a sampler that has ended out of what is read; another one with as many series may have its place.
    pub(crate) fn retire(&self, place: GroupPlace) {
        if let Some(words) = self.group_words(place.slot) {
            words[1].store(0, Release);
        }
    }

    fn retired_room(&self, n: usize) -> Option<(u32, u32, u32)> {
        (0..self.n_slots()).find_map(|slot| {
            let words = self.group_words(slot)?;
            let extent = words[EXTENT].load(Relaxed);
            let is_free = words[1].load(Relaxed) == 0 && high(extent) as usize == n && n > 0;
            is_free.then_some((slot, low(extent), high(extent)))
        })
    }

    fn describe(&self, at: u32, info: &SeriesInfo) {
        let Some(words) = self.series_words(at) else {
            return;
        };
        let mut text = format!("{}\n{}", info.name, info.subject);
        text.truncate(text.floor_char_boundary((HALF[0] - TEXT) * 8));
        for (word, some) in words[TEXT..].iter().zip(text.as_bytes().chunks(8)) {
            let mut padded = [0; 8];
            padded[..some.len()].copy_from_slice(some);
            word.store(u64::from_le_bytes(padded), Relaxed);
        }
        let kind = (info.unit as u64) << 32 | (info.kind as u64) << 40;
        for word in &words[HALF[0]..] {
            word.store(0, Relaxed);
        }
        words[0].store(text.len() as u64 | kind, Relaxed);
    }

    /// Publishes the state of a bucket after a round.
    pub(crate) fn publish(&self, place: GroupPlace, bucket: Bucket, values: &[Readings]) {
        let Some(words) = self.group_words(place.slot) else {
            return;
        };
        let rounds = words[0].load(Relaxed) + 1;
        let half = usize::from(rounds % 2 == 1);
        for (at, readings) in (place.first..place.first + place.n).zip(values) {
            let Some(words) = self.series_words(at) else {
                continue;
            };
            let before = load(&words[HALF[1 - half]..]);
            let is_new =
                readings.count > 0 && (bucket.rounds == 1 || readings.count != before.count);
            if is_new {
                words[READ_AT].store(bucket.last, Relaxed);
            }
            // What is not read in every round keeps its last value for live viewers.
            let last = if readings.count > 0 { readings.last } else { before.last };
            store(&words[HALF[half]..], &Readings { last, ..*readings });
        }
        let bucket = [bucket.start, bucket.width, bucket.first, bucket.last, bucket.rounds.into()];
        for (word, value) in words[GROUP_HALF[half]..].iter().zip(bucket) {
            word.store(value, Relaxed);
        }
        words[0].store(rounds, Release);
    }

    /// The buckets that are being filled, as notes with their time. Rounds that are buckets of their own are notes already.
    pub(crate) fn open_buckets(&self) -> Vec<(u64, Note)> {
        let mut notes = Vec::new();
        for slot in 0..self.n_slots() {
            let (Some(place), Some((bucket, values))) = (self.placed(slot), self.bucket(slot))
            else {
                continue;
            };
            if bucket.width > 0 && bucket.rounds > 0 {
                let samples = Samples::of_bucket(place.group, bucket, &values);
                notes.extend(samples.into_iter().map(|note| (bucket.last, note)));
            }
        }
        notes
    }

    /// The latest reading of every series that has one, and when it was taken (ticks).
    pub(crate) fn latest(&self) -> Vec<(SeriesInfo, f64, u64)> {
        let mut found = Vec::new();
        for slot in 0..self.n_slots() {
            let (Some(place), Some((_, values))) = (self.placed(slot), self.bucket(slot)) else {
                continue;
            };
            for (at, readings) in (place.first..).zip(values) {
                let words = self.series_words(at);
                let read_at = words.map_or(0, |words| words[READ_AT].load(Relaxed));
                let info = self.info(at).filter(|_| read_at > 0);
                found.extend(info.map(|info| (info, readings.last, read_at)));
            }
        }
        found
    }

    /// Forgets all samplers: a new recording begins.
    pub(crate) fn clear(&self) {
        self.header[process::N_GROUPS].store(0, Relaxed);
        self.header[process::N_SERIES].store(0, Relaxed);
    }

    fn n_slots(&self) -> u32 {
        low(self.header[process::N_GROUPS].load(Acquire)).min(MAX_GROUPS)
    }

    /// The sampler of a slot; `None` when it has ended.
    fn placed(&self, slot: u32) -> Option<GroupPlace> {
        let words = self.group_words(slot)?;
        let extent = words[1].load(Acquire);
        let (first, n) = (low(extent), high(extent));
        let end = first.checked_add(n)? as usize;
        let is_sound = n > 0 && end <= self.series.len() / SERIES_WORDS;
        is_sound.then_some(GroupPlace { slot, group: low(words[GROUP].load(Relaxed)), first, n })
    }

    /// The state of a sampler's bucket after one of its rounds; `None` before the first, or when it does not hold still.
    fn bucket(&self, slot: u32) -> Option<(Bucket, Vec<Readings>)> {
        let place = self.placed(slot)?;
        let words = self.group_words(slot)?;
        for _ in 0..100 {
            let rounds = words[0].load(Acquire);
            if rounds == 0 {
                return None;
            }
            let half = usize::from(rounds % 2 == 1);
            let get = |at: usize| words[GROUP_HALF[half] + at].load(Relaxed);
            let bucket = Bucket {
                start: get(0),
                width: get(1),
                first: get(2),
                last: get(3),
                rounds: low(get(4)),
            };
            let values = (place.first..place.first + place.n)
                .filter_map(|at| self.series_words(at))
                .map(|words| load(&words[HALF[half]..]))
                .collect();
            // The half is written again two rounds later.
            std::sync::atomic::fence(Acquire);
            if words[0].load(Relaxed) == rounds {
                return Some((bucket, values));
            }
        }
        None
    }

    fn info(&self, at: u32) -> Option<SeriesInfo> {
        let words = self.series_words(at)?;
        let head = words[0].load(Relaxed);
        let mut bytes: Vec<u8> =
            words[TEXT..HALF[0]].iter().flat_map(|w| w.load(Relaxed).to_le_bytes()).collect();
        bytes.truncate(low(head) as usize);
        let text = crate::value::readable(&bytes);
        let (name, subject) = text.split_once('\n').unwrap_or((&text, ""));
        let (unit, kind) = Wire::take(&mut Decoder::new(&high(head).to_le_bytes()))?;
        Some(SeriesInfo { kind, ..SeriesInfo::gauge(name, subject, unit) })
    }

    fn group_words(&self, slot: u32) -> Option<&'a [AtomicU64]> {
        let at = slot as usize * GROUP_WORDS;
        self.groups.get(at..at + GROUP_WORDS)
    }

    fn series_words(&self, at: u32) -> Option<&'a [AtomicU64]> {
        let at = at as usize * SERIES_WORDS;
        self.series.get(at..at + SERIES_WORDS)
    }
}

impl Samples {
    /// A bucket as notes, a few hundred series in each.
    pub(crate) fn of_bucket(group: u32, bucket: Bucket, values: &[Readings]) -> Vec<Note> {
        let firsts = (0u32..).step_by(SERIES_PER_NOTE);
        let note = |(first_series, values): (u32, &[Readings])| {
            Note::Samples(Self {
                group,
                first_series,
                rounds: bucket.rounds,
                start: bucket.start,
                width: bucket.width,
                first: bucket.first,
                values: values.to_vec(),
            })
        };
        firsts.zip(values.chunks(SERIES_PER_NOTE)).map(note).collect()
    }
}

fn store(words: &[AtomicU64], readings: &Readings) {
    let values = [
        readings.count.into(),
        readings.min.to_bits(),
        readings.max.to_bits(),
        readings.sum.to_bits(),
        readings.last.to_bits(),
    ];
    for (word, value) in words.iter().zip(values) {
        word.store(value, Relaxed);
    }
}

fn load(words: &[AtomicU64]) -> Readings {
    let get = |at: usize| words[at].load(Relaxed);
    Readings {
        count: low(get(0)),
        min: f64::from_bits(get(1)),
        max: f64::from_bits(get(2)),
        sum: f64::from_bits(get(3)),
        last: f64::from_bits(get(4)),
    }
}

#[cfg(test)]
mod tests;
