//! Positions of tokens in time and space.

use candle_core::{Device, Result, Tensor};
use candle_nn::rotary_emb::rope_i;

/// Longest wavelength, in positions; Su et al.: *RoFormer* (2021).
const THETA: f64 = 10_000.0;

/// The tokens of one block: frames of rows of columns, numbered in that order.
#[derive(Clone, Copy, Debug)]
pub struct TokenGrid {
    /// Frames in the block.
    pub frames: usize,
    /// Patches down a frame.
    pub rows: usize,
    /// Patches across a frame.
    pub columns: usize,
}

impl TokenGrid {
    /// Tokens of one frame.
    pub fn tokens_per_frame(self) -> usize {
        self.rows * self.columns
    }
}

/// Rotations of queries and keys, so that attention sees how far apart two tokens are in time, down and across.
pub struct Rotary {
    cosines: Tensor,
    sines: Tensor,
}

impl Rotary {
    /// Rotations of a block whose first frame is `first_frame` of the clip.
    ///
    /// A third of the pairs of a head turns with each axis; what does not divide goes to time.
    pub fn new(grid: TokenGrid, first_frame: usize, head_size: usize) -> Result<Self> {
        let n_pairs = head_size / 2;
        let spatial = frequencies(n_pairs / 3);
        let temporal = frequencies(n_pairs - 2 * (n_pairs / 3));

        let mut angles = Vec::with_capacity(grid.frames * grid.tokens_per_frame() * n_pairs);
        for frame in first_frame..first_frame + grid.frames {
            for row in 0..grid.rows {
                for column in 0..grid.columns {
                    let axes = [(frame, &temporal), (row, &spatial), (column, &spatial)];
                    for (position, frequencies) in axes {
                        angles.extend(frequencies.iter().map(|f| position as f64 * f));
                    }
                }
            }
        }
        let shape = (angles.len() / n_pairs, n_pairs);
        let angles = Tensor::from_vec(angles, shape, &Device::Cpu)?;
        Ok(Self {
            cosines: angles.cos()?.to_dtype(candle_core::DType::F32)?,
            sines: angles.sin()?.to_dtype(candle_core::DType::F32)?,
        })
    }

    /// Queries or keys `[batch, heads, tokens, head size]`, rotated.
    pub fn rotate(&self, heads: &Tensor) -> Result<Tensor> {
        rope_i(&heads.contiguous()?, &self.cosines, &self.sines)
    }
}

/// Radians per position, from fast to slow.
fn frequencies(n: usize) -> Vec<f64> {
    (0..n).map(|i| THETA.powf(-(i as f64) / n as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product of a query at one frame with a key at another.
    fn product(query_frame: usize, key_frame: usize) -> f32 {
        let grid = TokenGrid { frames: 1, rows: 1, columns: 1 };
        let rotated = |frame: usize, values: [f32; 6]| -> Vec<f32> {
            let heads = Tensor::new(&values, &Device::Cpu).unwrap().reshape((1, 1, 1, 6)).unwrap();
            let rotary = Rotary::new(grid, frame, 6).unwrap();
            rotary.rotate(&heads).unwrap().flatten_all().unwrap().to_vec1().unwrap()
        };
        let query = rotated(query_frame, [1.0, 2.0, -1.0, 0.5, 3.0, 1.0]);
        let key = rotated(key_frame, [0.5, -1.0, 2.0, 1.0, 1.0, -2.0]);
        query.iter().zip(&key).map(|(q, k)| q * k).sum()
    }

    #[test]
    fn attention_depends_on_the_distance_of_frames_only() {
        assert!((product(5, 3) - product(9, 7)).abs() < 1e-5);
        assert!((product(5, 3) - product(5, 4)).abs() > 1e-2);
    }
}
