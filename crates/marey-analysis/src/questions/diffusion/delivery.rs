use serde::Serialize;

use super::durations::Durations;

/// Delivery of frames to a viewer who plays them at a fixed rate from the first delivery on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delivery {
    /// Frames in a second at which the viewer plays.
    pub playback_per_second: f64,
    /// Delivered frames, as played time, over the time that their making took; above 1 is faster than real time.
    pub real_time_factor: Option<f64>,
    /// From the start of the session or the run to the first delivery.
    pub time_to_first_ns: u64,
    /// Time between neighbouring deliveries; `None` with fewer than two.
    pub between: Option<Durations>,
    /// Mean of the absolute differences of neighbouring times between; `None` with fewer than three deliveries.
    pub jitter_ns: Option<f64>,
    /// Each delivery, in order of time.
    pub each: Vec<DeliveryPoint>,
    /// Deliveries after the first that came before the viewer ran out.
    pub deadlines_met: u64,
    /// Deliveries after the first that came too late.
    pub deadlines_missed: u64,
    /// Time that the viewer stood still for lack of frames.
    pub stalled_ns: u64,
    /// Frames that the viewer would have to hold before it begins, to never stand still.
    pub frames_ahead_needed: u64,
}

/// One delivery.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeliveryPoint {
    /// When.
    pub at_ns: u64,
    /// Frames.
    pub frames: u64,
    /// When the viewer had played all frames that came before; `None` for the first delivery.
    pub deadline_ns: Option<u64>,
    /// How long the viewer stood still before it.
    pub stalled_ns: u64,
}
