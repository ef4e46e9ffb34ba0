"""K1, K2, K5, L1, F1: a leader that begins with gaps. A broker that was killed forgot what was acquired alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.proof.histories.defects.member import ACCEPT, REJECT, RELEASE, Member
from tests.proof.histories.defects.scenario import Found, Scenario, Script
from tests.proof.histories.defects.stage import Stage, Topic

#: Number of questions after which a member takes nothing for the answer.
_TURNS = 10


def _broken_window(stage: Stage) -> Topic:
    """0, 2 and 4 available; 1, 3, 5 to 7 and 10 to 36 settled; 8 and 9 acquired and not settled: the gap; 37 and 38 as well."""
    topic = stage.topic()
    topic.produce(1, 1, 1, 1, 1, 2, 1, 2, 27, 2)
    member = topic.member()
    member.take(38, batch=1)
    kinds = {RELEASE: [(0, 0), (2, 2), (4, 4)], ACCEPT: [(1, 1), (3, 3), (5, 6)], REJECT: [(7, 7), (10, 36)]}
    settled = sorted((*span, kind) for kind, spans in kinds.items() for span in spans)
    assert member.acknowledge(*settled) == 0
    return topic


def _holders(topic: Topic) -> list[Member]:
    """Three members, which hold 0, 2 and 4."""
    holders = topic.members(3)
    for holder, offset in zip(holders, (0, 2, 4), strict=True):
        holder.take(offset, most=1, limit=True)
    topic.view()
    return holders


def _k1(stage: Stage) -> Script:
    topic = _broken_window(stage)
    topic.view()
    yield
    topic.disconnect()
    first, second, _ = _holders(topic)
    topic.delete_before(9)
    first.fetch()
    shown = []
    for holder in (first, second):
        stage.written(holder.end_session)
        shown.append(topic.view()["start_offset"])
    return Found(topic, shown[1] < shown[0], f"start offsets shown one after the other: {shown[0]}, {shown[1]}")


def _k5(stage: Stage) -> Script:
    topic = _broken_window(stage)
    topic.view()
    yield
    topic.disconnect()
    first, second, third = _holders(topic)
    lags = []
    for start, holder in ((9, first), (18, second), (37, third)):
        topic.delete_before(start)
        first.fetch(wait_ms=0) if holder is first else topic.member().fetch(wait_ms=0)
        stage.written(holder.end_session)
        view = topic.view()
        lags.append((view["start_offset"], view["lag"]))
    # The two at the end are left; the lag of a share partition is never greater than its log.
    start, lag = lags[-1]
    told = ", ".join(f"{lag} from {start}" for start, lag in lags)
    return Found(topic, lag > topic.end - start, f"lags shown: {told}; the log ends at {topic.end}")


def _k2(stage: Stage) -> Script:
    topic = stage.topic()
    topic.produce(15, 3)
    member = topic.member()
    member.take(17, batch=1)
    assert member.acknowledge((15, 17, REJECT)) == 0
    topic.view()
    yield
    topic.disconnect()
    member = topic.member()
    topic.delete_before(2)
    taken: list[int] = []
    for start in (2, 9):
        topic.delete_before(start)
        for _ in range(_TURNS):
            fetched = member.fetch(wait_ms=200)
            taken += fetched.offsets
            if fetched.acquired:
                assert member.acknowledge(*((first, last, ACCEPT) for first, last, _ in fetched.acquired)) == 0
    topic.view()
    topic.note("drained")
    return Found(topic, not taken, f"{2 * _TURNS} fetches brought {len(taken)} of the 13 records that were left")


def _l1(stage: Stage) -> Script:
    topic = stage.topic(share_partition_max_record_locks="100")
    topic.produce(5, 5)
    member = topic.member()
    member.take(9, batch=1)
    assert member.acknowledge((5, 9, ACCEPT)) == 0
    topic.view()
    yield
    topic.disconnect()
    topic.produce(18)
    member = topic.member()
    topic.delete_before(28)
    for _ in range(_TURNS):
        member.fetch(wait_ms=200)
    code = member.acknowledge((30, 38, ACCEPT))
    topic.produce(100)
    count = sum(last - first + 1 for first, last, _ in member.take(28, most=100, limit=True))
    told = f"an acknowledgement of what nobody holds: error {code}; a window of 100 that is empty gives {count} records"
    return Found(topic, code == 42 or count == 99, told)


def _f1(stage: Stage) -> Script:
    topic = stage.topic()
    topic.produce(9, 10, 4, 8, 1, 2)
    member = topic.member()
    member.take(33, batch=1)
    assert member.acknowledge((9, 18, REJECT), (23, 30, RELEASE), (32, 33, ACCEPT)) == 0
    left = {*range(9), *range(19, 32)}
    topic.view()
    yield
    topic.disconnect()
    members = topic.members(3)

    def work(member: Member) -> set[int]:
        taken: set[int] = set()
        for turn in range(6 * _TURNS):
            fetched = member.fetch(most=1 + turn % 3, limit=turn % 2 == 0, wait_ms=20)
            for first, last, count in fetched.acquired:
                # Each is given back once, so that earlier offsets are free again while later ones are read.
                member.acknowledge((first, last, RELEASE if count < 2 else ACCEPT))
            taken.update(fetched.offsets)
        return taken

    with ThreadPoolExecutor(len(members)) as pool:
        delivered = set().union(*pool.map(work, members))
    topic.view()
    missing = sorted(left - delivered)
    return Found(
        topic, bool(missing), f"of {len(left)} records in the gaps and between them, never delivered: {missing or 'none'}"
    )


SCENARIOS = (
    Scenario("K1", "the start offset that is shown goes back", _k1),
    Scenario("K2", "no fetch brings the records that are left", _k2),
    Scenario("K5", "the lag is greater than the log is long", _k5),
    Scenario("L1", "INVALID_REQUEST for INVALID_RECORD_STATE, and one record too few in a full window", _l1),
    Scenario(
        "F1", "records in a gap are never delivered", _f1,
        "a broker reads from the next fetch offset under a lock, so that no acquire begins before it",
    ),
)  # fmt: skip
