"""What a program measures of itself, live in an experiment tracker: a function for each of four.

Run it with the name of one that is installed: `python examples/trackers.py wandb`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import marey


def to_tensorboard(work: Callable[[], None]) -> None:
    """TensorBoard: a call for each figure."""
    from torch.utils.tensorboard import SummaryWriter

    def send(metrics: dict[str, float], step: int) -> None:
        for name, value in metrics.items():
            writer.add_scalar(name, value, step)

    with SummaryWriter() as writer, marey.sinks.Sink(send).every(10):
        work()


def to_wandb(work: Callable[[], None]) -> None:
    """Weights & Biases: it ignores steps that go back; leave them out where the program logs with steps of its own."""
    import wandb

    with wandb.init(project="video") as run:
        with marey.sinks.Sink(lambda metrics, step: run.log(metrics, step=step)).every(10):
            work()


def to_mlflow(work: Callable[[], None]) -> None:
    """MLflow: it refuses names with other characters, and in another thread it has to be told the run."""
    import mlflow

    def send(metrics: dict[str, float], step: int) -> None:
        named = {re.sub(r"[^\w/. -]", "_", name): value for name, value in metrics.items()}
        mlflow.log_metrics(named, step=step, run_id=run.info.run_id)

    with mlflow.start_run() as run, marey.sinks.Sink(send).every(10):
        work()


def to_trackio(work: Callable[[], None]) -> None:
    """Trackio: by its run, because `trackio.log` finds none in another thread."""
    import trackio

    run = trackio.init(project="video")
    with marey.sinks.Sink(lambda metrics, step: run.log(metrics, step=step)).every(10):
        work()
    run.finish()


def generate() -> None:
    """Stands for the program: half a minute or so of nothing in particular."""
    for _ in range(1000):
        with marey.profile_section("denoise"):
            sum(range(1_000_000))


if __name__ == "__main__":
    globals()[f"to_{sys.argv[1]}"](generate)
