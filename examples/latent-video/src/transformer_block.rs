//! One layer of the video transformer.

use candle_core::{Module, Result, Tensor};
use candle_nn::{LayerNorm, Linear, VarBuilder, layer_norm, linear};

use crate::attention::{CrossAttention, SelfAttention};
use crate::kv_cache::{KeysValues, KvCache};
use crate::modulation::{AdaptiveNorm, Modulation};
use crate::rotary::Rotary;
use crate::transformer::TransformerConfig;

/// Shift, scale and gate of the self-attention, then of the feed-forward layer.
pub const N_MODULATIONS: usize = 6;

/// Self-attention, attention to the prompt, feed-forward; the first and the last gated by the timestep.
pub struct TransformerBlock {
    layer: usize,
    modulation: Modulation,
    adaptive_norm: AdaptiveNorm,
    self_attention: SelfAttention,
    text_norm: LayerNorm,
    cross_attention: CrossAttention,
    feed_forward: FeedForward,
}

/// What all layers of one forward pass share.
pub struct Conditions<'a> {
    /// Vectors of the timestep: `[6, width]`.
    pub time: &'a Tensor,
    /// Features of the prompt: `[batch, text tokens, text width]`.
    pub text: &'a Tensor,
    /// Positions of the tokens.
    pub rotary: &'a Rotary,
    /// The blocks that are done.
    pub cache: &'a KvCache,
}

impl TransformerBlock {
    /// The block of layer `layer`.
    pub fn load(layer: usize, config: &TransformerConfig, weights: &VarBuilder) -> Result<Self> {
        let (width, n_heads) = (config.width, config.n_heads);
        Ok(Self {
            layer,
            modulation: Modulation::load(N_MODULATIONS, width, weights)?,
            adaptive_norm: AdaptiveNorm::new(width)?,
            self_attention: SelfAttention::load(layer, width, n_heads, &weights.pp("self"))?,
            text_norm: layer_norm(width, 1e-6, weights.pp("text_norm"))?,
            cross_attention: CrossAttention::load(
                width,
                config.text_width,
                n_heads,
                &weights.pp("cross"),
            )?,
            feed_forward: FeedForward::load(width, &weights.pp("feed_forward"))?,
        })
    }

    /// The tokens after this layer, and the keys and values that its self-attention made.
    pub fn forward(&self, tokens: &Tensor, on: &Conditions) -> Result<(Tensor, KeysValues)> {
        let _section = marey::section!("transformer_block", layer = self.layer);
        let rows = self.modulation.rows(on.time)?;
        let [shift, scale, gate, last_shift, last_scale, last_gate] = &rows[..] else {
            candle_core::bail!("expected {N_MODULATIONS} modulations, found {}", rows.len());
        };

        let normed = self.adaptive_norm.forward(tokens, shift, scale)?;
        let (attended, keys_values) = self.self_attention.forward(&normed, on.rotary, on.cache)?;
        let tokens = (tokens + attended.broadcast_mul(gate)?)?;

        let normed = self.text_norm.forward(&tokens)?;
        let tokens = (&tokens + self.cross_attention.forward(&normed, on.text)?)?;

        let normed = self.adaptive_norm.forward(&tokens, last_shift, last_scale)?;
        let fed = self.feed_forward.forward(&normed)?;
        Ok(((tokens + fed.broadcast_mul(last_gate)?)?, keys_values))
    }
}

/// Two linear layers around a GELU, four times as wide in between.
struct FeedForward {
    widen: Linear,
    narrow: Linear,
}

impl FeedForward {
    fn load(width: usize, weights: &VarBuilder) -> Result<Self> {
        Ok(Self {
            widen: linear(width, 4 * width, weights.pp("widen"))?,
            narrow: linear(4 * width, width, weights.pp("narrow"))?,
        })
    }

    fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let _section = marey::section!("feed_forward");
        self.narrow.forward(&self.widen.forward(tokens)?.gelu()?)
    }
}
