"""The ``misc_facts*`` suite: small facts, each driven through the public API that rests on it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from share_state import (
    AcquireMode,
    GroupConfig,
    ReadStateResult,
    SharePartition,
    coordinator_key,
    parse_coordinator_key,
)
from share_state.arguments import InFlightStore

from .recordings import FormatError, Json, Scenario, require
from .report import Difference, Outcome
from .skips import refuse_unplayable

_FIELDS = frozenset({"name", "source", "tags", "op", "key", "group", "partition", "input", "expect", "format", "note"})
_PARSING = ("parse", "validate")
_OPERATIONS = (*_PARSING, "round_trip")
_MEMBER = "member-1"
TOPIC_ID = "00010203-0405-0607-0809-0a0b0c0d0e0f"
#: The same as Kafka writes it.
_BASE64 = "AAECAwQFBgcICQoLDA0ODw"
_ACCEPT, _RELEASE = 1, 2


def uses_store(scenario: Scenario) -> bool:
    """Returns true if the fact concerns the in-flight store: it is then checked on each."""
    return "input" in scenario.raw or _is_fetch_lock(scenario)


def run_on_both_stores(scenario: Scenario) -> list[Outcome]:
    """Checks a single fact; on each in-flight store if it concerns one."""
    stores: tuple[InFlightStore, ...] = ("twin", "leaves") if uses_store(scenario) else ("leaves",)
    return [run(scenario, store) for store in stores]


def run(scenario: Scenario, store: InFlightStore) -> Outcome:
    """Checks a single fact."""
    outcome = Outcome(scenario.name, store if uses_store(scenario) else "")
    raw = scenario.raw
    try:
        if _is_fetch_lock(scenario):
            expected, actual = _fetch_lock(store)
        else:
            require(raw, _FIELDS, "the scenario")
            if "input" not in raw:
                refuse_unplayable([raw], _OPERATIONS)
            if "input" in raw:
                expected, actual = raw["expect"], accumulate(raw["input"], store)
            elif raw.get("op") in _PARSING:
                expected, actual = _parse(raw)
            elif raw.get("op") == "round_trip":
                expected, actual = _round_trip(raw)
            else:
                raise FormatError(f"unknown operation {raw.get('op')}")
    except FormatError as error:
        expected, actual = "known", str(error)
    if expected != actual:
        outcome.differences.append(Difference(scenario.name, 0, "fact", expected, actual))
    return outcome


def _is_fetch_lock(scenario: Scenario) -> bool:
    about = f"{scenario.name} {scenario.raw.get('op', '')} {scenario.raw.get('source', '')}"
    return re.search("fetch_?lock", about, re.IGNORECASE) is not None


def _fetch_lock(store: InFlightStore) -> tuple[object, object]:
    partition = _active(store)
    steps = [
        ("1 takes the lock", True, partition.acquire_fetch_lock(1)),
        ("2 does not get it", False, partition.acquire_fetch_lock(2)),
        ("2 frees nothing", False, partition.release_fetch_lock(2)),
        ("3 does not get it either", False, partition.acquire_fetch_lock(3)),
        ("1 frees it", True, partition.release_fetch_lock(1)),
        ("3 gets it now", True, partition.acquire_fetch_lock(3)),
    ]
    return (
        {name: expected for name, expected, _ in steps},
        {name: actual for name, _, actual in steps},
    )


def accumulate(ranges: list[list[int]], store: InFlightStore) -> list[list[int]]:
    """Acquire exactly these ranges with these counts out of one in-flight batch; how they are joined.

    One log batch is fetched in record_limit mode after one leading record, so that nothing of the ranges is
    delivered yet. Each range is then delivered and released until one delivery is missing, what lies between
    them is done, and the last acquire takes all of them at once.
    """
    shift = 1 - ranges[0][0]
    wanted = [(first + shift, last + shift, count) for first, last, count in ranges]
    end = wanted[-1][1]
    partition = _active(store)

    def acquire(first: int, last: int, mode: AcquireMode, most: int) -> list[list[int]]:
        acquired = partition.acquire(_MEMBER, [(first, last)], max_records=most, mode=mode, now_ms=0)
        return [[r.first_offset - shift, r.last_offset - shift, r.delivery_count] for r in acquired]

    def answer(first: int, last: int, kind: int) -> None:
        partition.acknowledge(_MEMBER, first, last, kind, now_ms=0)
        while (write := partition.poll_write()) is not None:
            partition.handle_write_result(write.token, 0, now_ms=0)

    acquire(0, end, AcquireMode.RECORD_LIMIT, 1)
    for first, last, count in wanted:
        for _ in range(count - 1):
            acquire(first, last, AcquireMode.BATCH_OPTIMIZED, 2**31 - 1)
            answer(first, last, _RELEASE)
    for first, last in _between(wanted):
        acquire(first, last, AcquireMode.BATCH_OPTIMIZED, 2**31 - 1)
        answer(first, last, _ACCEPT)
    return acquire(wanted[0][0], end, AcquireMode.BATCH_OPTIMIZED, 2**31 - 1)


def _between(ranges: list[tuple[int, int, int]]) -> Iterable[tuple[int, int]]:
    for before, after in zip(ranges, ranges[1:], strict=False):
        if before[1] + 1 < after[0]:
            yield before[1] + 1, after[0] - 1


def _active(store: InFlightStore) -> SharePartition:
    # Throttling sets in at half the limit, so the limit is out of the way of every count in use.
    config = GroupConfig(delivery_count_limit=100)
    partition = SharePartition("group", TOPIC_ID, 0, config=config, store=store)
    partition.initialize(ReadStateResult(0, 0, []))
    return partition


def _parse(raw: Json) -> tuple[object, object]:
    """A coordinator key is taken apart from the right, because a group id may contain ':'."""
    refused = isinstance(raw["expect"], dict) and "error" in raw["expect"]
    text = raw["key"]
    if isinstance(text, str):
        text = text.replace("<T>", _BASE64)
    try:
        key = parse_coordinator_key(text)
    except (TypeError, ValueError) as error:
        # Null is a wrong type here, anything else a wrong value.
        kind = "NullPointerException" if isinstance(error, TypeError) else "IllegalArgumentException"
        return raw["expect"], {"error": kind} if refused else repr(error)
    if raw["expect"] == "ok":
        return text, coordinator_key(key.group, key.topic_id, key.partition)
    topic_id = "<T>" if key.topic_id == TOPIC_ID else key.topic_id
    return raw["expect"], {"group": key.group, "topic_id": topic_id, "partition": key.partition}


def _round_trip(raw: Json) -> tuple[object, object]:
    if raw["expect"] != "same":
        raise FormatError(f"unknown expectation {raw['expect']!r}")
    given = (raw["group"], TOPIC_ID, raw["partition"])
    return given, tuple(parse_coordinator_key(coordinator_key(*given)))
