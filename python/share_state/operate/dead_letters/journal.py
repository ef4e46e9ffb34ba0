"""The journal of a redrive: a file to which each step is synced before the next one, so that a kill leaves no step untold.

A line is an entry in JSON, after its CRC-32 in hexadecimal. Each append is one line and one sync. So a crash can tear only the
last line, and what that line told had no effect yet: it is cut off. Any other line that is not as it was written is damage.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from share_state.operate.dead_letters.dead_letter import Place
from share_state.operate.dead_letters.errors import JournalDamagedError, JournalError, JournalInUseError, JournalOfAnotherRunError
from share_state.operate.dead_letters.journal_state import (
    FORMAT,
    VERSION,
    BadEntryError,
    Identity,
    JournalState,
    Sent,
    ends_entry,
    sending_entry,
    sent_entry,
    taken_for_sent_entry,
)

__all__ = ["Journal", "read_journal"]

#: Width of the CRC in front of a line, and of the blank after it.
_CRC_WIDTH = 8


def read_journal(path: Path, identity: Identity) -> JournalState | None:
    """Read a journal without changing it; None where there is none yet.

    Raises:
        JournalDamagedError: it is damaged, or no journal.
        JournalOfAnotherRunError: it is of another redrive.
        JournalError: it cannot be read.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JournalError(path, f"cannot be read: {error.strerror}") from error
    return _replayed(path, content, identity)[0]


class Journal:
    """A journal that is written to; a context manager. One process at a time has it.

    Args:
        path: the file; it is made if it is not there.
        identity: the redrive that it has to be of.
        now_ms: wall-clock time, in ms since the epoch.

    Raises:
        JournalInUseError: another process has it.
        JournalDamagedError: it is damaged, or no journal.
        JournalOfAnotherRunError: it is of another redrive.
        JournalError: it cannot be read, made or written.
    """

    def __init__(self, path: Path, identity: Identity, now_ms: Callable[[], int]) -> None:
        self._path = path
        self._now_ms = now_ms
        try:
            if not path.exists():
                _make(path, identity)
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            raise JournalError(path, f"cannot be written: {error.strerror}") from error
        try:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise JournalInUseError(path, "is in use by another process") from None
            content = path.read_bytes()
            self.state, whole = _replayed(path, content, identity)
            if whole < len(content):
                self._cut(whole)
            self._length = whole
        except BaseException:
            os.close(self._file)
            raise

    def ends(self, topic: str, ends: Mapping[int, int]) -> None:
        """Note where each partition of a target ends, before the first record is sent there."""
        self._append(ends_entry(topic, ends, self._now_ms()))

    def sending(self, places: Iterable[Place]) -> None:
        """Note which records are about to be sent. When it returns, they are in doubt."""
        self._append(sending_entry(places, self._now_ms()))

    def sent(self, sent: Iterable[Sent], in_doubt: Iterable[Place] = ()) -> None:
        """Note how the sending ended: these are in the target, these may be, and the others that were being sent are not."""
        self._append(sent_entry(sent, in_doubt, self._now_ms()))

    def taken_for_sent(self, places: Iterable[Place]) -> None:
        """Note that records in doubt are not to be sent again, as somebody has decided; the others in doubt were not sent."""
        self._append(taken_for_sent_entry(places, self._now_ms()))

    def close(self) -> None:
        """Let another process have it."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _append(self, entry: dict[str, object]) -> None:
        """Write and sync a line, then count it; one that could not be written leaves no part of itself."""
        line = _line(entry)
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            self._cut(self._length)
            raise JournalError(self._path, f"cannot be written: {error.strerror}") from error
        except BaseException:
            self._cut(self._length)
            raise
        self.state.apply(entry)
        self._length += len(line)

    def _cut(self, length: int) -> None:
        os.ftruncate(self._file, length)
        os.fsync(self._file)


def _make(path: Path, identity: Identity) -> None:
    """Make a journal as a whole, or not at all; one that somebody else has made meanwhile stays."""
    head = {"journal": FORMAT, "version": VERSION, "id": str(uuid4()), **identity._asdict()}
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as made:
            made.write(_line(head))
            made.flush()
            os.fsync(made.fileno())
        with suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink(missing_ok=True)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _line(entry: Mapping[str, object]) -> bytes:
    text = json.dumps(entry, separators=(",", ":")).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _replayed(path: Path, content: bytes, identity: Identity) -> tuple[JournalState, int]:
    """Fold a journal; also return how much of it is whole: all, or all but a torn last line."""
    lines = content.split(b"\n")
    # What follows the last line feed: nothing, or what a crash left of a line.
    torn = lines.pop()
    whole = len(content) - len(torn)
    if not lines:
        raise JournalDamagedError(path, 1, "it is no journal of a redrive")
    state = _head(path, lines[0], identity)
    for number, line in enumerate(lines[1:], start=2):
        try:
            state.apply(_entry(line))
        except BadEntryError as error:
            if number == len(lines) and b"\0" in line and not torn:
                # The file had grown, and a page of the line had not come to the disk.
                return state, whole - len(line) - 1
            raise JournalDamagedError(path, number, str(error)) from None
    return state, whole


def _head(path: Path, line: bytes, identity: Identity) -> JournalState:
    try:
        head = _entry(line)
    except BadEntryError:
        head = None
    match head:
        case {"journal": str(told), "version": int(version), "id": str(journal_id), **more} if told == FORMAT:
            if version != VERSION:
                raise JournalDamagedError(path, 1, f"version {version} is not known; this release knows {VERSION}")
        case _:
            raise JournalDamagedError(path, 1, "it is no journal of a redrive")
    for name, asked in identity._asdict().items():
        if more.get(name) != asked:
            raise JournalOfAnotherRunError(path, name, more.get(name), asked)
    return JournalState(journal_id, identity)


def _entry(line: bytes) -> dict[str, object]:
    crc, blank, text = line[:_CRC_WIDTH], line[_CRC_WIDTH : _CRC_WIDTH + 1], line[_CRC_WIDTH + 1 :]
    if blank != b" " or crc != b"%08x" % zlib.crc32(text):
        raise BadEntryError("it is not as it was written")
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise BadEntryError("it is no entry of a journal")
    return entry
