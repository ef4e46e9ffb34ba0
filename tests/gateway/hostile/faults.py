"""Faults in the answers of a hostile upstream. All of them may be changed while it serves."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.gateway.wire import api_key
from tests.gateway.wire.codec import Message

#: API key, request; whether this one is meant.
Which = Callable[[int, Message], bool]


def of(*names: str) -> Which:
    """The requests of these APIs."""
    keys = {api_key(name) for name in names}
    return lambda key, _: key in keys


def unspoilt(_topic: str, records: bytes) -> bytes:
    """The records as they are."""
    return records


def nobody(_key: int, _message: Message) -> bool:
    """No request."""
    return False


@dataclass
class Faults:
    """Nothing is wrong at first."""

    #: Never answered; the connection stays open.
    silent: Which = nobody
    #: Answered after so many seconds, others on other connections meanwhile.
    delayed: Which = nobody
    delay_seconds: float = 0.0
    #: The connection ends instead of an answer, or in the middle of it.
    closed: Which = nobody
    cut: Which = nobody
    #: A byte at a time, with so many seconds between them.
    dripped: Which = nobody
    drip_seconds: float = 0.01
    #: Random bytes in place of the body; the header is right.
    nonsense: Which = nobody
    #: The answer to another request.
    misnumbered: Which = nobody
    #: A frame that says that it has two thousand million bytes.
    endless: Which = nobody
    #: Milliseconds for which the client is to keep quiet.
    throttle_ms: int = 0
    #: Error codes of partitions in Fetch and ListOffsets, by topic and partition, in place of an answer.
    codes: dict[tuple[str, int], int] = field(default_factory=dict)
    #: The code of a whole Fetch.
    fetch_code: int = 0
    #: The last batch of a Fetch is cut off after so many of its bytes; 0 never.
    tail_bytes: int = 0
    #: A Fetch begins with so many batches before the one that was asked for.
    earlier_batches: int = 0
    #: Change of the batches of a Fetch, by the name of their topic.
    records: Callable[[str, bytes], bytes] = unspoilt
    #: Metadata names leaders of so many epochs ago, with their epochs.
    epochs_back: int = 0
    #: Brokers that a Fetch is sent away to, by topic and partition, with nothing else in the answer (KIP-392).
    preferred: dict[tuple[str, int], int] = field(default_factory=dict)
    #: Source of nonsense.
    chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311 - test data

    def clear(self) -> None:
        """Behave again."""
        for name, value in vars(Faults()).items():
            setattr(self, name, value)
