//! `streaming_analysis`: frames that were delivered.

use super::figures::{PERCENT, listed, milliseconds, timestamp};
use super::object::{Json, object};
use super::seconds;
use crate::model::Activity;

/// `None` when nothing was delivered or dropped.
pub(super) fn of(activity: &Activity) -> Option<impl Json> {
    let found = activity.streaming.as_ref()?;
    let (events, events_left_out) = listed(&found.each, |delivered| {
        object! {
            /// When, seconds since 1970.
            timestamp: timestamp(activity, delivered.at_ns),
            /// Frames; null when not said.
            batch_size: delivered.frames,
            /// Time to encode them; null when not said.
            encoding_time_ms: delivered.encoding_ns.map(milliseconds),
            /// Time on the network; null when not said.
            network_latency_ms: delivered.network_latency_ns.map(milliseconds),
            /// Fill of the viewer's buffer in the program's own scale; null when not said.
            buffer_occupancy: delivered.buffer_occupancy,
        }
    });
    let (drops, drops_left_out) = listed(&found.drops, |drop| {
        object! {
            /// When, seconds since 1970.
            timestamp: timestamp(activity, drop.at_ns),
            /// Frames.
            count: drop.frames,
        }
    });
    Some(object! {
        /// Frames that were delivered.
        struct StreamingAnalysis;
        /// Deliveries.
        total_streaming_events: found.n_events,
        /// Frames delivered; null when no delivery said how many.
        total_frames_streamed: found.frames,
        /// Frames that the program reported as dropped.
        total_dropped_frames: found.dropped_frames,
        /// Frames delivered after the first delivery, in a second of delivery_time; null unless two deliveries lie apart.
        current_fps: found.frames_per_second,
        /// From the first delivery to the last, seconds.
        delivery_time: seconds(found.delivery_ns),
        /// Mean of the deliveries that said it.
        avg_encoding_time_ms: found.encoding_mean_ns.map(|ns| ns / 1e6),
        /// Mean of the deliveries that said it.
        avg_network_latency_ms: found.latency_mean_ns.map(|ns| ns / 1e6),
        /// Dropped frames over delivered and dropped ones.
        drop_rate_percent: found.drop_ratio.map(|ratio| ratio * PERCENT),
        /// Fill of the viewer's buffer in the program's own scale; null when no delivery said.
        buffer_occupancy: found.buffer.map(|fill| object! {
            /// Lowest.
            min: fill.min,
            /// Mean of the deliveries.
            avg: fill.mean,
            /// Highest.
            max: fill.max,
            /// At the last one.
            last: fill.last,
        }),
        /// Each delivery as the program reported it, in order of time, at most 10000.
        events: events,
        /// Deliveries beyond those.
        events_left_out: events_left_out,
        /// Each report of dropped frames, in order of time, at most 10000.
        drops: drops,
        /// Reports beyond those.
        drops_left_out: drops_left_out,
    })
}
