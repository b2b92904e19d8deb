//! How many frames reached the viewer, and how fast?
//!
//! ```text
//! time      0    1    2    3    4    5   s
//! frames         3    3    3    3    3
//! counted        ·    3    3    3    3      12 frames in the 4 s from the first event to the last: 3.0 a second
//! ```
//!
//! An event says that frames were delivered, not since when they were made. So the frames of the first event are not
//! counted for the rate: the time that they took lies before it.
//!
//! Each session has deliveries of its own. Frames after the first delivery of each are divided by the time in which at least one
//! session was between its first and its last delivery, so pauses between sessions are no delivery, and sessions at once add up:
//!
//! ```text
//! time      0    1    2    3    4    5    6    7    8   s
//! A         4    4    4                                      after the first: 8
//! B              4         4                                 after the first: 4
//! C                                       6         6        after the first: 6
//! counted   |--------------|              |---------|        18 frames in 3 + 2 s: 3.6 a second
//! ```

use std::collections::BTreeMap;

use marey::{Generation, Run, StreamingEvent};

use super::session_assignment::SessionAssignment;
use crate::intervals::{Interval, length_ns, union};
use crate::questions::diffusion::Spread;
use crate::stats::{float, rate, sum};

/// Frames that were delivered, and those that were not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Streaming {
    /// Deliveries that were reported.
    pub n_events: u64,
    /// Frames delivered; `None` when no event said how many.
    pub frames: Option<u64>,
    /// Frames that the program reported as dropped.
    pub dropped_frames: u64,
    /// Dropped frames over all that were to be delivered, 0 to 1; `None` when there were none, or it is not known how many.
    pub drop_ratio: Option<f64>,
    /// Frames delivered in a second, those of each session's first event not counted; `None` unless two events of one session lie
    /// apart.
    pub frames_per_second: Option<f64>,
    /// Time that `frames_per_second` is about: from the first event of each session to its last, each moment counted once.
    pub delivery_ns: u64,
    /// Mean time to encode what an event delivered; `None` when none said.
    pub encoding_mean_ns: Option<f64>,
    /// Mean time on the network; `None` when no event said.
    pub latency_mean_ns: Option<f64>,
    /// Fill of the viewer's buffer, in the program's own scale; `None` when no event said.
    pub buffer: Option<Buffer>,
    /// Each delivery as it was reported, in order of time, with when it was since the start of the run; a fill of the buffer that is no
    /// finite number is left out.
    pub each: Vec<(u64, StreamingEvent)>,
    /// When how many frames that were to be delivered were not, as the program reported them, in order of time.
    pub drops: Vec<(u64, u64)>,
}

/// Fill of a buffer over all events, each counting the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// Lowest.
    pub min: f64,
    /// Mean of the events.
    pub mean: f64,
    /// Highest.
    pub max: f64,
    /// At the last event.
    pub last: f64,
}

/// What was streamed; `None` when nothing was delivered or dropped.
pub fn streaming(run: &Run) -> Option<Streaming> {
    let mut events: Vec<(u64, &StreamingEvent)> = Vec::new();
    let mut drops: Vec<(u64, u64)> = Vec::new();
    for record in &run.generation {
        match &record.what {
            Generation::Streaming(event) => events.push((record.at_ns, event)),
            Generation::DroppedFrames { count } => drops.push((record.at_ns, *count)),
            _ => {}
        }
    }
    if events.is_empty() && drops.is_empty() {
        return None;
    }
    events.sort_by_key(|(at_ns, _)| *at_ns);
    drops.sort_by_key(|(at_ns, _)| *at_ns);
    let frames = events.iter().filter_map(|(_, event)| event.frames);
    let frames = frames.reduce(u64::saturating_add);
    let dropped_frames = sum(drops.iter().map(|(_, frames)| *frames));
    let counted = Counted::of(run, &SessionAssignment::new(run));
    let encoding = events.iter().filter_map(|(_, event)| event.encoding_ns);
    let latency = events.iter().filter_map(|(_, event)| event.network_latency_ns);
    Some(Streaming {
        n_events: events.len() as u64,
        frames,
        dropped_frames,
        drop_ratio: drop_ratio(frames.or(events.is_empty().then_some(0)), dropped_frames),
        frames_per_second: counted.per_second(),
        delivery_ns: counted.over_ns(),
        encoding_mean_ns: mean_ns(encoding),
        latency_mean_ns: mean_ns(latency),
        buffer: buffer(&events),
        each: events.into_iter().map(delivered).collect(),
        drops,
    })
}

fn delivered((at_ns, event): (u64, &StreamingEvent)) -> (u64, StreamingEvent) {
    let buffer_occupancy = event.buffer_occupancy.filter(|fill| fill.is_finite());
    (at_ns, StreamingEvent { buffer_occupancy, ..*event })
}

