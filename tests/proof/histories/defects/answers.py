"""K3, K4, K6, K7, N1, H1: what fails, or is given or refused wrongly, in one answer."""

from __future__ import annotations

from tests.proof.histories.defects.member import ACCEPT, RELEASE
from tests.proof.histories.defects.scenario import UNKNOWN, Found, Scenario, at_once
from tests.proof.histories.defects.stage import COMPACTED, Stage

_TURNS = 10
_INVALID_RECORD_STATE = 121


def _k3(stage: Stage) -> Found:
    topic = stage.topic()
    topic.produce(3, 10)
    giving, holding, asking = topic.members(3)
    giving.take(2, most=3)
    holding.take(12)
    asking.fetch()
    assert giving.acknowledge((0, 2, RELEASE)) == 0
    topic.delete_before(5)

    def meanwhile() -> None:
        # The release is being written when the next fetch learns that the log start has moved.
        holding.end_session()
        asking.fetch(wait_ms=0)

    stage.written(meanwhile)
    codes, taken = [], set()
    for _ in range(_TURNS):
        fetched = asking.fetch()
        codes.append(fetched.code)
        taken.update(fetched.offsets)
    missing = sorted(set(range(5, 13)) - taken)
    told = f"{codes.count(UNKNOWN)} of {_TURNS} fetches answered by error {UNKNOWN}; not delivered again: {missing or 'none'}"
    return Found(topic, UNKNOWN in codes and bool(missing), told)


def _k4(stage: Stage) -> Found:
    topic = stage.topic(COMPACTED, share_partition_max_record_locks="100")
    first, second = ([f"{name}{number}" for number in range(50)] for name in "ab")
    topic.produce(50, 50, keys=[first, second])
    holding, asking = topic.members(2)
    holding.take(49, most=50)
    asking.take(99, most=50)
    assert asking.acknowledge((50, 99, RELEASE)) == 0
    topic.produce(50, 1, keys=[second, ["end"]])
    topic.compacted(50, 100)
    fetched = asking.fetch()
    return Found(topic, fetched.code == UNKNOWN, f"a fetch beyond a full window of a compacted topic: {fetched}")


def _k6(stage: Stage) -> Found:
    topic = stage.topic()
    topic.produce(5, 1, 7)
    holding, asking = topic.members(2)
    holding.take(4, most=5)
    topic.delete_before(8)
    topic.followed(8)
    taken = [first for first, _, _ in asking.take(12)]
    return Found(topic, min(taken) < 8, f"with the log start at 8, records are delivered from {min(taken)} on")


def _k7(stage: Stage) -> Found:
    topic = stage.topic(share_isolation_level="read_committed")
    topic.abort(7)
    topic.delete_before(2)
    topic.produce(3)
    member = topic.member()
    codes: list[int] = []
    taken: list[int] = []
    for _ in range(_TURNS):
        fetched = member.fetch()
        codes.append(fetched.code)
        taken += fetched.offsets
    told = f"{codes.count(UNKNOWN)} of {_TURNS} fetches answered by error {UNKNOWN}; then delivered: {taken or 'nothing'}"
    return Found(topic, UNKNOWN in codes, told)


def _n1(stage: Stage) -> Found:
    topic = stage.topic()
    topic.produce(7)
    topic.delete_before(7)
    member = topic.member()
    for _ in range(3):
        member.fetch()
    code = member.acknowledge((3, 9, ACCEPT))
    return Found(
        topic, code == UNKNOWN, f"an acknowledgement of 3 to 9 with nothing in flight and the start offset at 7: error {code}"
    )


def _h1(stage: Stage) -> Found:
    topic = stage.topic(COMPACTED)
    topic.produce(4, 2, keys=[["a", "b", "c", "d"], ["x", "y"]])
    other, member = topic.members(2)
    other.take(3, most=4)
    topic.produce(4, 1, keys=[["x", "y", "e", "f"], ["end"]])
    topic.compacted(4, 6)
    member.take(9, most=4)
    code = member.acknowledge((4, 9, ACCEPT))
    told = f"its own records 6 to 9, acknowledged with the hole before them: error {code}"
    if code:
        told += f"; without it: error {member.acknowledge((6, 9, ACCEPT))}"
    return Found(topic, code == _INVALID_RECORD_STATE, told)


SCENARIOS = (
    Scenario("K3", "every fetch fails, and records are held that nobody holds", at_once(_k3)),
    Scenario("K4", "a fetch fails where there is nothing to give", at_once(_k4)),
    Scenario("K6", "records before the log start are delivered", at_once(_k6)),
    Scenario("K7", "a fetch fails, and its records are held until their lock runs out", at_once(_k7)),
    Scenario("N1", "an acknowledgement fails instead of being refused", at_once(_n1)),
    Scenario("H1", "a member's acknowledgement of its own records is refused", at_once(_h1)),
)
