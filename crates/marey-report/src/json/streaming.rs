//! `streaming_analysis`: frames that were delivered.

use marey_analysis::{Delivered, DroppedFrames};
use serde::Serialize;

use super::diffusion::timestamp;
use super::durations::milliseconds;
use super::figures::PERCENT;
use super::listed::listed;
use super::seconds;
use crate::model::Activity;

/// `streaming_analysis` of the report.
#[derive(Serialize)]
pub(super) struct StreamingAnalysis {
    total_streaming_events: u64,
    total_frames_streamed: Option<u64>,
    total_dropped_frames: u64,
    current_fps: Option<f64>,
    delivery_time: f64,
    avg_encoding_time_ms: Option<f64>,
    avg_network_latency_ms: Option<f64>,
    drop_rate_percent: Option<f64>,
    buffer_occupancy: Option<BufferObject>,
    events: Vec<DeliveredObject>,
    events_left_out: u64,
    drops: Vec<DropObject>,
    drops_left_out: u64,
}

/// A delivery as the program reported it.
#[derive(Serialize)]
struct DeliveredObject {
    timestamp: f64,
    batch_size: Option<u64>,
    encoding_time_ms: Option<f64>,
    network_latency_ms: Option<f64>,
    buffer_occupancy: Option<f64>,
}

#[derive(Serialize)]
struct DropObject {
    timestamp: f64,
    count: u64,
}

#[derive(Serialize)]
struct BufferObject {
    min: f64,
    avg: f64,
    max: f64,
    last: f64,
}

impl StreamingAnalysis {
    /// `None` when nothing was delivered or dropped.
    pub(super) fn new(activity: &Activity) -> Option<Self> {
        let found = activity.streaming.as_ref()?;
        let drop = |drop: &DroppedFrames| DropObject {
            timestamp: timestamp(activity, drop.at_ns),
            count: drop.frames,
        };
        let (events, events_left_out) =
            listed(&found.each, |one| DeliveredObject::new(activity, one));
        let (drops, drops_left_out) = listed(&found.drops, drop);
        Some(Self {
            total_streaming_events: found.n_events,
            total_frames_streamed: found.frames,
            total_dropped_frames: found.dropped_frames,
            current_fps: found.frames_per_second,
            delivery_time: seconds(found.delivery_ns),
            avg_encoding_time_ms: found.encoding_mean_ns.map(|ns| ns / 1e6),
            avg_network_latency_ms: found.latency_mean_ns.map(|ns| ns / 1e6),
            drop_rate_percent: found.drop_ratio.map(|ratio| ratio * PERCENT),
            buffer_occupancy: found.buffer.map(|fill| BufferObject {
                min: fill.min,
                avg: fill.mean,
                max: fill.max,
                last: fill.last,
            }),
            events,
            events_left_out,
            drops,
            drops_left_out,
        })
    }
}

impl DeliveredObject {
    fn new(activity: &Activity, found: &Delivered) -> Self {
        Self {
            timestamp: timestamp(activity, found.at_ns),
            batch_size: found.frames,
            encoding_time_ms: found.encoding_ns.map(milliseconds),
            network_latency_ms: found.network_latency_ns.map(milliseconds),
            buffer_occupancy: found.buffer_occupancy,
        }
    }
}
