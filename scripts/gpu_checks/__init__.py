"""What `scripts/gpu-check` checks; a subject a file."""

from gpu_checks import event_pairs, graph_captures, memory, nvml

__all__ = ["event_pairs", "graph_captures", "memory", "nvml"]
