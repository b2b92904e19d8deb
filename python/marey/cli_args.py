"""The flags of profiled scripts, for ``argparse``."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
        type=_whole(1),
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
    for name, least, default, what in (
        ("profile-wait", 0, 0, "steps before anything is recorded"),
        ("profile-warmup", 0, 1, "steps after those that are recorded and thrown away"),
        ("profile-active", 1, 3, "steps that are recorded and kept"),
        ("profile-repeat", 1, 1, "how often that is done"),
    ):
        group.add_argument(
            *_spellings(name),
            metavar="N",
            type=_whole(least),
            default=default,
            help=f"{what} (default: {default})",
        )


def _spellings(name: str) -> list[str]:
    return [f"--{name}", f"--{name.replace('-', '_')}"]


def _whole(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        count = int(text)
        if count < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return count

    whole.__name__ = "whole number"
    return whole
