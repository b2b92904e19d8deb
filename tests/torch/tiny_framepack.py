"""FramePack's image-to-video with random weights: two text encoders, an image encoder, a transformer, a video VAE."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from character_tokenizers import clip_tokenizer, t5_tokenizer
from diffusers import (
    AutoencoderKLHunyuanVideo,
    FlowMatchEulerDiscreteScheduler,
    HunyuanVideoFramepackPipeline,
    HunyuanVideoFramepackTransformer3DModel,
)
from PIL import Image
from transformers import (
    CLIPTextConfig,
    CLIPTextModel,
    LlamaConfig,
    LlamaModel,
    SiglipImageProcessor,
    SiglipVisionConfig,
    SiglipVisionModel,
)

WORDS = 77


def framepack() -> Any:
    """The pipeline; the same weights each time."""
    torch.manual_seed(0)
    clip_words, llama_words = clip_tokenizer(WORDS), t5_tokenizer(WORDS)
    clip = CLIPTextConfig(
        vocab_size=len(clip_words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=WORDS,
        bos_token_id=clip_words.bos_token_id,
        eos_token_id=clip_words.eos_token_id,
        pad_token_id=clip_words.pad_token_id,
    )
    llama = LlamaConfig(
        vocab_size=len(llama_words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=4,
        num_attention_heads=2,
        max_position_embeddings=256,
        pad_token_id=llama_words.pad_token_id,
    )
    siglip = SiglipVisionConfig(
        hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=16, patch_size=8
    )
    pipe = HunyuanVideoFramepackPipeline(
        text_encoder=LlamaModel(llama).eval(),
        tokenizer=llama_words,
        text_encoder_2=CLIPTextModel(clip).eval(),
        tokenizer_2=clip_words,
        image_encoder=SiglipVisionModel(siglip).eval(),
        feature_extractor=SiglipImageProcessor(size={"height": 16, "width": 16}),
        transformer=HunyuanVideoFramepackTransformer3DModel(
            in_channels=4,
            out_channels=4,
            num_attention_heads=2,
            attention_head_dim=16,
            num_layers=1,
            num_single_layers=1,
            num_refiner_layers=1,
            text_embed_dim=16,
            pooled_projection_dim=16,
            rope_axes_dim=(4, 6, 6),
            has_image_proj=True,
            image_proj_dim=16,
            has_clean_x_embedder=True,
        ).eval(),
        vae=AutoencoderKLHunyuanVideo(
            latent_channels=4,
            block_out_channels=(8, 8, 8, 8),
            layers_per_block=1,
            norm_num_groups=4,
        ).eval(),
        scheduler=FlowMatchEulerDiscreteScheduler(),
    )
    pipe.set_progress_bar_config(disable=True)
    return pipe


def generate_frames(pipe: Any, steps: int) -> np.ndarray:
    """A clip that begins with a black picture."""
    return pipe(
        image=Image.new("RGB", (32, 32)),
        prompt="a red fox",
        prompt_template={"template": "{}", "crop_start": 0},
        height=32,
        width=32,
        num_frames=9,
        latent_window_size=2,
        num_inference_steps=steps,
        max_sequence_length=16,
        generator=torch.Generator().manual_seed(7),
        output_type="np",
    ).frames
