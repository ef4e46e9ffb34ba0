"""Acknowledgements, in ShareAcknowledge and on the back of a ShareFetch: right ones, wrong ones, of others, twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from tests.gateway.differential.duel import Answer, Step
from tests.gateway.differential.model import ACCEPT, GAP, REJECT, RELEASE, RENEW, Member, Model, Place
from tests.gateway.differential.view import View
from tests.gateway.wire.codec import Message

#: First offset, last offset, types.
Batch = list[Any]
Batches = list[Message]

_ACKNOWLEDGE = "ShareAcknowledge"


def by_topic(view: View, partitions: dict[Place, Message]) -> list[Message]:
    """Partitions in the form of a request."""
    topics: dict[str, list[Message]] = defaultdict(list)
    for (topic, _), partition in partitions.items():
        topics[topic].append(partition)
    return [{"topicId": view.topic_id(topic), "partitions": found} for topic, found in topics.items()]


def wire(batches: dict[Place, list[Batch]]) -> dict[Place, Batches]:
    """Batches in the form of a request."""
    return {
        place: [{"firstOffset": first, "lastOffset": last, "acknowledgeTypes": types} for first, last, types in found]
        for place, found in batches.items()
    }


def message(view: View, model: Model, member: Member, batches: dict[Place, list[Batch]], **more: Any) -> Message:
    """A ShareAcknowledge."""
    asked = {place: {"partitionIndex": place[1], "acknowledgementBatches": found} for place, found in wire(batches).items()}
    return {
        "groupId": model.group,
        "memberId": member.name,
        "shareSessionEpoch": view.session_epochs.get(member.name, 9),
        "topics": by_topic(view, asked),
        **more,
    }


def some_of(model: Model, member: Member, types: tuple[int, ...]) -> dict[Place, list[Batch]]:
    """Batches over part of what a member holds."""
    chance = model.chance
    chosen: dict[Place, list[Batch]] = {}
    places = member.holds()
    for place in chance.sample(places, chance.randint(1, min(3, len(places)))):
        offsets = sorted(member.held[place])
        start = chance.randrange(len(offsets))
        picked = offsets[start : start + chance.choice((1, 3, 10, 50, 400))]
        batches: list[Batch] = []
        for offset in picked:
            if batches and batches[-1][1] == offset - 1 and chance.random() < 0.8:
                batches[-1][1] = offset
            else:
                batches.append([offset, offset, []])
        for one in batches:
            count = one[1] - one[0] + 1
            one[2] = [chance.choice(types)] if chance.random() < 0.6 else [chance.choice(types) for _ in range(count)]
        chosen[place] = batches
    return chosen


def acknowledge(model: Model, member: Member) -> None:
    """Settle or release some of what a member holds."""
    if not (member.open and member.holds()):
        return
    chance = model.chance
    version = chance.choice((1, 2))
    renewing = version == 2 and chance.random() < 0.15
    types = (ACCEPT, RENEW) if renewing else (ACCEPT, ACCEPT, RELEASE, REJECT, GAP)
    batches = some_of(model, member, types)
    more = {"isRenewAck": True} if renewing else {}
    settle_answers(model, member, batches, "renew" if renewing else "acknowledge", version=version, more=more)


def settle_answers(
    model: Model,
    member: Member,
    batches: dict[Place, list[Batch]],
    label: str,
    *,
    version: int = 2,
    more: dict[str, Any] | None = None,
) -> None:
    """Send acknowledgements and enter what was taken."""
    connection = member.name if member in model.members else "probe"
    step = Step(label, _ACKNOWLEDGE, version, lambda view: message(view, model, member, batches, **(more or {})), connection)
    answers = model.duel.ask(step)
    for view, answer in zip(model.duel.views, answers, strict=True):
        _advance(view, member, answer)
    enter(model, member, batches, answers[0], "errorCode")


def enter(model: Model, member: Member, batches: dict[Place, list[Batch]], answer: Answer, field: str) -> None:
    """Takes what was acknowledged without an error out of what the member holds; it still holds what was renewed."""
    if isinstance(answer, str) or answer["errorCode"]:
        return
    names = model.duel.real.topic_names
    codes = {
        (names.get(topic["topicId"], topic["topicId"]), one["partitionIndex"]): one[field]
        for topic in answer["responses"]
        for one in topic["partitions"]
    }
    for place, found in batches.items():
        if codes.get(place) != 0:
            continue
        for first, last, types in found:
            model.duel.contents.update(f"acknowledgements of type {kind}" for kind in set(types))
            for number, offset in enumerate(range(first, last + 1)):
                if types[number if len(types) > 1 else 0] != RENEW:
                    member.held[place].pop(offset, None)


def _advance(view: View, member: Member, answer: Answer) -> None:
    if not isinstance(answer, str) and answer["errorCode"] == 0:
        view.session_epochs[member.name] += 1


def refused(model: Model, member: Member) -> None:
    """Acknowledgements that are wrong in form or in what they are about; nothing of them may stick."""
    if not (member.open and member.holds()):
        return
    chance = model.chance
    place = chance.choice(member.holds())
    offsets = sorted(member.held[place])
    first, last = offsets[0], offsets[-1]
    others = [one for other in model.members if other is not member for one in other.held[place]]
    wrong: list[tuple[str, list[Batch]]] = [
        ("reversed", [[last + 1, last, [ACCEPT]]]),
        ("out of order", [[last, last, [ACCEPT]], [first - 1, first - 1, [ACCEPT]]]),
        ("no type", [[first, first, []]]),
        ("too many types", [[first, first, [ACCEPT, ACCEPT]]]),
        ("too few types", [[first, first + 2, [ACCEPT, RELEASE]]]),
        ("unknown type", [[first, first, [chance.choice((-1, 5, 77))]]]),
        ("renewal without saying so", [[first, first, [RENEW]]]),
        ("not acquired", [[last + 5000, last + 5000, [ACCEPT]]]),
        ("beyond the end", [[first, last + 100_000, [ACCEPT]]]),
        ("negative", [[-5, -5, [ACCEPT]]]),
        ("twice in one", [[first, first, [ACCEPT]], [first, first, [RELEASE]]]),
    ]
    if others:
        offset = chance.choice(others)
        wrong.append(("of another member", [[offset, offset, [ACCEPT]]]))
    label, batches = chance.choice(wrong)
    version = 1 if label == "renewal without saying so" and chance.random() < 0.5 else 2
    settle_answers(model, member, {place: batches}, f"acknowledgement {label}", version=version)


def elsewhere(model: Model, member: Member) -> None:
    """Acknowledgements of partitions that are not there, of no batches, and of nothing at all."""
    if not member.open:
        return
    chance = model.chance
    topic = model.places[0][0]
    cases: list[tuple[str, dict[Place, list[Batch]]]] = [
        ("of an unknown topic", {(model.new_member_id(), 0): [[0, 0, [ACCEPT]]]}),
        ("of an unknown partition", {(topic, 99): [[0, 0, [ACCEPT]]]}),
        ("of no batches", {model.places[0]: []}),
        ("of nothing", {}),
    ]
    label, batches = chance.choice(cases)
    settle_answers(model, member, batches, f"acknowledgement {label}")


def stale(model: Model, member: Member) -> None:
    """A ShareAcknowledge with an epoch that is not the session's, or without a session."""
    if not member.holds():
        return
    batches = some_of(model, member, (ACCEPT,))
    off = model.chance.choice((-1, 1, 50))
    epochs: list[Callable[[View], int]] = [lambda _: 0, lambda view: max(1, view.session_epochs.get(member.name, 5) + off)]
    chosen = model.chance.choice(epochs)

    def build(view: View) -> Message:
        return message(view, model, member, batches, shareSessionEpoch=chosen(view))

    if chosen(model.duel.real) != model.duel.real.session_epochs.get(member.name):
        model.duel.ask(Step("acknowledge with a stale epoch", _ACKNOWLEDGE, 2, build, member.name))


def let_go(model: Model, member: Member, places: list[Place]) -> None:
    """Accept what a member holds of partitions that leave its session: not every server releases that with the session."""
    batches = {place: [[first, last, [ACCEPT]] for first, last in ranges(member.held[place])] for place in places}
    if any(batches.values()):
        settle_answers(model, member, {place: found for place, found in batches.items() if found}, "let go")


def ranges(offsets: dict[int, int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for offset in sorted(offsets):
        if ranges and ranges[-1][1] == offset - 1:
            ranges[-1] = (ranges[-1][0], offset)
        else:
            ranges.append((offset, offset))
    return ranges
