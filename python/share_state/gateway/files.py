"""Small files that are either whole or not there: written under another name, synced, renamed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from share_state.errors import StoreError

__all__ = ["read_json", "write_json"]


def read_json(path: Path) -> dict[str, Any] | None:
    """Read a file; ``None`` if there is none.

    Raises:
        StoreError: it cannot be read, or is not what :func:`write_json` writes.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise StoreError(f"{path} does not contain a JSON object")
    return found


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a file durably; after a crash the old content or the new one is there.

    Raises:
        StoreError: it cannot be written.
    """
    draft = path.with_name(path.name + ".new")
    try:
        with draft.open("w", encoding="utf-8") as file:
            json.dump(content, file, indent=1, sort_keys=True)
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
