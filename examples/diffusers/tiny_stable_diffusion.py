"""Stable Diffusion text-to-image with random weights: CLIP text encoder, UNet with guidance, VAE."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from character_tokenizers import clip_tokenizer
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from tiny_pipeline import Size, TinyPipeline
from transformers import CLIPTextConfig, CLIPTextModel

MAX_TOKENS = 32
SIZES = {
    "tiny": {"text": 32, "unet": (16, 32), "vae": (8, 16), "shape": (32, 32, 3)},
    "small": {"text": 128, "unet": (64, 128, 128), "vae": (32, 64, 64, 64), "shape": (256, 256, 3)},
}


class TinyStableDiffusion(TinyPipeline):
    """diffusers.StableDiffusionPipeline; guidance doubles the batch, so the UNet is called once a step."""

    def __init__(self, size: Size = "tiny", seed: int = 0) -> None:
        """Make the models; the same seed gives the same weights."""
        chosen = SIZES[size]
        self.frame_shape = chosen["shape"]
        torch.manual_seed(seed)
        words = clip_tokenizer(MAX_TOKENS)
        unet_levels, vae_levels = len(chosen["unet"]), len(chosen["vae"])
        self.pipe = StableDiffusionPipeline(
            tokenizer=words,
            text_encoder=CLIPTextModel(
                CLIPTextConfig(
                    vocab_size=len(words),
                    hidden_size=chosen["text"],
                    intermediate_size=2 * chosen["text"],
                    num_hidden_layers=2,
                    num_attention_heads=2,
                    max_position_embeddings=MAX_TOKENS,
                    bos_token_id=words.bos_token_id,
                    eos_token_id=words.eos_token_id,
                    pad_token_id=words.pad_token_id,
                )
            ).eval(),
            unet=UNet2DConditionModel(
                sample_size=chosen["shape"][0] // 2 ** (vae_levels - 1),
                layers_per_block=1,
                block_out_channels=chosen["unet"],
                down_block_types=("DownBlock2D", *("CrossAttnDownBlock2D",) * (unet_levels - 1)),
                up_block_types=(*("CrossAttnUpBlock2D",) * (unet_levels - 1), "UpBlock2D"),
                cross_attention_dim=chosen["text"],
                attention_head_dim=8,
                norm_num_groups=8,
            ).eval(),
            vae=AutoencoderKL(
                block_out_channels=chosen["vae"],
                down_block_types=("DownEncoderBlock2D",) * vae_levels,
                up_block_types=("UpDecoderBlock2D",) * vae_levels,
                norm_num_groups=4,
            ).eval(),
            scheduler=DDIMScheduler(clip_sample=False, set_alpha_to_one=False, steps_offset=1),
            safety_checker=None,
            feature_extractor=None,
            requires_safety_checker=False,
        )

    @property
    def denoiser(self) -> torch.nn.Module:
        """The UNet."""
        return self.pipe.unet

    @torch.no_grad()
    def encode(self, prompt: str) -> dict[str, torch.Tensor]:
        """Embeddings of the prompt and of the empty negative prompt."""
        wanted, unwanted = self.pipe.encode_prompt(
            prompt, device="cpu", num_images_per_prompt=1, do_classifier_free_guidance=True, negative_prompt=""
        )
        return {"prompt_embeds": wanted, "negative_prompt_embeds": unwanted}

    def more_arguments(self) -> dict[str, Any]:
        """Guidance strong enough to be switched on."""
        return {"guidance_scale": 7.5}

    @torch.no_grad()
    def decode(self, latents: torch.Tensor) -> np.ndarray:
        """Latents back to the VAE's own scale, then to one frame."""
        image = self.pipe.vae.decode(latents / self.pipe.vae.config.scaling_factor, return_dict=False)[0]
        return self.pipe.image_processor.postprocess(image, output_type="np")
