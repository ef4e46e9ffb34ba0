"""`BatchRing` and `Delivery` as Python sees them. Their rules are tested in Rust (rust/gateway/src/tests)."""

from __future__ import annotations

import sys
import threading
import uuid

import pytest

import share_state as ss
from share_state._core import BatchRing, Delivery, encode_share_fetch_answer
from share_state.errors import EnginePoisonedError, InvalidRequestError, WireDecodeError
from tests.gateway.wire.batches import marker, record_batch

TOPIC = str(uuid.UUID(int=5))


def share_partition(start_offset: int = 0) -> ss.SharePartition:
    made = ss.SharePartition("g", TOPIC, 0)
    made.initialize(ss.ReadStateResult(0, start_offset, []))
    return made


def deliver(
    ring: BatchRing,
    made: ss.SharePartition,
    *,
    member: str = "m",
    max_records: int = 500,
    batch_size: int = 500,
    mode: int = 0,
    max_bytes: int = 1 << 20,
) -> Delivery | None:
    return ring.deliver(made, member, now_ms=0, max_records=max_records, batch_size=batch_size, mode=mode, max_bytes=max_bytes)


def filled(*batches: bytes, asked: int = 0, aborted: list[tuple[int, int]] | None = None) -> BatchRing:
    ring, data = BatchRing(), b"".join(batches)
    assert ring.append(asked, data, 0, len(data), aborted=aborted)[1] == len(data)
    return ring


def test_an_empty_ring_says_so() -> None:
    ring = BatchRing()
    assert (ring.end_offset, ring.first_offset, ring.nbytes, ring.batches, ring.held_bytes) == (None, None, 0, 0, 0)
    assert (ring.leader_epoch, ring.holds(0), ring.bytes_from(0, 10)) == (-1, False, 0)
    assert repr(ring) == "BatchRing(first_offset=None, end_offset=None, batches=0, nbytes=0)"
    assert deliver(ring, share_partition()) is None


def test_what_was_read_is_told() -> None:
    first, second = record_batch(10, 5), record_batch(15, 5, leader_epoch=8)
    ring, frame = BatchRing(), b"head" + first + second + b"cut off"
    assert ring.append(12, frame, 4, len(frame)) == (20, len(first + second))
    assert (ring.first_offset, ring.end_offset, ring.leader_epoch) == (10, 20, 8)
    assert (ring.nbytes, ring.batches, ring.held_bytes) == (len(first + second), 2, len(frame))
    assert (ring.holds(11), ring.holds(20), ring.bytes_from(16, 1000)) == (True, False, len(second))
    assert repr(ring) == f"BatchRing(first_offset=10, end_offset=20, batches=2, nbytes={ring.nbytes})"
    assert ring.evict(len(second)) == len(first)
    assert (ring.holds(14), ring.holds(15)) == (False, True)
    ring.clear()
    assert ring.end_offset is None


def test_a_delivery_has_whole_batches_around_the_ranges() -> None:
    batches = [record_batch(base, 10) for base in range(0, 50, 10)]
    ring, made = filled(*batches), share_partition()
    first = deliver(ring, made, max_records=15, mode=1)
    assert first is not None
    assert (first.ranges, first.record_count, first.batches, first.fetch_offset) == ([(0, 14, 1)], 15, 2, 0)
    assert first.records() == batches[0] + batches[1]
    assert first.nbytes == len(first.records())
    assert repr(first) == f"Delivery(fetch_offset=0, record_count=15, batches=2, nbytes={first.nbytes})"
    second = deliver(ring, made, max_records=1)
    assert second is not None
    assert second.records() == batches[1]


def test_what_was_aborted_is_not_delivered() -> None:
    aborted, committed = record_batch(0, 5, producer_id=7), record_batch(6, 5, producer_id=7)
    ring = filled(aborted, marker(5, 7, commit=False), committed, marker(11, 7, commit=True), aborted=[(7, 0)])
    given = deliver(ring, share_partition())
    assert given is not None
    assert given.ranges == [(5, 11, 1)]
    # From after the marker on, the answer's own list would take the committed records away.
    later = deliver(ring, share_partition(6))
    assert later is not None
    assert later.ranges == [(6, 11, 1)]


