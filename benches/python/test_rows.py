"""The rows of the smaller tools, through the scalar and the columnar calls; each is defined in `benches/plan.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benches.faces.rows import CLOCK, ready
from benches.plan import Row, small
from benches.programs import COLUMNAR, SCALAR

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

_ROWS = [
    pytest.param(row, engine, id=f"{row.name}-{engine}") for engine in (SCALAR, COLUMNAR) for row in small(engine, stored=True)
]


@pytest.mark.benchmark(timer=CLOCK.seconds)
@pytest.mark.parametrize(("row", "engine"), _ROWS)
def test_row(benchmark: BenchmarkFixture, row: Row, engine: str) -> None:
    made = ready(row, engine)
    benchmark.group = row.name
    benchmark.extra_info.update(row=row.name, engine=engine, elements=made.log.elements)
    benchmark.pedantic(made.replay, rounds=10, warmup_rounds=2)  # type: ignore[no-untyped-call]
