//! How large a pipeline is.

use crate::text_encoder::TextEncoderConfig;
use crate::transformer::TransformerConfig;
use crate::vae::DecoderConfig;

/// Shapes of all models, and of a latent frame.
#[derive(Clone, Debug)]
pub struct Size {
    /// Latent pixels along the edge of a frame, a multiple of the patch.
    pub latent_edge: usize,
    /// Reads the prompt.
    pub text_encoder: TextEncoderConfig,
    /// Denoises.
    pub transformer: TransformerConfig,
    /// Makes pictures.
    pub decoder: DecoderConfig,
}

impl Size {
    /// Frames of 128 × 128 pixels, seconds of one CPU.
    pub fn small() -> Self {
        Self {
            latent_edge: 16,
            text_encoder: TextEncoderConfig { width: 384, n_layers: 12, n_heads: 12, n_tokens: 64 },
            transformer: TransformerConfig {
                latent_channels: 16,
                patch: 2,
                width: 384,
                n_layers: 8,
                n_heads: 6,
                text_width: 384,
            },
            decoder: DecoderConfig { latent_channels: 16, channels: [128, 128, 64, 32] },
        }
    }

    /// Frames of 32 × 32 pixels, a fraction of a second; for tests.
    pub fn tiny() -> Self {
        Self {
            latent_edge: 4,
            text_encoder: TextEncoderConfig { width: 32, n_layers: 2, n_heads: 2, n_tokens: 16 },
            transformer: TransformerConfig {
                latent_channels: 4,
                patch: 2,
                width: 48,
                n_layers: 2,
                n_heads: 2,
                text_width: 32,
            },
            decoder: DecoderConfig { latent_channels: 4, channels: [16, 16, 8, 8] },
        }
    }

    /// The same models on frames whose edges are `factor` times as long.
    pub fn scaled(mut self, factor: usize) -> Self {
        self.latent_edge *= factor;
        self
    }

    /// Dimensions of a block of latent frames.
    pub fn latent_shape(&self, n_frames: usize) -> [usize; 4] {
        let channels = self.transformer.latent_channels;
        [n_frames, channels, self.latent_edge, self.latent_edge]
    }
}
