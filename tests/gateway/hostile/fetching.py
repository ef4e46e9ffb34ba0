"""Fetch with its sessions (KIP-227). Called under the cluster's lock."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tests.gateway.hostile.answering import Broker
from tests.gateway.wire.codec import Message

_SESSION_NOT_FOUND, _WRONG_EPOCH = 70, 71
_NO_SESSION, _CLOSING, _OPENING = -1, -1, 0
_LAST_EPOCH = 2_147_483_647
_BY_ID, _WITH_SESSIONS = 13, 7

#: Name or id of a topic, and a partition.
Place = tuple[str, int]


@dataclass
class _Session:
    epoch: int = 1
    wanted: dict[Place, Message] = field(default_factory=dict)
    #: High watermark and log start as last told.
    told: dict[Place, tuple[int, int]] = field(default_factory=dict)


class FetchSessions:
    """The sessions of all clients."""

    def __init__(self) -> None:
        self.sessions: dict[int, _Session] = {}
        self._next = 1000

    def open(self) -> tuple[int, _Session]:
        """A session with its id."""
        self._next += 1
        self.sessions[self._next] = _Session()
        return self._next, self.sessions[self._next]

    def forget_all(self) -> None:
        """As a broker that has been started again."""
        self.sessions.clear()


def _asked_for(version: int, asked: Message) -> dict[Place, Message]:
    key = "topicId" if version >= _BY_ID else "topic"
    return {(topic[key], one["partition"]): one for topic in asked["topics"] for one in topic["partitions"]}


def _wanted(sessions: FetchSessions | None, version: int, asked: Message) -> dict[Place, Message]:
    """All partitions that a request is about, those of its session among them; changes nothing."""
    wanted = _asked_for(version, asked)
    session = None if sessions is None else sessions.sessions.get(asked.get("sessionId", 0))
    if session is None or asked["sessionEpoch"] <= 0:
        return wanted
    gone = _forgotten(version, asked)
    return {place: one for place, one in {**session.wanted, **wanted}.items() if place not in gone}


def _forgotten(version: int, asked: Message) -> set[Place]:
    key = "topicId" if version >= _BY_ID else "topic"
    return {(topic[key], number) for topic in asked.get("forgottenTopicsData", ()) for number in topic["partitions"]}


def _read(broker: Broker, version: int, asked: Message, wanted: dict[Place, Message]) -> dict[Place, Message]:
    by_id = version >= _BY_ID
    told = {}
    left = asked["maxBytes"]
    for (topic, number), one in wanted.items():
        place = (None, topic) if by_id else (topic, None)
        answer = broker.fetch_partition(version, asked, one, place)
        if answer["records"] and left <= 0:
            answer["records"] = b""
        left -= len(answer["records"])
        told[topic, number] = answer
    return told


def has_enough(broker: Broker, sessions: FetchSessions | None, version: int, asked: Message) -> bool:
    """Returns true if a Fetch need not wait: enough bytes, or something that is wrong."""
    told = _read(broker, version, asked, _wanted(sessions, version, asked))
    wrong = any(one["errorCode"] or "divergingEpoch" in one or "preferredReadReplica" in one for one in told.values())
    return wrong or not told or sum(len(one["records"]) for one in told.values()) >= asked["minBytes"]


def fetch(broker: Broker, sessions: FetchSessions | None, version: int, asked: Message) -> Message:
    """Answer, in the session that is asked for."""
    answer: Message = {"throttleTimeMs": broker.faults.throttle_ms}
    if version < _WITH_SESSIONS:
        return {**answer, "responses": _by_topic(version, _read(broker, version, asked, _asked_for(version, asked)))}
    if broker.faults.fetch_code:
        return {**answer, "errorCode": broker.faults.fetch_code}
    session_id, epoch = asked["sessionId"], asked["sessionEpoch"]
    if sessions is None or epoch in {_NO_SESSION, _OPENING}:
        if sessions is not None:
            sessions.sessions.pop(session_id, None)
        told = _read(broker, version, asked, _asked_for(version, asked))
        if sessions is None or epoch == _CLOSING:
            return {**answer, "responses": _by_topic(version, told)}
        session_id, session = sessions.open()
        session.wanted = _asked_for(version, asked)
    else:
        found = sessions.sessions.get(session_id)
        if found is None or found.epoch != epoch:
            return {**answer, "errorCode": _SESSION_NOT_FOUND if found is None else _WRONG_EPOCH}
        session = found
        session.wanted = _wanted(sessions, version, asked)
        session.epoch = 1 if epoch == _LAST_EPOCH else epoch + 1
        told = {
            place: one for place, one in _read(broker, version, asked, session.wanted).items() if _is_news(session, place, one)
        }
    for place, one in told.items():
        session.told[place] = (one["highWatermark"], one.get("logStartOffset", -1))
    return {**answer, "sessionId": session_id, "responses": _by_topic(version, told)}


def _is_news(session: _Session, place: Place, one: Message) -> bool:
    known = session.told.get(place)
    return bool(one["records"] or one["errorCode"] or "divergingEpoch" in one or known != _marks(one))


def _marks(one: Message) -> tuple[int, int]:
    return one["highWatermark"], one.get("logStartOffset", -1)


def _by_topic(version: int, told: dict[Place, Message]) -> list[Message]:
    topics: dict[str, list[Message]] = defaultdict(list)
    for (topic, _), one in told.items():
        topics[topic].append(one)
    key = "topicId" if version >= _BY_ID else "topic"
    return [{key: topic, "partitions": found} for topic, found in topics.items()]
