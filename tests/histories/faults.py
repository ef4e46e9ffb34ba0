"""What goes wrong in a run on a server: one entry a fault, with what it does to whom."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.histories.system import Line

if TYPE_CHECKING:
    from tests.histories.run import Run


class Fault(NamedTuple):
    """A fault."""

    #: What it is, for docs/verdicts.md.
    text: str
    strike: Callable[[Run], None]


def _kill(run: Run) -> None:
    victim = run.active.pop(run.rng.randrange(len(run.active)))
    victim.kill()
    run.join()


def _stall(run: Run) -> None:
    victim = run.rng.choice(run.active)
    # What its client fetched meanwhile it may never hand out.
    run.gone(victim)
    victim.pause()
    time.sleep(run.lock_ms / 1000 + run.rng.random())
    victim.resume()


def _restart(run: Run) -> None:
    run.server.process.kill()
    run.server.process.start()


def _freeze(run: Run) -> None:
    run.server.process.pause()
    time.sleep(run.rng.uniform(0.1, 1.5) * run.lock_ms / 1000)
    run.server.process.resume()


#: Of a member, and of the server's process.
MEMBERS: Final = ("kill", "stall")
PROCESS: Final = ("restart", "freeze")

FAULTS: Final[Mapping[str, Fault]] = {
    "kill": Fault("SIGKILL of a member; another one joins", _kill),
    "stall": Fault("SIGSTOP of a member for longer than its locks hold", _stall),
    "restart": Fault("SIGKILL of the server, which starts again at once", _restart),
    "freeze": Fault("SIGSTOP of the server for a part of the lock's duration, or longer", _freeze),
}


def without_records(lines: Iterable[Line], spans: Mapping[int, Iterable[tuple[int, int]]]) -> list[str]:
    """Find deliveries of offsets that nobody may be given: of aborted transactions, and their markers.

    Args:
        lines: a history.
        spans: the offsets, by partition.
    """
    none = {(number, offset) for number, found in spans.items() for first, last in found for offset in range(first, last + 1)}
    given = {
        (line["partition"], offset)
        for line in lines
        if line["type"] == "grant"
        for offset in range(line["first"], line["last"] + 1)
    }
    return [f"{number}-{offset} of an aborted transaction was delivered" for number, offset in sorted(none & given)]
