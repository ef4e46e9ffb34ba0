"""When records were appended, as far as the batches at the beginnings of answers tell it."""

from __future__ import annotations

from share_state.gateway.upstream.append_times import AppendTimes
from tests.gateway.wire.batches import record_batch


def see(times: AppendTimes, offset: int, base_ms: int, greatest_ms: int, *, attributes: int = 0, at: int = 0) -> None:
    """A batch, somewhere in a frame that ends with it."""
    batch = bytearray(record_batch(offset, 1))
    batch[21:23] = attributes.to_bytes(2, "big")
    batch[27:35], batch[35:43] = base_ms.to_bytes(8, "big"), greatest_ms.to_bytes(8, "big")
    times.see(b"\7" * at + bytes(batch), at, at + 61)


def test_the_age_of_a_record_is_that_of_the_answer_it_came_with() -> None:
    times = AppendTimes()
    assert times.of(10**9) is None
    see(times, 100, 1000, 2000, at=3)
    see(times, 300, 3000, 4000, attributes=8)
    # One of a transaction, with the time of its producer.
    see(times, 200, 2500, 2600, attributes=16, at=40)
    for offset in (100, 200, 300):
        see(times, offset, 9, 9)
    told = {99: None, 100: 1000, 199: 1000, 200: 2500, 299: 2500, 300: 4000, 10**9: 4000}
    assert {offset: times.of(offset) for offset in told} == told
    # Not a whole header.
    times.see(record_batch(400, 1), 0, 60)
    times.see(bytes(30) + record_batch(400, 1), 30, 90)
    assert times.of(400) == 4000
    times.forget_before(99)
    times.forget_before(199)
    assert times.of(100) == 1000
    times.forget_before(300)
    assert {offset: times.of(offset) for offset in (299, 300)} == {299: None, 300: 4000}
    see(times, 150, 5, 6)
    times.forget_before(299)
    assert [times.of(offset) for offset in (150, 300)] == [5, 4000]
    times.forget_before(300)
    assert [times.of(offset) for offset in (150, 300)] == [None, 4000]


def test_every_other_time_goes_when_there_are_too_many() -> None:
    times = AppendTimes()
    for offset in range(512):
        see(times, offset, 1000 + offset, 0)
    assert [times.of(offset) for offset in (0, 1, 2, 511)] == [1000, 1001, 1002, 1511]
    see(times, 512, 1512, 0)
    assert [times.of(offset) for offset in range(6)] == [1000, 1000, 1002, 1002, 1004, 1004]
    assert [times.of(offset) for offset in (509, 510, 511, 512)] == [1508, 1510, 1510, 1512]
