"""A stand-in for the rings of the node: it keeps what those tell it who read upstream."""

from __future__ import annotations

from collections.abc import Sequence

from share_state.errors import WireDecodeError
from share_state.gateway.upstream.reader import Read, Ring, Source
from tests.gateway.wire.batches import headers


class Rings:
    """Rings by their ends: of what is in the batches, it sees the offsets and epochs alone."""

    def __init__(self) -> None:
        self.ends: dict[Source, Ring] = {}
        #: Lives of rings; one that is not here takes reads of any life.
        self.lives: dict[Source, int] = {}
        self.reads: list[tuple[Source, int, Read]] = []
        #: Starts of logs that have moved, those that were asked for, and rings whose logs are others now.
        self.starts: list[tuple[Source, int]] = []
        self.told: list[tuple[Source, int | None]] = []
        self.changed: list[Source] = []
        #: Something was told that has had no consequences yet.
        self.is_due = False

    def run(self) -> None:
        self.is_due = False

    def ring(self, source: Source) -> Ring | None:
        return self.ends.get(source)

    def records_read(self, source: Source, life: int, read: Read) -> tuple[int, int] | None:
        self.is_due = True
        self.reads.append((source, life, read))
        if self.lives.get(source, life) != life:
            return None
        data = read.data[read.start : read.end]
        whole = list(headers(data))
        if not whole:
            if data:
                raise WireDecodeError(f"no whole batch from offset {read.asked} on", position=read.start, kind="batches")
            return read.asked, 0
        end = whole[-1].last_offset + 1
        before = self.ends.get(source)
        if before is not None and end <= before.end_offset:
            return end, 0
        self.ends[source] = Ring(end, whole[-1].leader_epoch)
        return end, len(data)

    def log_start_moved(self, source: Source, offset: int) -> None:
        self.is_due = True
        self.starts.append((source, offset))

    def log_starts_told(self, told: Sequence[tuple[Source, int | None]]) -> None:
        self.is_due = True
        self.told += told

    def history_changed(self, source: Source) -> None:
        self.is_due = True
        self.changed.append(source)
        self.ends.pop(source, None)
