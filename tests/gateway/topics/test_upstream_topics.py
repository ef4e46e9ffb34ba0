"""Identity of topics: names, ids, leader epochs, kept over restarts; topics without ids, recreated ones, and more partitions."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from share_state.errors import StoreError
from share_state.gateway.files import write_json
from share_state.gateway.upstream import topics as module
from share_state.gateway.upstream.topics import Partition, TopicRegistry, newest, partitions_of

ONE, TWO, ZERO = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg", "AAAAAAAAAAAAAAAAAAAAAA"


def epochs(*told: int) -> list[Partition]:
    return [Partition(1, epoch) for epoch in told]


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Documents written so far."""
    written: list[Any] = []

    def kept(path: Path, what: Any) -> None:
        written.append(what)
        write_json(path, what)

    monkeypatch.setattr(module, "write_json", kept)
    return written


def test_ids_of_upstream_are_kept(tmp_path: Path, writes: list[Any]) -> None:
    registry = TopicRegistry(tmp_path)
    asyncio.run(registry.save())
    assert writes == []
    assert registry.see("t", ONE, 3) == (ONE, None)
    assert registry.see("u", TWO, 1) == (TWO, None)
    assert not registry.has_made_up_ids
    assert [registry.is_made_up(name) for name in ("t", "u", "v")] == [False] * 3
    assert [registry.id_of(name) for name in ("t", "u", "v")] == [ONE, TWO, None]
    assert [registry.name_of(one) for one in (ONE, TWO, ZERO)] == ["t", "u", None]
    # Epochs are only kept of topics without ids.
    registry.saw_epochs("t", epochs(5, 5, 5))
    registry.saw_epochs("v", epochs(5))
    assert [registry.epochs_of(name) for name in ("t", "v")] == [(), ()]
    asyncio.run(registry.save())
    assert json.loads((tmp_path / "topics.json").read_text())["topics"] == {
        "t": {"id": ONE, "real": True, "partitions": 3, "epochs": []},
        "u": {"id": TWO, "real": True, "partitions": 1, "epochs": []},
    }
    # What is known already is not written again, not even by another process.
    for known in (registry, TopicRegistry(tmp_path)):
        assert known.see("t", ONE, 3) == (ONE, None)
        assert known.view() == [("t", ONE, 3), ("u", TWO, 1)]
        assert known.name_of(TWO) == "u"
        asyncio.run(known.save())
    assert len(writes) == 1


def test_a_topic_with_another_id_is_another_topic(tmp_path: Path, writes: list[Any]) -> None:
    registry = TopicRegistry(tmp_path)
    registry.see("t", ONE, 1)
    asyncio.run(registry.save())
    assert registry.see("t", TWO, 1) == (TWO, ONE)
    assert [registry.name_of(one) for one in (ONE, TWO)] == [None, "t"]
    assert registry.view() == [("t", TWO, 1)]
    asyncio.run(registry.save())
    assert registry.see("t", TWO, 4) == (TWO, None)
    assert registry.view() == [("t", TWO, 4)]
    # One that has an id may also have fewer partitions: it is what upstream says.
    assert registry.see("t", TWO, 2) == (TWO, None)
    asyncio.run(registry.save())
    assert [written["topics"]["t"]["partitions"] for written in writes] == [1, 1, 2]


def test_a_topic_without_an_id_gets_one_for_as_long_as_it_does_not_shrink(tmp_path: Path) -> None:
    registry = TopicRegistry(tmp_path)
    made, former = registry.see("t", ZERO, 2)
    other, _ = registry.see("u", ZERO, 2)
    assert former is None
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{22}", one) for one in (made, other))
    assert len({made, other, ZERO}) == 3
    assert registry.has_made_up_ids
    assert registry.is_made_up("t")
    assert registry.see("t", ZERO, 2) == (made, None)
    assert registry.see("t", ZERO, 3) == (made, None)
    assert registry.name_of(made) == "t"
    asyncio.run(registry.save())
    again = TopicRegistry(tmp_path)
    assert again.has_made_up_ids
    assert again.see("t", ZERO, 3) == (made, None)
    renewed, before = again.see("t", ZERO, 2)
    assert before == made
    assert renewed not in {made, other}
    assert [again.name_of(one) for one in (made, renewed, other)] == [None, "t", "u"]
    # It has come into a cluster that has ids.
    assert again.see("t", ONE, 2) == (ONE, renewed)
    assert [again.is_made_up(name) for name in "tu"] == [False, True]


def test_the_highest_epochs_of_a_topic_without_an_id_are_kept(tmp_path: Path, writes: list[Any]) -> None:
    registry = TopicRegistry(tmp_path)
    registry.see("t", ZERO, 2)
    asyncio.run(registry.save())
    assert registry.epochs_of("t") == ()
    registry.saw_epochs("t", epochs(4, -1))
    assert registry.epochs_of("t") == (4, -1)
    registry.saw_epochs("t", epochs(3, 0))
    assert registry.epochs_of("t") == (4, 0)
    asyncio.run(registry.save())
    registry.saw_epochs("t", epochs(4, 0))
    registry.saw_epochs("t", epochs(0, 0))
    asyncio.run(registry.save())
    assert [list(written["topics"]["t"]["epochs"]) for written in writes] == [[], [4, 0]]
    # More partitions go on from there, and so does another process.
    made, _ = registry.see("t", ZERO, 4)
    assert registry.epochs_of("t") == (4, 0)
    registry.saw_epochs("t", epochs(5, 0, 0, -1))
    asyncio.run(registry.save())
    again = TopicRegistry(tmp_path)
    assert again.epochs_of("t") == (5, 0, 0, -1)
    assert again.id_of("t") == made
    # Of a topic that has fewer, or is another one, nothing was seen.
    again.see("t", ZERO, 1)
    assert again.epochs_of("t") == ()


