"""Bounded windows of torch's profiler; ``marey.torch`` is the public face."""
