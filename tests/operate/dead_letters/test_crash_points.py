"""A redrive that dies at any step of it, and the run that goes on: every record is in the target exactly once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from share_state.operate.dead_letters import read_journal, redrive
from share_state.operate.dead_letters.redriven_from import REDRIVEN_FROM
from tests.operate.dead_letters.fake_target import (
    IDENTITY,
    FakeTarget,
    Power,
    PowerCutError,
    Topics,
    intervals,
    power_the_disk,
    redriven,
    sources,
)

#: Number of records of each of two partitions; in batches of 2 they are 5 batches.
COUNT = 5


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redrive, "_BATCH_RECORDS", 2)


def run(path: Path, topics: Topics, power: Power, *, keeps_unsynced: bool) -> None:
    with pytest.MonkeyPatch.context() as patched:
        power_the_disk(patched, power, keeps_unsynced=keeps_unsynced)
        redriven(path, topics, intervals(COUNT), FakeTarget(topics, power))


def check(topics: Topics) -> None:
    found = Counter(one.key for one in topics.sent())
    assert found == Counter(b"key %d-%d" % (partition, offset) for partition in (0, 1) for offset in range(COUNT))
    for one in topics.sent():
        partition, offset = map(int, (one.key or b"").split()[1].split(b"-"))
        assert one.value == (None if offset == 1 else b"value %d-%d" % (partition, offset))
        assert [name for name, _ in one.headers] == ["h", "h", REDRIVEN_FROM]


@pytest.mark.parametrize("keeps_unsynced", [True, False])
def test_a_run_that_dies_at_any_step_is_gone_on_with(tmp_path: Path, keeps_unsynced: bool) -> None:
    whole = Power()
    topics = sources(COUNT)
    run(tmp_path / "whole", topics, whole, keeps_unsynced=keeps_unsynced)
    check(topics)
    # 6 batches of 2 records or 1, each with two lines of a write and a sync, 3 steps a record; the ends; the making.
    assert whole.steps >= 6 * 4 + 3 * 2 * COUNT + 2
    in_doubt = 0
    for cut_at in range(whole.steps):
        topics, path = sources(COUNT), tmp_path / str(cut_at)
        with pytest.raises(PowerCutError):
            run(path, topics, Power(cut_at), keeps_unsynced=keeps_unsynced)
        state = read_journal(path, IDENTITY)
        # In the target, and not known to be there.
        in_doubt += state is not None and len(topics.sent()) > state.sent_count
        again = Power()
        run(path, topics, again, keeps_unsynced=keeps_unsynced)
        check(topics)
    assert in_doubt >= 2 * COUNT


def test_a_run_that_dies_again_and_again_comes_to_an_end(tmp_path: Path) -> None:
    topics, path = sources(COUNT), tmp_path / "journal"
    died = 0
    for cut_at in range(8, 200):
        try:
            run(path, topics, Power(cut_at), keeps_unsynced=died % 2 == 0)
        except PowerCutError:
            died += 1
        else:
            break
    assert died >= 3
    check(topics)
