"""The comparison itself is tried: a broker's recorded answers agree with our fold, and with no fold that is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from share_state import RecordState, SharePartitionKey, StateBatch
from share_state.operate import analysis
from tests.cli_runner import run
from tests.kafka.roundtrip import agree
from tests.kafka.roundtrip.agree import Answers, States
from tests.kafka.roundtrip.breaks import BREAKS, LOSING, broken
from tests.kafka.roundtrip.tools import Dump
from tests.kafka.roundtrip.wire import ReadAnswer, SummaryAnswer
from tests.kafka.roundtrip.workload import Acknowledged, Workload
from tests.recordings import ORDERS, read_answers


@pytest.fixture(scope="module")
def answers() -> Answers:
    """Answers of the broker for every key."""
    recorded: dict[SharePartitionKey, tuple[ReadAnswer, SummaryAnswer]] = {}
    for one in read_answers(ORDERS):
        read, summary = one["read"], one["summary"]
        key = SharePartitionKey(one["group"], one["topic_id"], one["partition"])
        epochs = (summary.get("state_epoch", 0), summary.get("leader_epoch", 0))
        recorded[key] = (
            ReadAnswer(
                read["error"],
                read.get("state_epoch", 0),
                read.get("start_offset", 0),
                tuple(StateBatch(*batch) for batch in read.get("batches", [])),
            ),
            SummaryAnswer(summary["error"], *epochs, summary.get("start_offset", 0), summary.get("delivery_complete_count", -1)),
        )
    return recorded


def settled(states: States) -> list[tuple[SharePartitionKey, int]]:
    """Every offset that is settled, those that were passed included."""
    done = {RecordState.ACKNOWLEDGED, RecordState.ARCHIVED}
    passed = [(key, offset) for key, state in states.items() for offset in range(state["start_offset"])]
    return passed + [
        (key, offset)
        for key, state in states.items()
        for first, last, kind, _count in state["batches"]
        if kind in done
        for offset in range(first, last + 1)
    ]


def test_a_recorded_broker_agrees_with_our_fold(answers: Answers) -> None:
    states = agree.fold(ORDERS)
    assert agree.differences(states, answers) == []
    acknowledged = settled(states)
    assert len(acknowledged) > 3000
    assert agree.unsettled(states, acknowledged) == []


def test_what_stands_in_for_the_fold_is_it_where_nothing_is_broken(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "fold_path", broken(lambda *_: None))
    assert agree.differences(agree.fold(ORDERS), answers) == []


@pytest.mark.parametrize("rule", BREAKS)
def test_a_broken_fold_is_found(rule: str, answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    acknowledged = settled(agree.fold(ORDERS))
    monkeypatch.setattr(analysis, "fold_path", broken(BREAKS[rule]))
    states = agree.fold(ORDERS)
    assert agree.differences(states, answers) != []
    if rule in LOSING:
        assert agree.unsettled(states, acknowledged) != []


#: Changes of a state, each in one field.
CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "state epoch": lambda state: state.update(state_epoch=state["state_epoch"] + 1),
    "leader epoch": lambda state: state.update(leader_epoch=state["leader_epoch"] + 1),
    "start offset": lambda state: state.update(start_offset=state["start_offset"] + 1),
    "delivery complete count": lambda state: state.update(delivery_complete_count=state["delivery_complete_count"] + 1),
    "a batch less": lambda state: state["batches"].pop(),
    "a state": lambda state: state["batches"].__setitem__(0, (*state["batches"][0][:2], 3, state["batches"][0][3])),
    "a count": lambda state: state["batches"].__setitem__(0, (*state["batches"][0][:3], 9)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_one_field_of_one_state_is_found(change: str, answers: Answers) -> None:
    states = agree.fold(ORDERS)
    tried = 0
    for key in states:
        changed = agree.fold(ORDERS)
        if not changed[key]["batches"] and change in ("a batch less", "a state", "a count"):
            continue
        CHANGES[change](changed[key])
        [found] = agree.differences(changed, answers)
        assert found.startswith(f"{key}:")
        tried += 1
    assert tried >= 3


def test_a_key_too_many_and_a_key_too_few_are_found(answers: Answers) -> None:
    for key, (read, _) in answers.items():
        states = agree.fold(ORDERS)
        if key in states:
            del states[key]
            assert len(agree.differences(states, answers)) == 1
        else:
            assert read.error_code == 42
            states[key] = next(iter(states.values()))
            assert len(agree.differences(states, answers)) == 1
    states = agree.fold(ORDERS)
    stranger = SharePartitionKey("stranger", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 0)
    states[stranger] = next(iter(states.values()))
    assert agree.differences(states, answers) == [f"{stranger}: the broker was not asked"]


def test_every_offset_that_is_lost_is_told() -> None:
    """Each settled offset that a fold forgets is one that the check names, and no other."""
    states = agree.fold(ORDERS)
    acknowledged = settled(states)
    lost = 0
    for key, state in states.items():
        for index, (first, last, kind, count) in enumerate(list(state["batches"])):
            if kind not in (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED):
                continue
            state["batches"][index] = (first, last, int(RecordState.AVAILABLE), count)
            expected = [(key, offset) for offset in range(first, last + 1)]
            assert agree.unsettled(states, acknowledged) == expected
            state["batches"][index] = (first, last, kind, count)
            lost += 1
    assert lost > 20
    del states[acknowledged[0][0]]
    assert (acknowledged[0]) in agree.unsettled(states, acknowledged)


def test_only_what_the_broker_confirmed_as_settled_counts_as_settled() -> None:
    """The premise of that check: a release counted as settled, or a failed acceptance, would be called lost."""
    workload = Workload.__new__(Workload)
    workload.topic_ids = {"orders": "5f3ff250-a9a1-4215-bb36-c84728fd60e8"}
    told = [("ACCEPT", None), ("REJECT", None), ("GAP", None), ("RELEASE", None), ("ACCEPT", 121), ("REJECT", 42)]
    workload.acknowledged = [
        Acknowledged("orders-workers", "orders", 1, 1258 + index, kind, 1, error) for index, (kind, error) in enumerate(told)
    ]
    confirmed = list(workload.settled())
    assert [offset for _, offset in confirmed] == [1258, 1259, 1260]
    # 1258 and 1260 are available in the recording: had a member been told that they are settled, they would be lost.
    states = agree.fold(ORDERS)
    assert [offset for _, offset in agree.unsettled(states, confirmed)] == [1258, 1260]
    workload.forget("orders-workers", "orders")
    assert list(workload.settled()) == []


def test_a_dump_that_differs_in_one_field_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [json.loads(line) for line in run("dump", str(ORDERS), "--format", "jsonl").stdout.splitlines()]
    monkeypatch.setattr(agree, "dump_log", lambda _: Dump(rows, {"none"}))
    assert agree.agree_dump(ORDERS) == {"none"}
    for name in rows[0]:
        wrong = [dict(row) for row in rows]
        wrong[-1][name] = "other"
        monkeypatch.setattr(agree, "dump_log", lambda _, wrong=wrong: Dump(wrong, {"none"}))
        with pytest.raises(AssertionError):
            agree.agree_dump(ORDERS)
    monkeypatch.setattr(agree, "dump_log", lambda _: Dump(rows[:-1], {"none"}))
    with pytest.raises(AssertionError):
        agree.agree_dump(ORDERS)
