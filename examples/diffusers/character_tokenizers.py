"""Tokenizers that are built in code, one token a character: nothing has to be downloaded."""

from __future__ import annotations

import string

from transformers import CLIPTokenizer, T5Tokenizer

CHARACTERS = string.ascii_lowercase + string.digits + string.punctuation


def clip_tokenizer(max_tokens: int) -> CLIPTokenizer:
    """CLIP's tokenizer with single characters, also at a word's end, and its two marks."""
    tokens = [*CHARACTERS, *(f"{character}</w>" for character in CHARACTERS), "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    return CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=max_tokens)


def t5_tokenizer(max_tokens: int) -> T5Tokenizer:
    """T5's tokenizer with single characters; all are equally likely."""
    tokens = ["<pad>", "</s>", "<unk>", "\N{LOWER ONE EIGHTH BLOCK}", *CHARACTERS]
    vocabulary = [(token, 0.0 if number < 3 else -4.0) for number, token in enumerate(tokens)]
    return T5Tokenizer(vocab=vocabulary, extra_ids=0, model_max_length=max_tokens)