def test_frames_are_held_and_not_copied() -> None:
    frame = record_batch(0, 100, size=1000)
    holders = sys.getrefcount(frame)
    ring = BatchRing()
    ring.append(0, frame, 0, len(frame))
    assert sys.getrefcount(frame) == holders + 1
    given = deliver(ring, share_partition())
    assert given is not None
    ring.clear()
    assert sys.getrefcount(frame) == holders + 1
    answer = encode_share_fetch_answer(2, 1, [(TOPIC, 0, 0, 0, -1, -1, given)], lock_timeout_ms=1)
    assert answer.count(frame) == 1
    del given
    assert sys.getrefcount(frame) == holders


def test_what_lingers_of_a_frame_is_copied_so_that_the_frame_can_go() -> None:
    small = record_batch(0, 5)
    frame = bytes(100_000) + small
    holders = sys.getrefcount(frame)
    ring = BatchRing()
    ring.append(0, frame, 100_000, len(frame))
    assert (ring.compact(), ring.held_bytes) == (0, len(frame))
    assert (ring.compact(), ring.held_bytes, sys.getrefcount(frame)) == (len(small), len(small), holders)
    given = deliver(ring, share_partition())
    assert given is not None
    assert given.records() == small


def test_what_is_refused_changes_nothing() -> None:
    ring, data = filled(record_batch(0, 5)), record_batch(5, 5)
    torn = data[:16] + b"\1" + data[17:]
    with pytest.raises(WireDecodeError) as magic:
        ring.append(5, b"123" + torn, 3, 3 + len(torn))
    assert magic.value.position == 19
    with pytest.raises(WireDecodeError):
        ring.append(5, data[:-1] + b"\1", 0, len(data), check_crc=True)
    with pytest.raises(InvalidRequestError) as negative:
        ring.append(-1, data, 0, len(data))
    assert (negative.value.field, negative.value.value) == ("asked_offset", -1)
    for start, end in [(0, len(data) + 1), (2, 1)]:
        with pytest.raises(ValueError, match=f"records from {start} to {end}"):
            ring.append(5, data, start, end)
    with pytest.raises(TypeError):
        ring.append(5, bytearray(data), 0, len(data))  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        ring.append(5, data, -1, len(data))
    assert (ring.end_offset, ring.batches) == (5, 1)


def test_a_malformed_request_for_records_is_refused() -> None:
    ring, made = filled(record_batch(0, 5)), share_partition()
    with pytest.raises(InvalidRequestError) as member:
        deliver(ring, made, member="")
    assert member.value.field == "member"
    with pytest.raises(InvalidRequestError) as batch_size:
        deliver(ring, made, batch_size=0)
    assert (batch_size.value.field, batch_size.value.value) == ("batch_size", 0)
    with pytest.raises(ValueError, match="mode is 2"):
        deliver(ring, made, mode=2)
    assert made.window_len == 0


def test_a_share_partition_that_has_panicked_leaves_the_ring_sound() -> None:
    ring, broken = filled(record_batch(0, 5)), share_partition()
    with pytest.raises(EnginePoisonedError):
        broken._panic_for_test("a bug")
    with pytest.raises(EnginePoisonedError):
        deliver(ring, broken)
    given = deliver(ring, share_partition())
    assert given is not None
    assert given.record_count == 5


def test_a_delivery_settles_what_a_persister_takes() -> None:
    ring, made = filled(record_batch(0, 5)), share_partition()
    made.persister = ss.NoOpStatePersister()
    given = deliver(ring, made, max_records=5)
    assert given is not None
    # The lock has run out when the next delivery comes, which writes nothing down and gives the records again.
    assert made.handle_timeout(now_ms=60_000) == 5
    again = ring.deliver(made, "n", now_ms=60_000, max_records=5, batch_size=5, mode=0, max_bytes=1 << 20)
    assert again is not None
    assert again.ranges == [(0, 4, 2)]
    assert made.poll_write() is None


def test_threads_share_a_ring_and_a_share_partition() -> None:
    ring = filled(*(record_batch(base, 10) for base in range(0, 1000, 10)))
    partitions = [share_partition() for _ in range(2)]
    taken: list[tuple[int, int, int]] = []

    def take(number: int) -> None:
        for _ in range(100):
            for index, made in enumerate(partitions):
                given = deliver(ring, made, member=f"m{number}", max_records=7, mode=1)
                if given is not None:
                    taken.extend((index, first, last) for first, last, _ in given.ranges)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index in range(2):
        offsets = [offset for which, first, last in taken if which == index for offset in range(first, last + 1)]
        assert sorted(offsets) == list(range(1000))
