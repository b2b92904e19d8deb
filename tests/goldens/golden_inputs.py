"""The inputs whose figures are held fixed, each with the way in which Marey is asked about it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import surfaces
from stable_names import Figures, figures
from surfaces import Surface

ROOT = Path(__file__).parents[2]
CAPTURES = "crates/marey/tests/data"
RECORDED = "tests/goldens/data"
ANALYSIS = "crates/marey-analysis/tests/data"
TRACES = f"{ANALYSIS}/traces"

FIXTURES = os.environ.get("TRACE_FIXTURES")
"""A folder with more traces and snapshots, which are not this project's to give away."""


@dataclass
class Input:
    """Files, as paths below a folder, and how Marey is asked about them.

    Of longer lists ``rows`` are shown, and sums. ``without`` is a part of names that other inputs stand for.
    """

    name: str
    surface: Surface
    paths: tuple[str, ...]
    rows: int | None = None
    folder: Path = ROOT
    without: str = "nothing"

    def figures(self) -> Figures:
        """Its figures of today, of a copy: reports that a job's folder lacks are written into it."""
        with tempfile.TemporaryDirectory() as made:
            for path in self.paths:
                file, copied = self.folder / path, Path(made, path)
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(file, copied) if file.is_dir() else shutil.copyfile(file, copied)
            found = figures(self.surface(*self.paths, folder=Path(made)), self.rows)
        return {name: value for name, value in found.items() if f".{self.without}." not in f".{name}."}


def inputs(fixtures: str | None) -> Iterator[Input]:
    """All inputs that there are, if that folder is here."""
    yield from _captures()
    yield from _traces()
    yield from _several()
    yield from _exports()
    if fixtures:
        yield from _fixtures(Path(fixtures))


def _captures() -> Iterator[Input]:
    recorded = ("sections", "generations", "causal", "gpu", "telemetry", "failed", "killed", "nothing")
    captures = {name: f"{CAPTURES}/{name}.marey" for name in ("v2", "v2_full")}
    captures |= {name: f"{RECORDED}/{name}.marey" for name in recorded}
    captures |= {name: f"{RECORDED}/{name}" for name in ("ranks", "both")}
    for name, path in captures.items():
        machine = "nothing" if name in ("telemetry", "v2_full") else "cpu_metrics"
        yield Input(f"report-{name}", surfaces.report, (path,), 0, without=machine)
        yield Input(f"records-{name}", surfaces.records, (path,), 0)


def _traces() -> Iterator[Input]:
    chosen = {
        "dlrm-rank0": ("rank0.step_12.1694128201545.pt.trace.json.gz", 0),
        "alexnet": ("critical_path__alexnet__benchmark_result_2869224_1695835535_trace.json.gz", 0),
        "two-streams": ("critical_path__cuda_event_sync_multi_stream__event_sync_trace.json.gz", 1),
        "flux-cpu": ("flux_tiny_cpu.trace.json.gz", 3),
        "candle-flux": ("candle_flux_tiny.tracing_chrome.json", 3),
        "triton": ("traces__torch_compile_triton__trace.json.gz", 1),
        "qwen-h100": ("traces__h100__Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 0),
        "vllm-decode": ("traces__inference__vllm_decode_full__graph_execution.json.gz", 0),
        "mi250-train": ("amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz", 1),
    }
    for name, (file, rows) in chosen.items():
        yield Input(f"analysis-{name}", surfaces.analysis, (f"{TRACES}/{file}",), rows)
    operators = f"{ANALYSIS}/operators/operators_tiny_cpu.trace.json.gz"
    yield Input("analysis-operators", surfaces.analysis, (operators,), 3)
    yield Input("memory-oom", surfaces.analysis, (f"{ANALYSIS}/basic_oom.pickle",))
    yield Input("memory-flux", surfaces.analysis, (f"{ANALYSIS}/flux_tiny_resident.pickle",), 5)


def _several() -> Iterator[Input]:
    dlrm = [
        f"{TRACES}/rank{rank}"
        for rank in ("0.step_12.1694128201545.pt.trace.json.gz", "1.step_12.1694128201556.pt.trace.json.gz")
    ]
    traces = [f"{TRACES}/trace_compare__{side}__{side}.json.gz" for side in ("base", "test")]
    yield Input("comparison-traces", surfaces.comparison, (traces[0], traces[1]), 5)
    yield Input("comparison-dlrm", surfaces.comparison, (dlrm[0], dlrm[1]), 5)
    yield Input(
        "comparison-calls",
        surfaces.comparison,
        (f"{RECORDED}/baseline/run0.marey", f"{RECORDED}/candidate/run0.marey"),
        5,
    )
    yield Input("comparison-repeats", surfaces.comparison, (f"{RECORDED}/baseline", f"{RECORDED}/candidate"), 5)
    yield Input("aggregation-ranks", surfaces.aggregation, (f"{RECORDED}/ranks",), 1)
    yield Input("aggregation-dlrm", surfaces.aggregation, tuple(dlrm), 1)


def _exports() -> Iterator[Input]:
    for name in ("generations", "gpu"):
        yield Input(f"page-{name}", surfaces.page_model, (f"{RECORDED}/{name}.marey",), 0)
        yield Input(f"chrome-{name}", surfaces.chrome, (f"{RECORDED}/{name}.marey",), 20)
        yield Input(f"parquet-{name}", surfaces.parquet, (f"{RECORDED}/{name}.marey",))
    for name in ("sections.marey", "generations.marey", "gpu.marey", "ranks"):
        yield Input(f"perfetto-{name.removesuffix('.marey')}", surfaces.perfetto, (f"{RECORDED}/{name}",), 20)
    yield Input("perfetto-v2", surfaces.perfetto, (f"{CAPTURES}/v2.marey",), 20)


def _fixtures(folder: Path) -> Iterator[Input]:
    traces = "traces/tracelens"
    chosen = {
        "flux1": ("traces/tracelens_flux_pairs/flux1_split_iter0.json.gz", 0),
        "flux1-sage": (f"{traces}/traces__inference__xdit_flux.1_aiter_sage__profile_trace_rank_0.json.gz", 0),
        "owlv2": (f"{traces}/traces__mi300__google_owlv2-large-patch14-ensemble__1016001.json.gz", 0),
        "wan": ("diffusion/wan_tiny_full.trace.json.gz", 1),
    }
    for name, (file, rows) in chosen.items():
        yield Input(f"fixtures-analysis-{name}", surfaces.analysis, (file,), rows, folder)
    yield Input("fixtures-memory-offload", surfaces.analysis, ("memory/flux_small_model_offload.pickle",), 5, folder)
    yield Input("fixtures-aggregation-dlrm", surfaces.aggregation, ("traces/param_dlrm_8rank",), 1, folder)
