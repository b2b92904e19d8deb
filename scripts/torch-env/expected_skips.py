"""Prints how many tests of ``tests/torch`` are skipped on this machine: those of a real GPU, where torch sees none."""

import torch

NEED_A_GPU = 3

if not torch.cuda.is_available():
    print(f"--expected-skips={NEED_A_GPU}")
