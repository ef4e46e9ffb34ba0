"""Storage of state logs: folders of state partitions on a disk that the workers see, or in object storage.

A path without a scheme, or with ``file:``, is read where it lies. Others go through pyarrow's own file systems (``s3``, ``s3a``,
``gs``, ``gcs``, ``abfs``, ``abfss``, ``hdfs``, ``viewfs``) or, for any other scheme, through fsspec where it knows it; a worker
copies the segments of one state partition to its own disk, reads them there and removes them.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from share_state import _core
from share_state.errors import ShareStateError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = [
    "Folder",
    "StorageError",
    "base_offset",
    "folders",
    "local_folder",
    "log_ends",
    "names_under",
    "remove",
    "segment_starts",
    "split_paths",
]

_FOLDER = re.compile(r"__share_group_state-(0|[1-9]\d*)")
_SEGMENT = re.compile(r"\d{20}\.log")
#: Schemes under which Spark's users know what pyarrow calls by another name.
_ALIASES = {"s3a": "s3", "s3n": "s3"}
_ARROW_SCHEMES = frozenset({"s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs"})


class StorageError(ShareStateError, OSError):
    """A path cannot be read; ``field`` is the path."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Segments of one state partition."""

    #: A local path, or an address with a scheme: the folder, or one segment by itself.
    address: str
    state_partition: int
    is_local: bool


def split_paths(text: str) -> list[str]:
    """Return the paths of an option: one, or several as a JSON list (as Spark hands on ``load([…])``)."""
    if not text.startswith("["):
        return [text]
    try:
        paths = json.loads(text)
    except json.JSONDecodeError:
        return [text]
    if not paths or not all(isinstance(path, str) for path in paths):
        raise StorageError(f"{text} is not a list of paths", field=text)
    return list(paths)


def folders(paths: Iterable[str]) -> list[Folder]:
    """Find the state partitions under paths, in order.

    Raises ``FileNotFoundError`` for a path that does not exist or holds no state log, and ``StorageError`` when two hold the same
    state partition: copies of one log must not be folded as if they were two.
    """
    found: dict[int, Folder] = {}
    for path in paths:
        for folder in _local(path) if _is_local(path) else _remote(path):
            twin = found.setdefault(folder.state_partition, folder)
            if twin is not folder:
                text = f"state partition {folder.state_partition} is both in {twin.address} and in {folder.address}"
                raise StorageError(text, field=folder.address)
    return [found[number] for number in sorted(found)]


def _is_local(path: str) -> bool:
    return "://" not in path and not path.startswith("file:")


def _local(path: str) -> Iterator[Folder]:
    here = Path(path)
    numbers = [number for number, _first, _next in _core.log_ends(here)]
    # What a path is, the engine has decided: a directory of folders, one of them, or one segment.
    if len(numbers) == 1 and not (here / f"__share_group_state-{numbers[0]}").is_dir():
        yield Folder(str(here.absolute()), numbers[0], is_local=True)
        return
    for number in numbers:
        yield Folder(str(here.absolute() / f"__share_group_state-{number}"), number, is_local=True)


def _remote(address: str) -> Iterator[Folder]:
    if address.startswith("file:"):
        yield from _local(urlsplit(address).path)
        return
    files, path = _file_system(address)
    base, query = address.partition("?")[::2]
    own = _FOLDER.fullmatch(path.rpartition("/")[2])
    if own is not None:
        yield Folder(address, int(own[1]), is_local=False)
        return
    numbers = sorted(int(match[1]) for entry in _list(files, path, address) if (match := _FOLDER.fullmatch(entry)))
    if not numbers:
        raise FileNotFoundError(f"{address} has no folder __share_group_state-N")
    for number in numbers:
        inside = f"{base.rstrip('/')}/__share_group_state-{number}"
        yield Folder(f"{inside}?{query}" if query else inside, number, is_local=False)


def _list(files: FileSystem, path: str, address: str) -> list[str]:
    from pyarrow.fs import FileSelector  # noqa: PLC0415  only where a path is remote

    try:
        entries = files.get_file_info(FileSelector(path))
    except OSError as error:
        raise StorageError(f"{address} cannot be listed: {error}", field=address) from None
    return [entry.base_name for entry in entries]


