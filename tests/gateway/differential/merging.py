"""Several answers of one session as one: how a server that handed out less at first is compared.

Where one answer ends is the server's own affair, so nothing that depends on it is compared: a broker leaves out batches before
the first record that it hands out and after the last, and a batch that two answers share is in both.
"""

from __future__ import annotations

from collections import defaultdict

from tests.gateway.differential.duel import Answer
from tests.gateway.differential.normal import acquired
from tests.gateway.wire.batches import LENGTH_FROM, headers, whole_bytes
from tests.gateway.wire.codec import Message


def merged(first: Answer, second: Answer) -> Answer:
    """Two answers of one session as one."""
    if isinstance(first, str) or isinstance(second, str):
        return second
    topics: dict[str, dict[int, Message]] = defaultdict(dict)
    for answer in (first, second):
        for topic in answer["responses"]:
            for partition in topic["partitions"]:
                known = topics[topic["topicId"]].setdefault(partition["partitionIndex"], partition)
                if known is not partition:
                    known["records"] = _whole(known["records"] or b"") + (partition["records"] or b"")
                    known["acquiredRecords"] = known["acquiredRecords"] + partition["acquiredRecords"]
    responses = [{"topicId": topic, "partitions": list(found.values())} for topic, found in topics.items()]
    return {**first, "responses": responses}


def without_seams(answer: Answer) -> Answer:
    """An answer with the longest ranges that have one delivery count, and each batch that holds some of them once."""
    if isinstance(answer, str):
        return answer
    responses = [{**topic, "partitions": [_without_seams(one) for one in topic["partitions"]]} for topic in answer["responses"]]
    return {**answer, "responses": responses}


def _without_seams(partition: Message) -> Message:
    ranges: list[Message] = []
    # One that is handed out twice stays a range of its own.
    for one in sorted(partition["acquiredRecords"], key=lambda one: one["firstOffset"]):
        last = ranges[-1] if ranges else None
        if last and last["lastOffset"] + 1 == one["firstOffset"] and last["deliveryCount"] == one["deliveryCount"]:
            last["lastOffset"] = one["lastOffset"]
        else:
            ranges.append(dict(one))
    records = _batches_with(partition["records"] or b"", acquired(partition))
    return {**partition, "acquiredRecords": ranges, "records": records}


def _whole(data: bytes) -> bytes:
    return data[: whole_bytes(data)]


def _batches_with(data: bytes, counts: dict[int, int]) -> bytes:
    """Each batch that holds one of these offsets, once and in their order, and what is cut off at the end."""
    found: dict[int, bytes] = {}
    at = 0
    for header in headers(data):
        end = at + LENGTH_FROM + header.length
        if any(offset in counts for offset in range(header.base_offset, header.last_offset + 1)):
            found.setdefault(header.base_offset, data[at:end])
        at = end
    return b"".join(batch for _, batch in sorted(found.items())) + data[whole_bytes(data) :]
