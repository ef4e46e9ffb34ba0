"""Reading recording files: which suite a file belongs to and the scenarios it holds."""

from __future__ import annotations

import gzip
import json
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


class FormatError(Exception):
    """The recording holds something the runner does not know, so it must not be guessed at."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One recorded sequence (or one merge case); ``raw`` is the whole JSON object."""

    name: str
    index: int
    raw: Json

    @property
    def ops(self) -> list[Json]:
        """The recorded operations in order."""
        ops = self.raw.get("ops", [])
        if not isinstance(ops, list):
            raise FormatError(f"ops of {self.name} is not a list")
        return ops

    @property
    def tags(self) -> frozenset[str]:
        """The recorder's tags, such as ``dlq`` or ``multithreaded``."""
        return frozenset(self.raw.get("tags", ()))


@dataclass(frozen=True, slots=True)
class Recording:
    """One file of scenarios."""

    path: Path
    meta: Json
    scenarios: list[Scenario]

    @property
    def name(self) -> str:
        """The file name, which is what the report calls the file."""
        return self.path.name

    @property
    def suite(self) -> str | None:
        """The prefix that decides how the file is run; ``None`` for an unknown one."""
        return next((prefix for prefix in PREFIXES if self.name.startswith(prefix)), None)

    @property
    def before_44(self) -> bool:
        """Whether the file was recorded from a release before the 4.4 rules.

        The file name is the contract of the format; the meta block is asked as well because a file of
        another name may still say which branch it came from.
        """
        if "_4.2" in self.name or "_4.3" in self.name:
            return True
        source = self.meta.get("source", {})
        kafka = source.get("kafka", "") if isinstance(source, dict) else ""
        return isinstance(kafka, str) and kafka.startswith(("4.0", "4.1", "4.2", "4.3"))


def load(path: Path) -> Recording:
    """Read one recording file, gzip or plain."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    document = json.loads(data)
    if not isinstance(document, dict) or not isinstance(document.get("scenarios"), list):
        raise FormatError(f"{path.name} is not a recording: no list of scenarios")
    scenarios = [Scenario(str(raw.get("name", f"#{index}")), index, raw) for index, raw in enumerate(document["scenarios"])]
    return Recording(path, document.get("meta", {}), scenarios)


def find(paths: Iterable[Path]) -> Iterator[Path]:
    """Every recording file below the given files and directories, in a stable order."""
    for path in paths:
        if path.is_dir():
            found = [*path.rglob("*.json"), *path.rglob("*.json.gz")]
            yield from sorted(found)
        else:
            yield path
