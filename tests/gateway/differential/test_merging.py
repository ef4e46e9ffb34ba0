"""The place where a server ends its answers makes no difference, and what it hands out does."""

from __future__ import annotations

from tests.gateway.differential.merging import merged, without_seams
from tests.gateway.wire.batches import batch, headers
from tests.gateway.wire.codec import Message

#: Offsets 0 to 3, 4 to 5, 6 to 9.
_BATCHES = [batch([b"v"] * count, base_offset=base) for base, count in ((0, 4), (4, 2), (6, 4))]


def answer(records: list[bytes], *acquired: tuple[int, int, int]) -> Message:
    ranges = [dict(zip(("firstOffset", "lastOffset", "deliveryCount"), one, strict=True)) for one in acquired]
    partition = {"partitionIndex": 0, "acquiredRecords": ranges, "records": b"".join(records)}
    return {"errorCode": 0, "responses": [{"topicId": "t", "partitions": [partition]}]}


def test_two_answers_are_as_one() -> None:
    # The batch in the middle holds nothing that is handed out, as after an abort: one answer has it, two do not.
    whole = answer(_BATCHES, (0, 3, 1), (6, 9, 1))
    in_two = merged(answer(_BATCHES[:1], (0, 3, 1)), answer(_BATCHES[2:], (6, 9, 1)))
    assert in_two != whole
    assert without_seams(in_two) == without_seams(whole) == answer([_BATCHES[0], _BATCHES[2]], (0, 3, 1), (6, 9, 1))


def test_a_batch_that_two_answers_share_is_there_once() -> None:
    whole = answer(_BATCHES, (0, 9, 1))
    in_two = merged(answer(_BATCHES[1:], (5, 9, 1)), answer(_BATCHES[:2], (0, 4, 1)))
    assert without_seams(in_two) == without_seams(whole) == whole


def test_bytes_that_are_cut_off_stay_at_the_end_only() -> None:
    cut = _BATCHES[1][:30]
    in_two = merged(answer([_BATCHES[0], cut], (0, 3, 1)), answer([_BATCHES[1], cut], (4, 5, 1)))
    assert without_seams(in_two) == answer([*_BATCHES[:2], cut], (0, 5, 1))


def test_what_is_handed_out_otherwise_still_differs() -> None:
    whole = without_seams(answer(_BATCHES, (0, 9, 1)))
    others = [
        answer(_BATCHES, (0, 8, 1)),
        answer(_BATCHES, (0, 4, 1), (5, 9, 2)),
        # Handed out twice.
        answer(_BATCHES, (0, 9, 1), (3, 5, 1)),
        answer(_BATCHES[:2], (0, 9, 1)),
        answer([_BATCHES[0], batch([b"w"] * 2, base_offset=4), _BATCHES[2]], (0, 9, 1)),
    ]
    assert all(without_seams(other) != whole for other in others)
    assert all(len(list(headers(other["responses"][0]["partitions"][0]["records"]))) in {2, 3} for other in others)


def test_a_connection_that_is_closed_stays_one() -> None:
    closed = "connection closed"
    assert merged(answer(_BATCHES), closed) == without_seams(closed) == closed
