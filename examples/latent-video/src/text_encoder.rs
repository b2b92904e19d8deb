//! From a prompt to what the transformer attends to.

use candle_core::{D, Device, Module, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{
    Embedding, Linear, RmsNorm, VarBuilder, embedding, linear_no_bias as linear, rms_norm,
};
use tracing::trace_span;

use crate::weights::SMALL;

/// Byte tokens as ByT5 numbers them: 0 padding, 1 end, 2 unknown, then the 256 bytes.
/// Xue et al.: *ByT5: Towards a token-free future* (2022).
const PADDING: u32 = 0;
const END: u32 = 1;
const FIRST_BYTE: u32 = 3;
const VOCABULARY: usize = FIRST_BYTE as usize + 256;

const HEAD_SIZE: usize = 32;
const EPSILON: f64 = 1e-6;

/// Shape of a text encoder.
#[derive(Clone, Debug)]
pub struct TextEncoderConfig {
    /// Numbers per token that come out.
    pub width: usize,
    /// Layers.
    pub n_layers: usize,
    /// Attention heads of 32 numbers each.
    pub n_heads: usize,
    /// Tokens of every prompt, cut or padded to this.
    pub n_tokens: usize,
}

/// An encoder over bytes in the manner of T5 (Raffel et al., 2020): norms before layers, no biases, and a learnt number for each
/// distance between two tokens that all layers add to their attention.
///
/// It emits spans of the crate `tracing`, as libraries do that do not know of Marey.
pub struct TextEncoder {
    tokens: Embedding,
    /// `[heads, tokens, tokens]`.
    distances: Tensor,
    layers: Vec<Layer>,
    norm: RmsNorm,
    n_tokens: usize,
}

impl TextEncoder {
    /// The encoder with the builder's weights.
    pub fn load(config: &TextEncoderConfig, weights: &VarBuilder) -> Result<Self> {
        let layers = (0..config.n_layers)
            .map(|layer| Layer::load(config, &weights.pp("layers").pp(layer)))
            .collect::<Result<_>>()?;
        Ok(Self {
            tokens: embedding(VOCABULARY, config.width, weights.pp("tokens"))?,
            distances: distances(config, weights)?,
            layers,
            norm: rms_norm(config.width, EPSILON, weights.pp("norm"))?,
            n_tokens: config.n_tokens,
        })
    }

    /// Features of a prompt: `[1, tokens, width]`.
    pub fn encode(&self, prompt: &str) -> Result<Tensor> {
        let tokens = Tensor::new(tokens(prompt, self.n_tokens), &Device::Cpu)?;
        let mut features = self.tokens.forward(&tokens.unsqueeze(0)?)?;
        for layer in &self.layers {
            let _span = trace_span!("text_encoder_layer").entered();
            features = layer.forward(&features, &self.distances)?;
        }
        self.norm.forward(&features)
    }
}

/// Attention of all tokens to each other, then a gated feed-forward layer.
struct Layer {
    attention_norm: RmsNorm,
    queries: Linear,
    keys: Linear,
    values: Linear,
    output: Linear,
    feed_norm: RmsNorm,
    gate: Linear,
    widen: Linear,
    narrow: Linear,
}

impl Layer {
    fn load(config: &TextEncoderConfig, weights: &VarBuilder) -> Result<Self> {
        let (width, inner) = (config.width, config.n_heads * HEAD_SIZE);
        let project = |name, inputs, outputs| linear(inputs, outputs, weights.pp(name));
        Ok(Self {
            attention_norm: rms_norm(width, EPSILON, weights.pp("attention_norm"))?,
            queries: project("queries", width, inner)?,
            keys: project("keys", width, inner)?,
            values: project("values", width, inner)?,
            output: project("output", inner, width)?,
            feed_norm: rms_norm(width, EPSILON, weights.pp("feed_norm"))?,
            gate: project("gate", width, 4 * width)?,
            widen: project("widen", width, 4 * width)?,
            narrow: project("narrow", 4 * width, width)?,
        })
    }

    fn forward(&self, features: &Tensor, distances: &Tensor) -> Result<Tensor> {
        let attended = self.attend(&self.attention_norm.forward(features)?, distances)?;
        let features = (features + attended)?;
        let fed = self.feed(&self.feed_norm.forward(&features)?)?;
        features + fed
    }

    fn attend(&self, features: &Tensor, distances: &Tensor) -> Result<Tensor> {
        let _span = trace_span!("text_attention").entered();
        let heads = |projection: &Linear| {
            let (batch, n_tokens, _) = features.dims3()?;
            let split = projection.forward(features)?;
            split.reshape((batch, n_tokens, (), HEAD_SIZE))?.transpose(1, 2)?.contiguous()
        };
        let products = heads(&self.queries)?.matmul(&heads(&self.keys)?.t()?)?;
        let scores = (products / (HEAD_SIZE as f64).sqrt())?.broadcast_add(distances)?;
        let attended = softmax_last_dim(&scores)?.matmul(&heads(&self.values)?)?;
        let joined = attended.transpose(1, 2)?.flatten_from(D::Minus2)?;
        self.output.forward(&joined)
    }

    fn feed(&self, features: &Tensor) -> Result<Tensor> {
        let _span = trace_span!("text_feed_forward").entered();
        let gated = (self.gate.forward(features)?.gelu()? * self.widen.forward(features)?)?;
        self.narrow.forward(&gated)
    }
}

/// A number for each head and pair of tokens that only their distance determines.
fn distances(config: &TextEncoderConfig, weights: &VarBuilder) -> Result<Tensor> {
    let n = config.n_tokens;
    let of_distance =
        weights.get_with_hints((2 * n - 1, config.n_heads), "distances.weight", SMALL)?;
    let indices: Vec<u32> = (0..n)
        .flat_map(|query| (0..n).map(move |key| n - 1 + key - query))
        .map(|index| u32::try_from(index).map_err(candle_core::Error::wrap))
        .collect::<Result<_>>()?;
    let indices = Tensor::from_vec(indices, n * n, &Device::Cpu)?;
    let pairs = of_distance.index_select(&indices, 0)?;
    pairs.reshape((n, n, config.n_heads))?.permute((2, 0, 1))?.contiguous()
}

/// The bytes of a prompt as tokens, ended and padded to a length; what is too long is cut.
fn tokens(prompt: &str, n_tokens: usize) -> Vec<u32> {
    let bytes = prompt.bytes().map(|byte| u32::from(byte) + FIRST_BYTE);
    let mut tokens: Vec<u32> = bytes.take(n_tokens.saturating_sub(1)).collect();
    tokens.push(END);
    tokens.resize(n_tokens, PADDING);
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::Weights;

    #[test]
    fn a_short_prompt_is_ended_and_padded_and_a_long_one_is_cut() {
        assert_eq!(tokens("ab", 5), [100, 101, 1, 0, 0]);
        assert_eq!(tokens("abc", 3), [100, 101, 1]);
        assert_eq!(tokens("", 2), [1, 0]);
    }

    #[test]
    fn features_of_a_token_depend_on_the_others_and_on_their_order() {
        let config = TextEncoderConfig { width: 16, n_layers: 1, n_heads: 2, n_tokens: 4 };
        let encoder = TextEncoder::load(&config, &Weights::new(1).builder()).unwrap();
        let last = |prompt: &str| -> Vec<f32> {
            let features = encoder.encode(prompt).unwrap();
            assert_eq!(features.dims(), [1, 4, 16]);
            features.get(0).unwrap().get(2).unwrap().to_vec1().unwrap()
        };
        let difference = |one: &str, other: &str| {
            let pairs: Vec<_> = last(one).into_iter().zip(last(other)).collect();
            pairs.iter().map(|(a, b)| (a - b).abs()).sum::<f32>()
        };
        assert!(difference("abc", "abc") == 0.0);
        assert!(difference("abc", "xbc") > 1e-3);
        assert!(difference("abc", "bac") > 1e-3);
    }
}
