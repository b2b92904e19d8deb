//! Latent frames cut into patches, one token each.

use candle_core::{Result, Tensor};

use crate::rotary::TokenGrid;

/// Batch, frames, channels, rows and columns of latents.
type LatentDims = (usize, usize, usize, usize, usize);

/// Cuts latents into square patches and joins them again.
pub struct Patches {
    edge: usize,
    channels: usize,
}

impl Patches {
    /// Patches of `edge` × `edge` latent pixels.
    pub fn new(edge: usize, channels: usize) -> Self {
        Self { edge, channels }
    }

    /// Numbers in a patch.
    pub fn width(&self) -> usize {
        self.channels * self.edge * self.edge
    }

    /// The tokens that latents give.
    pub fn grid(&self, (_, frames, _, rows, columns): LatentDims) -> TokenGrid {
        TokenGrid { frames, rows: rows / self.edge, columns: columns / self.edge }
    }

    /// `[batch, frames, channels, rows, columns]` as `[batch, tokens, patch width]`.
    pub fn split(&self, latents: &Tensor) -> Result<Tensor> {
        let dims @ (batch, frames, channels, _, _) = latents.dims5()?;
        let TokenGrid { rows, columns, .. } = self.grid(dims);
        let (edge, n) = (self.edge, batch * frames);
        latents
            .reshape(&[n, channels, rows, edge, columns, edge][..])?
            .permute([0, 2, 4, 1, 3, 5])?
            .reshape((batch, frames * rows * columns, self.width()))
    }

    /// The inverse of `split`.
    pub fn join(&self, patches: &Tensor, dims: LatentDims) -> Result<Tensor> {
        let (batch, frames, channels, _, _) = dims;
        let TokenGrid { rows, columns, .. } = self.grid(dims);
        let edge = self.edge;
        patches
            .reshape(&[batch * frames, rows, columns, channels, edge, edge][..])?
            .permute([0, 3, 1, 4, 2, 5])?
            .reshape(dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn a_token_is_a_square_of_one_frame_and_joining_undoes_splitting() {
        // One frame of one channel:   0  1 |  2  3
        //                             4  5 |  6  7
        let latents = Tensor::arange(0_f32, 8.0, &Device::Cpu).unwrap();
        let latents = latents.reshape((1, 1, 1, 2, 4)).unwrap();
        let patches = Patches::new(2, 1);

        let tokens = patches.split(&latents).unwrap();
        let expected = [[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]];
        assert_eq!(tokens.get(0).unwrap().to_vec2::<f32>().unwrap(), expected);

        let joined = patches.join(&tokens, (1, 1, 1, 2, 4)).unwrap();
        let numbers: Vec<f32> = joined.flatten_all().unwrap().to_vec1().unwrap();
        assert_eq!(numbers, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    }
}