fn drop_ratio(frames: Option<u64>, dropped: u64) -> Option<f64> {
    let all = float(frames?) + float(dropped);
    (all > 0.0).then(|| float(dropped) / all)
}

/// Frames that count for the rate of delivery, and since when until when they were delivered.
#[derive(Default)]
pub(super) struct Counted {
    /// Of all sessions, those of each one's first event left out.
    pub(super) frames: u64,
    /// From the first event of a session to its last: disjoint, in order.
    pub(super) spans: Vec<Interval>,
    /// Sessions that have such a span; what was delivered for none is one more.
    pub(super) n_sessions: usize,
}

impl Counted {
    /// Sessions whose events all came at one moment, or that have one only, are left out: since when is not known.
    pub(super) fn of(run: &Run, assignment: &SessionAssignment<'_>) -> Self {
        let mut counted = Self::default();
        for events in frames_by_session(run, assignment).values() {
            let (Some((start_ns, _)), Some((end_ns, _))) = (events.first(), events.last()) else {
                continue;
            };
            if start_ns < end_ns {
                counted.spans.push(Interval { start_ns: *start_ns, end_ns: *end_ns });
                let later = events.iter().skip(1).map(|(_, frames)| *frames);
                counted.frames = later.fold(counted.frames, u64::saturating_add);
            }
        }
        counted.n_sessions = counted.spans.len();
        counted.spans = union(counted.spans);
        counted
    }

    pub(super) fn over_ns(&self) -> u64 {
        length_ns(&self.spans)
    }

    pub(super) fn per_second(&self) -> Option<f64> {
        rate(self.frames, self.over_ns())
    }
}

/// When how many frames came, of events that said so, by session, in order of time. One of none is no delivery.
pub(super) fn frames_by_session(
    run: &Run,
    assignment: &SessionAssignment<'_>,
) -> BTreeMap<Option<u32>, Vec<(u64, u64)>> {
    let mut found: BTreeMap<Option<u32>, Vec<(u64, u64)>> = BTreeMap::new();
    for record in &run.generation {
        if let Generation::Streaming(event) = &record.what
            && let Some(frames) = event.frames.filter(|frames| *frames > 0)
        {
            let session = assignment.of_record(record.session, Some(record.thread), record.at_ns);
            found.entry(session).or_default().push((record.at_ns, frames));
        }
    }
    for events in found.values_mut() {
        events.sort_by_key(|(at_ns, _)| *at_ns);
    }
    found
}

fn mean_ns(times: impl Iterator<Item = u64>) -> Option<f64> {
    Spread::of(times.map(float)).map(|times| times.mean)
}

