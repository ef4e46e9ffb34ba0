"""Messages on the package's loggers: nothing unasked, a warning where a log was cut, and never a line that others wrote."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import share_state as ss
from share_state import logs

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
KEY = ss.SharePartitionKey("g", TOPIC, 0)


def torn_store(path: Path) -> None:
    """A store whose last batch was written in part, as a crash leaves it."""
    with tempfile.TemporaryDirectory() as alive, ss.open(alive) as store:
        store.reset_state(KEY, 0, 3)
        store.reset_state(KEY, 1, 7)
        # A copy of a store that is open is what a kill leaves.
        shutil.copytree(store.path, path, dirs_exist_ok=True)
    (segment,) = path.rglob("*.log")
    segment.write_bytes(segment.read_bytes()[:-5])


def test_a_torn_tail_is_a_warning_and_is_told_by_the_store(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "share_state")
    torn_store(tmp_path)
    caplog.clear()
    with ss.open(tmp_path) as store:
        (torn,) = store.recovery()["torn"]
        assert store.read_state(KEY, 0) == ss.ReadStateResult(0, 3, [])
    said = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert said == [
        ("share_state.store", "INFO", f"opened {str(tmp_path)!r}: 1 records in 1 batches"),
        ("share_state.store", "WARNING", f"opened {str(tmp_path)!r}: cut off an unfinished batch: {torn!r}"),
    ]
    caplog.clear()
    with ss.open(tmp_path) as again:
        assert again.recovery()["torn"] == []
    assert [record.levelname for record in caplog.records] == ["INFO"]


@pytest.mark.parametrize("opened", [ss.open, ss.StateStore], ids=["open", "StateStore"])
def test_every_way_to_open_a_store_is_logged(
    opened: Callable[[Path], ss.StateStore], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "share_state.store")
    opened(tmp_path).close()
    assert [record.name for record in caplog.records] == ["share_state.store"]


def test_nothing_is_said_to_an_application_that_does_not_listen(tmp_path: Path) -> None:
    torn_store(tmp_path)
    script = "import sys, share_state; share_state.open(sys.argv[1]).close()"
    ran = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    # Without the null handler logging would print warnings to stderr by itself.
    assert (ran.stdout, ran.stderr) == ("", "")
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("share_state").handlers)
    assert {logs.STORE.name, logs.PERSISTER.name} == {"share_state.store", "share_state.persister"}


def test_the_package_imports_nothing_heavy() -> None:
    script = "import share_state, sys; print(sorted({'pyspark', 'pyarrow', 'pandas', 'typer', 'rich'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
