"""Flight recorder and analyst for diffusion image and video generation.

>>> import marey
>>> with marey.profile_section("vae_decode"):
...     frames = list(range(3))
>>> marey.get_global_stats().get_stats("vae_decode")["count"]
1

The first use starts recording in memory. ``marey.start()``, ``marey run -- python …`` or ``MAREY_ENABLED=1`` record
into a folder that ``marey report`` reads; ``MAREY_ENABLED=0`` switches everything off.
"""

from __future__ import annotations

# Before anything else: it refuses where nothing can be recorded.
import marey.interpreter  # noqa: F401  # pyright: ignore[reportUnusedImport]

# isort: split

from marey._core import (
    CaptureError,
    ConfigError,
    ProfilingConfig,
    Run,
    TimingStats,
    __version__,
    counter,
    event,
    load,
    profile_section,
)
from marey._core import MareyError as Error
from marey.cache_events import CacheEventRecorder
from marey.functions import profile_function
from marey.iterations import IterationProfiler
from marey.memory import MemoryTracker
from marey.recording import autostart as _autostart
from marey.recording import export_profiling_report, get_global_stats, session, start, stop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from marey.aggregation import aggregate_reports
    from marey.diffusion_analyzer import DiffusionAnalyzer
    from marey.profiler import Profiler

__all__ = [
    "CacheEventRecorder",
    "CaptureError",
    "ConfigError",
    "DiffusionAnalyzer",
    "Error",
    "IterationProfiler",
    "MemoryTracker",
    "Profiler",
    "ProfilingConfig",
    "Run",
    "TimingStats",
    "__version__",
    "_autostart",
    "aggregate_reports",
    "counter",
    "event",
    "export_profiling_report",
    "get_global_stats",
    "load",
    "profile_function",
    "profile_section",
    "session",
    "start",
    "stop",
]


_LATER = {
    "DiffusionAnalyzer": "diffusion_analyzer",
    "Profiler": "profiler",
    "aggregate_reports": "aggregation",
    "load_ipython_extension": "notebook",
}


def __getattr__(name: str) -> type[DiffusionAnalyzer] | type[Profiler] | ModuleType | Callable[..., dict[str, Any]]:
    """What not every program needs, imported when it is first asked for."""
    import importlib

    if name in ("decorators", "diffusers", "distributed", "sinks"):
        return importlib.import_module(f"marey.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'marey' has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f"marey.{_LATER[name]}"), name)
    return found


_autostart()
