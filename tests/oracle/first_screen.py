"""What the first screen says, as a line of JSON and as text, by the names that the truth has for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from report_text import Shown, number

Brief = dict[str, Any]
# Figures of rows by their keys in JSON.
ROW = {"steps": "count", "calls": "count"} | {
    f"{name}_s": name for name in ("mean", "first", "median", "p95", "min", "max")
}
SPEED = {
    "requests_hz": "requests.per_second",
    "frames_hz": "fps",
    "blocks_hz": "blocks.bps",
    "first_block_s": "blocks.time_to_first",
    "step_median_s": "steps.steady.p50",
    "computed_step_median_s": "steps.caching.computed.p50",
    "cached_step_median_s": "steps.caching.cached.p50",
}
WORK = {"generations": "generations", "blocks": "blocks.count", "steps_done": "steps.count", "frames": "frames"}
# Rates have four decimals.
RATE = 0.5e-4


def figures(brief: Brief) -> dict[str, Any]:
    """Of `--brief --format json`."""
    said: dict[str, Any] = {"run.wall": brief["wall_s"], "status": brief["outcome"]}
    account, work, speed = brief["account"], brief["work"], brief.get("speed", {})
    said |= {name: work.get(key) for key, name in WORK.items()}
    for key, name in SPEED.items():
        if key in speed:
            said[name] = Shown(speed[key], RATE) if key.endswith("_hz") else speed[key]
    if "steps_hz" in speed:
        per_second = "requests.steps_per_second" if "requests_hz" in speed else "steps.steady.per_second"
        said[per_second] = Shown(speed["steps_hz"], RATE)
    for memory in brief["memory"]:
        if memory["source"] == "process":
            said["peak_bytes"] = memory["peak_bytes"]
    if account is not None:
        said["account.total"] = account["total_s"]
        together = sum(Decimal(str(row["held_s"])) for row in account["rows"])
        said["account.left over"] = float(together - Decimal(str(account["total_s"])))
        for row in account["rows"]:
            said |= {f"row[{row['name']}].{name}": row[key] for key, name in ROW.items() if key in row}
            said[f"row[{row['name']}].held"] = row["held_s"]
            if "cached" in row:
                said["steps.caching.cached"] = row["cached"]
    return said


LINE = re.compile(r"^  (\S.*?)\s{2,}(\S+ \w+)\s+(\S+ %)\s*[█▉▊▋▌▍▎▏]*(?:\s{2,}(\S.*))?$")
# What sentences say, and what the truth calls it.
HEADLINE = (
    (r"(?:finished in|after) (\S+ \w+)", "run.wall"),
    (r"· (\d+) (?:clips?|requests?|generations?)", "generations"),
    (r"(\d+) blocks?(?:,|$| ·)", "blocks.count"),
    (r"(?<!× )(\d+) steps?(?:,|$| ·)", "steps.count"),
    (r"(\d+) frames?$", "frames"),
)
SPEEDS = (
    (r"^(\S+) requests/s", "requests.per_second"),
    (r"(\S+) steps/s over all", "requests.steps_per_second"),
    (r"(\S+) FPS", "fps"),
    (r"(\S+) blocks/s", "blocks.bps"),
    (r"first block after (\S+ \w+)", "blocks.time_to_first"),
    (r"denoising (\S+) it/s", "steps.steady.per_second"),
    (r"steady step (\S+ \w+)", "steps.steady.p50"),
    (r"steady step \S+ \w+ \((\S+) it/s\)", "steps.steady.per_second"),
    (r"steps? in (\S+ \w+)", "steps.total"),
    (r"step (\S+ \w+) computed", "steps.caching.computed.p50"),
    (r"computed, (\S+ \w+) cached", "steps.caching.cached.p50"),
)
NOTES = (
    (r"^(\d+) (?:block|step|iteration|pass|call)", "count"),
    (r"× (\S+ \w+)", "mean"),
    (r"median (\S+ \w+)", "median"),
    (r"longest (\S+ \w+)", "max"),
)
# What is no count, though it is as good as whole.
RATES = ("per_second", "fps", "bps")
MEMORY = ((r"^peak (\S+ MiB) [^·]*\(process\)", "peak_bytes"),)
HEAD = "Time of a request, mean of "


def of_text(text: str) -> dict[str, Any]:
    """Of the text."""
    headline, *lines = text.strip().splitlines()
    bars = [match.groups() for line in lines if (match := LINE.match(line))]
    head = next((line.strip() for line in lines if line.startswith(f"  {HEAD}")), None)
    facts = [line.strip().split("  ", 1) for line in lines if line.startswith(("  Speed  ", "  Memory  "))]
    return _shown(headline, head, bars, facts)


def of_page(screen: Brief | None) -> dict[str, Any]:
    """Of the top of a page, of which the bars add up, too."""
    if screen is None:
        return {}
    found = screen["bars"][0] if screen["bars"] else {"head": None, "rows": []}
    assert not found["rows"] or abs(sum(ratio for row in found["rows"] for ratio in row["ratios"]) - 1) < 1e-9
    bars = [(row["name"], *row["figures"], row["note"]) for row in found["rows"]]
    return _shown(screen["outcome"] + screen["after"], found["head"], bars, screen["lines"])


def _shown(
    headline: str, head: str | None, bars: Iterable[Sequence[str]], facts: Iterable[Sequence[str]]
) -> dict[str, Any]:
    said = _found(HEADLINE, headline)
    if product := re.search(r"(\d+) blocks? × (\d+) steps?", headline):
        said["blocks.count"], said["steps.count"] = int(product[1]), int(product[1]) * int(product[2])
    for label, sentence in facts:
        said |= _found(SPEEDS if label == "Speed" else MEMORY, sentence.strip())
    for name, amount, share, note in bars:
        # What has to add up may be off by a whole last digit.
        said |= {f"row[{name}].held": _number(amount, 2), f"row[{name}].share": _number(share, 2)}
        said |= {f"row[{name}].{figure}": value for figure, value in _found(NOTES, note or "").items()}
    if bars:
        whole = re.search(r"\S+ \w+", head.partition(":")[2] if head else re.split(r"(?:in|after) ", headline)[1])
        assert whole is not None
        said["account.total"] = _number(whole[0], 1)
        amounts, shares = ([Decimal(bar[at].split()[0]) for bar in bars] for at in (1, 2))
        said["account.left over"] = float(sum(amounts) - Decimal(whole[0].split()[0]))
        said["account.share left over"] = float(sum(shares) - 100)
    return said


def _found(patterns: Iterable[tuple[str, str]], text: str) -> dict[str, Any]:
    found = ((name, re.search(pattern, text)) for pattern, name in patterns)
    return {name: _number(match[1], 1, name.endswith(RATES)) for name, match in found if match}


def _number(text: str, digits: float, is_rate: bool = False) -> Any:
    """A count, or a number that may be off by so many halves of its last digit."""
    value = number(text)
    if is_rate and isinstance(value, int):
        return Shown(value, 0.5)
    return Shown(value.value, value.rounding * digits) if isinstance(value, Shown) else value
