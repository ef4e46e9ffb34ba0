"""The facts of share consumers hold on a broker: which shows that the runner plays them as they are meant."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.kafka.broker import Broker
from tests.kafka.home import REPOSITORY
from tests.proof.conformance.__main__ import main
from tests.proof.conformance.recordings import FormatError, NotDrivable, Scenario, load
from tests.proof.conformance.share_consumer import play

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

FACTS = REPOSITORY / "tests" / "data" / "conformance" / "share_consumer_e2e.json.gz"


def test_they_hold_on_a_broker(kafka_440: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([str(FACTS), "--bootstrap", kafka_440.bootstrap, "--data-bootstrap", kafka_440.bootstrap])
    shown = capsys.readouterr()
    assert (code, shown.err) == (0, ""), shown.out
    assert shown.out == "share_consumer_e2e.json.gz run=13 agree=13 differ=0 skipped=0\n"


def scenario(name: str, change: Callable[[list[dict[str, Any]]], object]) -> Scenario:
    """A recorded scenario with its operations changed."""
    recorded = next(one for one in load(FACTS).scenarios if one.name == name)
    raw = copy.deepcopy(recorded.raw)
    change(raw["ops"])
    return Scenario(name, 0, raw)


@pytest.mark.parametrize(
    ("name", "change", "op"),
    [
        ("lag_after_reject", lambda ops: ops[3]["expect"].update(lag=1), 3),
        ("delivery_count_boundary", lambda ops: ops[5]["expect"].update(delivery_counts=[2]), 5),
        ("record_limit_poll", lambda ops: ops[1]["expect"].update(count=4), 1),
        ("renew_after_reject_is_invalid", lambda ops: ops[2].update(type="RENEW"), 3),
        ("lock_timeout_redelivers", lambda ops: ops.pop(5), 5),
    ],
)
def test_a_fact_that_does_not_hold_is_found(
    kafka_440: Broker, monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[list[dict[str, Any]]], object], op: int
) -> None:
    monkeypatch.setattr("tests.proof.conformance.share_cluster.PATIENCE_S", 2.0)
    monkeypatch.setattr("tests.proof.conformance.share_member.PATIENCE_S", 2.0)
    outcome = play(scenario(name, change), kafka_440.bootstrap)
    assert [difference.op_index for difference in outcome.differences] == [op]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda ops: ops[0].update(op="produce_twice"), r"operation 0 \(produce_twice\) cannot be played"),
        (lambda ops: ops[0].update(topics=2), "op 0 has unknown fields"),
    ],
)
def test_what_is_not_of_the_format_is_not_played(change: Callable[[list[dict[str, Any]]], object], complaint: str) -> None:
    with pytest.raises((FormatError, NotDrivable), match=complaint):
        play(scenario("record_limit_poll", change), "127.0.0.1:1")
