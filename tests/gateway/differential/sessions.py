"""ShareFetch: sessions are opened, continued and replaced, and records handed out in them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tests.gateway.differential.acknowledging import Batches, by_topic, let_go
from tests.gateway.differential.duel import Answer, Step
from tests.gateway.differential.merging import merged, without_seams
from tests.gateway.differential.model import Member, Model, Place
from tests.gateway.differential.normal import acquired, fields
from tests.gateway.differential.topics import TRANSACTIONS
from tests.gateway.differential.view import View
from tests.gateway.wire import api_key
from tests.gateway.wire.codec import Message

Limits = dict[str, int | bool]

FETCH = "ShareFetch"
#: Takes no record.
NOTHING: Limits = {"maxRecords": 0}
_LAST_EPOCH = 2_147_483_647
_PLENTY = 50 * 1024 * 1024
#: Number of times that a server that has handed out less is asked again, and its longest wait then.
_ASKED_AGAIN = 5
#: The same where transactions were aborted: a broker's answer may be empty for every record of them that it passes over.
_PASSED_OVER = 60
_AGAIN_MS = 300
#: As many as all topics have together.
ALL = 2000
#: Share of the sessions that have one partition only.
_SINGLE = 0.6


def message(
    view: View,
    model: Model,
    member: Member,
    epoch: int,
    places: list[Place],
    *,
    forgotten: list[Place] = [],  # noqa: B006 - is not changed
    batches: dict[Place, Batches] = {},  # noqa: B006 - is not changed
    limits: Limits = {},  # noqa: B006 - is not changed
) -> Message:
    """A ShareFetch; what acknowledges is added to the partitions that are asked for."""
    asked = {
        place: {"partitionIndex": place[1], "acknowledgementBatches": batches.get(place, [])} for place in [*places, *batches]
    }
    dropped: dict[str, list[int]] = defaultdict(list)
    for topic, partition in forgotten:
        dropped[topic].append(partition)
    return {
        "groupId": model.group,
        "memberId": member.name,
        "shareSessionEpoch": epoch,
        "maxWaitMs": 0,
        "minBytes": 1,
        "maxBytes": _PLENTY,
        "maxRecords": 10,
        "batchSize": 10,
        **limits,
        "topics": by_topic(view, asked),
        "forgottenTopicsData": [
            {"topicId": view.topic_id(topic), "partitions": partitions} for topic, partitions in dropped.items()
        ],
    }


def fetch(model: Model, member: Member) -> None:
    """Take records in a session that is opened, continued or replaced."""
    chance = model.chance
    renewed = member.open and chance.random() < 0.06
    if not member.open or renewed:
        wanted = chance.sample(model.places, 1 if chance.random() < _SINGLE else chance.randint(2, len(model.places)))
        forgotten: list[Place] = []
        let_go(model, member, [place for place in member.holds() if place not in wanted])
        member.session = list(wanted)
    else:
        left = [place for place in model.places if place not in member.session]
        wanted = chance.sample(left, chance.randint(0, min(2, len(left)))) if chance.random() < 0.1 else []
        forgotten = chance.sample(member.session, 1) if len(member.session) > 1 and chance.random() < 0.1 else []
        let_go(model, member, forgotten)
        member.session = [place for place in [*member.session, *wanted] if place not in forgotten]
    version = chance.choice((1, 2, 2))
    # Which partition a limit is spent on first is in the order of a hash over topic ids, which clusters choose.
    most = chance.choice((0, 1, 3, 10, 10, 40, 500)) if len(member.session) == 1 else chance.choice((0, ALL))
    limits: Limits = {"maxRecords": most, "batchSize": chance.choice((1, 4, 10, 100))}
    if version == 2:
        limits["shareAcquireMode"] = chance.choice((0, 0, 1))
    if len(member.session) == 1 and chance.random() < 0.2:
        limits["maxBytes"] = chance.choice((0, 1, 300))
    first = not member.open or renewed
    take(model, member, wanted, forgotten, version=version, limits=limits, first=first)
    member.open = True


def take(
    model: Model,
    member: Member,
    wanted: list[Place],
    forgotten: list[Place],
    *,
    version: int,
    limits: Limits,
    first: bool,
    label: str = "fetch",
) -> None:
    """Send one ShareFetch that may hand out records, and enter what it hands out."""
    views = model.duel.views
    if first:
        for view in views:
            view.session_epochs[member.name] = 0

    def step(*, again: bool = False) -> Step:
        def build(view: View) -> Message:
            places, dropped = ([], []) if again else (wanted, forgotten)
            wait: Limits = {"maxWaitMs": _AGAIN_MS} if again else {}
            epoch = view.session_epochs[member.name]
            return message(view, model, member, epoch, places, forgotten=dropped, limits=limits | wait)

        return Step("asked again" if again else label, FETCH, version, build, member.name)

    asked = step()
    answers = list(model.duel.exchange(asked))
    for view, answer in zip(views, answers, strict=True):
        advance(view, member, answer)
    told = [handed_out(view, answer) for view, answer in zip(views, answers, strict=True)]
    has_aborted = any(place[0].endswith(TRANSACTIONS) for place in (*member.session, *wanted))
    was_merged = False
    for _ in range(_PASSED_OVER if has_aborted else _ASKED_AGAIN):
        # A share partition that another fetch has just left may still be locked: who got less is asked again.
        sizes = [sum(map(len, one.values())) for one in told]
        if told[0] == told[1] or any(isinstance(answer, str) or answer["errorCode"] for answer in answers):
            break
        behind = 0 if sizes[0] < sizes[1] else 1
        view, more = views[behind], step(again=True)
        answer = model.duel.exchange_with(view, more)
        advance(view, member, answer)
        answers[behind] = merged(answers[behind], answer)
        told[behind] = handed_out(view, answers[behind])
        was_merged = True
    if was_merged:
        answers = [without_seams(answer) for answer in answers]
    found = [fields(view, api_key(FETCH), answer) for view, answer in zip(views, answers, strict=True)]
    model.duel.compare(asked, *found)
    for place, counts in told[0].items():
        member.held[place].update(counts)


def advance(view: View, member: Member, answer: Answer) -> None:
    """Count the session's epoch on, where the server has."""
    if not isinstance(answer, str) and answer["errorCode"] == 0:
        epoch = view.session_epochs[member.name]
        view.session_epochs[member.name] = 1 if epoch == _LAST_EPOCH else epoch + 1


