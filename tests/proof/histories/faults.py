"""Faults of a run on a server: an entry for each, with what it does to whom."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from tests.gateway.patience import wait_until
from tests.gateway.wire import Connection
from tests.proof.histories.bare import BareMember
from tests.proof.histories.run import Run
from tests.proof.histories.system import Fault

_FAR_MS: Final = 240_000


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
    # A change of the leader shows only beside a view of the one before.
    wait_until(run.looking.has_seen_all, "offsets of every partition are shown")
    run.server.process.kill()
    run.server.process.start()


def _freeze(run: Run) -> None:
    run.server.process.pause()
    time.sleep(run.rng.uniform(0.1, 1.5) * run.lock_ms / 1000)
    run.server.process.resume()


def _cut(run: Run) -> None:
    """Between any two bytes: now, or within one of the next answers."""
    proxy = run.server.proxy
    assert proxy is not None
    if run.rng.random() < 0.5:
        run.gone_all()
    else:
        proxy.cut_after(run.rng.randint(0, 5000))
        time.sleep(run.rng.random())
        run.gone_all()
    proxy.cut()


def _delay(run: Run) -> None:
    proxy = run.server.proxy
    assert proxy is not None
    proxy.hold()
    time.sleep(run.rng.uniform(0.1, 1.2) * run.lock_ms / 1000)
    proxy.release()


def _duplicate(run: Run) -> None:
    bare = [member for member in run.active if isinstance(member, BareMember)]
    run.join_as(run.rng.choice(bare) if bare else None)


def _retain(run: Run) -> None:
    partition = run.rng.randrange(len(run.ends))
    end = run.ends[partition]
    start = run.rng.randint(max(run.log_starts[partition], end - 300), end)
    place = TopicPartition(run.topic, partition, start)
    # It has to outlive its answer.
    admin = AdminClient({"bootstrap.servers": run.server.upstream, "log_level": 0})
    found = admin.delete_records([place])[place].result()
    run.log_starts[partition] = found.low_watermark
    at = {"topic": run.topic, "partition": partition}
    run.lines.append({"type": "retained", "t": time.monotonic_ns(), **at, "from": found.low_watermark})


def _abort(run: Run) -> None:
    # One that is open ends as it would have.
    run.lines += run.transactions.commit()
    run.transactions.write(run.rng.randrange(len(run.ends)), run.rng.randint(1, 50))
    run.transactions.abort()


def _open(run: Run) -> None:
    run.lines += run.transactions.commit()
    run.transactions.write(run.rng.randrange(len(run.ends)), run.rng.randint(1, 50))


def _reset(run: Run) -> None:
    # It goes back no further than the log, and only where nobody is.
    partition = run.rng.randrange(len(run.ends))
    start = run.rng.randint(run.log_starts[partition], run.ends[partition])
    run.leave_all()
    topics = [{"topicName": run.topic, "partitions": [{"partitionIndex": partition, "startOffset": start}]}]

    def done() -> bool:
        with Connection(run.server.direct) as connection:
            answer = connection.ask("AlterShareGroupOffsets", 0, {"groupId": run.group, "topics": topics})
        return [answer["errorCode"], *(row["errorCode"] for topic in answer["responses"] for row in topic["partitions"])] == [
            0,
            0,
        ]

    with run.looking.quiet:
        # Members that were killed leave when their session times out.
        wait_until(done, "the offsets of the empty group are reset")
        run.resets += 1
        run.looking.was_reset = True
        at = {"group": run.group, "topic": run.topic, "partition": partition}
        # No answer here shows a state epoch: a number tells one reset from the other.
        run.lines.append({"type": "reset", "t": time.monotonic_ns(), **at, "start_offset": start, "state_epoch": run.resets})
    run.join_all()


def _step(run: Run) -> None:
    clock = run.server.clock
    assert clock is not None
    # Never as far as a transaction may take.
    most = run.rng.choice((3 * run.lock_ms, _FAR_MS))
    clock.put(run.rng.randint(-most, most))


def _full(run: Run) -> None:
    wait_until(run.looking.has_seen_all, "offsets of every partition are shown")
    run.server.room(run.rng.choice((1, 4096)))
    time.sleep(run.rng.uniform(0.2, 1.0))
    _restart(run)


def _upstream(run: Run) -> None:
    assert run.server.source is not None
    run.server.source.kill()
    run.server.source.start()


#: Names of the faults of a member, the process, its clock, the network, the log, the group, transactions, and the cluster with
#: the records.
MEMBERS: Final = ("kill", "stall", "duplicate")
PROCESS: Final = ("restart", "freeze", "full")
CLOCK: Final = ("step",)
NETWORK: Final = ("cut", "delay")
LOG: Final = ("retain",)
GROUP: Final = ("reset",)
TRANSACTIONS: Final = ("abort", "open")
UPSTREAM: Final = ("upstream",)

FAULTS: Final[Mapping[str, Fault[Run]]] = {
    "kill": Fault("SIGKILL of a member; another one joins", _kill),
    "stall": Fault("SIGSTOP of a member for longer than its locks hold", _stall),
    "duplicate": Fault("another member with the id of one that is there", _duplicate),
    "restart": Fault("SIGKILL of the server, which starts again at once", _restart),
    "freeze": Fault("SIGSTOP of the server for a part of the lock's duration, or longer", _freeze),
    "full": Fault("no room on the server's disk; then SIGKILL, and a start with room", _full),
    "step": Fault("the server's wall clock steps, forward or back", _step),
    "cut": Fault("every connection of members ends, at once or within an answer", _cut),
    "delay": Fault("no byte passes between members and the server for a while", _delay),
    "retain": Fault("records are deleted up to an offset: the log start moves", _retain),
    "reset": Fault("members leave, and an administrator sets the offset of the empty group", _reset),
    "abort": Fault("a transaction is aborted, where only committed records are read", _abort),
    "open": Fault("a transaction stays open while others write after it", _open),
    "upstream": Fault("SIGKILL of the cluster with the records, which starts again", _upstream),
}
