"""Every argument of every public call of the extension: a value of a wrong type, or no text, is an error of the family."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import share_state as ss
from share_state import _core
from share_state.errors import ShareStateError

TOPIC = "AAECAwQFBgcICQoLDA0ODw"
#: Values that the other arguments have, by their names: what does not stand here is left out if it may be, and else a 0.
GOOD: dict[str, Any] = {
    "group": "g",
    "topic_id": TOPIC,
    "topic_ids": [TOPIC],
    "member": "m",
    "key": ("g", TOPIC, 0),
    "keys": [("g", TOPIC, 0)],
    "requests": [],
    "fetched": [(0, 9)],
    "state": ss.WriteState(0, 0, 0, 0, []),
    "read": ss.ReadStateResult(0, 0, []),
    "config": ss.GroupConfig(),
    "state_batches": [],
    "batches": [],
    "record": {},
    "message": {},
    "broker": {},
    "name": "share.record.lock.duration.ms",
    "value": "30000",
    "text": "g:AAECAwQFBgcICQoLDA0ODw:0",
    "strategy": "latest",
    "data": b"",
    "frame": b"",
    "lines": b"",
    "client_id": "c",
    "client_host": "h",
    "partitions": 1,
}
#: Arguments that take anything: a function to call, an array of several forms, what is checked elsewhere, or a list of rows.
ANYTHING = {"progress", "persister", "wall_ms"}
#: Parts that only the package itself calls: the gateway and the analysis.
INNER = {"AnomalyFinder", "simple_assignment", "ShareGroupStore", "ShareSessions"}


def objects(path: Path) -> dict[type, object]:
    """An object of each class whose methods are walked."""
    share_partition = ss.SharePartition("g", TOPIC, 0)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    columns = ss.SharePartitions()
    columns.add(ss.SharePartition("h", TOPIC, 0))
    made: list[object] = [
        share_partition,
        columns,
        ss.ShareCoordinator(),
        ss.open(path / "state"),
        ss.NoOpStatePersister(),
        _core.RecordingPersister(),
        ss.GroupConfig(),
        _core.History(),
    ]
    return {type(one): one for one in made}


def calls(path: Path) -> Iterator[tuple[str, Callable[..., object]]]:
    """Every public function, constructor and method, and what it is called."""
    for name in sorted(set(dir(_core)) - INNER):
        found = getattr(_core, name)
        if not name.startswith("_") and callable(found):
            yield name, found
    for kind, one in objects(path).items():
        for name in sorted(dir(kind)):
            if not name.startswith("_") and callable(getattr(kind, name)):
                yield f"{kind.__name__}.{name}", getattr(one, name)


def parameters(call: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(call).parameters.values())
    except (ValueError, TypeError):
        return []


class Odd:
    """An object of no use to any argument."""


ODD: list[Any] = [Odd(), "a\ud800", b"\xff", (0, 0, []), np.array(["x"])]


def test_every_argument_of_every_call(tmp_path: Path) -> None:
    walked, wrong_ones = 0, []
    for name, call in calls(tmp_path):
        asked = [one for one in parameters(call) if one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD}]
        for one in asked:
            if one.name in ANYTHING:
                continue
            for wrong in ODD:
                given = {other.name: GOOD.get(other.name, 0) for other in asked if other.default is other.empty}
                given[one.name] = wrong
                args = [given.pop(other.name) for other in asked if other.kind is other.POSITIONAL_ONLY and other.name in given]
                walked += 1
                try:
                    call(*args, **given)
                except (ShareStateError, OSError):
                    continue
                except BaseException as raised:  # noqa: BLE001  it is looked at
                    wrong_ones.append(f"{name}({one.name}={wrong!r}): {type(raised).__name__}: {raised}")
    assert walked > 500
    assert wrong_ones == []
