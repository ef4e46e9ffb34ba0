"""The ``share_coordinator_shard*`` suite: requests decided, records replayed, bytes and memory compared.

Kafka's shard answers a request and hands over records; only their replay changes its memory. So does
``ShareCoordinator``: after every operation its memory must be what the recording shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from share_state import Decision, Record, ShareCoordinator, StateBatch, WriteState
from share_state.errors import EnginePoisonedError, ShareStateError

from .coordinator_messages import API_KEYS, RecordedRequest, check_request, response_of
from .partition import TOPIC_ID
from .record_json import base64url, encode_record, hyphenated
from .recordings import FormatError, Json, Recording, Scenario
from .report import Difference, Outcome, Skip
from .rules_before_44 import contradicts_44
from .schema import require
from .skips import PRE_44, skip_reason

_OP_FIELDS = frozenset({"op", "args", "result", "state", "response_wire_hex", "now", "topic_exists"})
_CREATE_FIELDS = frozenset({"op", "snapshot_update_records_per_snapshot", "cold_partition_snapshot_interval_ms"})
_STATE_FIELDS = frozenset({"share_state", "leader_epoch", "state_epoch", "snapshot_update_count"})


def run(recording: Recording, scenario: Scenario) -> Outcome | Skip:
    """One sequence of requests and replays."""
    reason = skip_reason(scenario)
    if reason is not None:
        return Skip(scenario.name, reason)
    if recording.before_44:
        contradiction = contradicts_44(scenario)
        if contradiction is not None:
            return Skip(scenario.name, f"{PRE_44}: {contradiction}", pre_44=True)
    outcome = Outcome(scenario.name)
    shard = _Shard(outcome)
    for index, op in enumerate(scenario.ops):
        shard.index = index
        try:
            shard.step(op)
        except EnginePoisonedError as error:
            shard.differ("the coordinator panicked", "an answer", repr(error))
            break
        except FormatError as error:
            shard.differ("format", "known", str(error))
            break
    return outcome


@dataclass(slots=True)
class _Shard:
    outcome: Outcome
    index: int = 0
    now: int = 0
    #: Whether the memory, and with it what is redundant, follows from operations.
    replayed: bool = False
    coordinator: ShareCoordinator = field(default_factory=ShareCoordinator)

    def differ(self, what: str, expected: object, actual: object) -> None:
        """Note a difference of the operation under way."""
        self.outcome.differences.append(Difference(self.outcome.scenario, self.index, what, expected, actual))

    def step(self, op: Json) -> None:
        """Drive one operation, compare what it gave and the memory afterwards."""
        kind = op["op"]
        if kind == "create":
            require(op, _CREATE_FIELDS, "create")
            self.coordinator = ShareCoordinator(
                snapshot_update_records_per_snapshot=op["snapshot_update_records_per_snapshot"],
                cold_partition_snapshot_interval_ms=op["cold_partition_snapshot_interval_ms"],
            )
            return
        require(op, _OP_FIELDS, f"op {self.index} ({kind})")
        self.now = op.get("now", self.now)
        if kind == "replay":
            offset, _producer_id, _producer_epoch, record = op["args"]
            value = record["value_hex"]
            self.replayed = True
            self.coordinator.replay(
                offset,
                bytes.fromhex(record["key_hex"]),
                None if value is None else bytes.fromhex(value),
            )
        elif kind == "lastRedundantOffset":
            self._stubbed_offsets(op)
            answer = self.coordinator.last_redundant_offset()
            if answer != op["result"]["response"]:
                self.differ("last redundant offset", op["result"]["response"], answer)
        elif kind == "snapshotColdPartitions":
            self._records(op, self.coordinator.cold_snapshots(wall_ms=self.now))
        elif kind == "maybeCleanupShareState":
            topics = [hyphenated(topic) for topic in op["args"][0]]
            self._records(op, self.coordinator.topics_deleted(topics))
        elif kind in API_KEYS:
            self._request(op, RecordedRequest.parse(op))
        else:
            raise FormatError(f"unknown operation {kind}")
        self._memory(op)

    def _stubbed_offsets(self, op: Json) -> None:
        """Bring about the answer of an offsets manager that the recorder had replaced by a stub.

        It shows by an answer although nothing was replayed before. A deletion replayed at that offset leaves all below
        it redundant and no state.
        """
        stubbed = op["result"]["response"]
        if self.replayed or stubbed is None:
            return
        key = {"groupId": "group", "topicId": base64url(TOPIC_ID), "partition": 0}
        self.coordinator.replay(stubbed, *encode_record({"type": 0, "key": key, "value": None}))

    def _request(self, op: Json, request: RecordedRequest) -> None:
        for what, expected, actual in check_request(request):
            self.differ(what, expected, actual)
        if "error" in op["result"]:
            # Kafka threw, which is never our answer.
            self.differ(f"{op['op']}: Kafka threw", op["result"]["error"], "an answer")
            return
        records: list[Record] = []
        results: list[tuple[str, Json, int, object]] = []
        for topic_id, partition in request.partitions():
            try:
                decided = self._decide(op, request.group, topic_id, partition)
            except EnginePoisonedError:
                raise
            except ShareStateError as error:
                code = -1 if error.kafka_code is None else error.kafka_code
                results.append((topic_id, partition, code, None))
                continue
            if isinstance(decided, Decision):
                records += decided.records
                results.append((topic_id, partition, 0, decided.answer))
            else:
                results.append((topic_id, partition, 0, decided))
        self._records(op, records)
        for what, expected, actual in response_of(op, request, results):
            self.differ(what, expected, actual)

    def _decide(self, op: Json, group: str, topic_id: str, partition: Json) -> object:
        """Ask the coordinator what it would do for one partition of a request."""
        exists = op.get("topic_exists", True)
        coordinator, number = self.coordinator, partition["partition"]
        verbs: dict[str, Callable[[], object]] = {
            "initializeState": lambda: coordinator.initialize(
                group,
                topic_id,
                number,
                partition["stateEpoch"],
                partition["startOffset"],
                wall_ms=self.now,
                topic_exists=exists,
            ),
            "readStateAndMaybeUpdateLeaderEpoch": lambda: coordinator.read(
                group,
                topic_id,
                number,
                partition["leaderEpoch"],
                wall_ms=self.now,
                topic_exists=exists,
            ),
            "writeState": lambda: coordinator.write(
                group,
                topic_id,
                number,
                _write_state(partition),
                wall_ms=self.now,
                topic_exists=exists,
            ),
            "deleteState": lambda: coordinator.delete(group, topic_id, number, topic_exists=exists),
            "readStateSummary": lambda: coordinator.summary(group, topic_id, number, topic_exists=exists),
        }
        return verbs[op["op"]]()

    def _records(self, op: Json, records: list[Record]) -> None:
        expected = [(r["key_hex"], r["value_hex"]) for r in op["result"]["records"]]
        actual = [(r.key.hex(), None if r.value is None else r.value.hex()) for r in records]
        if expected != actual:
            self.differ(f"{op['op']}: records", expected, actual)

    def _memory(self, op: Json) -> None:
        if op["op"] == "replay" and "state" not in op:
            # One of several records of one operation.
            return
        require(op["state"], _STATE_FIELDS, f"state of op {self.index}")
        expected: dict[tuple[str, str, int], Json] = {}
        for key, state in _entries(op["state"]["share_state"]):
            expected[key] = dict(state)
        for column in ("leader_epoch", "state_epoch", "snapshot_update_count"):
            for key, value in _entries(op["state"][column]):
                expected.setdefault(key, {})[f"map {column}"] = value
        for state in expected.values():
            # Kafka's counter map has no entry before the first update.
            state.setdefault("map snapshot_update_count", 0)
        actual = {}
        for entry in self.coordinator.states():
            key = (entry["group"], entry["topic_id"], entry["partition"])
            actual[key] = self._ours(key)
        if expected != actual:
            for key in sorted(set(expected) | set(actual)):
                if expected.get(key) != actual.get(key):
                    shown = (key[0], base64url(key[1]), key[2])
                    self.differ(f"memory of {shown}", expected.get(key), actual.get(key))

    def _ours(self, key: tuple[str, str, int]) -> Json | None:
        state = self.coordinator.state(*key)
        if state is None:
            return None
        return {
            "snapshot_epoch": state["snapshot_epoch"],
            "state_epoch": state["state_epoch"],
            "leader_epoch": state["leader_epoch"],
            "start_offset": state["start_offset"],
            "delivery_complete_count": state["delivery_complete_count"],
            "batches": [[int(number) for number in batch] for batch in state["batches"]],
            "create_ts": state["create_timestamp"],
            "write_ts": state["write_timestamp"],
            "map leader_epoch": state["max_leader_epoch"],
            "map state_epoch": state["max_state_epoch"],
            "map snapshot_update_count": state["updates_since_snapshot"],
        }


def _entries(column: object) -> list[tuple[tuple[str, str, int], Json]]:
    """A recorded map: a list of [key, value], or an empty object."""
    if not isinstance(column, list):
        if column:
            raise FormatError(f"unknown form of a map: {column!r}")
        return []
    return [((key["group"], hyphenated(key["topic_id"]), key["partition"]), value) for key, value in column]


def _write_state(partition: Json) -> WriteState:
    return WriteState(
        partition["stateEpoch"],
        partition["leaderEpoch"],
        partition["startOffset"],
        partition.get("deliveryCompleteCount", -1),
        [
            StateBatch(b["firstOffset"], b["lastOffset"], b["deliveryState"], b["deliveryCount"])
            for b in partition["stateBatches"]
        ],
    )
