//! What a path was spent in, added up while it is found.

use std::collections::BTreeMap;

use super::walk::Walk;
use super::{
    CriticalPath, LongSegment, PathKind, PathKindTime, PathNameTime, PathPlace, PathPlaceTime,
    PathSegment,
};
use crate::stats::ratio;

/// Sums of segments.
pub(super) struct Sums<'a> {
    walk: &'a Walk<'a>,
    kinds: BTreeMap<PathKind, Sum>,
    names: BTreeMap<(u32, PathKind), Sum>,
    places: BTreeMap<PathPlace, Sum>,
    /// At least the longest of those so far.
    longest: Vec<PathSegment>,
    n_segments: u64,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    n_segments: u64,
    total_ns: u64,
    longest_ns: u64,
}

impl Sum {
    fn add(&mut self, length_ns: u64) {
        self.n_segments += 1;
        self.total_ns += length_ns;
        self.longest_ns = self.longest_ns.max(length_ns);
    }
}

/// Segments that are shown one by one.
const MOST_SHOWN: usize = 20;

impl<'a> Sums<'a> {
    pub(super) fn new(walk: &'a Walk<'a>) -> Self {
        Self {
            walk,
            kinds: BTreeMap::new(),
            names: BTreeMap::new(),
            places: BTreeMap::new(),
            longest: Vec::new(),
            n_segments: 0,
        }
    }

    pub(super) fn add(&mut self, segment: PathSegment) {
        let length_ns = segment.end_ns - segment.start_ns;
        self.n_segments += 1;
        self.kinds.entry(segment.kind).or_default().add(length_ns);
        let name = (segment.name, segment.kind);
        self.names.entry(name).or_default().add(length_ns);
        self.places.entry(segment.place).or_default().add(length_ns);
        self.longest.push(segment);
        if self.longest.len() >= 2 * MOST_SHOWN {
            self.keep_longest();
        }
    }

    fn keep_longest(&mut self) {
        let key = |s: &PathSegment| (std::cmp::Reverse(s.end_ns - s.start_ns), s.start_ns);
        self.longest.sort_unstable_by_key(key);
        self.longest.truncate(MOST_SHOWN);
    }

    /// The answer.
    pub(super) fn path(mut self, document: u32) -> CriticalPath {
        self.keep_longest();
        let window = self.walk.window;
        let all_ns = window.length_ns();
        let share =
            |sum: &Sum| (all_ns > 0).then(|| ratio(u128::from(sum.total_ns), u128::from(all_ns)));
        let mut kinds: Vec<PathKindTime> = self
            .kinds
            .iter()
            .map(|(kind, sum)| PathKindTime {
                kind: *kind,
                n_segments: sum.n_segments,
                total_ns: sum.total_ns,
                ratio: share(sum),
            })
            .collect();
        kinds.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
        let name = |name: u32| self.walk.trace.names.get(name).to_owned();
        let mut names: Vec<PathNameTime> = self
            .names
            .iter()
            .map(|((of, kind), sum)| PathNameTime {
                kind: *kind,
                name: name(*of),
                n_segments: sum.n_segments,
                total_ns: sum.total_ns,
                longest_ns: sum.longest_ns,
                ratio: share(sum),
            })
            .collect();
        names.sort_by(|a, b| {
            let key = |row: &PathNameTime| (std::cmp::Reverse(row.total_ns), row.kind);
            key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
        });
        let mut places: Vec<PathPlaceTime> = self
            .places
            .iter()
            .map(|(place, sum)| {
                let (device, thread_or_stream) = self.labels(*place);
                PathPlaceTime {
                    device,
                    thread_or_stream,
                    n_segments: sum.n_segments,
                    total_ns: sum.total_ns,
                    ratio: share(sum),
                }
            })
            .collect();
        places.sort_by(|a, b| {
            // Threads of two processes may have one label.
            let label = |row: &PathPlaceTime| (row.device.clone(), row.thread_or_stream.clone());
            let by_time = b.total_ns.cmp(&a.total_ns);
            let by_label = by_time.then_with(|| label(a).cmp(&label(b)));
            by_label.then(b.n_segments.cmp(&a.n_segments))
        });
        let longest = self.longest.iter().map(|segment| {
            let (device, thread_or_stream) = self.labels(segment.place);
            LongSegment {
                start_ns: segment.start_ns,
                length_ns: segment.end_ns - segment.start_ns,
                kind: segment.kind,
                name: name(segment.name),
                device,
                thread_or_stream,
            }
        });
        CriticalPath {
            document,
            start_ns: window.start_ns,
            length_ns: all_ns,
            n_segments: self.n_segments,
            longest: longest.collect(),
            kinds,
            names,
            places,
        }
    }

    /// The device, and the thread or stream.
    fn labels(&self, place: PathPlace) -> (Option<String>, Option<String>) {
        let trace = self.walk.trace;
        match place {
            PathPlace::Nowhere => (None, None),
            PathPlace::Thread(track) => {
                let track = trace.tracks.each.get(track as usize);
                (None, track.map(|track| trace.tracks.label(track.tid)))
            }
            PathPlace::Stream(stream) => {
                let of = self.walk.queues.streams.get(stream as usize);
                let device = of.map(|of| trace.process_label(of.0));
                (device, of.map(|of| trace.tracks.label(of.1)))
            }
        }
    }
}
