"""Small files that a gateway keeps: whole or not there, and the identity that grows with each start."""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest

from share_state.errors import StoreError
from share_state.gateway import files
from share_state.gateway.files import write_json
from share_state.gateway.identity import Identity


def read_json(path: Path) -> dict[str, Any] | None:
    """Any content is one."""
    return files.read_json(path, lambda _content, _is_checked: None)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    assert read_json(path) is None
    write_json(path, {"b": 1, "a": ["é"]})
    assert path.read_bytes() == b'{\n "a": [\n  "\\u00e9"\n ],\n "b": 1,\n "format": 1,\n "checksum": "d4b7431b"\n}'
    assert read_json(path) == {"b": 1, "a": ["é"]}
    write_json(path, {})
    assert read_json(path) == {}
    assert [found.name for found in tmp_path.iterdir()] == ["kept.json"]


def test_text_is_in_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_bytes('{"format": 1, "a": "é"}'.encode())
    assert read_json(path) == {"a": "é"}
    path.write_bytes('{"a": "é"}'.encode("latin-1"))
    with pytest.raises(StoreError, match=r"^.*/kept\.json cannot be read: 'utf-8' codec"):
        read_json(path)


@pytest.mark.parametrize("text", ["[]", "null", "5", '"a"'])
def test_a_file_that_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kept.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StoreError) as refused:
        read_json(path)
    assert str(refused.value) == f"{path} does not contain a JSON object"


def test_files_that_cannot_be_read_or_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as refused:
        read_json(tmp_path)
    assert str(refused.value) == f"{tmp_path} cannot be read: [Errno 21] Is a directory: '{tmp_path}'"
    path = tmp_path / "kept.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match=r"kept\.json cannot be read: Expecting property name"):
        read_json(path)
    missing = tmp_path / "none" / "kept.json"
    with pytest.raises(StoreError) as refused:
        write_json(missing, {})
    assert str(refused.value) == f"{missing} cannot be written: [Errno 2] No such file or directory: '{missing}.new'"


def descriptors() -> int:
    """Number of open files."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_file_is_on_disk_before_it_has_its_name_and_then_the_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept.json"
    write_json(path, {"old": 1})
    seen: list[tuple[str, str]] = []

    def fsync(descriptor: int) -> None:
        synced = Path(f"/proc/self/fd/{descriptor}").readlink()
        seen.append((synced.name, "new" if "new" in json.loads(path.read_text(encoding="utf-8")) else "old"))
        if synced.name == "kept.json.new":
            # All of it is there.
            assert json.loads(synced.read_text(encoding="utf-8"))["new"] == 1

    monkeypatch.setattr(os, "fsync", fsync)
    before = descriptors()
    write_json(path, {"new": 1})
    assert seen == [("kept.json.new", "old"), (tmp_path.name, "new")]
    # Nothing is left open, also where the disk fails.
    assert descriptors() == before

    def fail(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink() == tmp_path:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreError, match="Input/output error"):
        write_json(path, {"new": 2})
    assert descriptors() == before


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write_json(path, {"old": 1})
    (tmp_path / "kept.json.new").mkdir()
    with pytest.raises(StoreError):
        write_json(path, {"new": 1})
    assert read_json(path) == {"old": 1}


@pytest.mark.parametrize(
    ("now", "generation"),
    [
        (1_577_836_800, 1),
        # The clock is wrong.
        (0, 1),
        (1_577_836_800 + 60 * 5, 5),
        (1_577_836_800 + 60 * 5 + 59.9, 5),
        (1_577_836_800 + 60 * 6, 6),
    ],
)
def test_a_new_directory_begins_at_the_minutes_since_2020(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: float, generation: int
) -> None:
    monkeypatch.setattr(time, "time", lambda: now)
    made = Identity.next(tmp_path)
    assert made.generation == generation
    # A UUID in base64, as Kafka writes it.
    assert (len(made.cluster_id), uuid.UUID(bytes=urlsafe_b64decode(made.cluster_id + "==")).version) == (22, 4)
    kept = json.loads((tmp_path / "identity.json").read_text(encoding="utf-8"))
    assert (kept["format"], kept["clusterId"], kept["generation"]) == (1, made.cluster_id, generation)


def test_each_start_is_a_generation_more(tmp_path: Path) -> None:
    first = Identity.next(tmp_path)
    assert Identity.next(tmp_path) == Identity(first.cluster_id, first.generation + 1)
    assert Identity.next(tmp_path) == Identity(first.cluster_id, first.generation + 2)
    assert first.generation > (time.time() - 1_577_836_800) // 60 - 5


def test_two_directories_are_two_clusters(tmp_path: Path) -> None:
    places = [tmp_path / name for name in "ab"]
    for place in places:
        place.mkdir()
    assert Identity.next(places[0]).cluster_id != Identity.next(places[1]).cluster_id


GOOD = {"format": 1, "clusterId": "c", "generation": 3}


@pytest.mark.parametrize("wrong", [{"format": 2}, {"format": None}, {"format": True}])
def test_an_identity_of_another_format_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    path = tmp_path / "identity.json"
    path.write_text(json.dumps({**GOOD, **wrong}), encoding="utf-8")
    with pytest.raises(StoreError) as refused:
        Identity.next(tmp_path)
    assert str(refused.value) == f"{path} has a format that this release does not know"
    assert json.loads(path.read_text(encoding="utf-8")) == {**GOOD, **wrong}


def test_an_older_backup_that_is_put_back_is_told_and_takes_no_generation_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, backup = tmp_path / "now", tmp_path / "backup"
    path.mkdir()
    first = Identity.next(path)
    shutil.copytree(path, backup)
    later = [Identity.next(path).generation for _ in range(3)][-1]
    assert not caplog.records
    shutil.rmtree(path)
    backup.rename(path)
    put_back = Identity.next(path)
    assert put_back.cluster_id == first.cluster_id
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    told = record.getMessage()
    assert told.startswith(f"{path / 'identity.json'} is a copy: the directory was moved, or an older backup was put back.")
    assert told.endswith(f"The generation was {first.generation} and is {put_back.generation}")
    # It is told once.
    assert Identity.next(path).generation == put_back.generation + 1
    assert len(caplog.records) == 1
    assert later == first.generation + 3 < put_back.generation


def test_the_generation_of_a_copy_is_beyond_all_that_came_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_577_836_800 + 60 * 5)
    assert Identity.next(tmp_path).generation == 5
    path = tmp_path / "identity.json"
    shutil.copy2(path, tmp_path / "copy")
    (tmp_path / "copy").rename(path)
    monkeypatch.setattr(time, "time", lambda: 1_577_836_800 + 60 * 6)
    assert Identity.next(tmp_path).generation == 360
    monkeypatch.setattr(time, "time", lambda: 1_577_836_800 + 60 * 200)
    assert Identity.next(tmp_path).generation == 361
