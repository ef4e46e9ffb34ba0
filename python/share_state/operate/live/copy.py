"""The part of the state topic that was read, kept on disk: a restart reads from the cluster only what is new.

A copy is a directory of segments in Kafka's own format, which every other command reads as it reads a broker's. It is a cache: a
copy that is of another topic, or cannot be read whole, is deleted and read again from the cluster.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from share_state import _core
from share_state.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TopicCopy"]

_NOTE: Final = "share-state-copy.json"
_FORMAT: Final = 1
_FOLDER: Final = re.compile(r"__share_group_state-(\d+)")
#: Bytes after which a segment is followed by the next.
_SEGMENT_BYTES: Final = 16 << 20
#: Base offset and length of a batch; the length counts what comes after it.
_HEAD: Final = struct.Struct(">qi")


class TopicCopy:
    """A copy in a directory of its own.

    Args:
        directory: made if it is not there.
        topic_id: of the state topic, a hyphenated UUID.

    Raises:
        ConfigError: the directory holds something else.
        OSError: the disk fails.
    """

    def __init__(self, directory: Path, topic_id: str) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        note = directory / _NOTE
        there = [path for path in directory.iterdir() if path != note]
        if not note.exists() and there:
            message = f"{directory} is not empty and no copy of a state topic: name another directory"
            raise ConfigError(message, field="copy", value=str(directory))
        self._files: dict[int, IO[bytes]] = {}
        self._note = {"format": _FORMAT, "topic_id": topic_id}
        if not note.exists() or not self._is_ours(note):
            self.clear()

    def _is_ours(self, note: Path) -> bool:
        """Tell if the copy is one of this topic; a note that cannot be read is none."""
        try:
            return bool(json.loads(note.read_text(encoding="utf-8")) == self._note)
        except (ValueError, RecursionError):
            return False

    def load(self, follower: _core.StateTopicFollower) -> bool:
        """Let a follower take what is there; False where it cannot be read whole, and then it is deleted."""
        folders = self._folders()
        for folder in folders.values():
            _cut_torn_tail(folder)
        if not any(any(folder.glob("*.log")) for folder in folders.values()):
            return True
        if follower.take_path(self._directory):
            for partition in follower.places():
                follower.begin(partition, 0)
            self.clear()
            return False
        return True

    def append(self, partition: int, batches: memoryview) -> None:
        """Keep whole batches that lie after all that is kept of a state partition."""
        if not batches:
            return
        file = self._files.get(partition)
        if file is not None and file.tell() >= _SEGMENT_BYTES:
            file.close()
            file = None
        if file is None:
            base_offset, _ = _HEAD.unpack_from(batches)
            folder = self._directory / f"__share_group_state-{partition}"
            folder.mkdir(exist_ok=True)
            # Each opening begins a segment: what a crash left of the one before keeps its own name.
            file = self._files[partition] = (folder / f"{base_offset:020}.log").open("ab")
        file.write(batches)
        file.flush()

    def prune(self, needed_from: Mapping[int, int | None]) -> None:
        """Delete the segments of which nothing is needed any more: their records are before the first one that is."""
        for partition, needed in needed_from.items():
            segments = sorted((self._directory / f"__share_group_state-{partition}").glob("*.log"))
            for segment, following in pairwise(segments):
                if needed is not None and int(following.stem) <= needed:
                    segment.unlink()

    def forget(self, partition: int) -> None:
        """Delete what is kept of a state partition: the cluster's log is another one."""
        if (file := self._files.pop(partition, None)) is not None:
            file.close()
        shutil.rmtree(self._directory / f"__share_group_state-{partition}", ignore_errors=True)

    def clear(self) -> None:
        """Delete all that is kept, and note whose copy it will be."""
        self.close()
        for folder in self._folders().values():
            shutil.rmtree(folder)
        (self._directory / _NOTE).write_text(json.dumps(self._note) + "\n", encoding="utf-8")

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _folders(self) -> dict[int, Path]:
        found = ((_FOLDER.fullmatch(path.name), path) for path in self._directory.iterdir())
        return {int(match[1]): path for match, path in found if match is not None}


def _cut_torn_tail(folder: Path) -> None:
    """Cut what a crash left after the last whole batch of the last segment."""
    for segment in sorted(folder.glob("*.log"))[-1:]:
        size, whole = segment.stat().st_size, 0
        with segment.open("r+b") as file:
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                _, length = _HEAD.unpack(head)
                after = whole + _HEAD.size + length
                if length < 0 or after > size:
                    break
                whole = after
                file.seek(whole)
            file.truncate(whole)
        if whole == 0:
            segment.unlink()
