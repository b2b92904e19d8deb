use serde::Serialize;

/// What a device can do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeakFlops {
    /// Operations in a second.
    pub flops_per_second: f64,
    /// The device and the number format: "NVIDIA H200, dense BF16".
    pub of: String,
}
