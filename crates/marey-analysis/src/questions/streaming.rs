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

use marey::{Generation, Run, StreamingEvent};
use serde::Serialize;

use crate::stats::float;

/// Frames that were delivered, and those that were not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Streaming {
    /// Deliveries that were reported.
    pub n_events: u64,
    /// Frames delivered; `None` when no event said how many.
    pub frames: Option<u64>,
    /// Frames that the program reported as dropped.
    pub dropped_frames: u64,
    /// Dropped frames over all that were to be delivered, 0 to 1; `None` when there were none, or it is not known how many.
    pub drop_ratio: Option<f64>,
    /// Frames delivered in a second; `None` unless two events lie apart.
    pub frames_per_second: Option<f64>,
    /// Time that `frames_per_second` is about: from the first event to the last.
    pub delivery_ns: u64,
    /// Mean time to encode what an event delivered; `None` when none said.
    pub encoding_mean_ns: Option<f64>,
    /// Mean time on the network; `None` when no event said.
    pub latency_mean_ns: Option<f64>,
    /// Fill of the viewer's buffer, in the program's own scale; `None` when no event said.
    pub buffer: Option<Buffer>,
}

/// Fill of a buffer over all events, each counting the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    let mut dropped: Option<u64> = None;
    for record in &run.generation {
        match &record.what {
            Generation::Streaming(event) => events.push((record.at_ns, event)),
            Generation::DroppedFrames { count } => {
                dropped = Some(dropped.unwrap_or(0).saturating_add(*count));
            }
            _ => {}
        }
    }
    if events.is_empty() && dropped.is_none() {
        return None;
    }
    events.sort_by_key(|(at_ns, _)| *at_ns);
    let counted: Vec<(u64, u64)> = events
        .iter()
        .filter_map(|(at_ns, event)| Some((*at_ns, event.frames?)))
        .collect();
    let frames = counted.iter().map(|(_, frames)| *frames);
    let frames = frames.reduce(u64::saturating_add);
    let dropped_frames = dropped.unwrap_or(0);
    let (frames_per_second, delivery_ns) = rate(&counted);
    let encoding = events.iter().filter_map(|(_, event)| event.encoding_ns);
    let latency = events
        .iter()
        .filter_map(|(_, event)| event.network_latency_ns);
    Some(Streaming {
        n_events: events.len() as u64,
        frames,
        dropped_frames,
        drop_ratio: drop_ratio(frames, dropped_frames),
        frames_per_second,
        delivery_ns,
        encoding_mean_ns: mean(encoding.map(float)),
        latency_mean_ns: mean(latency.map(float)),
        buffer: buffer(&events),
    })
}

fn drop_ratio(frames: Option<u64>, dropped: u64) -> Option<f64> {
    let all = float(frames?) + float(dropped);
    (all > 0.0).then(|| float(dropped) / all)
}

/// Frames after the first event, in a second of the time from it to the last, and that time.
fn rate(counted: &[(u64, u64)]) -> (Option<f64>, u64) {
    let (Some((first_ns, _)), Some((last_ns, _))) = (counted.first(), counted.last()) else {
        return (None, 0);
    };
    let span_ns = last_ns - first_ns;
    let frames: f64 = counted.iter().skip(1).map(|(_, n)| float(*n)).sum();
    let rate = (span_ns > 0).then(|| frames * 1e9 / float(span_ns));
    (rate, span_ns)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), v| (sum + v, count + 1));
    (count > 0).then(|| sum / float(count))
}

fn buffer(events: &[(u64, &StreamingEvent)]) -> Option<Buffer> {
    let said = events
        .iter()
        .filter_map(|(_, event)| event.buffer_occupancy);
    let fills: Vec<f64> = said.filter(|fill| fill.is_finite()).collect();
    let (min, max) = (f64::min, f64::max);
    Some(Buffer {
        min: fills.iter().copied().reduce(min)?,
        mean: mean(fills.iter().copied())?,
        max: fills.iter().copied().reduce(max)?,
        last: *fills.last()?,
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use marey::RunBuilder;

    const SECOND: u64 = 1_000_000_000;

    fn frames(frames: u64) -> StreamingEvent {
        StreamingEvent {
            frames: Some(frames),
            ..StreamingEvent::default()
        }
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
        assert_eq!((only_dropped.n_events, only_dropped.drop_ratio), (0, None));
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
    }

    #[test]
    fn a_run_that_streamed_nothing_has_no_answer() {
        let run = RunBuilder::new()
            .generation(0, None, Generation::Step(marey::DiffusionStep::default()))
            .finish(10);
        assert_eq!(streaming(&run), None);
    }
}
