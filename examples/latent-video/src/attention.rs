//! Attention of video tokens to each other, to the past, and to the prompt.

use candle_core::{D, Module, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{Linear, RmsNorm, VarBuilder, linear, rms_norm};

use crate::kv_cache::{KeysValues, KvCache};
use crate::rotary::Rotary;

const EPSILON: f64 = 1e-6;

/// Projections to heads and back, with normalised queries and keys.
struct Projections {
    to_queries: Linear,
    to_keys: Linear,
    to_values: Linear,
    to_output: Linear,
    query_norm: RmsNorm,
    key_norm: RmsNorm,
    n_heads: usize,
}

impl Projections {
    fn load(
        width: usize,
        source_width: usize,
        n_heads: usize,
        weights: &VarBuilder,
    ) -> Result<Self> {
        let head_size = width / n_heads;
        Ok(Self {
            to_queries: linear(width, width, weights.pp("queries"))?,
            to_keys: linear(source_width, width, weights.pp("keys"))?,
            to_values: linear(source_width, width, weights.pp("values"))?,
            to_output: linear(width, width, weights.pp("output"))?,
            query_norm: rms_norm(head_size, EPSILON, weights.pp("query_norm"))?,
            key_norm: rms_norm(head_size, EPSILON, weights.pp("key_norm"))?,
            n_heads,
        })
    }

    fn queries(&self, tokens: &Tensor) -> Result<Tensor> {
        let queries = self.split(&self.to_queries.forward(tokens)?)?;
        self.query_norm.forward(&queries)
    }

    fn keys_values(&self, source: &Tensor) -> Result<KeysValues> {
        let keys = self.split(&self.to_keys.forward(source)?)?;
        Ok(KeysValues {
            keys: self.key_norm.forward(&keys)?,
            values: self.split(&self.to_values.forward(source)?)?,
        })
    }

    /// `[batch, tokens, width]` as `[batch, heads, tokens, head size]`.
    fn split(&self, tokens: &Tensor) -> Result<Tensor> {
        let (batch, n_tokens, width) = tokens.dims3()?;
        tokens
            .reshape((batch, n_tokens, self.n_heads, width / self.n_heads))?
            .transpose(1, 2)?
            .contiguous()
    }

    /// Values weighted by how well their keys match the queries, projected back: `[batch, tokens, width]`.
    fn attend(&self, queries: &Tensor, source: &KeysValues) -> Result<Tensor> {
        let head_size = queries.dim(D::Minus1)? as f64;
        let scores = (queries.matmul(&source.keys.t()?)? / head_size.sqrt())?;
        let attended = softmax_last_dim(&scores)?.matmul(&source.values)?;
        let joined = attended.transpose(1, 2)?.flatten_from(2)?;
        self.to_output.forward(&joined)
    }
}

/// Attention over the frames of a block and the committed blocks before it.
pub struct SelfAttention {
    projections: Projections,
    layer: usize,
}

impl SelfAttention {
    /// The attention of layer `layer`.
    pub fn load(layer: usize, width: usize, n_heads: usize, weights: &VarBuilder) -> Result<Self> {
        let projections = Projections::load(width, width, n_heads, weights)?;
        Ok(Self { projections, layer })
    }

    /// What the tokens attended to, and their own keys and values, which a commit keeps.
    pub fn forward(
        &self,
        tokens: &Tensor,
        rotary: &Rotary,
        cache: &KvCache,
    ) -> Result<(Tensor, KeysValues)> {
        let _section = marey::section!("self_attention");
        let queries = rotary.rotate(&self.projections.queries(tokens)?)?;
        let mut present = self.projections.keys_values(tokens)?;
        present.keys = rotary.rotate(&present.keys)?;

        let source = cache.followed_by(self.layer, &present)?;
        Ok((self.projections.attend(&queries, &source)?, present))
    }
}

/// Attention to the prompt.
pub struct CrossAttention {
    projections: Projections,
}

impl CrossAttention {
    /// Attention of tokens of one width to text features of another.
    pub fn load(
        width: usize,
        text_width: usize,
        n_heads: usize,
        weights: &VarBuilder,
    ) -> Result<Self> {
        let projections = Projections::load(width, text_width, n_heads, weights)?;
        Ok(Self { projections })
    }

    /// What the tokens attended to in the text.
    pub fn forward(&self, tokens: &Tensor, text: &Tensor) -> Result<Tensor> {
        let _section = marey::section!("cross_attention");
        let source = self.projections.keys_values(text)?;
        self.projections.attend(&self.projections.queries(tokens)?, &source)
    }
}
