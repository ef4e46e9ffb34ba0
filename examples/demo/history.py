"""Fates of the records as the log itself has them: read from its records, without the engine and without its fold."""

import base64
import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import share_state
from share_state import RecordState, SharePartitionKey, StateBatch
from share_state.operate import analysis

SETTLED = frozenset({RecordState.ACKNOWLEDGED, RecordState.ARCHIVED})


class Outcome(NamedTuple):
    """The last thing that was written about a record."""

    state: RecordState
    delivery_count: int


@dataclass(slots=True)
class History:
    """Everything that was written about the records of one share partition, in order."""

    outcomes: dict[int, Outcome] = field(default_factory=dict)
    #: Records that were written as settled and later as something else.
    reopened: set[int] = field(default_factory=set)
    #: State records of the share partition: snapshots and updates.
    writes: int = 0

    def follow(self, batches: Iterable[StateBatch]) -> None:
        """Take the next state record."""
        self.writes += 1
        for batch in batches:
            outcome = Outcome(RecordState(batch.delivery_state), batch.delivery_count)
            for offset in range(batch.first_offset, batch.last_offset + 1):
                before = self.outcomes.get(offset, outcome)
                if before.state in SETTLED and outcome.state is not before.state:
                    self.reopened.add(offset)
                self.outcomes[offset] = outcome


def read_history(state: Path, key: SharePartitionKey) -> History:
    """Read all that the log under `state` holds about `key`, which was never deleted and nothing of it pruned."""
    return read_histories(state).get(key, History())


def read_histories(state: Path) -> dict[SharePartitionKey, History]:
    """Read all that the log under `state` holds, of which nothing was pruned."""
    histories: defaultdict[SharePartitionKey, History] = defaultdict(History)
    scan = analysis.scan_path(state)
    for _, _, _, _, record_key, record_value in scan:
        record = share_state.decode_record(record_key, record_value)
        about = record["key"]["data"]
        histories[SharePartitionKey(about["groupId"], _hyphenated(about["topicId"]), about["partition"])].follow(
            StateBatch(batch["firstOffset"], batch["lastOffset"], batch["deliveryState"], batch["deliveryCount"])
            for batch in record["value"]["data"]["stateBatches"]
        )
    if scan.findings:
        raise ValueError(f"the log is damaged: {scan.findings}")
    return dict(histories)


def log_bytes(state: Path) -> int:
    """Add up the sizes of the log's segments."""
    return sum(segment.stat().st_size for segment in state.rglob("*.log"))


def _hyphenated(topic_id: str) -> str:
    """Kafka prints topic ids in base64."""
    return str(uuid.UUID(bytes=base64.urlsafe_b64decode(f"{topic_id}==")))
