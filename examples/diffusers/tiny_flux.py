"""Flux text-to-image with random weights: CLIP and T5 text encoders, transformer with built-in guidance, VAE."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from character_tokenizers import clip_tokenizer, t5_tokenizer
from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel
from tiny_pipeline import Size, TinyPipeline
from transformers import CLIPTextConfig, CLIPTextModel, T5Config, T5EncoderModel

MAX_TOKENS = 32
SIZES = {
    "tiny": {"text": 32, "heads": 2, "double": 1, "single": 2, "vae": (8, 16), "shape": (32, 32, 3)},
    "small": {"text": 256, "heads": 16, "double": 3, "single": 6, "vae": (32, 64, 64, 64), "shape": (256, 256, 3)},
}


class TinyFlux(TinyPipeline):
    """diffusers.FluxPipeline; guidance is an input of the transformer, which is called once a step."""

    def __init__(self, size: Size = "tiny", seed: int = 0) -> None:
        """Make the models; the same seed gives the same weights."""
        chosen = SIZES[size]
        self.frame_shape = chosen["shape"]
        torch.manual_seed(seed)
        clip_words, t5_words = clip_tokenizer(MAX_TOKENS), t5_tokenizer(MAX_TOKENS)
        clip = CLIPTextConfig(
            vocab_size=len(clip_words),
            hidden_size=chosen["text"],
            intermediate_size=2 * chosen["text"],
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=MAX_TOKENS,
            bos_token_id=clip_words.bos_token_id,
            eos_token_id=clip_words.eos_token_id,
            pad_token_id=clip_words.pad_token_id,
        )
        t5 = T5Config(
            vocab_size=len(t5_words),
            d_model=chosen["text"],
            d_kv=16,
            d_ff=2 * chosen["text"],
            num_layers=2,
            num_heads=2,
        )
        levels = len(chosen["vae"])
        self.pipe = FluxPipeline(
            tokenizer=clip_words,
            text_encoder=CLIPTextModel(clip).eval(),
            tokenizer_2=t5_words,
            text_encoder_2=T5EncoderModel(t5).eval(),
            transformer=FluxTransformer2DModel(
                in_channels=16,
                num_layers=chosen["double"],
                num_single_layers=chosen["single"],
                attention_head_dim=16,
                num_attention_heads=chosen["heads"],
                joint_attention_dim=chosen["text"],
                pooled_projection_dim=chosen["text"],
                guidance_embeds=True,
                axes_dims_rope=(4, 6, 6),  # adds up to attention_head_dim
            ).eval(),
            vae=AutoencoderKL(
                block_out_channels=chosen["vae"],
                down_block_types=("DownEncoderBlock2D",) * levels,
                up_block_types=("UpDecoderBlock2D",) * levels,
                latent_channels=4,  # a quarter of the transformer's: Flux packs four latents into one token
                norm_num_groups=4,
                scaling_factor=0.36,
                shift_factor=0.12,
            ).eval(),
            scheduler=FlowMatchEulerDiscreteScheduler(),
        )

    @property
    def denoiser(self) -> torch.nn.Module:
        """The image transformer."""
        return self.pipe.transformer

    @torch.no_grad()
    def encode(self, prompt: str) -> dict[str, torch.Tensor]:
        """T5's embedding of every token and CLIP's of the whole prompt."""
        tokens, pooled, _ = self.pipe.encode_prompt(prompt, prompt_2=None, max_sequence_length=MAX_TOKENS)
        return {"prompt_embeds": tokens, "pooled_prompt_embeds": pooled}

    def more_arguments(self) -> dict[str, Any]:
        """The guidance that the transformer was trained with."""
        return {"guidance_scale": 3.5}

    @torch.no_grad()
    def decode(self, latents: torch.Tensor) -> np.ndarray:
        """Tokens back to a latent image, to the VAE's own scale, then to one frame."""
        pipe, (height, width, _) = self.pipe, self.frame_shape
        unpacked = pipe._unpack_latents(latents, height, width, pipe.vae_scale_factor)
        scaled = unpacked / pipe.vae.config.scaling_factor + pipe.vae.config.shift_factor
        image = pipe.vae.decode(scaled, return_dict=False)[0]
        return pipe.image_processor.postprocess(image, output_type="np")
