"""The ``share_consumer_e2e*`` suite: facts of share consumers, played on a cluster.

The scenarios were taken by hand from Kafka's integration tests and leave out what those tests take for granted:

* the group begins at ``earliest``, has one partition and locks records for 15 s; where a scenario lets locks run out, for 1 s;
* a scenario that polls without having produced finds as many records as it expects first;
* acknowledgements that no poll carries are committed before the next operation;
* ``IllegalStateException`` is what Java's client says of a record that it no longer holds, and the members here too: the server
  need not refuse it, for what lies below its start offset is done and passed over.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaException

from .recordings import FormatError, Json, Scenario, require
from .report import Difference, Outcome
from .share_cluster import Cluster
from .share_member import ACCEPT, REJECT, RELEASE, RENEW, Member, NotHeldError, Polled, Record, RefusedError
from .skips import refuse_unplayable

_SCENARIO = frozenset({"name", "source", "setup", "ops", "note"})
_SETUP = frozenset({"partitions", "auto_offset_reset", "ack_mode", "delivery_count_limit", "max_poll_records", "acquire_mode"})
_TYPES = {"ACCEPT": ACCEPT, "RELEASE": RELEASE, "REJECT": REJECT, "RENEW": RENEW}
_MODES = {"batch_optimized": 0, "record_limit": 1}
_LOCK_MS, _SHORT_LOCK_MS = 15_000, 1_000
#: A lock may end so much later than it says.
_LOCK_SLACK_S = 0.5
#: Form in which the ranges of `poll_release_ranges` are written.
_RANGES = re.compile(r"offsets (\d+)\.\.(\d+) one by one, then (\d+)-(\d+) as one poll of (\d+), then (\d+)\.\.(\d+) one by one")


def play(scenario: Scenario, bootstrap: str, data_bootstrap: str | None = None) -> Outcome:
    """Plays a scenario on the cluster with share groups at ``bootstrap``; its data is at ``data_bootstrap``, or there too."""
    require(scenario.raw, _SCENARIO, "the scenario")
    setup = scenario.raw.get("setup", {})
    require(setup, _SETUP, "setup")
    refuse_unplayable(scenario.ops, _OPERATIONS)
    for index, op in enumerate(scenario.ops):
        if op.get("op") not in _OPERATIONS:
            raise FormatError(f"unknown operation {op.get('op')}")
        require(op, _OPERATIONS[op["op"]][0] | {"op"}, f"op {index}")
    outcome = Outcome(scenario.name)
    short = any(op["op"] == "sleep_past_lock" for op in scenario.ops)
    name = re.sub(r"[^A-Za-z0-9._-]", "-", scenario.name)
    cluster = Cluster(bootstrap, data_bootstrap or bootstrap, name, setup.get("partitions", 1))
    stage = _Stage(cluster, setup, _SHORT_LOCK_MS if short else _LOCK_MS)
    index, op = 0, scenario.ops[0]
    try:
        stage.begin(scenario.ops)
        for index, op in enumerate(scenario.ops):
            for what, expected, actual in stage.step(op):
                outcome.differences.append(Difference(scenario.name, index, what, expected, actual))
            if outcome.differences:
                break
    except (RefusedError, KafkaException, OSError) as error:
        outcome.differences.append(Difference(scenario.name, index, op["op"], "no refusal", str(error)))
    finally:
        stage.end()
    return outcome


_Found = list[tuple[str, object, object]]


@dataclass(slots=True)
class _Stage:
    """The consumers of a scenario and what they last polled."""

    cluster: Cluster
    setup: Json
    lock_ms: int
    members: dict[int, Member] = field(default_factory=dict)
    last: dict[int, Polled] = field(default_factory=dict)
    #: The consumer that acted last; operations without a number are about it.
    at: int = 1

    @property
    def implicit(self) -> bool:
        return bool(self.setup.get("ack_mode", "explicit") == "implicit")

    def begin(self, ops: list[Json]) -> None:
        """Makes the group, and the records that a scenario finds."""
        properties = {
            "share.auto.offset.reset": self.setup.get("auto_offset_reset", "earliest"),
            "share.record.lock.duration.ms": str(self.lock_ms),
        }
        if "delivery_count_limit" in self.setup:
            properties["share.delivery.count.limit"] = str(self.setup["delivery_count_limit"])
        self.cluster.configure(properties)
        first = next((op for op in ops if op["op"] in {"produce", "poll"}), None)
        if first is not None and first["op"] == "poll":
            self.cluster.produce(0, first["expect"]["count"])

    def end(self) -> None:
        """Ends what is left."""
        for member in self.members.values():
            member.vanish()
        self.cluster.close()

    def step(self, op: Json) -> _Found:
        """Plays an operation; what differs."""
        self.at = op.get("consumer", self.at)
        play_op = _OPERATIONS[op["op"]][1]
        if op["op"] not in _GOES_WITH_POLL:
            for member in self.members.values():
                member.commit()
        return play_op(self, op)

    def member(self, number: int | None = None) -> Member:
        """A consumer, which joins when it is first asked for."""
        number = self.at if number is None else number
        if number not in self.members:
            limit = self.setup.get("max_poll_records", 500)
            mode = _MODES[self.setup.get("acquire_mode", "batch_optimized")]
            member = Member(self.cluster.bootstrap, self.cluster.group, self.cluster.topic, max_records=limit, mode=mode)
            self.members[number] = member
            member.join()
        return self.members[number]

    def poll(self, wanted: int | None = None, number: int | None = None) -> Polled:
        """A poll of a consumer, with what goes with it."""
        member = self.member(number)
        number = self.at if number is None else number
        if self.implicit and number in self.last:
            member.acknowledge(self.last[number].records, ACCEPT)
        self.last[number] = member.poll(wanted)
        return self.last[number]

    def compare(self, expect: Json, polled: Polled) -> _Found:
        """Finds the differences between an expectation and a poll."""
        actual: Json = {}
        for name in expect:
            match name:
                case "count":
                    actual[name] = len(polled.records)
                case "delivery_counts":
                    actual[name] = polled.delivery_counts
                case "keys":
                    actual[name] = [self.cluster.keys.get(record) for record in polled.records]
                case "lock_timeout_ms":
                    actual[name] = polled.lock_timeout_ms
                case "offsets":
                    offsets = [offset for _, offset in polled.records]
                    actual[name] = [min(offsets), max(offsets)] if offsets else []
                case "note":
                    actual[name] = expect[name]
                case _:
                    raise FormatError(f"unknown expectation {name}")
        return _differ("polled", expect, actual)


def _differ(what: str, expected: object, actual: object) -> _Found:
    return [] if expected == actual else [(what, expected, actual)]


def _produce(stage: _Stage, op: Json) -> _Found:
    first, last = op.get("offsets", (None, None))
    count = op.get("count", 1) if first is None else last - first + 1
    written = stage.cluster.produce(op.get("partition", 0), count, op.get("key"))
    return [] if first is None else _differ("offsets written", (first, last), written)


def _delete_records(stage: _Stage, op: Json) -> _Found:
    stage.cluster.delete_records_before(op.get("partition", 0), op["offset"])
    return []


def _poll(stage: _Stage, op: Json) -> _Found:
    expect = op.get("expect", {})
    wanted = expect.get("count", len(expect["keys"]) if "keys" in expect else None)
    return stage.compare(expect, stage.poll(wanted))


def _join_and_poll(stage: _Stage, op: Json) -> _Found:
    polled = stage.poll(op["expect"]["count"])
    # Where to begin is decided before the next operation.
    stage.member().fetch_all()
    return stage.compare(op["expect"], polled)


def _consume_all(stage: _Stage, op: Json) -> _Found:
    """Polls until nothing comes any more, and accepts."""
    expect = op["expect"]
    wanted = expect["count"]
    everything = Polled()
    member = stage.member()
    while True:
        polled = member.poll(max(0, wanted - len(everything.records)))
        if not polled.records:
            break
        everything.records += polled.records
        member.acknowledge(polled.records, ACCEPT)
        member.commit()
    return stage.compare(expect, everything)


def _poll_until(stage: _Stage, op: Json) -> _Found:
    expect = op["expect"]
    polled = stage.poll(expect["count"])
    from_partition = [record for record in polled.records if record[0] == expect["partition"]]
    return _differ("polled of the partition", expect, {"partition": expect["partition"], "count": len(from_partition)})


def _poll_alternating(stage: _Stage, op: Json) -> _Found:
    total = op["expect"]["total"]
    seen: list[Record] = []
    numbers = range(1, op["consumers"] + 1)
    for number in numbers:
        stage.member(number)
    idle = 0
    while len(seen) < total and idle < 20 * len(numbers):
        for number in numbers:
            member = stage.member(number)
            polled = member.poll(0)
            member.acknowledge(polled.records, ACCEPT)
            member.commit()
            seen += polled.records
            idle = 0 if polled.records else idle + 1
    return _differ("records seen, and how many of them once", (total, total), (len(seen), len(set(seen))))


def _ack(stage: _Stage, op: Json) -> _Found:
    record = stage.last[stage.at].records[op["index"]]
    stage.member().acknowledge([record], _TYPES[op["type"]])
    return []


def _ack_all(stage: _Stage, op: Json) -> _Found:
    member, records = stage.member(), stage.last[stage.at].records
    kind = _TYPES[op["type"]]
    expect = op.get("expect", {})
    if expect:
        if expect != {"error": "IllegalStateException"}:
            raise FormatError(f"unknown expectation {expect}")
        try:
            member.acknowledge(records, kind)
        except NotHeldError:
            return []
        return [("refusal", expect, None)]
    member.acknowledge(records, kind)
    if op.get("commit"):
        member.commit()
    return []


def _alternate(stage: _Stage, op: Json) -> None:
    kinds = [_TYPES[name] for name in op["types"]]
    for number, record in enumerate(stage.last[stage.at].records):
        stage.member().acknowledge([record], kinds[number % len(kinds)])


def _ack_alternating(stage: _Stage, op: Json) -> _Found:
    _alternate(stage, op)
    return []


def _ack_alternating_commit(stage: _Stage, op: Json) -> _Found:
    _alternate(stage, op)
    stage.member().commit()
    # What a consumer is told of its records' lock is that of its last poll.
    return _differ("lock", op.get("expect", {}), {"lock_timeout_ms": stage.last[stage.at].lock_timeout_ms})


def _totals(stage: _Stage, op: Json) -> _Found:
    member = stage.member()
    known = {"acks_committed": member.confirmed, "renew_metric": member.renewed}
    if not op["expect"].keys() <= known.keys():
        raise FormatError(f"unknown expectation {op['expect']}")
    return _differ("totals", op["expect"], {name: known[name] for name in op["expect"]})


def _release_each(stage: _Stage, op: Json) -> _Found:
    counts = [len(_poll_and_release(stage, wanted)) for wanted in op["expect_counts"]]
    return _differ("polled", op["expect_counts"], counts)


def _release_ranges(stage: _Stage, op: Json) -> _Found:
    """Polls each of the offsets one by one, then some together, then one by one again."""
    written = _RANGES.fullmatch(op["expect"])
    if written is None:
        raise FormatError(f"ranges are written in another way: {op['expect']}")
    first, last, from_, to, _, again, end = map(int, written.groups())
    wanted = [[offset] for offset in range(first, last + 1)]
    wanted += [list(range(from_, to + 1)), *([offset] for offset in range(again, end + 1))]
    polled = [[offset for _, offset in _poll_and_release(stage, len(offsets))] for offsets in wanted]
    return _differ("polled", wanted, polled)


def _poll_and_release(stage: _Stage, wanted: int) -> list[Record]:
    records = stage.poll(wanted).records
    stage.member().acknowledge(records, RELEASE)
    stage.member().commit()
    return records


def _describe_offsets(stage: _Stage, op: Json) -> _Found:
    expect = op["expect"]
    found = stage.cluster.offsets_when(op.get("partition", 0), expect)
    return _differ("offsets", expect, {name: found.get(name) for name in expect})


def _alter_offsets(stage: _Stage, op: Json) -> _Found:
    stage.cluster.alter_offsets(op.get("partition", 0), op["to"])
    return []


def _alter_lock_duration(stage: _Stage, op: Json) -> _Found:
    stage.cluster.configure({"share.record.lock.duration.ms": str(op["ms"])})
    return []


def _add_partitions(stage: _Stage, op: Json) -> _Found:
    stage.cluster.add_partitions(op["to"])
    return []


def _close(stage: _Stage, _: Json) -> _Found:
    stage.members.pop(stage.at).close()
    stage.last.pop(stage.at, None)
    return []


def _sleep_past_lock(stage: _Stage, _: Json) -> _Found:
    """Lets the locks run out, which are shorter here than in the test; the members stay members meanwhile."""
    until = time.monotonic() + stage.lock_ms / 1_000 + _LOCK_SLACK_S
    while time.monotonic() < until:
        for member in stage.members.values():
            member.heartbeat()
        time.sleep(0.1)
    return []


#: Each operation: the fields it may have, and what plays it.
_OPERATIONS: dict[str, tuple[frozenset[str], Callable[[_Stage, Any], _Found]]] = {
    "produce": (frozenset({"offsets", "count", "key", "partition"}), _produce),
    "delete_records_before": (frozenset({"offset", "partition"}), _delete_records),
    "poll": (frozenset({"consumer", "expect"}), _poll),
    "join_and_poll": (frozenset({"consumer", "expect"}), _join_and_poll),
    "consume_all": (frozenset({"consumer", "expect"}), _consume_all),
    "poll_until": (frozenset({"consumer", "expect"}), _poll_until),
    "poll_alternating": (frozenset({"consumers", "expect"}), _poll_alternating),
    "poll_release_each": (frozenset({"consumer", "expect_counts"}), _release_each),
    "poll_release_ranges": (frozenset({"consumer", "expect"}), _release_ranges),
    "ack": (frozenset({"consumer", "index", "type"}), _ack),
    "ack_all": (frozenset({"consumer", "type", "commit", "expect"}), _ack_all),
    "ack_alternating": (frozenset({"consumer", "types"}), _ack_alternating),
    "ack_alternating_commit": (frozenset({"consumer", "types", "expect"}), _ack_alternating_commit),
    "totals": (frozenset({"consumer", "expect"}), _totals),
    "describe_offsets": (frozenset({"partition", "expect"}), _describe_offsets),
    "alter_offsets": (frozenset({"partition", "to"}), _alter_offsets),
    "alter_lock_duration": (frozenset({"ms"}), _alter_lock_duration),
    "add_partitions": (frozenset({"to"}), _add_partitions),
    "close": (frozenset({"consumer"}), _close),
    "sleep_past_lock": (frozenset({"ms"}), _sleep_past_lock),
}
#: Operations after or before which acknowledgements may still wait for a poll or a close to carry them.
_GOES_WITH_POLL = frozenset({"poll", "ack", "ack_all", "ack_alternating", "ack_alternating_commit", "close", "produce"})
