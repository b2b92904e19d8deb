//! The video diffusion transformer: causal from block to block, bidirectional within a block.
//!
//! Huang et al.: *Self Forcing: Bridging the Train-Test Gap in Autoregressive Video Diffusion* (2025).

use candle_core::{Module, Result, Tensor};
use candle_nn::{Linear, VarBuilder, linear};

use crate::kv_cache::{KeysValues, KvCache};
use crate::modulation::{AdaptiveNorm, Modulation, TimestepEmbedding};
use crate::patches::Patches;
use crate::rotary::Rotary;
use crate::transformer_block::{Conditions, N_MODULATIONS, TransformerBlock};

/// The timestep of latents without noise.
const CLEAN: f64 = 0.0;

/// Shape of a transformer.
#[derive(Clone, Debug)]
pub struct TransformerConfig {
    /// Channels of a latent frame.
    pub latent_channels: usize,
    /// Latent pixels along the edge of a patch; a patch is a token.
    pub patch: usize,
    /// Numbers per token.
    pub width: usize,
    /// Layers.
    pub n_layers: usize,
    /// Attention heads, a divisor of the width.
    pub n_heads: usize,
    /// Numbers per text token.
    pub text_width: usize,
}

/// Predicts the velocity from data to noise for one block of latent frames, given the prompt and the blocks before.
pub struct Transformer {
    patches: Patches,
    from_patches: Linear,
    time: TimestepEmbedding,
    blocks: Vec<TransformerBlock>,
    head: Head,
    head_size: usize,
}

impl Transformer {
    /// The transformer with the builder's weights.
    pub fn load(config: &TransformerConfig, weights: &VarBuilder) -> Result<Self> {
        let patches = Patches::new(config.patch, config.latent_channels);
        let blocks = (0..config.n_layers)
            .map(|layer| TransformerBlock::load(layer, config, &weights.pp("blocks").pp(layer)))
            .collect::<Result<_>>()?;
        Ok(Self {
            from_patches: linear(patches.width(), config.width, weights.pp("from_patches"))?,
            time: TimestepEmbedding::load(N_MODULATIONS, config.width, &weights.pp("time"))?,
            blocks,
            head: Head::load(config.width, patches.width(), &weights.pp("head"))?,
            head_size: config.width / config.n_heads,
            patches,
        })
    }

    /// A cache for one clip.
    pub fn empty_cache(&self) -> KvCache {
        KvCache::new(self.blocks.len())
    }

    /// Velocity of latents `[batch, frames, channels, rows, columns]` at a timestep in 0…1000, in the same shape.
    pub fn velocity(
        &self,
        latents: &Tensor,
        timestep: f64,
        text: &Tensor,
        cache: &KvCache,
    ) -> Result<Tensor> {
        let time = self.time.forward(timestep)?;
        let (tokens, _) = self.through_blocks(latents, &time, text, cache)?;
        let patches = self.head.forward(&tokens, &time)?;
        self.patches.join(&patches, latents.dims5()?)
    }

    /// Passes finished latents once more, so that later blocks attend to what the block became.
    pub fn commit(&self, latents: &Tensor, text: &Tensor, cache: &mut KvCache) -> Result<()> {
        let time = self.time.forward(CLEAN)?;
        let (_, keys_values) = self.through_blocks(latents, &time, text, cache)?;
        cache.commit(&keys_values)
    }

    /// Tokens after the last layer, and the keys and values that each layer made on the way.
    fn through_blocks(
        &self,
        latents: &Tensor,
        time: &Tensor,
        text: &Tensor,
        cache: &KvCache,
    ) -> Result<(Tensor, Vec<KeysValues>)> {
        let grid = self.patches.grid(latents.dims5()?);
        let first_frame = cache.n_tokens() / grid.tokens_per_frame();
        let conditions = Conditions {
            time,
            text,
            rotary: &Rotary::new(grid, first_frame, self.head_size)?,
            cache,
        };

        let mut tokens = self.from_patches.forward(&self.patches.split(latents)?)?;
        let mut keys_values = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let (after, present) = block.forward(&tokens, &conditions)?;
            tokens = after;
            keys_values.push(present);
        }
        Ok((tokens, keys_values))
    }
}

