"""A state topic made up record by record: what a share coordinator would write, and what it should not."""

import base64
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import share_state as ss
from share_state.operate import analysis
from tests.gateway.wire.batches import batch

TOPIC_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
AVAILABLE, ACKNOWLEDGED, ARCHIVING, ARCHIVED = 0, 2, 3, 4

Batch = tuple[int, int, int, int]


class MadeUpLog:
    """Records of one state partition, and the rows of their history."""

    def __init__(self) -> None:
        self._history = analysis.History()
        self._offset = 0
        self._batches: list[bytes] = []
        self.rows: list[analysis.HistoryRow] = []

    def snapshot(
        self,
        ms: int,
        batches: Sequence[Batch] = (),
        *,
        epochs: tuple[int, int, int] = (0, 1, 0),
        start: int = 0,
        complete: int = -1,
        partition: int = 0,
    ) -> None:
        """Write a ShareSnapshot; `epochs` are those of snapshot, state and leader."""
        value = {
            "snapshotEpoch": epochs[0],
            "stateEpoch": epochs[1],
            "leaderEpoch": epochs[2],
            "startOffset": start,
            "createTimestamp": ms,
            "writeTimestamp": ms,
            "deliveryCompleteCount": complete,
            "stateBatches": _batches(batches),
        }
        self._write("0", ms, partition, value)

    def update(
        self,
        ms: int,
        batches: Sequence[Batch] = (),
        *,
        epochs: tuple[int, int] = (0, -1),
        start: int = -1,
        complete: int = -1,
        partition: int = 0,
    ) -> None:
        """Write a ShareUpdate; `epochs` are those of snapshot and leader."""
        value = {
            "snapshotEpoch": epochs[0],
            "leaderEpoch": epochs[1],
            "startOffset": start,
            "deliveryCompleteCount": complete,
            "stateBatches": _batches(batches),
        }
        self._write("1", ms, partition, value)

    def tombstone(self, ms: int, *, partition: int = 0) -> None:
        """Delete the key."""
        self._write("0", ms, partition, None)

    def skip(self, records: int) -> None:
        """Leave room for records of others that do not matter."""
        self._offset += records

    def written(self, directory: Path) -> Path:
        """Write it as the state partition 0 of a broker's directory."""
        segment = directory / "__share_group_state-0" / f"{0:020}.log"
        segment.parent.mkdir(parents=True)
        segment.write_bytes(b"".join(self._batches))
        return directory

    def _write(self, kind: str, ms: int, partition: int, value: dict[str, object] | None) -> None:
        topic_id = base64.urlsafe_b64encode(UUID(TOPIC_ID).bytes).decode().rstrip("=")
        record = {
            "key": {"type": kind, "data": {"groupId": "g", "topicId": topic_id, "partition": partition}},
            "value": None if value is None else {"version": "0", "data": value},
        }
        key, encoded = ss.encode_record(record)
        self.rows += self._history.replay(self._offset, ms, key, encoded)
        self._batches.append(batch([encoded], keys=[key], base_offset=self._offset, timestamp=ms))
        self._offset += 1


def _batches(batches: Sequence[Batch]) -> list[dict[str, int]]:
    names = ("firstOffset", "lastOffset", "deliveryState", "deliveryCount")
    return [dict(zip(names, batch, strict=True)) for batch in batches]
