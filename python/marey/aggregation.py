"""What the ranks of a job did together, of the files that they left."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Literal

from marey import _core


def aggregate_reports(
    reports_dir: str | os.PathLike[str] | list[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    format: str | None = None,
    quiet: bool = False,
    *,
    job: str | None = None,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    timeout_s: float = 300.0,
) -> dict[str, Any]:
    """Put together what ranks recorded: ``marey aggregate`` as a function.

    Args:
        reports_dir: A folder, or several, or files: captures, ``profiling_report.json``, traces of torch.profiler.
        output: Write it to this file, too; its ending says the format: ``.json``, ``.md``, ``.html``, ``.pftrace.gz``.
        format: The format of ``output`` whatever its ending: text, json, markdown, html, perfetto or summaries.
        quiet: Print nothing. Otherwise the summary goes to standard output, what could not be read to standard error.
        job: The job to read of folders with several, or ``"all"``; the newest by itself.
        engine: Who reads the files: this process, or the tasks of a Ray cluster (``pip install 'marey[ray]'``).
        address: That cluster. One that the program is connected to already is used, and an address of another is an
            error; otherwise ``RAY_ADDRESS`` names it, or one is started on this machine for as long as it takes.
        timeout_s: How long to wait for a processor of that cluster that is free for tasks, in seconds. Where actors
            hold all of them there is none; Marey prints what it waits for to standard error.

    Returns:
        The document that ``docs/schema/ranks.schema.json`` describes: ``total_reports``, ``rank_count``,
        ``aggregated_gpu_metrics``, ``aggregated_cpu_metrics``, ``reports_summary``, and all answers in ``jobs``.

    Raises:
        marey.CaptureError: There is nothing to read, or the output cannot be written.
        marey.Error: There is no Ray, no cluster that can run tasks within ``timeout_s``, or the address is that of
            another cluster than the program is connected to.
        ValueError: There is no such format or engine.
    """
    paths = reports_dir if isinstance(reports_dir, list) else [reports_dir]
    # What begins with a hyphen is a folder here, no option.
    args = [os.path.join(".", os.fspath(path)) for path in paths]
    if format is not None:
        args.append(f"--format={format}")
    if output is not None:
        args.append(f"--output={os.fspath(output)}")
    if job is not None:
        args.append(f"--job={job}")
    found = _found(args, engine, address, timeout_s)
    return _document(_core.aggregate(args, found, output is None), quiet)


def _found(args: list[str], engine: str, address: str | None, timeout_s: float) -> bytes | None:
    """Summaries of the files, read by an engine; None where this process reads them."""
    if engine not in {"local", "ray"}:
        message = f"there is no engine {engine!r}: local or ray"
        raise ValueError(message)
    if engine == "local":
        if address is not None:
            message = "an address is that of a Ray cluster: engine='ray'"
            raise ValueError(message)
        return None
    from marey.engines import ray_engine

    files, _ = _core.aggregation_inputs(args)
    return ray_engine.summaries(files, address, timeout_s=timeout_s)


def _document(concluded: tuple[int, str, str, str | None], quiet: bool) -> dict[str, Any]:
    _, out, err, document = concluded
    if document is None:
        raise _core.CaptureError(err.strip() or "nothing could be read")
    if not quiet:
        print(out, end="")
        print(err, end="", file=sys.stderr)
    return json.loads(document)
