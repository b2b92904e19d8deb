"""Writes operators_tiny_cpu.trace.json.gz and what torch itself says of the same run.

Run in this folder with torch 2.15 or newer: python operators_tiny.py
"""

from __future__ import annotations

import gzip
import json
import pathlib
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function

HERE = pathlib.Path(__file__).parent


class Block(torch.nn.Module):
    """A little of what a diffusion model has."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
        self.qkv = torch.nn.Linear(16, 48)
        self.out = torch.nn.Linear(16, 16)
        self.conv = torch.nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm(x)).reshape(1, 16, 3, 2, 8).permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.out(y.transpose(1, 2).reshape(1, 16, 16))
        return self.conv(x.reshape(1, 4, 8, 8)).reshape(1, 16, 16)


def averages(found: object, by_shape: bool) -> list[dict[str, object]]:
    """Torch's own table, with times in whole nanoseconds."""
    rows = found.key_averages(group_by_input_shape=by_shape)
    return [
        {
            "name": row.key,
            "shapes": row.input_shapes,
            "is_range": bool(row.is_user_annotation),
            "count": row.count,
            "self_ns": round(row.self_cpu_time_total * 1000),
            "total_ns": round(row.cpu_time_total * 1000),
            "self_bytes": row.self_cpu_memory_usage,
        }
        for row in rows
    ]


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(Block(), Block())
    with torch.no_grad():
        model(torch.randn(1, 16, 16))
    options = {"record_shapes": True, "profile_memory": True, "with_stack": True}
    with profile(activities=[ProfilerActivity.CPU], **options) as found:
        for step in range(2):
            with record_function(f"denoise_{step}"), torch.no_grad():
                noise = torch.randn(1, 16, 16)
                value = model(noise).mean()
                if value.item() > 10.0:
                    break
        # Backwards, too: its operators call others of the same name.
        model(torch.randn(1, 16, 16)).sum().backward()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        found.export_chrome_trace(str(path))
        trace = json.loads(path.read_text())
    trace["host_name"] = "host"
    trace["traceName"] = "trace.json"
    packed = gzip.compress(json.dumps(trace, separators=(",", ":")).encode(), 9, mtime=0)
    (HERE / "operators_tiny_cpu.trace.json.gz").write_bytes(packed)
    both = {"by_name": averages(found, by_shape=False), "by_shape": averages(found, by_shape=True)}
    text = json.dumps(both, indent=0).replace("\n", "").replace("},{", "},\n{")
    (HERE / "operators_tiny_cpu.key_averages.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
