"""The ``share_session*`` suite: the cache of share sessions and the table of their epochs.

Every operation is made on our sessions and its result and all sessions are compared. Three things of the recordings are not the
operations' own:

* Kafka's tests make some sessions without the calls that were recorded. Such a session is opened here just before the operation
  that needs or shows it; the same goes for one that has vanished before an operation that does not name it.
* ``max_sessions`` 0 means that the cache was a stub, which shows no sessions: each operation then stands for itself.
* A release answers for each partition what its share partition says; a session knows the partitions only, so they are compared.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from share_state import ShareSessions

from .recordings import FormatError, Json, Scenario
from .report import Difference, Outcome
from .schema import require

_OP = frozenset({"op", "args", "result", "sessions", "max_sessions"})
_SESSION = frozenset({"key", "epoch", "connection", "partitions"})
_KEY = frozenset({"group", "member"})

#: Kafka's exceptions by the code of our refusal.
_EXCEPTIONS = {
    42: "InvalidRequestException",
    122: "ShareSessionNotFoundException",
    123: "InvalidShareSessionEpochException",
    133: "ShareSessionLimitReachedException",
}
#: A partition by topic id and name, as the recordings write it.
_IDENTIFIED = re.compile(r"[-_0-9A-Za-z]{22}:.*-[0-9]+")
#: Room for the sessions of a stubbed cache.
_STUB_ROOM = 1000

_Key = tuple[str, str]
_Partition = tuple[str, int]


def run(scenario: Scenario) -> Outcome:
    """One sequence of operations on one cache."""
    outcome = Outcome(scenario.name)
    played: _Played | None = None
    for index, op in enumerate(scenario.ops):
        try:
            require(op, _OP, f"op {index}")
            stubbed = op["max_sessions"] == 0
            if played is None or stubbed:
                played = _Played(ShareSessions(_STUB_ROOM if stubbed else op["max_sessions"]))
                for text in _identified(op["args"] for op in scenario.ops):
                    played.partition(text)
            _step(outcome, played, index, op, stubbed)
        except FormatError as error:
            outcome.differences.append(Difference(scenario.name, index, "format", "known", str(error)))
            break
    return outcome


@dataclass(slots=True)
class _Played:
    sessions: ShareSessions
    #: Number of each connection the recording names.
    connections: dict[str, int] = field(default_factory=dict)
    #: Name of each topic id in the recording.
    names: dict[str, str | None] = field(default_factory=dict)

    def connection(self, name: str) -> int:
        return self.connections.setdefault(name, len(self.connections) + 1)

    def partition(self, text: object) -> _Partition:
        """Reads ``topicId:name-partition``, or ``[name, partition]`` where the recording has no topic ids."""
        if isinstance(text, list):
            name, partition = text
            topic_id = next((known for known, given in self.names.items() if given == name), _id_of_name(name))
        elif isinstance(text, str) and ":" in text:
            topic_id, _, rest = text.partition(":")
            name, _, number = rest.rpartition("-")
            name, partition = None if name == "null" else name, int(number)
        else:
            raise FormatError(f"no partition: {text!r}")
        self.names[topic_id] = name
        return topic_id, partition

    def shown(self) -> dict[_Key, Json]:
        """Our sessions as the recording shows them."""
        connections = {number: name for name, number in self.connections.items()}
        return {
            (session["group"], session["member"]): {
                "epoch": session["epoch"],
                "connection": connections[session["connection"]],
                "partitions": [[self.names[topic_id], partition] for topic_id, partition, _ in session["partitions"]],
            }
            for session in self.sessions.sessions()
        }

    def get(self, key: _Key) -> Json | None:
        shown = self.shown().get(key)
        return None if shown is None else {"key": {"group": key[0], "member": key[1]}, **shown}

    def open(self, key: _Key, like: Json, epoch: int) -> None:
        """Opens a session that the recording does not open; it expects this epoch."""
        connection = self.connection(like["connection"])
        partitions = [self.partition(at) for at in like["partitions"]]
        self.sessions.fetch(*key, 0, connection, partitions, [], acknowledges=False)
        for passed in range(1, epoch):
            self.sessions.acknowledge(*key, passed, connection)


def _step(outcome: Outcome, played: _Played, index: int, op: Json, stubbed: bool) -> None:
    def differ(what: str, expected: object, actual: object) -> None:
        outcome.differences.append(Difference(outcome.scenario, index, what, expected, actual))

    play = _OPERATIONS.get(op["op"])
    if play is None:
        raise FormatError(f"unknown operation {op['op']}")
    expected: dict[_Key, Json] = {}
    for session in op["sessions"]:
        require(session, _SESSION, f"a session of op {index}")
        expected[_key(session["key"])] = {name: value for name, value in session.items() if name != "key"}
    _adopt(played, op, expected)
    actual = play(played, op["args"], op["result"])
    if actual != op["result"]:
        differ(f"result of {op['op']}", op["result"], actual)
    if not stubbed and played.shown() != expected:
        differ("sessions", expected, played.shown())


def _adopt(played: _Played, op: Json, expected: dict[_Key, Json]) -> None:
    """Makes what Kafka's test has made beside the recorded operations."""
    if op["op"] not in _OF_THE_MANAGER:
        return
    named = _named(op)
    present = played.shown()
    for key in expected.keys() - present.keys() - {named}:
        played.open(key, expected[key], expected[key]["epoch"])
    for key in present.keys() - expected.keys() - {named}:
        played.sessions.close(*key)
    if named in present or _failed(op["result"]):
        return
    match op["op"], op["args"]:
        case "releaseSession", _:
            partitions = [text for text, _ in op["result"] or ()]
            played.open(named, {"connection": "", "partitions": partitions}, 1)
        case ("acknowledgeSessionUpdate", [_, _, epoch]) | ("newContext", [_, _, _, _, epoch, *_]) if epoch != 0:
            after = expected.get(named, {"connection": "", "partitions": [], "epoch": 1})
            played.open(named, after, after["epoch"] if epoch == -1 else epoch)


