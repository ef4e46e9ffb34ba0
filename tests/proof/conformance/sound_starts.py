"""Two start offsets, both sound: what follows from the one being ahead of the other (deliberate difference S8).

Kafka moves its start offset lazily: at the answer to each of its payloads, and not always as far as it could. Ours
moves at other moments, because the lock timeouts of one moment make one write with us (S2; the format says that several start
offsets are sound and asks for the effective state). Everything between the two is done. Two answers still depend
on where the start offset is, and are brought to Kafka's here:

* a range below the start offset is ignored, one that is done at or after it is refused (§1.10 steps 2 and 5);
* the room for new records counts from the start offset on (§1.7).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .deliberate import Range
from .effective import compare
from .partition import PartitionUnderTest


def ignored_by_kafka(under_test: PartitionUnderTest, batches: Sequence[Range]) -> list[Range]:
    """The ranges without what Kafka ignores, when its start offset is ahead of ours."""
    starts = _starts(under_test)
    if starts is None or starts[0] <= starts[1]:
        return list(batches)
    start = starts[0]
    kept: list[Range] = []
    for first, last, types in batches:
        if last < start:
            continue
        skipped = max(start - first, 0)
        one_for_each = len(types) == last - first + 1 and len(types) > 1
        kept.append((first + skipped, last, types[skipped:] if one_for_each else types))
    return kept


def before_refusal(under_test: PartitionUnderTest, batches: Sequence[Range]) -> list[Range] | None:
    """The ranges before the first that reaches into what we have passed and Kafka has not; ``None`` when none does.

    The records there are done, so Kafka refuses the request at that range.
    """
    starts = _starts(under_test)
    if starts is None:
        return None
    theirs, ours = starts
    reaching = (place for place, (first, last, _) in enumerate(batches) if first < ours and last >= theirs)
    place = next(reaching, None)
    return None if place is None else list(batches[:place])


@contextmanager
def same_room(under_test: PartitionUnderTest) -> Iterator[None]:
    """Set the limit of the window so that as much room is left as Kafka has."""
    if _starts(under_test) is None:
        yield
        return
    settings = dict(under_test.settings)
    theirs, ours = _spans(under_test)
    limit = settings["partition_max_record_locks"] - theirs + ours
    under_test.restore({**settings, "partition_max_record_locks": max(limit, 1)})
    try:
        yield
    finally:
        under_test.restore(settings)


def full_for_kafka_alone(under_test: PartitionUnderTest) -> bool:
    """Returns true if Kafka's window is full of done records and ours has been emptied (deliberate difference S6).

    Then Kafka has no room until something else makes its start offset move, and what it is asked for meanwhile is
    not asked of us.
    """
    if _starts(under_test) is None:
        return False
    theirs, ours = _spans(under_test)
    return ours == 0 and theirs >= under_test.settings["partition_max_record_locks"]


def _spans(under_test: PartitionUnderTest) -> tuple[int, int]:
    """Lengths of Kafka's window and of ours, as they count against the limit."""
    recorded, partition = under_test.recorded, under_test.partition
    theirs = recorded.end_offset - recorded.start_offset + 1 if recorded is not None and recorded.runs else 0
    ours = partition.end_offset - partition.start_offset + 1 if partition.in_flight() else 0
    return theirs, ours


def _starts(under_test: PartitionUnderTest) -> tuple[int, int] | None:
    """Kafka's start offset and ours, when they differ and both are sound."""
    recorded = under_test.recorded
    if recorded is None or recorded.start_offset == under_test.partition.start_offset:
        return None
    if not compare(recorded, under_test.state()).start_offset_only:
        return None
    return recorded.start_offset, under_test.partition.start_offset
