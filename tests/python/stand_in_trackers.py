"""Stand-ins for four experiment trackers, with the parameters of the real ones; ``install`` puts them in place.

As with these, a run takes nothing after its end, and MLflow refuses some names and knows in its own thread alone which
run is meant.
"""

from __future__ import annotations

import re
import sys
import threading
from types import ModuleType, SimpleNamespace

calls = []
"""Figures and step of each call."""


class _Run:
    def __init__(self):
        self.is_open, self.thread = True, threading.get_ident()
        self.info = SimpleNamespace(run_id="0a1b")

    def take(self, metrics, step):
        assert self.is_open
        calls.append([dict(metrics), step])

    def finish(self, exit_code=None):
        self.is_open = False

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.finish()


class SummaryWriter(_Run):
    """Of ``torch.utils.tensorboard``."""

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        super().__init__()

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        self.take({tag: scalar_value}, global_step)


class WandbRun(_Run):
    """What ``wandb.init`` returns."""

    def log(self, data, step=None, commit=None):
        self.take(data, step)


class TrackioRun(_Run):
    """What ``trackio.init`` returns; it is no context manager."""

    __enter__ = __exit__ = None

    def log(self, metrics, step=None):
        self.take(metrics, step)

    def finish(self):
        super().finish()


def _mlflow():
    runs = []

    def start_run(run_id=None, experiment_id=None, run_name=None, nested=False):
        runs.append(_Run())
        return runs[-1]

    def log_metrics(metrics, step=None, synchronous=None, run_id=None, timestamp=None, model_id=None, dataset=None):
        refused = [name for name in metrics if not re.fullmatch(r"[/\w.\- ]*", name)]
        assert not refused, refused
        [run] = [run for run in runs if run_id == run.info.run_id or run.thread == threading.get_ident()]
        run.take(metrics, step)

    return {"start_run": start_run, "log_metrics": log_metrics}


def install():
    """The modules, where ``import`` finds them."""
    modules = {
        "torch.utils.tensorboard": {"SummaryWriter": SummaryWriter},
        "wandb": {"init": lambda entity=None, project=None: WandbRun()},
        "mlflow": _mlflow(),
        "trackio": {"init": lambda project, name=None, group=None: TrackioRun()},
    }
    for name, members in modules.items():
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(members)
