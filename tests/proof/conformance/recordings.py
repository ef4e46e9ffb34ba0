"""Reading recording files: which suite a file belongs to and the scenarios it holds."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

#: File-name prefixes of the format, longest first so that no prefix shadows a longer one.
PREFIXES = (
    "probes_reference_quirks",
    "share_coordinator_shard",
    "share_consumer_e2e",
    "simple_assignor",
    "offsets_manager",
    "share_partition",
    "share_session",
    "record_serde",
    "misc_facts",
    "combiner",
)


class NotDrivable(Exception):
    """No caller of ours could bring this about; the scenario is skipped with this reason."""


class FormatError(Exception):
    """The recording holds something the runner does not know, so it must not be guessed at."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Recorded sequence (or merge case); ``raw`` is the whole JSON object."""

    name: str
    index: int
    raw: Json

    @property
    def ops(self) -> list[Json]:
        """The recorded operations in order; a scenario without any would agree with everything."""
        ops = self.raw.get("ops")
        if not isinstance(ops, list) or not ops or not all(isinstance(op, dict) for op in ops):
            raise FormatError(f"ops of {self.name} is not a list of operations")
        return ops

    @property
    def tags(self) -> frozenset[str]:
        """The recorder's tags, such as ``dlq`` or ``multithreaded``."""
        return frozenset(self.raw.get("tags", ()))


@dataclass(frozen=True, slots=True)
class Recording:
    """File of scenarios."""

    path: Path
    scenarios: list[Scenario]

    @property
    def name(self) -> str:
        """The file name, which is what the report calls the file."""
        return self.path.name

    @property
    def suite(self) -> str | None:
        """The prefix that decides how the file is run; ``None`` for an unknown one."""
        return next((prefix for prefix in PREFIXES if self.name.startswith(prefix)), None)


def load(path: Path) -> Recording:
    """Read one recording file, gzip or plain.

    Raises:
        FormatError: the file cannot be read, or is not a recording.
    """
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        document = json.loads(data)
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        raise FormatError(f"unreadable: {error}") from error
    raws = document.get("scenarios") if isinstance(document, dict) else None
    if not isinstance(raws, list) or not all(isinstance(raw, dict) for raw in raws):
        raise FormatError("not a recording: no list of scenarios")
    scenarios = [Scenario(str(raw.get("name", f"#{index}")), index, raw) for index, raw in enumerate(raws)]
    return Recording(path, scenarios)


def require(fields: object, allowed: frozenset[str], where: str) -> None:
    """Refuse fields outside ``allowed``: a runner that overlooks a field agrees with things it never looked at."""
    if not isinstance(fields, dict):
        raise FormatError(f"{where} is not an object")
    unknown = set(fields) - allowed
    if unknown:
        raise FormatError(f"{where} has unknown fields {sorted(unknown)}")


def find(paths: Iterable[Path]) -> Iterator[Path]:
    """Every recording file of the given files and directories once, in a stable order."""
    seen: set[Path] = set()
    for path in paths:
        for found in sorted([*path.rglob("*.json"), *path.rglob("*.json.gz")]) if path.is_dir() else [path]:
            if found.resolve() not in seen:
                seen.add(found.resolve())
                yield found