def test_epochs_of_fewer_partitions_than_before(tmp_path: Path) -> None:
    registry = TopicRegistry(tmp_path)
    registry.see("t", ZERO, 3)
    registry.saw_epochs("t", epochs(1, 2, 3))
    registry.saw_epochs("t", epochs(2))
    assert registry.epochs_of("t") == (2,)


def test_a_topic_is_renewed(tmp_path: Path, writes: list[Any]) -> None:
    registry = TopicRegistry(tmp_path)
    assert registry.renew("t") is None
    made, _ = registry.see("t", ZERO, 1)
    registry.see("u", ONE, 1)
    registry.saw_epochs("t", epochs(7))
    asyncio.run(registry.save())
    assert registry.renew("t") == made
    assert [registry.id_of("t"), registry.name_of(made), registry.renew("t")] == [None] * 3
    assert registry.view() == [("u", ONE, 1)]
    asyncio.run(registry.save())
    assert list(writes[-1]["topics"]) == ["u"]
    again, former = registry.see("t", ZERO, 1)
    assert (again != made, former, registry.epochs_of("t")) == (True, None, ())


def test_one_id_that_two_names_have_had(tmp_path: Path) -> None:
    registry = TopicRegistry(tmp_path)
    registry.see("t", ONE, 1)
    # Upstream is not to do that, but it may.
    assert registry.see("u", ONE, 1) == (ONE, None)
    assert registry.see("t", TWO, 1) == (TWO, ONE)
    assert [registry.name_of(one) for one in (ONE, TWO)] == ["u", "t"]
    assert registry.see("u", TWO, 1) == (TWO, ONE)
    assert registry.renew("t") == TWO
    assert registry.name_of(TWO) == "u"
    assert registry.renew("u") == TWO
    assert [registry.name_of(one) for one in (ONE, TWO)] == [None, None]


def test_what_could_not_be_written_is_written_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = TopicRegistry(tmp_path)
    registry.see("t", ONE, 1)

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(module, "write_json", full)
        for _ in range(2):
            with pytest.raises(StoreError, match="the disk is full"):
                asyncio.run(registry.save())
    asyncio.run(registry.save())
    assert TopicRegistry(tmp_path).view() == [("t", ONE, 1)]


ROW = {"id": ONE, "real": False, "partitions": 2}


def test_a_file_of_a_release_without_epochs_is_read(tmp_path: Path) -> None:
    (tmp_path / "topics.json").write_text(json.dumps({"format": 1, "topics": {"t": ROW}}))
    registry = TopicRegistry(tmp_path)
    assert registry.view() == [("t", ONE, 2)]
    assert registry.is_made_up("t")
    assert registry.epochs_of("t") == ()


@pytest.mark.parametrize("content", [{"format": 2, "topics": {}}, {"format": "1", "topics": {}}, {"topics": {}}])
def test_a_file_of_another_format_is_refused(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "topics.json"
    path.write_text(json.dumps(content))
    with pytest.raises(StoreError) as refused:
        TopicRegistry(tmp_path)
    assert str(refused.value) == f"{path} has a format that this release does not know"


@pytest.mark.parametrize(
    "topics",
    [*({"t": {key: ROW[key] for key in ROW if key != missing}} for missing in ROW), {"t": 5}, {"t": {**ROW, "epochs": 5}}, [ROW]],
)
def test_a_file_with_a_topic_that_cannot_be_read_is_refused(tmp_path: Path, topics: Any) -> None:
    path = tmp_path / "topics.json"
    path.write_text(json.dumps({"format": 1, "topics": topics}))
    with pytest.raises(StoreError) as refused:
        TopicRegistry(tmp_path)
    assert str(refused.value).startswith(f"{path} holds what was never written there: ")


def test_partitions_come_in_the_order_of_their_numbers() -> None:
    rows = [{"partitionIndex": 1, "leaderId": 7, "leaderEpoch": 4}, {"partitionIndex": 0, "leaderId": 8}]
    assert partitions_of(rows) == (Partition(8, -1), Partition(7, 4))
    # One that is not told of has no leader.
    assert partitions_of([{**rows[0], "partitionIndex": 2}, rows[1]]) == (Partition(8, -1), Partition(-1, -1))
    assert partitions_of([]) == ()


def test_the_newer_of_two_epochs_counts() -> None:
    known = (Partition(1, 3), Partition(1, 3), Partition(1, 3), Partition(1, 1), Partition(1, 3))
    told = (Partition(2, 2), Partition(2, 3), Partition(2, 4), Partition(2, 0), Partition(2, -1))
    assert newest(known, told) == (Partition(1, 3), Partition(2, 3), Partition(2, 4), Partition(1, 1), Partition(2, -1))
    # Partitions that are new are as they are told, and those that are no longer told are gone.
    assert newest(known[:1], told[:2]) == (Partition(1, 3), Partition(2, 3))
    assert newest(known, told[:1]) == (Partition(1, 3),)
    assert newest((), told) == told
