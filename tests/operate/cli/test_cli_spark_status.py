"""The exit status of `share-state spark run`, with a job in Spark's place."""

from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from share_state.cli.app import app
from share_state.cli.spark import command as spark_command

ORDERS = str(Path(__file__).parents[3] / "examples/orders-4.4.0")


class Written(NamedTuple):
    table: str
    rows: int
    seconds: float = 0.5
    place: str = "out"


@pytest.mark.parametrize(
    ("written", "status"),
    [([Written("state", 3)], 0), ([Written("state", 3), Written("errors", 0)], 0), ([Written("errors", 2)], 4)],
    ids=["state", "no errors", "errors"],
)
def test_rows_that_cannot_be_used_are_damage(
    written: list[Written], status: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job = SimpleNamespace(
        Job=lambda *_: None,
        run=lambda *_: iter(written),
        source_options=lambda _: {},
        written_tables=lambda _: ("state",),
        parse=lambda _: SimpleNamespace(choice=SimpleNamespace(chosen=list)),
        pieces=lambda _: None,
    )
    monkeypatch.setattr(spark_command, "importlib", SimpleNamespace(import_module=lambda _: job))
    monkeypatch.setattr(spark_command, "_session", lambda *_: SimpleNamespace(stop=lambda: None))
    ran = CliRunner().invoke(
        app, ["spark", "run", "--input", ORDERS, "--output", str(tmp_path / "out"), "--on-error", "quarantine"]
    )
    assert ran.exit_code == status, ran.output
    assert all(one.table in ran.stdout for one in written)
