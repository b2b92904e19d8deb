"""The flags of profiled scripts, for ``argparse``."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def add_profiling_args(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the flags of ``ProfilingConfig.from_args`` and of ``marey.torch.create_profiler_from_args`` to a parser.

    Each can be written with ``-`` and with ``_``.

    Args:
        parser: The script's own.

    Returns:
        The same parser.
    """
    return _add_all(parser, ())


def get_args(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse a command line that has these flags, ``--steps`` and ``--mem`` only; ``sys.argv`` when none is given.

    ``--mem`` is ``--track-memory``. Under ``--profile`` without ``--steps`` the result's ``steps`` is what the schedule
    needs: wait, warm-up and active steps, times their repetitions.
    """
    parser = _add_all(argparse.ArgumentParser(), ["--mem"])
    parser.add_argument(
        "--steps",
        metavar="N",
        type=_whole(1),
        help="denoising steps of the script (default: its own; under --profile what the schedule needs)",
    )
    args = parser.parse_args(arguments)
    if args.profile and args.steps is None:
        args.steps = (args.profile_wait + args.profile_warmup + args.profile_active) * args.profile_repeat
    return args


def _add_all(parser: argparse.ArgumentParser, aliases: Sequence[str]) -> argparse.ArgumentParser:
    group = parser.add_argument_group("profiling")

    def add(name: str, what: str, *more_names: str, **more: Any) -> None:  # noqa: ANN401
        names = dict.fromkeys((f"--{name}", f"--{name.replace('-', '_')}", *more_names))
        group.add_argument(*names, help=what, **more)

    add("enable-profiling", "record this run (default: as the configuration says)", action="store_true")
    add("profiling-config", "YAML file with the root key profiling (default: none)", metavar="FILE")
    where = "as the configuration says, else profiling_results"
    add("profiling-output-dir", f"folder of captures and reports (default: {where})", metavar="DIR")
    steps = "denoising steps of which a trace is written, after one for warm-up (default: no trace)"
    add("profiling-iterations", steps, metavar="N", type=_whole(1))
    memory = "for scripts that use a MemoryTracker: read memory around the run (default: no)"
    add("track-memory", memory, *aliases, action="store_true")
    group = parser.add_argument_group("windows of torch's profiler")
    add("profile", "record some denoising steps with torch's profiler", action="store_true")
    add("profile-name", "beginning of file names (default: profile_ and the time)", metavar="NAME")
    where = "CACHE_DIT_TORCH_PROFILER_DIR, else that of the recording"
    add("profile-dir", f"folder of traces (default: {where})", metavar="DIR")
    kinds = {"type": str.upper, "choices": ["CPU", "GPU", "MEM"], "default": ["CPU", "GPU"]}
    add("profile-activities", "what is recorded (default: CPU GPU)", nargs="+", **kinds)
    either = argparse.BooleanOptionalAction
    add("profile-with-stack", "record where in the source operations are called", action=either, default=False)
    add("profile-record-shapes", "record shapes of tensors", action=either, default=True)
    for name, least, default, what in (
        ("profile-wait", 0, 0, "steps before anything is recorded"),
        ("profile-warmup", 0, 1, "steps after those that are recorded and thrown away"),
        ("profile-active", 1, 3, "steps that are recorded and kept"),
        ("profile-repeat", 1, 1, "how often that is done"),
    ):
        add(name, f"{what} (default: {default})", metavar="N", type=_whole(least), default=default)
    return parser


def _whole(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        count = int(text)
        if count < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return count

    whole.__name__ = "whole number"
    return whole