def handed_out(view: View, answer: Answer) -> dict[Place, dict[int, int]]:
    """Delivery counts by place and offset."""
    if isinstance(answer, str):
        return {}
    return {
        (view.topic_names.get(topic["topicId"], topic["topicId"]), partition["partitionIndex"]): counts
        for topic in answer["responses"]
        for partition in topic["partitions"]
        if (counts := acquired(partition))
    }


def stale(model: Model, member: Member) -> None:
    """Epochs that are none of this session's: the answer says so and nothing changes."""
    chance = model.chance
    off = chance.choice((-3, -1, 1, 2, 1000))

    def build(view: View) -> Message:
        epoch = view.session_epochs.get(member.name, 0) + off
        # Neither of the two that mean something.
        return message(view, model, member, max(epoch, 1) if epoch > 0 else _LAST_EPOCH, [], limits=NOTHING)

    if member.open:
        model.duel.ask(Step("stale session epoch", FETCH, 2, build, member.name))
    else:
        model.duel.ask(Step("no session", FETCH, 2, build, member.name))


def refused(model: Model, member: Member) -> None:
    """Requests that are refused before a session is looked at."""
    chance = model.chance
    changes: list[tuple[str, dict[str, Any]]] = [
        ("no member id", {"memberId": None}),
        ("empty member id", {"memberId": ""}),
        ("long member id", {"memberId": "m" * 37}),
        ("no group", {"groupId": None}),
        ("renewal with limits", {"isRenewAck": True, "maxRecords": 1}),
        ("renewal with a wait", {"isRenewAck": True, "maxWaitMs": 1, "minBytes": 0, "maxBytes": 0, "maxRecords": 0}),
        ("close without a session", {"memberId": model.new_member_id(), "shareSessionEpoch": -1}),
        ("strange epoch", {"shareSessionEpoch": -2}),
    ]
    label, change = chance.choice(changes)

    def build(view: View) -> Message:
        return {**message(view, model, member, view.session_epochs.get(member.name, 7) + 5, [], limits=NOTHING), **change}

    model.duel.ask(Step(label, FETCH, 2, build, member.name))


def strange_places(model: Model) -> None:
    """Topics and partitions that are not there, in a session of their own; a broker releases but one session a connection."""
    chance = model.chance
    other = Member(model.new_member_id())
    strange: list[Place] = [(model.new_member_id(), 0), (model.places[0][0], 99), (model.places[0][0], -1)]
    wanted = chance.sample(strange, chance.randint(1, len(strange)))
    for view in model.duel.views:
        view.session_epochs[other.name] = 0
    for wanted_now in (wanted, []):

        def build(view: View, wanted: list[Place] = wanted_now) -> Message:
            return message(view, model, other, view.session_epochs[other.name], wanted)

        answers = model.duel.ask(Step("strange partitions", FETCH, 2, build, "strange"))
        for view, answer in zip(model.duel.views, answers, strict=True):
            advance(view, other, answer)

    def close(view: View) -> Message:
        return message(view, model, other, -1, [], limits=NOTHING)

    model.duel.ask(Step("close", FETCH, 2, close, "strange"))