/// From tokens back to patches of latents.
struct Head {
    modulation: Modulation,
    norm: AdaptiveNorm,
    to_patches: Linear,
}

impl Head {
    fn load(width: usize, patch_width: usize, weights: &VarBuilder) -> Result<Self> {
        Ok(Self {
            modulation: Modulation::load(2, width, weights)?,
            norm: AdaptiveNorm::new(width)?,
            to_patches: linear(width, patch_width, weights.pp("to_patches"))?,
        })
    }

    fn forward(&self, tokens: &Tensor, time: &Tensor) -> Result<Tensor> {
        let rows = self.modulation.rows(&time.narrow(0, 0, 2)?)?;
        let normed = self.norm.forward(tokens, &rows[0], &rows[1])?;
        self.to_patches.forward(&normed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;
    use crate::weights::Weights;
    use candle_core::{DType, Device};

    fn one_layer() -> Transformer {
        let config = TransformerConfig {
            latent_channels: 4,
            patch: 2,
            width: 24,
            n_layers: 1,
            n_heads: 2,
            text_width: 8,
        };
        Transformer::load(&config, &Weights::new(3).builder()).unwrap()
    }

    fn difference(one: &Tensor, other: &Tensor) -> f32 {
        let difference = (one - other).unwrap().abs().unwrap();
        difference.max_all().unwrap().to_scalar().unwrap()
    }

    /// ```text
    /// together:  [ block 0 · block 1 ] ──► second half of the output
    /// in turn:     block 0 committed,  then block 1 ──► the same
    /// ```
    ///
    /// With one layer, keys and values of block 0 do not depend on block 1, so both must agree.
    #[test]
    fn a_block_sees_in_the_cache_what_it_would_see_beside_itself() {
        let transformer = one_layer();
        let text = Tensor::ones((1, 3, 8), DType::F32, &Device::Cpu).unwrap();
        let block = |index| {
            let noise = noise::for_block(0, index, [2, 4, 4, 4]).unwrap();
            noise.unsqueeze(0).unwrap()
        };

        let both = Tensor::cat(&[block(0), block(1)], 1).unwrap();
        let empty = transformer.empty_cache();
        let together = transformer.velocity(&both, CLEAN, &text, &empty).unwrap();

        let mut cache = transformer.empty_cache();
        transformer.commit(&block(0), &text, &mut cache).unwrap();
        let in_turn = transformer.velocity(&block(1), CLEAN, &text, &cache).unwrap();
        let alone = transformer.velocity(&block(1), CLEAN, &text, &empty).unwrap();

        let second_half = together.narrow(1, 2, 2).unwrap();
        assert!(difference(&second_half, &in_turn) < 1e-4);
        assert!(difference(&second_half, &alone) > 1e-3);
    }

    #[test]
    fn velocity_depends_on_the_timestep_and_on_the_text() {
        let transformer = one_layer();
        let latents = noise::for_block(0, 0, [1, 4, 4, 4]).unwrap().unsqueeze(0).unwrap();
        let text = Tensor::ones((1, 3, 8), DType::F32, &Device::Cpu).unwrap();
        let cache = transformer.empty_cache();
        let velocity = |timestep, text: &Tensor| {
            transformer.velocity(&latents, timestep, text, &cache).unwrap()
        };

        let reference = velocity(500.0, &text);
        assert_eq!(reference.dims(), latents.dims());
        assert!(difference(&reference, &velocity(900.0, &text)) > 1e-3);
        let other_text = (&text * -1.0).unwrap();
        assert!(difference(&reference, &velocity(500.0, &other_text)) > 1e-3);
    }
}
