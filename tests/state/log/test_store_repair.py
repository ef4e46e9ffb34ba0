"""A log that has not all with which it was closed is refused; `repair` is the consent to go on without the rest."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import share_state as ss
from share_state import gateway
from share_state.errors import CorruptLogError
from tests.cli_runner import COMMAND, environment, run

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
NAMES = ("a", "b", "c")


def key(group: str) -> ss.SharePartitionKey:
    return ss.SharePartitionKey(group, TOPIC, 0)


class Closed(NamedTuple):
    """A store with three states in three batches, closed."""

    path: Path
    segment: Path
    whole: bytes

    @property
    def last(self) -> int:
        """Position at which the last batch begins; all are of one size."""
        return len(self.whole) // len(NAMES) * (len(NAMES) - 1)

    def groups(self, **settings: bool) -> list[str]:
        """Groups that have a state after opening."""
        with ss.open(self.path, **settings) as store:  # type: ignore[arg-type]
            return [state["group"] for state in store.states()]


@pytest.fixture
def closed(tmp_path: Path) -> Closed:
    path = tmp_path / "store"
    with ss.open(path) as store:
        for name in NAMES:
            store.reset_state(key(name), 0, 0)
    (segment,) = path.rglob("*.log")
    whole = segment.read_bytes()
    assert len(whole) % len(NAMES) == 0
    return Closed(path, segment, whole)


def flipped(closed: Closed) -> bytes:
    """The last batch with another checksum than its own."""
    data = bytearray(closed.whole)
    data[closed.last + 17] ^= 1
    return bytes(data)


DAMAGES: dict[str, tuple[Callable[[Closed], bytes], str, str]] = {
    "flipped": (flipped, "unreadable batch", r"cuts off \d+ bytes; 1 record is lost, of \"c:Xz_yUKmhQhW7NshHKP1g6A:0\""),
    "cut": (lambda closed: closed.whole[:-1], "batch cut off", r"cuts off \d+ bytes; 1 record is lost"),
    "shortened": (
        lambda closed: closed.whole[: closed.last],
        "ends at offset 2, and the store noted its end at 3",
        "takes the log as it is; 1 record is lost",
    ),
    "longer": (lambda closed: closed.whole + b"\0" * 9, "only zeros", "cuts off 9 bytes; 0 records are lost"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_after_a_clean_close_damage_at_the_end_is_refused_and_repaired_on_request(
    closed: Closed, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    change, kind, costs = DAMAGES[damage]
    data = change(closed)
    closed.segment.write_bytes(data)
    before = {path: path.read_bytes() for path in closed.path.rglob("*") if path.is_file() and path.name != ".lock"}
    with pytest.raises(CorruptLogError) as refused:
        ss.open(closed.path)
    assert {path: path.read_bytes() for path in before} == before, "nothing was changed"
    place = len(closed.whole) if damage == "longer" else closed.last
    assert (refused.value.segment, refused.value.position) == (str(closed.segment), place)
    assert kind in refused.value.kind
    [(where, what)] = refused.value.repairs
    assert where == f"{closed.segment} at byte {place}: {refused.value.kind}"
    assert re.fullmatch(costs, what), what
    assert str(refused.value) == f"{where} (repair=True {what})"

    caplog.set_level(logging.WARNING, "share_state.store")
    with ss.open(closed.path, repair=True) as store:
        assert store.recovery()["repaired"] == [f"{where} (repair {what})"]
        assert store.recovery()["torn"] == []
    repaired = f"{where} (repair {what})"
    assert [record.getMessage() for record in caplog.records] == [f"opened {str(closed.path)!r}: repaired: {repaired!r}"]
    left = list(NAMES if damage == "longer" else NAMES[:-1])
    assert closed.groups() == left, "it is whole again"
    assert closed.groups(repair=True) == left


def test_a_whole_store_is_not_changed_by_a_repair(closed: Closed) -> None:
    with ss.open(closed.path, repair=True) as store:
        assert (store.recovery()["repaired"], store.recovery()["note_damaged"]) == ([], False)
    assert closed.groups() == list(NAMES)
    assert closed.segment.read_bytes() == closed.whole


def test_a_missing_segment_is_refused(closed: Closed) -> None:
    closed.segment.unlink()
    with pytest.raises(CorruptLogError, match="ends at offset 0, and the store noted its end at 3"):
        ss.open(closed.path)
    assert closed.groups(repair=True) == []


def test_a_damaged_note_is_a_warning(closed: Closed, caplog: pytest.LogCaptureFixture) -> None:
    meta = closed.path / "share-state.meta"
    meta.write_text(meta.read_text().replace("end=0 0 ", "end=0 1 "))
    caplog.set_level(logging.WARNING, "share_state.store")
    with ss.open(closed.path) as store:
        assert store.recovery()["note_damaged"]
    [said] = caplog.records
    assert "the note of where its logs end is damaged" in said.getMessage()
    closed.segment.write_bytes(closed.whole[:-1])
    with pytest.raises(CorruptLogError):
        ss.open(closed.path)


def test_what_no_repair_mends_says_so(closed: Closed) -> None:
    (closed.segment.parent / "x.log").write_bytes(b"x")
    with pytest.raises(CorruptLogError) as refused:
        ss.open(closed.path, repair=True)
    assert refused.value.repairs == ()
    assert str(refused.value) == f"{refused.value.segment} at byte 0: {refused.value.kind}"


def test_the_log_of_share_groups_is_kept_the_same_way(tmp_path: Path) -> None:
    with gateway.ShareGroupStore(tmp_path) as store:
        store.set_topics([("orders", TOPIC, 1)])
        _, _, ticket = store.begin_alter_offsets("g", [(TOPIC, "orders", 0)], wall_ms=1)
        store.wait(ticket)
    (segment,) = tmp_path.rglob("*.log")
    segment.write_bytes(segment.read_bytes()[:-1])
    with pytest.raises(CorruptLogError, match="repair=True cuts off") as refused:
        gateway.ShareGroupStore(tmp_path)
    assert refused.value.position == 0
    with gateway.ShareGroupStore(tmp_path, repair=True) as store:
        assert len(store.recovery()["repaired"]) == 1
    with gateway.ShareGroupStore(tmp_path) as store:
        assert store.recovery()["repaired"] == []


def test_readers_tell_the_damage_and_show_the_rest(closed: Closed) -> None:
    for change, kind, _ in DAMAGES.values():
        closed.segment.write_bytes(change(closed))
        result = run("state", closed.path, "--format", "jsonl")
        assert result.returncode == 4
        shown = [json.loads(line)["group"] for line in result.stdout.splitlines()]
        assert set(NAMES[:-1]) <= set(shown) <= set(NAMES)
        [finding] = result.stderr.splitlines()
        assert finding.startswith(f"damage: {closed.segment} at byte ")
        assert kind in finding


@contextlib.contextmanager
def serving(arguments: list[str], says: str) -> Iterator[subprocess.Popen[str]]:
    """A running command that has said where it listens."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(says)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_coordinator_names_its_option_and_takes_it(closed: Closed) -> None:
    closed.segment.write_bytes(closed.whole[:-1])
    refused = run("coordinator", "--listen", "127.0.0.1:0", "--path", closed.path)
    assert refused.returncode == 3
    [said] = refused.stderr.splitlines()
    assert "(--repair cuts off" in said
    assert said.endswith("1 record is lost)")
    arguments = ["coordinator", "--listen", "127.0.0.1:0", "--path", str(closed.path), "--repair"]
    with serving(arguments, "listening on ") as process:
        process.terminate()
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "")
        assert "share-state: repaired: " in err
        assert "1 record is lost" in err
    assert closed.groups() == list(NAMES[:-1])


