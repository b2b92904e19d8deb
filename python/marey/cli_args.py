"""The flags of profiled scripts, for ``argparse``."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


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
        type=_count,
        help="denoising steps of the script (default: its own; under --profile what the schedule needs)",
    )
    args = parser.parse_args(arguments)
    if args.profile and args.steps is None:
        from marey.windows.options import steps_needed

        args.steps = steps_needed(args.profile_wait, args.profile_warmup, args.profile_active, args.profile_repeat)
    return args


def _add_all(parser: argparse.ArgumentParser, aliases: Sequence[str]) -> argparse.ArgumentParser:
    _add_recording(parser.add_argument_group("profiling"), aliases)
    _add_windows(parser.add_argument_group("windows of torch's profiler"))
    return parser


def _add_recording(group: argparse._ArgumentGroup, aliases: Sequence[str]) -> None:  # pyright: ignore[reportPrivateUsage]
    group.add_argument(
        *_spellings("enable-profiling"),
        action="store_true",
        help="record this run (default: as the configuration says)",
    )
    group.add_argument(
        *_spellings("profiling-config"), metavar="FILE", help="YAML file with the root key profiling (default: none)"
    )
    group.add_argument(
        *_spellings("profiling-output-dir"),
        metavar="DIR",
        help="folder of captures and reports (default: as the configuration says, else profiling_results)",
    )
    group.add_argument(
        *_spellings("profiling-iterations"),
        metavar="N",
        type=_count,
        help="denoising steps of which a trace is written, after one for warm-up (default: no trace)",
    )
    group.add_argument(
        *_spellings("track-memory"),
        *aliases,
        action="store_true",
        help="for scripts that use a MemoryTracker: read memory around the run (default: no)",
    )


def _add_windows(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    group.add_argument("--profile", action="store_true", help="record some denoising steps with torch's profiler")
    group.add_argument(
        *_spellings("profile-name"), metavar="NAME", help="beginning of file names (default: profile_ and the time)"
    )
    group.add_argument(
        *_spellings("profile-dir"),
        metavar="DIR",
        help="folder of traces (default: CACHE_DIT_TORCH_PROFILER_DIR, else that of the recording)",
    )
    group.add_argument(
        *_spellings("profile-activities"),
        nargs="+",
        type=str.upper,
        choices=["CPU", "GPU", "MEM"],
        default=["CPU", "GPU"],
        help="what is recorded (default: CPU GPU)",
    )
    group.add_argument(
        *_spellings("profile-with-stack"),
        action=argparse.BooleanOptionalAction,
        default=False,
        help="record where in the source operations are called",
    )
    group.add_argument(
        *_spellings("profile-record-shapes"),
        action=argparse.BooleanOptionalAction,
        default=True,
        help="record shapes of tensors",
    )
    for name, default, what in (
        ("profile-wait", 0, "steps before anything is recorded"),
        ("profile-warmup", 1, "steps after those that are recorded and thrown away"),
        ("profile-active", 3, "steps that are recorded and kept"),
        ("profile-repeat", 1, "how often that is done"),
    ):
        least = 1 if name in ("profile-active", "profile-repeat") else 0
        group.add_argument(
            *_spellings(name),
            metavar="N",
            type=_count if least else _natural,
            default=default,
            help=f"{what} (default: {default})",
        )


def _spellings(name: str) -> list[str]:
    return [f"--{name}", f"--{name.replace('-', '_')}"]


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return count


def _natural(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return count


_count.__name__ = "whole number"
_natural.__name__ = "whole number"
