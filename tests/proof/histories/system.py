"""System under record: a server of share groups that members connect to, or anything else that keeps their promises.

A :class:`System` plays one run and gives back what was seen. Most systems are a :class:`Server` on which
:mod:`tests.proof.histories.run` sets members and faults; a new one of these needs a function that opens it, and a row in
:mod:`tests.proof.histories.systems`.
"""

from __future__ import annotations

import random
import resource
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from tests.proof.histories.tcp import TcpProxy
from tests.proof.histories.wall_clock import WallClock

#: Event of docs/histories.md.
Line = dict[str, Any]


class Process(Protocol):
    """A server's process."""

    @property
    def bootstrap(self) -> str:
        """Address at which it listens; the same after every start."""

    @property
    def pid(self) -> int:
        """Its id."""

    def start(self) -> object:
        """Start it, and wait until it answers."""

    def kill(self) -> None:
        """End it as a crash would."""

    def pause(self) -> None:
        """Stop its threads where they are (SIGSTOP)."""

    def resume(self) -> None:
        """Let it go on."""


@dataclass(slots=True)
class Server:
    """A server of share groups that runs."""

    process: Process
    #: Address to which producers write, and at which records are deleted: the server itself, or the cluster behind it.
    upstream: str
    #: Stands between members and the server, where there is one.
    proxy: TcpProxy | None = None
    #: The cluster with the records, where it is another process that keeps its data.
    source: Process | None = None
    #: The wall clock of the process, where it has its own.
    clock: WallClock | None = None

    @property
    def bootstrap(self) -> str:
        """Address to which members connect."""
        return self.direct if self.proxy is None else self.proxy.bootstrap

    @property
    def direct(self) -> str:
        """The server itself, for requests that no fault of the network is to meet."""
        return self.process.bootstrap

    def room(self, size: int | None) -> None:
        """Let its files grow to so many bytes; a write beyond that fails as on a full disk, with EFBIG for ENOSPC."""
        hard = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


R = TypeVar("R")


class Fault(NamedTuple, Generic[R]):
    """Fault in a run, of whatever kind the run is."""

    #: For docs/verdicts.md.
    text: str
    strike: Callable[[R], None]


#: Opens a server with these settings (``group.share.*`` of a broker); it is gone after the ``with``.
Open = Callable[[Path, Mapping[str, str]], AbstractContextManager[Server]]


@dataclass(frozen=True, slots=True)
class Order:
    """Order for a run."""

    rng: random.Random
    seconds: float
    #: Names of faults, drawn with equal chances; none for a quiet run.
    faults: tuple[str, ...]
    #: For logs and state.
    directory: Path
    #: Kinds of members, drawn with equal chances.
    kinds: tuple[str, ...] = ("confluent", "bare")


@dataclass(slots=True)
class Played:
    """Result of a run."""

    lines: list[Line]
    #: Number of times that each fault struck.
    faults: Counter[str] = field(default_factory=Counter)
    members: int = 0
    #: Faults that no event can tell, in words: a record of an aborted transaction was delivered.
    besides: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class System:
    """A system under test."""

    name: str
    play: Callable[[Order], Played]
    #: The faults that it can have.
    faults: tuple[str, ...]
    #: Needs a JDK, and Kafka from the Maven registry.
    needs_kafka: bool = False
