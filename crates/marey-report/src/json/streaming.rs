//! `streaming_analysis`: frames that were delivered.

use serde::Serialize;

use super::figures::{PERCENT, listed, milliseconds, timestamp};
use super::object::object;
use super::seconds;
use crate::model::Activity;

/// `None` when nothing was delivered or dropped.
pub(super) fn of(activity: &Activity) -> Option<impl Serialize> {
    let found = activity.streaming.as_ref()?;
    let (events, events_left_out) = listed(&found.each, |delivered| {
        object! {
            timestamp: timestamp(activity, delivered.at_ns),
            batch_size: delivered.frames,
            encoding_time_ms: delivered.encoding_ns.map(milliseconds),
            network_latency_ms: delivered.network_latency_ns.map(milliseconds),
            buffer_occupancy: delivered.buffer_occupancy,
        }
    });
    let (drops, drops_left_out) = listed(&found.drops, |drop| {
        object! {
            timestamp: timestamp(activity, drop.at_ns),
            count: drop.frames,
        }
    });
    Some(object! {
        total_streaming_events: found.n_events,
        total_frames_streamed: found.frames,
        total_dropped_frames: found.dropped_frames,
        current_fps: found.frames_per_second,
        delivery_time: seconds(found.delivery_ns),
        avg_encoding_time_ms: found.encoding_mean_ns.map(|ns| ns / 1e6),
        avg_network_latency_ms: found.latency_mean_ns.map(|ns| ns / 1e6),
        drop_rate_percent: found.drop_ratio.map(|ratio| ratio * PERCENT),
        buffer_occupancy: found.buffer.map(|fill| object! {
            min: fill.min,
            avg: fill.mean,
            max: fill.max,
            last: fill.last,
        }),
        events: events,
        events_left_out: events_left_out,
        drops: drops,
        drops_left_out: drops_left_out,
    })
}
