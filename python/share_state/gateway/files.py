"""Small files that are either whole or not there: written under another name, synced, renamed. A checksum covers all of each."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

from share_state.errors import StoreError

__all__ = ["Content", "read_json", "text", "whole", "write_json"]

Content: TypeAlias = dict[str, Any]
#: The format of every file of this kind.
_FORMAT: Final = 1
#: The longest text of a request, bytes.
_LONGEST: Final = (1 << 15) - 1
_CHECKSUM: Final = "checksum"
_INODE: Final = "inode"


def read_json(path: Path, check: Callable[[Content, bool], None], *, rewrites: bool = True) -> Content | None:
    """Read a file; ``None`` if there is none.

    A file without a checksum is that of an earlier release, or was edited. It is accepted, and written again with one.

    Args:
        path: the file.
        check: raises `ValueError` or `TypeError` where the content, which is given without format and checksum, is none that
            :func:`write_json` was ever given. It is also told whether a checksum vouches for that content.
        rewrites: whether the file is written again here; else the caller does.

    Raises:
        StoreError: it cannot be read or written, is damaged, or has a format or a content that no release writes.
    """
    try:
        raw = path.read_bytes()
        found = json.loads(raw.decode("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise StoreError(f"{path} does not contain a JSON object")
    stated = found.pop(_CHECKSUM, None)
    if stated is not None and _rendered(found) != raw:
        told = f"its content does not have the checksum {stated!r} that it states; remove that line if it was edited on purpose"
        raise StoreError(f"{path} is damaged: {told}")
    content = dict(found)
    known = content.pop("format", None)
    if known is True or known != _FORMAT:
        raise StoreError(f"{path} has a format that this release does not know")
    try:
        check(content, stated is not None)
    except (ValueError, TypeError) as wrong:
        raise StoreError(f"{path} holds what was never written there: {wrong}") from None
    if stated is None and rewrites:
        write_json(path, content)
    return content


def write_json(path: Path, content: Content, *, with_inode: bool = False) -> None:
    """Write a file durably; after a crash the old content or the new one is there.

    Args:
        path: the file.
        content: what it holds, besides the format and the checksum.
        with_inode: whether it also holds the number of its inode, which a copy of the file does not have.

    Raises:
        StoreError: it cannot be written.
    """
    draft = path.with_name(path.name + ".new")
    try:
        with draft.open("wb") as file:
            inode = {_INODE: os.fstat(file.fileno()).st_ino} if with_inode else {}
            file.write(_rendered({"format": _FORMAT, **content, **inode}))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}") from error


def whole(name: str, found: object, least: int, most: int) -> None:
    """Refuse what is no whole number within these bounds.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
        message = f"{name} is {found!r}; expected a whole number, {least} to {most}"
        raise ValueError(message)


def text(name: str, found: object, least: int = 1) -> None:
    """Refuse what is no text of a request: of so many bytes at least, and of UTF-8.

    Raises:
        ValueError: it is none.
    """
    size = -1
    if isinstance(found, str):
        with contextlib.suppress(UnicodeEncodeError):
            size = len(found.encode())
    if not least <= size <= _LONGEST:
        message = f"{name} is {found!r}; expected {least} to {_LONGEST} bytes of text"
        raise ValueError(message)


def _rendered(content: Content) -> bytes:
    """Return all bytes of a file, so that a change of any of them shows: those of a file are made of its content alone."""
    body = json.dumps(content, indent=1, sort_keys=True).removesuffix("\n}")
    return f'{body},\n "{_CHECKSUM}": "{zlib.crc32(body.encode()):08x}"\n}}'.encode()
