"""Every figure of some inputs is what it was, under names that stay when keys are renamed."""

from __future__ import annotations

import pytest

from golden_file import NAMES, SHOWN, Golden
from golden_inputs import FIXTURES, Input, inputs

ALL = list(inputs(FIXTURES))


@pytest.mark.parametrize("one", ALL, ids=[one.name for one in ALL])
def test_figures_are_what_they_were(one: Input, request: pytest.FixtureRequest) -> None:
    golden, now = Golden.of(one.name), one.figures()
    differences = golden.differences(now)
    why = request.config.getoption("--accept")
    if why is not None and differences:
        golden.accept(now, why, request.config.getoption("--fewer"))
        return
    if differences:
        n, shown = len(differences), "\n".join(differences[:SHOWN])
        more = f"\n… and {n - SHOWN} more" if n > SHOWN else ""
        accept = f"python -m pytest '{request.node.nodeid}' --accept 'why'"
        pytest.fail(f"{golden.file.name}: {n} differences\n{shown}{more}\nTo accept them: {accept}", pytrace=False)


def test_every_golden_has_an_input() -> None:
    with_fixtures = [one.name for one in inputs("/fixtures")]
    assert sorted(file.stem for file in NAMES.glob("*")) == sorted(with_fixtures)