def test_the_gateway_names_its_option_and_takes_it(closed: Closed, tmp_path: Path) -> None:
    path = tmp_path / "gateway"
    path.mkdir()
    shutil.move(closed.path, path / "state")
    segment = path / "state" / closed.segment.relative_to(closed.path)
    segment.write_bytes(closed.whole[:-1])
    with gateway.ShareGroupStore(path / "groups") as groups:
        groups.set_topics([("orders", TOPIC, 1)])
        groups.begin_alter_offsets("g", [(TOPIC, "orders", 0)], wall_ms=1)
    (log_of_groups,) = (path / "groups").rglob("*.log")
    log_of_groups.write_bytes(log_of_groups.read_bytes()[:-1])
    arguments = ["--upstream", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--path", str(path)]
    refused = run("gateway", *arguments)
    assert refused.returncode == 3
    [said] = refused.stderr.splitlines()
    assert said.count("(--repair cuts off") == 2
    assert f"{segment} at byte " in said
    assert f"{log_of_groups} at byte 0" in said
    # What no repair mends in one log keeps the other from being cut.
    damaged = log_of_groups.read_bytes()
    stray = segment.with_name("x.log")
    stray.write_bytes(b"x")
    for options in ([], ["--repair"]):
        beyond = run("gateway", *arguments, *options)
        assert beyond.returncode == 3
        assert beyond.stderr.rstrip().endswith(f"{stray} at byte 0: not a segment's name")
    assert log_of_groups.read_bytes() == damaged
    stray.unlink()
    with serving(["gateway", *arguments, "--repair"], "serving share groups on ") as process:
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert re.search(r"WARNING share_state.store: opened .*: repaired: .*1 record is lost", err)
    assert closed._replace(path=path / "state").groups() == list(NAMES[:-1])
