//! From a prompt to what the transformer attends to.

use candle_core::{Device, Result, Tensor};
use candle_nn::{Activation, VarBuilder};
use candle_transformers::models::t5::{ActivationWithOptionalGating, Config, T5EncoderModel};

/// Byte tokens as ByT5 numbers them: 0 padding, 1 end, 2 unknown, then the 256 bytes.
/// Xue et al.: *ByT5: Towards a token-free future* (2022).
const PADDING: u32 = 0;
const END: u32 = 1;
const FIRST_BYTE: u32 = 3;
const VOCABULARY: usize = FIRST_BYTE as usize + 256;

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

/// A T5 encoder over bytes.
pub struct TextEncoder {
    model: T5EncoderModel,
    n_tokens: usize,
}

impl TextEncoder {
    /// The encoder with the builder's weights.
    pub fn load(config: &TextEncoderConfig, weights: VarBuilder) -> Result<Self> {
        let t5 = Config {
            vocab_size: VOCABULARY,
            d_model: config.width,
            d_kv: 32,
            d_ff: 4 * config.width,
            num_layers: config.n_layers,
            num_heads: config.n_heads,
            feed_forward_proj: ActivationWithOptionalGating {
                gated: true,
                activation: Activation::NewGelu,
            },
            use_cache: false,
            ..Config::default()
        };
        Ok(Self {
            model: T5EncoderModel::load(weights, &t5)?,
            n_tokens: config.n_tokens,
        })
    }

    /// Features of a prompt: `[1, tokens, width]`.
    pub fn encode(&mut self, prompt: &str) -> Result<Tensor> {
        let tokens = Tensor::new(tokens(prompt, self.n_tokens), &Device::Cpu)?;
        self.model.forward(&tokens.unsqueeze(0)?)
    }
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

    #[test]
    fn a_short_prompt_is_ended_and_padded_and_a_long_one_is_cut() {
        assert_eq!(tokens("ab", 5), [100, 101, 1, 0, 0]);
        assert_eq!(tokens("abc", 3), [100, 101, 1]);
        assert_eq!(tokens("", 2), [1, 0]);
    }
}
