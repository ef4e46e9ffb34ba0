"""Contents of an answer: the counts show that a differential compares more than refusals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tests.gateway.differential.normal import acquired
from tests.gateway.wire.codec import Message


def codes_in(value: Any) -> Iterator[int]:
    """Every error code in an answer."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in {"errorCode", "acknowledgeErrorCode"}:
                yield inner
            else:
                yield from codes_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from codes_in(inner)


def contents(name: str, answer: Message) -> Iterable[str]:
    """Yields what is of note in an answer."""
    if name == "ShareFetch":
        partitions = [one for topic in answer["responses"] for one in topic["partitions"]]
        counts = [count for one in partitions for count in acquired(one).values()]
        if counts:
            yield "ShareFetch with records"
        if any(count > 1 for count in counts):
            yield "ShareFetch with records delivered again"
        if any(len(one["acquiredRecords"]) > 1 for one in partitions):
            yield "ShareFetch with several ranges"
    if not any(codes_in(answer)) and _holds_rows(answer):
        yield f"{name} with rows and no error"


def _holds_rows(answer: Message) -> bool:
    return any(bool(value) for value in answer.values() if isinstance(value, list | dict))
