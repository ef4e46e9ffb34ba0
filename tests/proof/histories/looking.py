"""Views of the state in answers: start offsets and leader epochs, asked for again and again, as events of a history."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from tests.gateway.wire import Connection, Disconnected
from tests.proof.histories.system import Line

#: Seconds between two looks.
_EVERY: Final = 0.3


def look(bootstrap: str, group: str, topic: str, partitions: Sequence[int]) -> list[Line]:
    """Ask for offsets as an administrator does; nothing where the server is away."""
    asked = {"groupId": group, "topics": [{"topicName": topic, "partitions": list(partitions)}]}
    sent = time.monotonic_ns()
    try:
        with Connection(bootstrap) as connection:
            (answer,) = connection.ask("DescribeShareGroupOffsets", 0, {"groups": [asked]})["groups"]
    except (OSError, Disconnected):
        return []
    t = time.monotonic_ns()
    return [
        {
            "type": "view", "t": t, "sent": sent, "group": group, "topic": topic, "partition": one["partitionIndex"],
            "start_offset": one["startOffset"], "leader_epoch": one["leaderEpoch"],
        }
        for found in answer["topics"] for one in found["partitions"] if one["errorCode"] == 0
    ]  # fmt: skip


class Looking:
    """Looks until its ``with`` ends; ``lines`` is what it saw."""

    def __init__(self, bootstrap: str, group: str, topic: str, partitions: Sequence[int]) -> None:
        self.lines: list[Line] = []
        #: Held while nobody is to look.
        self.quiet = threading.Lock()
        #: True if offsets were reset: until a leader has read the new state, its leader epoch is 0, and says nothing.
        self.was_reset = False
        self._asked = (bootstrap, group, topic, partitions)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def has_seen_all(self) -> bool:
        """True if there is a view of every partition."""
        return {line["partition"] for line in list(self.lines)} >= set(self._asked[3])

    def _run(self) -> None:
        while not self._over.wait(_EVERY):
            with self.quiet:
                lines = look(*self._asked)
                for line in lines:
                    if self.was_reset and line["leader_epoch"] == 0:
                        del line["leader_epoch"]
                self.lines += lines

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
