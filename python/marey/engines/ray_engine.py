"""Ranks reduced by the tasks of a Ray cluster: ``marey aggregate … --engine ray``.

::

    driver    list of files ─► chunks                                              summaries ─► answers
    tasks                       chunk ─► summaries ╮
                                chunk ─► summaries ┼─ merge ╮
                                chunk ─► summaries ╯        ├─ merge ─► summaries
                                chunk ─► summaries ── merge ╯

A task whose worker is lost is run again by Ray. A chunk that fails all the same is tried file by file, and a file that
still fails is named with what happened to it. The code that reads and merges is that of the local engine, so the values
are equal. Workers need marey installed, and the files at the same paths; of a file that is not there the node is named.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

from marey import _core

Files = list[tuple[str, str]]

# How often a task is run again when its worker is lost.
_RETRIES = 3
# Documents of summaries that one task merges.
_FAN_IN = 8
# Chunks for each processor of the cluster, so that none waits long for the others.
_CHUNKS_PER_CPU = 4

# How long a cluster may take to answer.
_KNOCK_SECONDS = 10
# How long it may take to have a processor for tasks, by default: one that grows by need has none at first.
TIMEOUT_SECONDS = 300.0
# How long none of the tasks may end once one has run, and after how much of that it is said.
_STUCK_SECONDS = 3600.0
_QUIET_SECONDS = 60.0
_LOOK_SECONDS = 5.0

# What a reason holds that the operating system gave: "No such file or directory (os error 2)".
_OF_THE_SYSTEM = "(os error "

_MISSING = "the engine ray needs Ray: pip install 'marey[ray]'"


def read(files: Files) -> bytes:
    """Summaries of these files; what a task does."""
    return _core.summarise(files, 1)


def main(args: list[str]) -> int:
    """Run ``marey aggregate`` with these arguments, reading files with Ray; returns the exit code."""
    try:
        files, address = _core.aggregation_inputs(args)
    except ValueError:
        # Help, or what is wrong with the arguments: the command says it.
        return _core.run_command_line(["marey", "aggregate", *args])
    except _core.MareyError as error:
        print(f"marey: {error}", file=sys.stderr)
        return 2
    try:
        # Ray prints what its nodes complain of.
        with contextlib.redirect_stdout(sys.stderr):
            found = summaries(files, address)
        code, out, err, _ = _core.aggregate(args, found)
    except _core.MareyError as error:
        print(f"marey: {error}", file=sys.stderr)
        return 2
    try:
        print(out, end="", flush=True)
    except OSError as error:
        # What did not fit is in the way of the interpreter's end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Whoever read it has seen enough.
        if not isinstance(error, BrokenPipeError):
            print(f"marey: {error.strerror} (os error {error.errno})", file=sys.stderr)
            return 2
    print(err, end="", file=sys.stderr)
    return code


def summaries(
    files: Files,
    address: str | None = None,
    read: Callable[[Files], bytes] = read,
    timeout_s: float = TIMEOUT_SECONDS,
) -> bytes:
    """Summaries of all files, by tasks of a Ray cluster.

    Args:
        files: How each is called, and where it is.
        address: The cluster; ``RAY_ADDRESS`` by itself, otherwise one is started here for as long as it takes. One
            that the program is connected to already is used; ``auto`` and ``local`` mean that one, too.
        read: What a task does with its files.
        timeout_s: How long to wait for a processor of the cluster that is free for tasks.

    Returns:
        A document of summaries, equal to what one process would read; files that could not be read are in it.

    Raises:
        marey.Error: Ray is not installed, there is no cluster that can run tasks, or the program is connected to
            another one than that of the address.
    """
    ray = _ray()
    # The working directory of a worker is another.
    files = [(name, path if os.path.isabs(path) else os.path.join(os.getcwd(), path)) for name, path in files]
    is_ours = not ray.is_initialized()
    if is_ours:
        # Without an address of its own it would connect to any cluster that runs on this machine.
        where = address or os.environ.get("RAY_ADDRESS") or "local"
        _knock(where)
        try:
            ray.init(address=where, log_to_driver=False, logging_level="warning", include_dashboard=None)
        except (ValueError, OSError, RuntimeError) as error:
            # Of another version of Ray or Python than this program, for one.
            raise _no_cluster(error) from error
    elif address is not None:
        _same(ray, address)
    try:
        _await_processor(ray, timeout_s)
        return _reduced(ray, files, read)
    finally:
        if is_ours:
            ray.shutdown()


def _ray() -> Any:  # noqa: ANN401
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise _core.MareyError(_MISSING) from None


def _no_cluster(why: object) -> _core.MareyError:
    # In a line, whatever Ray says.
    return _core.MareyError(f"no Ray cluster: {' '.join(str(why).split())}")


def _knock(address: str) -> None:
    """Raise marey.Error where nobody listens at HOST:PORT. Ray itself would end the process after a while."""
    host, found, port = address.removeprefix("ray://").rpartition(":")
    if not (found and port.isdecimal()):
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(f"nobody answers at {address}: {error}") from error


def _same(ray: Any, address: str) -> None:  # noqa: ANN401
    """Raise marey.Error where the program is connected to another cluster than that of the address.

    The port of ray://HOST:PORT is that of the server of clients, so that only its host says which cluster it is.
    """
    # A client of ray:// learns where the cluster is as its own nodes see it, which need not be how it is reached.
    if address in {"auto", "local"} or importlib.import_module("ray.util.client").ray.is_connected():
        return
    connected = str(ray.get_runtime_context().gcs_address)
    own = str(ray.util.get_node_ip_address())
    host, _, port = address.removeprefix("ray://").rpartition(":")
    of_host, _, of_port = connected.rpartition(":")
    is_client = address.startswith("ray://")
    if address == connected or ((is_client or port == of_port) and _ips(host, own) & _ips(of_host, own)):
        return
    raise _core.MareyError(
        f"this program is connected to the Ray cluster at {connected}, not to {address}: "
        "leave the address out, or disconnect with ray.shutdown() before"
    )


def _ips(host: str, own: str) -> set[str]:
    """Where a host is, by name or number; what is only known on this machine, as the others know it."""
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host.strip("[]"), None)}
    except (OSError, UnicodeError):
        return {host}
    return {own if ip == "::1" or ip.startswith("127.") else ip for ip in found}


def _reduced(ray: Any, files: Files, read: Callable[[Files], bytes]) -> bytes:  # noqa: ANN401
    def reading(chunk: Files) -> tuple[bytes, int]:
        return _told_by_node(read(chunk)), len(chunk)

    def merging(*parts: bytes) -> tuple[bytes, int]:
        return _core.merge_summaries(list(parts), []), len(parts)

    # The second value says that a task is done, without fetching the first, which stays where it was made.
    reader = ray.remote(num_returns=2, max_retries=_RETRIES)(reading)
    merger = ray.remote(num_returns=2, max_retries=_RETRIES)(merging)
    n_chunks = max(1, int(ray.cluster_resources().get("CPU", 1))) * _CHUNKS_PER_CPU
    size = -(-len(files) // n_chunks) or 1
    begun = [(chunk, reader.remote(chunk)) for chunk in _chunks(files, size)]
    leaves: list[tuple[Files, Any]] = []
    unread: list[tuple[str, str]] = []
    for chunk, (part, done) in begun:
        if _failure(ray, done) is None:
            leaves.append((chunk, part))
            continue
        # Which of the files it is shows when each is tried by itself.
        singly = [(file, reader.remote([file])) for file in chunk]
        for file, (single, done) in singly:
            why = _failure(ray, done)
            if why is None:
                leaves.append(([file], single))
            else:
                unread.append((file[0], why))
    parts = [part for _, part in leaves]
    while len(parts) > _FAN_IN:
        parts = [merger.remote(*group)[0] for group in _chunks(parts, _FAN_IN)]
    for part in parts:
        _wait(ray, part)
    try:
        found: list[bytes] = ray.get(parts)
    except ray.exceptions.RayError:
        # What is lost for good shows when each part is asked for by itself.
        found = []
        for chunk, part in leaves:
            why = _failure(ray, part)
            if why is None:
                found.append(ray.get(part))
            else:
                unread.extend((name, why) for name, _ in chunk)
    return _core.merge_summaries(found, unread)


def _told_by_node(part: bytes) -> bytes:
    """A document of summaries in which the node that runs this is named where its system could not read a file.

    A file that is not there may be on another node. What is the matter with one that was read is so everywhere.
    """
    if _OF_THE_SYSTEM.encode() not in part:
        return part
    document = json.loads(part)
    for file in document["unread"]:
        if _OF_THE_SYSTEM in file["why"]:
            file["why"] += f" on the Ray node {socket.gethostname()}"
    return json.dumps(document).encode()


def _chunks(items: list[Any], size: int) -> list[list[Any]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def _await_processor(ray: Any, timeout_s: float) -> None:  # noqa: ANN401
    """Wait until the cluster has run a task; one that waits makes a cluster grow that grows by need.

    Raises:
        marey.Error: It has not within that time: actors of another program may hold all processors.
    """
    first = ray.remote(_nothing).remote()
    if not _has_ended(ray, first, timeout_s, _LOOK_SECONDS, "waiting for a processor that is free for tasks"):
        ray.cancel(first, force=True)
        raise _no_cluster(
            f"none of its processors became free for tasks in {timeout_s:g} s ({_processors(ray)}). End what holds "
            "them, add nodes, name another cluster, raise timeout_s, or read the files with the engine local"
        )


def _nothing() -> None:
    """What the first task does."""


def _wait(ray: Any, task: Any) -> None:  # noqa: ANN401
    """Wait for the end of a task.

    Raises:
        marey.Error: It has not ended for a long time.
    """
    if not _has_ended(ray, task, _STUCK_SECONDS, _QUIET_SECONDS, "waiting for a task that reads or merges"):
        raise _no_cluster(f"no task has ended for {_STUCK_SECONDS:g} s ({_processors(ray)})")


def _has_ended(ray: Any, task: Any, timeout_s: float, quiet_s: float, what: str) -> bool:  # noqa: ANN401
    """Whether a task ends within that time. After a while Marey prints what it waits for."""
    waited = 0.0
    while not ray.wait([task], timeout=min(_LOOK_SECONDS, timeout_s - waited), fetch_local=False)[0]:
        waited += _LOOK_SECONDS
        if waited >= timeout_s:
            return False
        if waited == quiet_s:
            print(f"marey: {what} of the Ray cluster: {_processors(ray)}; at most {timeout_s:g} s", file=sys.stderr)
    return True


def _processors(ray: Any) -> str:  # noqa: ANN401
    in_all = ray.cluster_resources().get("CPU", 0)
    free = ray.available_resources().get("CPU", 0)
    return f"{in_all:g} in all, {free:g} free"


def _failure(ray: Any, done: Any) -> str | None:  # noqa: ANN401
    """Why a task failed, in a line; None when it did not."""
    _wait(ray, done)
    try:
        ray.get(done)
    except ray.exceptions.RayError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        kind = type(error).__name__
        return f"the Ray task that read it failed: {kind}: {lines[0]}" if lines else f"the Ray task failed: {kind}"
    return None