def _named(op: Json) -> _Key:
    """The session that an operation of Kafka's ``SharePartitionManager`` is about."""
    args = op["args"]
    return (args[0], args[3]) if op["op"] == "newContext" else (args[0], args[1])


def _failed(result: object) -> bool:
    return isinstance(result, dict) and "error" in result


def _key(key: Json) -> _Key:
    require(key, _KEY, "a session's key")
    return key["group"], key["member"]


def _identified(args: Iterable[object]) -> Iterator[str]:
    """Every ``topicId:name-partition`` in these."""
    for arg in args:
        if isinstance(arg, list):
            yield from _identified(arg)
        elif isinstance(arg, str) and _IDENTIFIED.fullmatch(arg):
            yield arg


def _id_of_name(name: str | None) -> str:
    """A topic id for recordings that know names only."""
    digest = hashlib.blake2b(repr(name).encode(), digest_size=16).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _error(code: int) -> Json:
    return {"error": _EXCEPTIONS[code]}


def _size(played: _Played, _: list[Any], __: object) -> object:
    return len(played.sessions)


def _total_partitions(played: _Played, _: list[Any], __: object) -> object:
    return played.sessions.partition_count


def _get(played: _Played, args: list[Any], _: object) -> object:
    return played.get(_key(args[0]))


def _create(played: _Played, args: list[Any], _: object) -> object:
    group, member, partitions, connection = args
    added = [played.partition(at) for at in partitions]
    opened = played.sessions.fetch(group, member, 0, played.connection(connection), added, [], acknowledges=False)
    if opened.error_code == 0 and opened.partitions != added:
        raise FormatError(f"partitions to fetch: {opened.partitions}, not {added}")
    return None if opened.error_code == 133 else {"group": group, "member": member}


def _remove(played: _Played, args: list[Any], _: object) -> object:
    key = _key(args[0].get("key", args[0]))
    session = played.get(key)
    if played.sessions.close(*key) != (session is not None):
        raise FormatError(f"close of {key} does not say whether there was a session")
    return session


def _remove_all(played: _Played, _: list[Any], __: object) -> object:
    for key in played.shown():
        played.sessions.close(*key)
    return None


def _new_context(played: _Played, args: list[Any], _: object) -> object:
    group, added, forgotten, member, epoch, acknowledges, connection = args
    context = played.sessions.fetch(
        group,
        member,
        epoch,
        played.connection(connection),
        [played.partition(text) for text in added],
        [played.partition(text) for text in forgotten],
        acknowledges=acknowledges,
    )
    if context.error_code:
        return _error(context.error_code)
    if context.final:
        return {"context": "final"}
    return {"context": "session", "request_epoch": epoch, "subsequent": not context.full}


def _acknowledge(played: _Played, args: list[Any], _: object) -> object:
    group, member, epoch = args
    code = played.sessions.acknowledge(group, member, epoch, 0)
    return _error(code) if code else None


def _release(played: _Played, args: list[Any], recorded: Any) -> object:
    key = (args[0], args[1])
    held: list[tuple[str, int, bool]] = next(
        (at["partitions"] for at in played.sessions.sessions() if (at["group"], at["member"]) == key), []
    )
    if not played.sessions.close(*key):
        return _error(122)
    known = {(topic_id, partition) for topic_id, partition, _ in held}
    if _failed(recorded) or known != {played.partition(text) for text, _ in recorded or ()}:
        return sorted(known)
    return recorded


_OPERATIONS: dict[str, Callable[[_Played, list[Any], Any], object]] = {
    "size": _size,
    "totalPartitions": _total_partitions,
    "get": _get,
    "maybeCreateSession": _create,
    "remove": _remove,
    "removeAllSessions": _remove_all,
    "newContext": _new_context,
    "acknowledgeSessionUpdate": _acknowledge,
    "releaseSession": _release,
}
#: Recorded from ``SharePartitionManager``, whose cache the tests reach by other ways too.
_OF_THE_MANAGER = frozenset({"newContext", "acknowledgeSessionUpdate", "releaseSession"})
