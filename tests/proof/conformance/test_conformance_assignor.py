"""The judge of the simple assignor finds fault with assignors that are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from share_state.gateway import simple_assignment
from tests.proof.conformance import simple_assignor
from tests.proof.conformance.recordings import NotDrivable, Scenario, load

COPY = Path(__file__).resolve().parents[2] / "data" / "conformance" / "simple_assignor_trunk.json.gz"

Members = Mapping[str, tuple[Sequence[str], Sequence[tuple[str, Sequence[int]]]]]
Topics = Sequence[tuple[str, Sequence[int]]]
Answer = dict[str, list[tuple[str, list[int]]]]


def _forgets_the_last(members: Members, topics: Topics) -> Answer:
    return simple_assignment(members, [(topic, numbers[:-1]) for topic, numbers in topics])


def _gives_all_to_everybody(members: Members, topics: Topics) -> Answer:
    known = dict(topics)
    return {member: [(topic, list(known.get(topic, ()))) for topic in subscribed] for member, (subscribed, _) in members.items()}


def _ignores_subscriptions(members: Members, topics: Topics) -> Answer:
    every = [topic for topic, _ in topics]
    return simple_assignment({member: (every, current) for member, (_, current) in members.items()}, topics)


def _forgets_what_was_assigned(members: Members, topics: Topics) -> Answer:
    return simple_assignment({member: (subscribed, []) for member, (subscribed, _) in members.items()}, topics)


def _knows_every_topic(members: Members, topics: Topics) -> Answer:
    wanted = {topic for subscribed, _ in members.values() for topic in subscribed}
    return simple_assignment(members, [*topics, *((topic, []) for topic in wanted - {topic for topic, _ in topics})])


WRONG = [
    (_forgets_the_last, "members of "),
    (_gives_all_to_everybody, "members of "),
    (_ignores_subscriptions, "topics of "),
    (_knows_every_topic, "answer"),
]


@pytest.mark.parametrize(("wrong", "complaint"), WRONG, ids=[wrong.__name__ for wrong, _ in WRONG])
def test_a_wrong_assignor_is_found_out(monkeypatch: pytest.MonkeyPatch, wrong: object, complaint: str) -> None:
    monkeypatch.setattr(simple_assignor, "simple_assignment", wrong)
    outcomes = [simple_assignor.run(scenario) for scenario in load(COPY).scenarios]
    assert len(outcomes) == 11
    assert any(difference.what.startswith(complaint) for outcome in outcomes for difference in outcome.differences), outcomes


def test_an_unknown_field_is_no_agreement_and_an_unknown_operation_is_skipped() -> None:
    good = {"op": "assign", "members": {}, "topics": {}, "result": {}, "subscription_type": "Homogeneous"}
    for wrong in ({"mystery": 1}, {"members": {"A": {"mystery": 1}}}):
        outcome = simple_assignor.run(Scenario("wrong", 0, {"ops": [good | wrong]}))
        assert [difference.what for difference in outcome.differences] == ["format"]
    assert simple_assignor.run(Scenario("good", 0, {"ops": [good]})).agrees
    with pytest.raises(NotDrivable, match="mystery"):
        simple_assignor.run(Scenario("unknown", 0, {"ops": [good | {"op": "mystery"}]}))


def test_an_assignor_without_memory_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = "AAAAAAAAAAAAAAAAAAAAAQ"
    held = {"A": [3, 1], "B": [0, 2]}
    members = {member: {"subscribed": [topic], "rack": None, "current": {topic: numbers}} for member, numbers in held.items()}
    op = {"op": "assign", "members": members, "topics": {topic: 4}, "result": {}, "subscription_type": "Homogeneous"}
    scenario = Scenario("crossed", 0, {"ops": [op]})
    assert simple_assignor.run(scenario).agrees
    monkeypatch.setattr(simple_assignor, "simple_assignment", _forgets_what_was_assigned)
    assert [difference.what for difference in simple_assignor.run(scenario).differences] == ["partitions that stay"]
