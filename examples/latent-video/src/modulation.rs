//! How the timestep steers the layers: adaptive layer norm.
//!
//! Peebles, Xie: *Scalable Diffusion Models with Transformers* (2023), section 3.2.

use candle_core::{Device, Module, Result, Tensor};
use candle_nn::{LayerNorm, Linear, VarBuilder, linear};

use crate::weights::SMALL;

/// Numbers that a timestep is spread over before the network sees it.
const FREQUENCIES: usize = 128;
const EPSILON: f64 = 1e-6;

/// The timestep as `n_rows` vectors of the model's width, one per shift, scale and gate.
pub struct TimestepEmbedding {
    first: Linear,
    second: Linear,
    to_rows: Linear,
    n_rows: usize,
}

impl TimestepEmbedding {
    /// An embedding for layers that need `n_rows` vectors.
    pub fn load(n_rows: usize, width: usize, weights: &VarBuilder) -> Result<Self> {
        Ok(Self {
            first: linear(2 * FREQUENCIES, width, weights.pp("first"))?,
            second: linear(width, width, weights.pp("second"))?,
            to_rows: linear(width, n_rows * width, weights.pp("rows"))?,
            n_rows,
        })
    }

    /// Vectors of a timestep in 0…1000: `[rows, width]`.
    pub fn forward(&self, timestep: f64) -> Result<Tensor> {
        let waves = Tensor::new(&sinusoids(timestep)[..], &Device::Cpu)?.unsqueeze(0)?;
        let embedded = self.first.forward(&waves)?.silu()?;
        let embedded = self.second.forward(&embedded)?.silu()?;
        let rows = self.to_rows.forward(&embedded)?;
        rows.reshape((self.n_rows, ()))
    }
}

/// Cosines and sines of a timestep at falling frequencies; Vaswani et al.: *Attention Is All You Need* (2017).
#[expect(clippy::cast_possible_truncation, reason = "between -1 and 1")]
fn sinusoids(timestep: f64) -> Vec<f32> {
    let angle = |i: usize| timestep * 10_000_f64.powf(-(i as f64) / FREQUENCIES as f64);
    let cosines = (0..FREQUENCIES).map(|i| angle(i).cos() as f32);
    let sines = (0..FREQUENCIES).map(|i| angle(i).sin() as f32);
    cosines.chain(sines).collect()
}

/// A layer's own offset to the vectors of the timestep.
pub struct Modulation {
    offset: Tensor,
}

impl Modulation {
    /// A table of `n_rows` vectors.
    pub fn load(n_rows: usize, width: usize, weights: &VarBuilder) -> Result<Self> {
        let offset = weights.get_with_hints((n_rows, width), "modulation", SMALL)?;
        Ok(Self { offset })
    }

    /// The vectors for this layer at this timestep, one `[width]` per row.
    pub fn rows(&self, time: &Tensor) -> Result<Vec<Tensor>> {
        let rows = time.broadcast_add(&self.offset)?;
        (0..rows.dim(0)?).map(|row| rows.get(row)).collect()
    }
}

/// Layer norm whose shift and scale come from the timestep.
pub struct AdaptiveNorm {
    norm: LayerNorm,
}

impl AdaptiveNorm {
    /// A norm over `width` numbers, without weights of its own.
    pub fn new(width: usize) -> Result<Self> {
        let ones = Tensor::ones(width, candle_core::DType::F32, &Device::Cpu)?;
        let norm = LayerNorm::new_no_bias(ones, EPSILON);
        Ok(Self { norm })
    }

    /// The tokens normalised, then scaled and shifted by `[width]` vectors.
    pub fn forward(&self, tokens: &Tensor, shift: &Tensor, scale: &Tensor) -> Result<Tensor> {
        let normalised = self.norm.forward(tokens)?;
        normalised.broadcast_mul(&(scale + 1.0)?)?.broadcast_add(shift)
    }
}