def _file_system(place: Folder | str) -> tuple[FileSystem, str]:
    """Return the file system of an address and the path in it."""
    from pyarrow.fs import FileSystem, FSSpecHandler, LocalFileSystem, PyFileSystem  # noqa: PLC0415  only where it is needed

    address = place if isinstance(place, str) else place.address
    if not isinstance(place, str) and place.is_local:
        return LocalFileSystem(), address
    scheme = urlsplit(address).scheme
    known = _ALIASES.get(scheme, scheme)
    try:
        if known in _ARROW_SCHEMES:
            files, path = FileSystem.from_uri(known + address[len(scheme) :])
            return files, str(path).rstrip("/")
        from fsspec.core import url_to_fs  # noqa: PLC0415  only for schemes that pyarrow does not know

        inner, path = url_to_fs(address)
        return PyFileSystem(FSSpecHandler(inner)), str(path).rstrip("/")
    except ImportError as error:
        raise StorageError(f"{address}: {scheme} needs fsspec and its package for {scheme} ({error})", field=address) from None
    except (OSError, ValueError) as error:
        raise StorageError(f"{address} cannot be opened: {error}", field=address) from None


@contextmanager
def local_folder(folder: Folder, start: int = 0, end: int | None = None) -> Iterator[Path]:
    """Return a path on this machine's disk with the segments of a state partition that hold offsets from `start` to before `end`.

    Others may be there too. The one after `end` always is: only in the last segment is a torn tail no damage. A copy is removed
    afterwards.
    """
    if folder.is_local and ((start == 0 and end is None) or not Path(folder.address).is_dir()):
        yield Path(folder.address)
        return
    with tempfile.TemporaryDirectory(prefix="share-state-") as name:
        place = Path(name) / f"__share_group_state-{folder.state_partition}"
        place.mkdir()
        files, path = _file_system(folder)
        for segment in _within(_segments(files, path, folder.address), start, end):
            if folder.is_local:
                (place / segment).symlink_to(Path(folder.address) / segment)
            else:
                with files.open_input_stream(f"{path}/{segment}") as source, (place / segment).open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
        yield place


def log_ends(folder: Folder) -> tuple[int, int]:
    """Return the offset at which a state partition's first segment begins, and the one after its last whole batch."""
    if folder.is_local:
        [(_partition, first, after)] = _core.log_ends(folder.address)
        return first, after
    files, path = _file_system(folder)
    segments = _segments(files, path, folder.address)
    if not segments:
        return 0, 0
    with local_folder(folder, base_offset(segments[-1])) as place:
        [(_partition, _first, after)] = _core.log_ends(place)
    return base_offset(segments[0]), after


def segment_starts(folder: Folder) -> list[int]:
    """Return the base offsets of a local folder's segments, in order; none of one that is a single segment."""
    place = Path(folder.address)
    return sorted(base_offset(file.name) for file in place.iterdir() if _SEGMENT.fullmatch(file.name)) if place.is_dir() else []


def names_under(path: str) -> list[str]:
    """Return the names in a directory; none where there is no such directory."""
    from pyarrow.fs import FileType  # noqa: PLC0415  only where it is needed

    files, place = _file_system(Folder(path, 0, is_local=True) if _is_local(path) else path)
    return _list(files, place, path) if files.get_file_info(place).type is FileType.Directory else []


def remove(path: str) -> None:
    """Remove a directory with all that is in it."""
    files, place = _file_system(Folder(path, 0, is_local=True) if _is_local(path) else path)
    files.delete_dir(place)


def _segments(files: FileSystem, path: str, address: str) -> list[str]:
    return sorted(name for name in _list(files, path, address) if _SEGMENT.fullmatch(name))


def _within(segments: list[str], start: int, end: int | None) -> list[str]:
    """Leave out the segments that end before `start`, and those that begin after `end`, but for the first of them."""
    kept = [
        segment
        for segment, after in zip(segments, [*segments[1:], None], strict=True)
        if after is None or base_offset(after) > start
    ]
    after_end = [place for place, segment in enumerate(kept) if end is not None and base_offset(segment) >= end]
    return kept[: after_end[0] + 1] if after_end else kept


def base_offset(segment: str) -> int:
    """Return the offset in the name of a segment."""
    return int(segment.removesuffix(".log"))
