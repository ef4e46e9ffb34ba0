"""The parent's part: starts the group, kills a member, kills the gateway half-way and starts it again."""

import multiprocessing
import random
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from examples.demo.history import SETTLED
from examples.demo.supervise import start_deaf_to_ctrl_c
from examples.gateway.journal import Entry, Event, Reader, lost_locks
from examples.gateway.member import work
from examples.gateway.plan import PARTITIONS, Part, Place, Plan, members
from examples.gateway.server import Gateway, GatewayError
from share_state.operate import analysis

#: The whole job takes some seconds; a group that is at it for so long hangs.
_PATIENCE_SECONDS = 120
_LOOK_SECONDS = 0.02
#: Between two looks into the gateway's directory.
_STATE_SECONDS = 0.25

# A process of its own that shares nothing with this one: no thread, no lock, no open file.
_processes = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Run:
    """Result of a run."""

    entries: list[Entry]
    #: Exit statuses of the two lives of the gateway, and of the members: 0, or minus the signal that ended it.
    gateway_exits: tuple[int, int]
    member_exits: dict[str, int]
    #: On the clock of the journals: nanoseconds.
    killed_at: int
    restarted_at: int
    #: Records whose end was confirmed to a member before the gateway was killed.
    settled_before: int
    #: Leader epochs that clients see in the two lives of the gateway.
    generations: tuple[int, int]
    seconds: float


class _Group:
    """The members' processes, and what their journals say so far."""

    def __init__(self, plan: Plan, bootstrap_servers: str, stack: ExitStack) -> None:
        self._plan = plan
        self.entries: list[Entry] = []
        self.settled: set[Place] = set()
        self.processes: dict[str, SpawnProcess] = {}
        self._readers = [Reader(plan.journal(name)) for name in members()]
        for name, part in members().items():
            process = _processes.Process(target=work, args=(plan, name, part, bootstrap_servers), name=name)
            start_deaf_to_ctrl_c(process)
            # However this ends, also by Ctrl-C: no child is left.
            stack.callback(_end, process)
            self.processes[name] = process

    def look(self) -> None:
        """Read on in the journals.

        Raises:
            GatewayError: a member has failed.
        """
        for entry in (entry for reader in self._readers for entry in reader.more()):
            self.entries.append(entry)
            if entry.settles:
                self.settled.update(entry.places)
        failed = [name for name, process in self.processes.items() if (process.exitcode or 0) > 0]
        if failed:
            raise GatewayError(f"a member failed: {', '.join(failed)}")

    def saw(self, part: Part, event: Event) -> bool:
        """Return true if the member with this part has written down an event."""
        names = {name for name, has in members().items() if has is part}
        return any(entry.event is event and entry.member in names for entry in self.entries)

    def ready(self) -> int:
        """Return the number of members that wait for the word to begin."""
        return sum(entry.event is Event.READY for entry in self.entries)


def serve_with_kills(plan: Plan, upstream: str, console: Console) -> Run:
    """Have the group take every record through the gateway, with a member killed, and the gateway half-way.

    Raises:
        GatewayError: the gateway or a member fails, or nothing comes to an end.
    """
    kill_at = round(plan.records * random.uniform(0.4, 0.6))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("settled"), TimeElapsedColumn())
    with ExitStack() as stack:
        gateway = stack.enter_context(Gateway(plan, upstream))
        gateway.start()
        first = gateway.generation()
        console.print(f"share-state gateway serves on {gateway.bootstrap_servers}")
        group = _Group(plan, gateway.bootstrap_servers, stack)
        patience = _Patience()
        while group.ready() < len(group.processes):
            patience.wait(group)
        console.print(f"{len(group.processes)} share consumers, each in a process of its own")
        progress = stack.enter_context(Progress(*columns, console=console))
        task = progress.add_task("taking", total=plan.records)
        begun = time.monotonic()
        plan.go.touch()

        victim = group.processes["killed"]
        gateway_killed, killed_at, restarted_at, settled_before = 0, 0, 0, 0
        looked = begun
        while True:
            patience.wait(group)
            progress.update(task, completed=len(group.settled))
            if victim.is_alive() and group.saw(Part.IS_KILLED, Event.HOLDING):
                victim.kill()
                victim.join()
                console.print(f"SIGKILL to a member with records in its hands, {len(group.settled):,} records settled")
            if not plan.lost.exists() and lost_locks(group.entries):
                plan.lost.touch()
            # Not before the late member has lost its locks to others: the kill would end them too.
            hit = not victim.is_alive() and group.saw(Part.STALLS, Event.SENT)
            if hit and not restarted_at and len(group.settled) >= kill_at:
                gateway_killed, killed_at = gateway.kill(), time.monotonic_ns()
                group.look()
                settled_before = len(group.settled)
                gateway.start()
                restarted_at = time.monotonic_ns()
                console.print(f"SIGKILL to the gateway after {settled_before:,} confirmed ends, and a new one in its place")
            if restarted_at and time.monotonic() - looked > _STATE_SECONDS:
                looked = time.monotonic()
                if is_finished(plan):
                    break
        seconds = time.monotonic() - begun
        plan.done.touch()
        for process in group.processes.values():
            process.join(_PATIENCE_SECONDS)
        exits = {name: process.exitcode for name, process in group.processes.items()}
        group.look()
        progress.update(task, completed=plan.records)
        stopped = gateway.stop()
    return Run(
        entries=sorted(group.entries, key=lambda entry: entry.at),
        gateway_exits=(gateway_killed, stopped),
        member_exits={name: -1 if code is None else code for name, code in exits.items()},
        killed_at=killed_at,
        restarted_at=restarted_at,
        settled_before=settled_before,
        generations=(first, gateway.generation()),
        seconds=seconds,
    )


def is_finished(plan: Plan) -> bool:
    """Look into the directory of the running gateway: whether all share partitions are settled up to the ends of their logs."""
    states, _ = analysis.fold_path(plan.state / "state")
    return len(states) == PARTITIONS and all(is_settled(state, plan.log_end) for state in states)


def is_settled(state: Mapping[str, Any], log_end: int) -> bool:
    """Return true if a row says that every record below ``log_end`` is settled.

    What is written is the start offset before a write; the records that the write settled follow as batches.
    """
    settled = sum(last - first + 1 for first, last, delivery_state, _ in state["batches"] if delivery_state in SETTLED)
    return bool(state["start_offset"] + settled == log_end and settled == state["delivery_complete_count"])


class _Patience:
    """Looks again and again, and gives up in the end."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + _PATIENCE_SECONDS

    def wait(self, group: _Group) -> None:
        """Wait a little, and look."""
        if time.monotonic() > self._deadline:
            raise GatewayError(f"{len(group.settled)} records are settled after {_PATIENCE_SECONDS} s, and no end is in sight")
        time.sleep(_LOOK_SECONDS)
        group.look()


def _end(process: SpawnProcess) -> None:
    process.kill()
    process.join()
