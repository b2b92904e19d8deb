//! The decoder of a variational autoencoder: latent frames to pictures eight times as large.

use candle_core::{Module, Result, Tensor};
use candle_nn::{Conv2d, Conv2dConfig, GroupNorm, VarBuilder, conv2d, group_norm};

/// Output pixels along the edge of a latent pixel: three doublings.
pub const UPSAMPLING: usize = 8;

const GROUPS: usize = 8;
const RGB: usize = 3;

/// Shape of a decoder.
#[derive(Clone, Debug)]
pub struct DecoderConfig {
    /// Channels of a latent frame.
    pub latent_channels: usize,
    /// Channels at each resolution from 1× to 8×, multiples of 8.
    pub channels: [usize; 4],
}

/// Decodes latent frames, each on its own.
pub struct Decoder {
    input: Conv2d,
    middle: ResidualBlock,
    levels: Vec<UpsamplingLevel>,
    norm: GroupNorm,
    output: Conv2d,
}

impl Decoder {
    /// The decoder with the builder's weights.
    pub fn load(config: &DecoderConfig, weights: &VarBuilder) -> Result<Self> {
        let channels = config.channels;
        let levels = channels
            .windows(2)
            .enumerate()
            .map(|(i, pair)| UpsamplingLevel::load(pair[0], pair[1], &weights.pp("levels").pp(i)))
            .collect::<Result<_>>()?;
        let last = channels[channels.len() - 1];
        Ok(Self {
            input: convolution(config.latent_channels, channels[0], &weights.pp("input"))?,
            middle: ResidualBlock::load(channels[0], &weights.pp("middle"))?,
            levels,
            norm: group_norm(GROUPS, last, 1e-6, weights.pp("norm"))?,
            output: convolution(last, RGB, &weights.pp("output"))?,
        })
    }

    /// Pictures `[frames, 3, 8 × rows, 8 × columns]` in -1…1 of latents `[frames, channels, rows, columns]`.
    pub fn decode(&self, latents: &Tensor) -> Result<Tensor> {
        let mut features = self.middle.forward(&self.input.forward(latents)?)?;
        for level in &self.levels {
            let edge = features.dim(3)?;
            let _section = marey::section!("upsampling_level", from = edge, to = 2 * edge);
            features = level.forward(&features)?;
        }
        let features = self.norm.forward(&features)?.silu()?;
        self.output.forward(&features)?.tanh()
    }
}

/// Doubles the resolution.
struct UpsamplingLevel {
    convolution: Conv2d,
    residual: ResidualBlock,
}

impl UpsamplingLevel {
    fn load(from: usize, to: usize, weights: &VarBuilder) -> Result<Self> {
        Ok(Self {
            convolution: convolution(from, to, &weights.pp("convolution"))?,
            residual: ResidualBlock::load(to, &weights.pp("residual"))?,
        })
    }

    fn forward(&self, features: &Tensor) -> Result<Tensor> {
        let (_, _, rows, columns) = features.dims4()?;
        let doubled = features.upsample_nearest2d(2 * rows, 2 * columns)?;
        self.residual.forward(&self.convolution.forward(&doubled)?)
    }
}

/// Two normalised convolutions beside the identity.
struct ResidualBlock {
    norms: [GroupNorm; 2],
    convolutions: [Conv2d; 2],
}

impl ResidualBlock {
    fn load(channels: usize, weights: &VarBuilder) -> Result<Self> {
        let norm = |name| group_norm(GROUPS, channels, 1e-6, weights.pp(name));
        let convolution = |name| convolution(channels, channels, &weights.pp(name));
        Ok(Self {
            norms: [norm("norm1")?, norm("norm2")?],
            convolutions: [convolution("convolution1")?, convolution("convolution2")?],
        })
    }

    fn forward(&self, features: &Tensor) -> Result<Tensor> {
        let mut residual = features.clone();
        for (norm, convolution) in self.norms.iter().zip(&self.convolutions) {
            residual = convolution.forward(&norm.forward(&residual)?.silu()?)?;
        }
        features + residual
    }
}

/// A 3 × 3 convolution that keeps the resolution.
fn convolution(from: usize, to: usize, weights: &VarBuilder) -> Result<Conv2d> {
    let config = Conv2dConfig { padding: 1, ..Conv2dConfig::default() };
    conv2d(from, to, 3, config, weights.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;
    use crate::weights::Weights;

    #[test]
    fn pictures_are_eight_times_as_large_and_do_not_depend_on_other_frames() {
        let config = DecoderConfig { latent_channels: 4, channels: [16, 16, 8, 8] };
        let decoder = Decoder::load(&config, &Weights::new(0).builder()).unwrap();
        let latents = noise::for_block(0, 0, [2, 4, 3, 5]).unwrap();

        let together = decoder.decode(&latents).unwrap();
        assert_eq!(together.dims(), [2, 3, 3 * UPSAMPLING, 5 * UPSAMPLING]);

        let second = decoder.decode(&latents.narrow(0, 1, 1).unwrap()).unwrap();
        let difference = (together.narrow(0, 1, 1).unwrap() - second).unwrap();
        let largest: f32 = difference.abs().unwrap().max_all().unwrap().to_scalar().unwrap();
        assert!(largest < 1e-4, "{largest}");
    }
}
