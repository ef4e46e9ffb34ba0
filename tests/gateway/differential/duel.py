"""Asks both servers the same and keeps what differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.gateway.differential.contents import codes_in, contents
from tests.gateway.differential.normal import CLOSED, UNREADABLE, Fields, fields
from tests.gateway.differential.view import View
from tests.gateway.wire import CodecError, Disconnected, api_key, decode, encode
from tests.gateway.wire.codec import Message

#: A field that one side does not have.
ABSENT = "absent"
_SHOWN, _LONG = 8, 600

Answer = Message | str


@dataclass(frozen=True)
class Step:
    """Request for both servers: what differs between the servers is filled in by ``build``."""

    #: Kind of request, for the counts.
    label: str
    name: str
    version: int
    build: Callable[[View], Message]
    connection: str = "admin"
    #: Change of the bytes of the body before they are sent.
    spoil: Callable[[bytes], bytes] | None = None
    #: The version and the key that are sent, where they are not those of the body.
    sent_version: int | None = None
    sent_key: int | None = None


@dataclass(frozen=True)
class Known:
    """A field that may differ: in which API (a pattern), at which path (a pattern), how, and why."""

    api: str
    path: str
    may: Callable[[Any, Any], bool]
    #: A line of the page on the gateway.
    reason: str
    #: Kind of request to which it is limited (a pattern).
    label: str = ".*"
    #: Fields beside it that the real answer has to have.
    beside: Mapping[str, Any] = field(default_factory=dict)

    def fits(self, step: Step, path: str, real: Fields, other: Fields) -> bool:
        """Returns true if this entry covers the difference at ``path``."""
        prefix = path.rpartition(".")[0]
        return (
            re.fullmatch(self.api, step.name) is not None
            and re.fullmatch(self.path, path) is not None
            and re.fullmatch(self.label, step.label) is not None
            and all(real.get(f"{prefix}.{name}" if prefix else name) == value for name, value in self.beside.items())
            and self.may(real.get(path, ABSENT), other.get(path, ABSENT))
        )


class Difference(NamedTuple):
    """An answer with fields that differ and are not known to."""

    label: str
    request: str
    #: Path, value of the real server, value of the other.
    fields: list[tuple[str, Any, Any]]

    def __str__(self) -> str:
        """The request, and each field with both values."""
        told = [f"    {path}: real {real!r}, other {other!r}" for path, real, other in self.fields[:_SHOWN]]
        return "\n".join([f"{self.label}: {self.request[:_LONG]}", *told])


class Diverged(Exception):
    """The servers have answered differently, so that what follows would compare nothing."""


@dataclass
class Duel:
    """The two servers, and the score."""

    real: View
    other: View
    known: Iterable[Known] = ()
    #: Sent to each, and how many answers were compared one by one; the rest is waiting for servers to come to rest.
    requests: int = 0
    compared: int = 0
    apis: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    #: Contents of the real server's answers: they show that more was compared than refusals.
    contents: Counter[str] = field(default_factory=Counter)
    codes: Counter[tuple[str, int]] = field(default_factory=Counter)
    excused: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    @property
    def views(self) -> tuple[View, View]:
        """Both servers."""
        return self.real, self.other

    def ask(self, step: Step) -> tuple[Answer, Answer]:
        """Ask both, compare, and give the answers; what is not equal ends the episode."""
        answers = self.exchange(step)
        self.compare(step, *(fields(view, self._key(step), answer) for view, answer in zip(self.views, answers, strict=True)))
        return answers

    def exchange(self, step: Step) -> tuple[Answer, Answer]:
        """Ask both and do not compare."""
        self.requests += 1
        self.labels[step.label] += 1
        # Both work at the same time.
        sent = [self._send(view, step) for view in self.views]
        real, other = (self._receive(view, step) if ok else CLOSED for view, ok in zip(self.views, sent, strict=True))
        self._count(step, real)
        return real, other

    def exchange_with(self, view: View, step: Step) -> Answer:
        """Ask one of them."""
        self.requests += 1
        self.labels[step.label] += 1
        return self._receive(view, step) if self._send(view, step) else CLOSED

    def compare(self, step: Step, real: Fields, other: Fields) -> None:
        """Note every field that differs without being known to."""
        self.compared += 1
        self.apis[step.name] += 1
        found = []
        for path in sorted(real.keys() | other.keys()):
            left, right = real.get(path, ABSENT), other.get(path, ABSENT)
            if left != right and not self._is_known(step, path, real, other):
                found.append((path, left, right))
        if found:
            self.differences.append(Difference(f"{step.label} ({step.name} v{step.version})", str(step.build(self.real)), found))
            raise Diverged(step.label)

    def _is_known(self, step: Step, path: str, real: Fields, other: Fields) -> bool:
        for known in self.known:
            if known.fits(step, path, real, other):
                self.excused[known.reason] += 1
                return True
        return False

    @staticmethod
    def _key(step: Step) -> int:
        return api_key(step.name)

    def _send(self, view: View, step: Step) -> bool:
        body = encode(self._key(step), step.version, step.build(view))
        if step.spoil is not None:
            body = step.spoil(body)
        key = self._key(step) if step.sent_key is None else step.sent_key
        version = step.version if step.sent_version is None else step.sent_version
        try:
            view.connection(step.connection).send(key, version, body, header_tags=None if step.sent_key is None else True)
        except Disconnected:
            view.close(step.connection)
            return False
        return True

    def _receive(self, view: View, step: Step) -> Answer:
        key = self._key(step) if step.sent_key is None else step.sent_key
        version = step.version if step.sent_version is None else step.sent_version
        try:
            data = view.connection(step.connection).receive(key, version)
        except Disconnected:
            view.close(step.connection)
            return CLOSED
        try:
            return decode(key, version, data, response=True)
        except (CodecError, KeyError) as error:
            return f"{UNREADABLE}: {error}"

    def _count(self, step: Step, answer: Answer) -> None:
        if isinstance(answer, str):
            self.codes[f"{step.name}: {answer.partition(':')[0]}", 0] += 1
            return
        for code in codes_in(answer):
            self.codes[step.name, code] += 1
        self.contents.update(contents(step.name, answer))
