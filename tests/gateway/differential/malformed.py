"""Requests that are not: cut off, of no version, of no API. A server closes the connection or says so, and goes on."""

from __future__ import annotations

import random

from tests.gateway.differential.duel import Step
from tests.gateway.differential.model import Member, Model
from tests.gateway.differential.sessions import NOTHING, message
from tests.gateway.differential.view import View
from tests.gateway.wire import versions
from tests.gateway.wire.codec import Message

#: Requests that are spoilt, with what they would say; each has a connection of its own.
_VICTIMS = ("ShareFetch", "ShareAcknowledge", "ShareGroupHeartbeat", "ShareGroupDescribe", "DescribeShareGroupOffsets")
_KEYS = {
    "ShareFetch": 78,
    "ShareAcknowledge": 79,
    "ShareGroupHeartbeat": 76,
    "ShareGroupDescribe": 77,
    "DescribeShareGroupOffsets": 90,
}


def malformed(model: Model) -> None:
    """Send one, and see that a new connection is served afterwards."""
    chance = model.chance
    name = chance.choice(_VICTIMS)
    member = Member(model.new_member_id())

    def build(view: View) -> Message:
        if name == "ShareFetch":
            return message(view, model, member, 0, model.places[:2], limits=NOTHING)
        if name == "ShareAcknowledge":
            whole = message(view, model, member, 5, model.places[:2])
            return {key: whole[key] for key in ("groupId", "memberId", "shareSessionEpoch", "topics")}
        if name == "ShareGroupHeartbeat":
            return {"groupId": f"spoilt-{model.group}", "memberId": member.name, "memberEpoch": 3, "subscribedTopicNames": ["x"]}
        if name == "ShareGroupDescribe":
            return {"groupIds": ["nobody"]}
        return {"groups": [{"groupId": "nobody", "topics": None}]}

    version = versions(_KEYS[name])[-1]
    kind = chance.choice(("cut off", "version", "key", "count"))
    if kind == "version":
        sent = chance.choice((version + 1, version + 100, -1))
        step = Step("unknown version", name, version, build, "spoilt", sent_version=sent)
    elif kind == "key":
        step = Step("unknown key", name, version, build, "spoilt", sent_key=chance.choice((999, -1, 10_000)))
    elif kind == "cut off":
        share = chance.random()
        step = Step("cut off", name, version, build, "spoilt", lambda body: body[: int(len(body) * share)])
    else:
        step = Step("impossible count", name, version, build, "spoilt", _with_a_count_that_lies)
    model.duel.ask(step)
    for view in model.duel.views:
        view.close("spoilt")


def _with_a_count_that_lies(body: bytes) -> bytes:
    """The body ends in an array that says that it has two thousand million elements."""
    return body[: max(1, len(body) // 2)] + b"\xff\xff\xff\xff\x07" + random.Random(len(body)).randbytes(3)  # noqa: S311 - test data
