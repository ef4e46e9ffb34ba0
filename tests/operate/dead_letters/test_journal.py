"""The journal of a redrive: what it keeps, and what it refuses."""

from __future__ import annotations

import errno
import json
import os
import zlib
from pathlib import Path

import pytest

from share_state.operate.dead_letters import (
    Identity,
    Journal,
    JournalDamagedError,
    JournalError,
    JournalInUseError,
    JournalOfAnotherRunError,
    Place,
    Sent,
    read_journal,
)
from tests.operate.dead_letters.fake_target import IDENTITY

FIRST, SECOND, THIRD = (Place("orders", 0, offset) for offset in range(3))


def opened(path: Path, identity: Identity = IDENTITY) -> Journal:
    return Journal(path, identity, lambda: 7)


def filled(path: Path) -> bytes:
    with opened(path) as journal:
        journal.ends("retry", {0: 4, 1: 0})
        journal.sending([FIRST, SECOND, THIRD])
        journal.sent([Sent(FIRST, "retry", 0, 9)], [SECOND])
    return path.read_bytes()


def line(entry: object) -> bytes:
    text = json.dumps(entry).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def test_it_keeps_what_was_sent_and_what_is_in_doubt(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    assert read_journal(path, IDENTITY) is None
    content = filled(path)
    with opened(path) as journal:
        assert journal.state.sent == {("orders", 0): {0}}
        assert journal.state.in_doubt == {SECOND}
        # The one in doubt may be in front of the one that is confirmed.
        assert journal.state.ends == {("retry", 0): 4, ("retry", 1): 0}
        assert journal.state == read_journal(path, IDENTITY)
        journal.sent([Sent(SECOND, "retry", 0, 8)], [])
        # What is sent from here on comes after it.
        assert journal.state.ends == {("retry", 0): 9, ("retry", 1): 0}
        journal.sending([THIRD])
        journal.taken_for_sent([THIRD])
    state = read_journal(path, IDENTITY)
    assert state is not None
    assert (state.sent_count, state.in_doubt) == (3, set())
    assert path.read_bytes().startswith(content)
    assert list(tmp_path.iterdir()) == [path]


def test_a_torn_last_line_is_cut_off_wherever_it_is_torn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # There is no loss of power here, and syncs take their time.
    monkeypatch.setattr("share_state.operate.dead_letters.journal.os.fsync", lambda _: None)
    path = tmp_path / "journal"
    content = filled(path)
    head = content.index(b"\n") + 1
    whole = [place + 1 for place, byte in enumerate(content) if byte == 10]
    assert len(whole) == 4
    for end in range(head, len(content)):
        path.write_bytes(content[:end])
        assert read_journal(path, IDENTITY) is not None
        assert path.stat().st_size == end
        with opened(path):
            pass
        assert path.read_bytes() == content[: max(place for place in whole if place <= end)]
    # The file had grown, and the page had not come to the disk.
    path.write_bytes(content[:-20] + b"\0" * 19 + b"\n")
    with opened(path):
        pass
    assert path.read_bytes() == content[: whole[-2]]


def test_any_other_damage_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    content = filled(path)
    refused = 0
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 0x01
        path.write_bytes(damaged)
        if place == len(content) - 1:
            # Without its line feed the last line is a torn one.
            continue
        with pytest.raises(JournalDamagedError, match=r"is damaged in line \d"):
            opened(path)
        with pytest.raises(JournalDamagedError) as raised:
            read_journal(path, IDENTITY)
        assert raised.value.line in range(1, 5)
        assert path.read_bytes() == damaged
        refused += 1
    assert refused == len(content) - 1


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"no journal", b"no journal\n", b"\xff\n", line([1]), line({"journal": "other"})]
)
def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(JournalDamagedError, match="line 1: it is no journal of a redrive"):
        opened(path)
    assert path.read_bytes() == content


def test_a_version_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    filled(path)
    head = json.loads(path.read_bytes().splitlines()[0][9:])
    path.write_bytes(line({**head, "version": 2}))
    with pytest.raises(JournalDamagedError, match="version 2 is not known"):
        opened(path)


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"sending": [["orders", 0, [5]]], "at": 1},
        {"sending": [], "at": 1},
        {"sent": [], "in_doubt": [["orders", 0, [0]]], "at": 1},
        {"sent": [["orders", 0, 5, "retry", 0, 0]], "in_doubt": [], "at": 1},
        {"sent": [["orders", 0, 1, "retry", 0, -1]], "in_doubt": [], "at": 1},
        {"sent": [["orders", 0, 1, "retry", 0, 2**63]], "in_doubt": [], "at": 1},
        {"sent": [["orders", 0, 1, "retry", 0]], "in_doubt": [], "at": 1},
        {"sent": [["orders", 0, 1, "retry", 0, 3]], "in_doubt": [["orders", 0, [1]]], "at": 1},
        {"taken_for_sent": [["orders", 0, [0]]], "at": 1},
        {"ends": ["retry", ["0"]], "at": 1},
        {"ends": ["retry", [True]], "at": 1},
        {"sent": [], "in_doubt": []},
    ],
)
def test_an_entry_that_cannot_follow_is_damage(tmp_path: Path, entry: object) -> None:
    path = tmp_path / "journal"
    content = filled(path) + line(entry)
    path.write_bytes(content)
    with pytest.raises(JournalDamagedError, match="line 5"):
        opened(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("other", "field", "text"),
    [
        (IDENTITY._replace(cluster="cluster-2"), "cluster", "its cluster is cluster-1, and cluster-2 was asked"),
        (IDENTITY._replace(group="others"), "group", "its group is workers, and others was asked"),
        (IDENTITY._replace(target=None), "target", "its target is retry, and the source topic was asked"),
    ],
)
def test_the_journal_of_another_redrive_is_refused(tmp_path: Path, other: Identity, field: str, text: str) -> None:
    path = tmp_path / "journal"
    content = filled(path)
    for use in (opened, read_journal):
        with pytest.raises(JournalOfAnotherRunError, match=text) as raised:
            use(path, other)
        assert raised.value.field == field
    assert path.read_bytes() == content


def test_one_run_at_a_time_has_it(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with opened(path), pytest.raises(JournalInUseError, match="is in use by another process"):
        opened(path)
    with opened(path):
        pass


def test_a_full_disk_leaves_no_part_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    content = filled(path)
    write = os.write
    with opened(path) as journal:

        def full(file: int, data: bytes) -> int:
            if len(data) > 10:
                return write(file, bytes(data)[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("share_state.operate.dead_letters.journal.os.write", full)
        with pytest.raises(JournalError, match="cannot be written: No space left on device"):
            journal.sent([], [])
        assert journal.state.in_doubt == {SECOND}
        monkeypatch.undo()
        assert path.read_bytes() == content
        journal.sent([], [])
    assert path.read_bytes().count(b"\n") == 5


def test_a_place_that_cannot_be_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be written: No such file or directory"):
        opened(tmp_path / "nowhere" / "journal")
    with pytest.raises(JournalError, match="cannot be read: Is a directory"):
        read_journal(tmp_path, IDENTITY)
