//! `streaming_analysis`: frames that were delivered.

use marey_analysis::Streaming;
use serde::Serialize;

use super::figures::PERCENT;
use super::seconds;

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
}

#[derive(Serialize)]
struct BufferObject {
    min: f64,
    avg: f64,
    max: f64,
    last: f64,
}

impl StreamingAnalysis {
    pub(super) fn new(found: &Streaming) -> Self {
        Self {
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
        }
    }
}
