use serde::Serialize;

use super::peak::PeakFlops;

/// Models.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Models {
    /// Each model that the program named, in the order of their first reports; the last report counts.
    pub each: Vec<Model>,
    /// Parameters of all models whose number is known; `None` when none is.
    pub parameters: Option<u64>,
}

/// One model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Model {
    /// As the user gave it.
    pub name: String,
    /// What it is: `transformer`, `vae`.
    pub kind: Option<String>,
    /// Number of its parameters.
    pub parameters: Option<u64>,
    /// Floating point operations of one pass, as the program said.
    pub flops_per_call: Option<f64>,
    /// Operations in a second, over the median steady step with as many passes as the program said; `None` unless all is known.
    pub achieved_flops_per_second: Option<f64>,
    /// What the device can do in a second, with where that is from.
    pub peak: Option<PeakFlops>,
    /// Achieved over peak: model FLOPs utilisation.
    pub utilization_ratio: Option<f64>,
}