fn buffer(events: &[(u64, &StreamingEvent)]) -> Option<Buffer> {
    let said = events.iter().filter_map(|(_, event)| event.buffer_occupancy);
    let mut fills = said.filter(|fill| fill.is_finite());
    let Spread { min, mean, max } = Spread::of(fills.clone())?;
    Some(Buffer { min, mean, max, last: fills.next_back()? })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    const SECOND: u64 = 1_000_000_000;

    fn frames(frames: u64) -> StreamingEvent {
        StreamingEvent { frames: Some(frames), ..StreamingEvent::default() }
    }

    fn streamed(events: &[(u64, StreamingEvent)], dropped: &[u64]) -> Streaming {
        let mut builder = RunBuilder::new();
        for (at_ns, event) in events {
            builder = builder.generation(*at_ns, None, Generation::Streaming(event.clone()));
        }
        for count in dropped {
            builder = builder.generation(1, None, Generation::DroppedFrames { count: *count });
        }
        streaming(&builder.finish(10 * SECOND)).unwrap()
    }

    #[test]
    fn five_deliveries_of_three_frames_a_second_apart_are_three_frames_a_second() {
        // The original said 3.75: 15 frames in 4 s.
        let events: Vec<_> = (1..=5).map(|n| (n * SECOND, frames(3))).collect();
        let found = streamed(&events, &[]);
        assert_eq!(found.frames_per_second, Some(3.0));
        assert_eq!((found.frames, found.delivery_ns), (Some(15), 4 * SECOND));
    }

    #[test]
    fn all_deliveries_count_and_not_the_last_ten_only() {
        // 20 deliveries of 1 frame a second apart, then 10 of 10 frames.
        let of = |n: u64| if n <= 20 { frames(1) } else { frames(10) };
        let events: Vec<_> = (1..=30).map(|n| (n * SECOND, of(n))).collect();
        let found = streamed(&events, &[]);
        assert_eq!(found.frames_per_second, Some(119.0 / 29.0));
    }

    /// Sessions, each with when it was open and the times of its deliveries of so many frames, in milliseconds.
    fn of_sessions(sessions: &[((u64, u64), u64, Vec<u64>)]) -> Streaming {
        const MS: u64 = 1_000_000;
        let mut builder = RunBuilder::new();
        for ((start, end), _, _) in sessions {
            builder = builder.session("clip", start * MS, Some(end * MS), vec![]);
        }
        for (session, (_, of_each, times)) in (0..).zip(sessions) {
            for at in times {
                let event = Generation::Streaming(frames(*of_each));
                builder = builder.generation(at * MS, Some(session), event);
            }
        }
        streaming(&builder.finish(20 * SECOND)).unwrap()
    }

    #[test]
    fn a_pause_between_two_sessions_is_no_delivery() {
        // ms    0       500  …  12500     13000
        // A     16 every 50 ms: 10 after the first, 160 frames in 0.5 s: 320 a second
        // B                     16 every 100 ms: 5 after the first, 80 frames in 0.5 s: 160 a second
        let found = of_sessions(&[
            ((0, 600), 16, (0..=10).map(|n| n * 50).collect()),
            ((12_400, 13_100), 16, (125..=130).map(|n| n * 100).collect()),
        ]);
        assert_eq!(found.frames_per_second, Some(240.0));
        assert_eq!((found.frames, found.delivery_ns), (Some(272), SECOND));
    }

    #[test]
    fn two_sessions_of_sixty_at_once_deliver_nearly_twice_as_many() {
        // ms    0    50   100  150  …  9950 10000 10050
        // A     6         6                 6             600 frames after the first, 0 to 10 000
        // B          6         6       6          6       600 frames after the first, 50 to 10 050
        let found = of_sessions(&[
            ((0, 11_000), 6, (0..=100).map(|n| n * 100).collect()),
            ((0, 11_000), 6, (0..=100).map(|n| n * 100 + 50).collect()),
        ]);
        assert_eq!(found.frames_per_second, Some(1200.0 * 1e9 / 10.05e9));
    }

    #[test]
    fn sessions_that_overlap_in_part_count_each_moment_once() {
        // As drawn at the top of this file.
        let found = of_sessions(&[
            ((0, 2500), 4, vec![0, 1000, 2000]),
            ((500, 3500), 4, vec![1000, 3000]),
            ((5500, 8500), 6, vec![6000, 8000]),
        ]);
        assert_eq!(found.frames_per_second, Some(3.6));
        assert_eq!(found.delivery_ns, 5 * SECOND);
    }

    #[test]
    fn one_delivery_of_each_session_has_no_rate() {
        let found = of_sessions(&[((0, 100), 4, vec![50]), ((200, 300), 4, vec![250])]);
        assert_eq!((found.frames_per_second, found.delivery_ns), (None, 0));
    }

    #[test]
    fn one_delivery_has_no_rate() {
        let found = streamed(&[(SECOND, frames(16))], &[]);
        assert_eq!((found.frames, found.frames_per_second), (Some(16), None));
        let at_once = streamed(&[(SECOND, frames(16)), (SECOND, frames(16))], &[]);
        assert_eq!(at_once.frames_per_second, None);
    }

    #[test]
    fn the_drop_rate_is_of_all_frames_that_were_to_be_delivered() {
        let found = streamed(&[(0, frames(15)), (SECOND, frames(15))], &[4, 6]);
        assert_eq!((found.dropped_frames, found.drop_ratio), (10, Some(0.25)));
        let unknown = streamed(&[(0, StreamingEvent::default())], &[4]);
        assert_eq!((unknown.frames, unknown.drop_ratio), (None, None));
        let only_dropped = streamed(&[], &[4]);
        assert_eq!((only_dropped.n_events, only_dropped.drop_ratio), (0, Some(1.0)));
    }

    #[test]
    fn means_are_of_what_was_said() {
        let event = |encoding, latency, fill| StreamingEvent {
            frames: Some(1),
            encoding_ns: encoding,
            network_latency_ns: latency,
            buffer_occupancy: fill,
        };
        let found = streamed(
            &[
                (0, event(Some(10), None, Some(0.5))),
                (1, event(None, None, Some(f64::NAN))),
                (2, event(Some(30), None, Some(0.25))),
            ],
            &[],
        );
        assert_eq!(found.encoding_mean_ns, Some(20.0));
        assert_eq!(found.latency_mean_ns, None);
        let buffer = found.buffer.unwrap();
        assert_eq!((buffer.min, buffer.mean, buffer.max), (0.25, 0.375, 0.5));
        assert_eq!(buffer.last, 0.25);
        let each = found.each.iter();
        let said = each.map(|(at_ns, e)| (*at_ns, e.encoding_ns, e.buffer_occupancy));
        let expected = [(0, Some(10), Some(0.5)), (1, None, None), (2, Some(30), Some(0.25))];
        assert_eq!(said.collect::<Vec<_>>(), expected);
    }
}
