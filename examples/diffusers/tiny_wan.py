"""Wan text-to-video with random weights: T5 text encoder, video transformer with guidance, causal 3-D VAE."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from character_tokenizers import t5_tokenizer
from diffusers import AutoencoderKLWan, FlowMatchEulerDiscreteScheduler, WanPipeline, WanTransformer3DModel
from tiny_pipeline import Size, TinyPipeline
from transformers import UMT5Config, UMT5EncoderModel

MAX_TOKENS = 32
CHANNELS = 16  # of the latents; Wan's VAE has means and deviations for exactly 16
SIZES = {
    "tiny": {"text": 16, "heads": 2, "layers": 2, "vae": 4, "shape": (32, 32, 3), "frames": 5},
    "small": {"text": 256, "heads": 6, "layers": 6, "vae": 32, "shape": (128, 192, 3), "frames": 33},
}
"""Frames must be 4k + 1: the VAE makes four frames of each latent frame after the first."""


class TinyWan(TinyPipeline):
    """diffusers.WanPipeline; guidance calls the transformer twice a step."""

    forwards_per_step: ClassVar[int] = 2

    def __init__(self, size: Size = "tiny", seed: int = 0) -> None:
        """Make the models; the same seed gives the same weights."""
        chosen = SIZES[size]
        self.frame_shape, self.frames = chosen["shape"], chosen["frames"]
        torch.manual_seed(seed)
        tokenizer = t5_tokenizer(MAX_TOKENS)
        self.pipe = WanPipeline(
            tokenizer=tokenizer,
            text_encoder=UMT5EncoderModel(
                UMT5Config(
                    vocab_size=len(tokenizer),
                    d_model=chosen["text"],
                    d_kv=16,
                    d_ff=2 * chosen["text"],
                    num_layers=chosen["layers"],
                    num_heads=chosen["heads"],
                )
            ).eval(),
            transformer=WanTransformer3DModel(
                num_attention_heads=chosen["heads"],
                attention_head_dim=24,
                in_channels=CHANNELS,
                out_channels=CHANNELS,
                text_dim=chosen["text"],
                freq_dim=32,
                ffn_dim=96 * chosen["heads"],
                num_layers=chosen["layers"],
                rope_max_seq_len=64,
            ).eval(),
            vae=AutoencoderKLWan(base_dim=chosen["vae"], z_dim=CHANNELS, num_res_blocks=1).eval(),
            scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0),
        )

    @property
    def denoiser(self) -> torch.nn.Module:
        """The video transformer."""
        return self.pipe.transformer

    @torch.no_grad()
    def encode(self, prompt: str) -> dict[str, torch.Tensor]:
        """Embeddings of the prompt and of the empty negative prompt."""
        wanted, unwanted = self.pipe.encode_prompt(prompt, negative_prompt="", max_sequence_length=MAX_TOKENS)
        return {"prompt_embeds": wanted, "negative_prompt_embeds": unwanted}

    def more_arguments(self) -> dict[str, Any]:
        """The number of frames, and guidance strong enough to be switched on."""
        return {"num_frames": self.frames, "guidance_scale": 5.0}

    @torch.no_grad()
    def decode(self, latents: torch.Tensor) -> np.ndarray:
        """Latents back to the VAE's own scale, then to frames."""
        vae = self.pipe.vae
        shape = (1, vae.config.z_dim, 1, 1, 1)
        mean, deviation = torch.tensor(vae.config.latents_mean), torch.tensor(vae.config.latents_std)
        video = vae.decode(latents * deviation.view(shape) + mean.view(shape), return_dict=False)[0]
        return self.pipe.video_processor.postprocess_video(video, output_type="np")[0]
