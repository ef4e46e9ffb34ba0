"""The ``initialize`` operation: the persister's recorded answer and the offset lookup behind it."""

from __future__ import annotations

from share_state import ReadStateResult, StateBatch
from share_state.errors import EnginePoisonedError, ShareStateError

from .kafka_names import expected_code
from .partition import PartitionUnderTest
from .recorded_writes import dead_letters_of, writes_of
from .recordings import FormatError, Json

#: Kafka's lookup → the strategy that asks for it.
_STRATEGY_OF_LOOKUP = {
    "offsetForLatestTimestamp": "latest",
    "offsetForEarliestTimestamp": "earliest",
    "offsetForTimestamp": "by_duration",
}
_NOT_USABLE = -1
_LEADER_NOT_AVAILABLE = 5


def initialize(under_test: PartitionUnderTest, op: Json, now_ms: int) -> None:
    """Drive the operation and compare its answer; the state is compared like after any other."""
    expected = op["expect"]["result"]
    code = _again(under_test) if "persister_read" not in op else _read(under_test, op)
    if isinstance(code, ShareStateError):
        actual = _NOT_USABLE if code.kafka_code is None else code.kafka_code
    else:
        actual = code
    if expected_code(expected) != actual:
        under_test.notice("answer of initialise", expected, code)
    if actual != 0:
        return
    # Records a leader before had begun to give up go to the dead-letter queue at once.
    recorded = writes_of(op)
    under_test.record_writes(recorded)
    answers = [write.error_code or 0 for write in recorded]
    under_test.check_dead_letters(dead_letters_of(op), now_ms, answers)


def _again(under_test: PartitionUnderTest) -> int:
    """Initialise without a read: Kafka answers from where the object stands in its life."""
    status = under_test.partition.status
    if status == "ACTIVE":
        return 0
    if status in ("FENCED", "INITIALIZING"):
        return _LEADER_NOT_AVAILABLE
    return _NOT_USABLE


def _read(under_test: PartitionUnderTest, op: Json) -> int | ShareStateError:
    partition = under_test.partition
    request = op["persister_read"]["request"]
    if request["leader_epoch"] != partition.leader_epoch:
        under_test.notice("leader epoch read with", request["leader_epoch"], partition.leader_epoch)
    response = op["persister_read"]["response"]
    failure = _failure(response, request["partition"], op["expect"]["result"])
    try:
        if failure is not None:
            partition.initialize_failed(failure)
            return _NOT_USABLE
        strategy = partition.initialize(
            ReadStateResult(
                response["state_epoch"],
                response["start_offset"],
                [StateBatch(*batch) for batch in response["batches"]],
            )
        )
        if strategy is not None:
            _resolve(under_test, op, strategy)
    except EnginePoisonedError:
        raise
    except ShareStateError as error:
        return error
    return 0


def _failure(response: object, partition: int, expected: object) -> int | None:
    """The error code to report instead of the answer; ``None`` when the answer is good.

    Whether an answer is *for* the partition asked about is the reader's affair: it knows what it asked.
    """
    if not isinstance(response, dict):
        return _NOT_USABLE
    if "error" in response or "partitions" in response:
        return _NOT_USABLE
    if set(response) != {"partition", "error_code", "state_epoch", "start_offset", "batches"}:
        raise FormatError(f"unknown form of a read result: {response}")
    if response["error_code"] != 0:
        return int(response["error_code"])
    if response["partition"] != partition:
        return _NOT_USABLE
    if expected == {"error": "IllegalStateException"} and _sound(response):
        # Refused although nothing in it is wrong: it was for another topic, which is not recorded.
        return _NOT_USABLE
    return None


def _sound(response: Json) -> bool:
    """Returns true if a read result has no fault Kafka looks for (§1.5)."""
    start = response["start_offset"]
    return all(start <= first <= last and 0 <= state <= 4 for first, last, state, _ in response["batches"])


def _resolve(under_test: PartitionUnderTest, op: Json, strategy: str) -> None:
    lookups = op.get("offset_lookup", {})
    if len(lookups) != 1:
        under_test.notice("offset lookup", lookups, strategy)
        return
    ((lookup, answer),) = lookups.items()
    wanted = _STRATEGY_OF_LOOKUP.get(lookup)
    if wanted is None:
        raise FormatError(f"unknown offset lookup {lookup}")
    if not strategy.startswith(wanted):
        under_test.notice("strategy of the start offset", wanted, strategy)
    if isinstance(answer, int):
        under_test.partition.resolve_start_offset(answer)
    else:
        under_test.partition.initialize_failed(_NOT_USABLE)
