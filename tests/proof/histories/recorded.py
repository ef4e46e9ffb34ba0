"""A history from what members reported: every event of docs/histories.md that they can tell.

A client fetches by itself, so when a request left is not known exactly. ``sent`` of a grant is the time of the answer before it,
which is earlier: the checker then knows less, and reports nothing that is not so.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.gateway.clients.members import Member

Line = dict[str, Any]
Place = tuple[str, int]

#: The ids of acknowledge types by the names that members report.
_TYPES: Final = {"GAP": 0, "ACCEPT": 1, "RELEASE": 2, "REJECT": 3, "RENEW": 4}
#: INVALID_RECORD_STATE: the member did not hold the record. Whatever else failed may have happened.
_REFUSED: Final = 121


def lines_of(member: Member, *, lock_ms: int, killed_at: int | None) -> Iterator[Line]:
    """Tell what a member saw.

    Args:
        member: one that has ended.
        lock_ms: the lock duration of its group.
        killed_at: when it was killed, if it was.
    """
    name = f"m{member.number}"
    group = member.plan.group
    answers = _answers(member)
    end = max((event["at"] for event in member.events), default=0)
    sent = 0
    for event in list(member.events):
        common: Line = {"group": group, "member": name}
        if event["event"] == "started":
            sent = event["at"]
        elif event["event"] == "received":
            for place, first, last, count in _spans((tuple(one[:2]), one[2], one[3]) for one in event["records"]):
                yield {
                    "type": "grant", "t": event["at"], "sent": sent, **common, **_at(place),
                    "first": first, "last": last, "delivery_count": count, "lock_ms": lock_ms,
                }  # fmt: skip
            sent = event["at"]
        elif event["event"] == "acknowledging":
            yield from _acks(event, answers, killed_at or end, common)
    yield {"type": "gone", "t": max(killed_at or end, end), "group": group, "member": name}


def _acks(event: Line, answers: dict[Place, dict[int, deque[Line]]], end: int, common: Line) -> Iterator[Line]:
    together: dict[tuple[Place, int, str], list[tuple[int, str]]] = defaultdict(list)
    for topic, partition, offset, kind in event["records"]:
        place = (topic, partition)
        waiting = answers[place][offset]
        if waiting:
            answer = waiting.popleft()
            error = answer["error"]
            outcome = "ok" if error is None else "refused" if error == _REFUSED else "unknown"
            together[place, answer["at"], outcome].append((offset, kind))
        else:
            together[place, max(end, event["at"]), "unknown"].append((offset, kind))
    for (place, t, outcome), records in together.items():
        ranges = [[first, last, _TYPES[kind]] for _, first, last, kind in _spans((place, *one) for one in records)]
        yield {"type": "ack", "t": t, "sent": event["at"], **common, **_at(place), "ranges": ranges, "outcome": outcome}


def _answers(member: Member) -> dict[Place, dict[int, deque[Line]]]:
    """The answers to acknowledgements of each record, in order."""
    answers: dict[Place, dict[int, deque[Line]]] = defaultdict(lambda: defaultdict(deque))
    for event in list(member.events):
        if event["event"] == "acknowledged":
            for topic, partition, offset in event["records"]:
                answers[topic, partition][offset].append(event)
    return answers


def _at(place: Place) -> Line:
    return {"topic": place[0], "partition": place[1]}


def _spans(records: Iterable[tuple[Any, int, Any]]) -> Iterator[tuple[Any, int, int, Any]]:
    """Consecutive offsets of one place with the same word, as ranges."""
    open_: list[Any] | None = None
    for place, offset, word in sorted(records, key=lambda one: (one[0], one[1])):
        if open_ is not None and (open_[0], open_[2] + 1, open_[3]) == (place, offset, word):
            open_[2] = offset
            continue
        if open_ is not None:
            yield tuple(open_)
        open_ = [place, offset, offset, word]
    if open_ is not None:
        yield tuple(open_)


def write(path: Path, lines: Iterable[Line]) -> int:
    """Write a history in order of time, and return how many events it has."""
    written = encoded(lines)
    path.write_bytes(b"".join(written))
    return len(written)


def encoded(lines: Iterable[Line]) -> list[bytes]:
    """The lines of a history, in order of time."""
    return [json.dumps(line).encode() + b"\n" for line in sorted(lines, key=lambda line: line["t"])]
