"""Replays an operation log through Python, and prints one JSON object with the fields of `benches/rust/src/result.rs`.

    python -m benches.faces LOG --face scalar|columnar|kio [--rounds 5] [--tail-rounds 0] [--limit-s 60] [--expect DIGEST]
                        [--polls] [--durable never|interval|always|polled --dir DIRECTORY]

Results that have another digest than is expected are not timed. With `--polls` the writes are not made inside the calls: they
are taken and confirmed by calls of their own (`poll_write` and `handle_write_result`, `poll_writes` and `handle_write_results`).
With `--durable` the timed replays write to a store in a new directory, which must then hold what was persisted.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any

import numpy as np

import share_state
from benches.faces import columnar, folds, scalar
from benches.faces.kept import DURABILITIES, Kept
from benches.faces.program import Program, Rows, Timed, program
from benches.faces.replay import TOPIC, Replay
from benches.oplog import Digest, Kind, OpLog, timed

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NotKeptError(Exception):
    """A store that was written to holds something else than was persisted."""


STRETCH = {"scalar": scalar.stretch, "columnar": columnar.stretch}
_PARTS = (Kind.FETCHED, Kind.RANGE, Kind.PERSISTER)


def play(pieces: Program, replay: Replay, limit_s: float) -> tuple[int, int | None]:
    """Nanoseconds in the timed sections, and the operation at which the time was up."""
    began = time.perf_counter()
    total = operations = 0
    for piece in pieces:
        if isinstance(piece, Timed):
            total += piece.took_ns(replay)
        else:
            piece.run(replay)
        operations += piece.operations
        if time.perf_counter() - began > limit_s:
            return total, operations
    return total, None


def tails(log: OpLog, rounds: int, polls: bool) -> dict[str, dict[str, int]]:
    """Times of each timed operation, played one by one; of each the least over the rounds."""
    rows, inside = log.ops.tolist(), timed(log.ops).tolist()
    kinds = log.ops["kind"]
    least: NDArray[np.int64] | None = None
    for _ in range(rounds):
        replay = Replay(log, None, polls=polls)
        step, clock = replay.step, time.perf_counter_ns
        took = np.zeros(len(rows), np.int64)
        for index, (row, is_timed) in enumerate(zip(rows, inside, strict=True)):
            if row[0] in (Kind.BEGIN, Kind.END):
                continue
            if is_timed:
                begun = clock()
                step(row)
                took[index] = clock() - begun
            else:
                step(row)
        least = took if least is None else np.minimum(least, took)
    result = {}
    for kind in np.unique(kinds).tolist() if least is not None else []:
        times = np.sort(least[(kinds == kind) & inside]) if least is not None else np.zeros(0)
        if len(times) and kind not in _PARTS and kind != Kind.END:
            at = [int(times[max(1, int(np.ceil(len(times) * share))) - 1]) for share in (0.5, 0.99, 0.9999)]
            result[Kind(kind).name.lower()] = dict(
                zip(("count", "p50", "p99", "p9999", "max"), (len(times), *at, int(times[-1])), strict=True)
            )
    return result


#: As in `benches/rust/src/bin/oplog.rs`: how long replays that nobody times come first, and how long rounds take together.
_WARM_UP_S, _TOGETHER_S, _MOST_ROUNDS = 0.3, 0.2, 200


def two_threads(log: OpLog, face: str, polls: bool) -> float:
    """How many times as fast a log is with two threads, one for share partition 0 and one for the others."""
    kind, hot = log.ops["kind"], log.ops["partition"] == 0
    sections = (kind == Kind.BEGIN) | (kind == Kind.END)
    parts = [program(log, STRETCH[face], log.ops[sections | part]) for part in (hot, ~hot)]

    def total(pieces: Program) -> int:
        return play(pieces, Replay(log, None, polls=polls), float("inf"))[0]

    alone = sum(map(total, parts))
    with ThreadPoolExecutor(2) as pool:
        return alone / max(pool.map(total, parts))


def keeping(log: OpLog, pieces: Program, expected: Replay, durability: str, directory: Path) -> int:
    """Nanoseconds in the timed sections of a replay over a new store."""
    with TemporaryDirectory(dir=directory) as new:
        kept = Kept(Path(new), durability, TOPIC, log.partitions)
        with kept.store:
            replay = Replay(log, None, kept=kept)
            spent, _ = play(pieces, replay, float("inf"))
            if kept.differs(replay, expected):
                raise NotKeptError(f"{log.workload}, {durability}: the store does not hold what was persisted")
    return spent


def measure(
    log: OpLog,
    face: str,
    rounds: int,
    tail_rounds: int,
    limit_s: float,
    expected: str = "",
    *,
    polls: bool = False,
    durable: str = "",
    directory: Path | None = None,
) -> dict[str, Any]:
    digest = Digest()
    began = time.perf_counter()
    replay = None
    pieces: Program = []
    if log.is_fold():
        _, stopped = folds.replay(log, digest, face, limit_s)
    else:
        pieces = program(log, STRETCH[face])
        replay = Replay(log, digest, polls=polls)
        began = time.perf_counter()
        _, stopped = play(pieces, replay, limit_s)
    took = time.perf_counter() - began
    affordable = min(rounds, max(2, int(5 * limit_s / max(took, 1e-9))))
    spent: list[int] = []
    value = digest.value()
    right = stopped is None and expected in ("", value)

    def once() -> int:
        if log.is_fold():
            return folds.replay(log, None, face, float("inf"))[0]
        if replay is not None and durable:
            return keeping(log, pieces, replay, durable, directory or Path(gettempdir()))
        return play(pieces, Replay(log, None, polls=polls), float("inf"))[0]

    if right and affordable:
        while time.perf_counter() - began < _WARM_UP_S:
            once()
        timing = time.perf_counter()
        while len(spent) < affordable or (time.perf_counter() - timing < _TOGETHER_S and len(spent) < _MOST_ROUNDS):
            spent.append(once())
    persisted = replay.durable if replay else None
    more = {"two_threads_ratio": two_threads(log, face, polls)} if log.workload == "W16" and spent else {}
    return more | {
        "engine": face if face == "kio" else f"python_{face}{'_polled' if polls else ''}",
        "digest": value if stopped is None else None,
        "stopped": stopped,
        "writes": persisted.writes if persisted else 0,
        "batches": persisted.batches if persisted else 0,
        "bytes": persisted.bytes if persisted else 0,
        "rounds_ns": spent,
        "tails": tails(log, min(tail_rounds, affordable), polls) if tail_rounds and right and not log.is_fold() else {},
        "python": platform.python_version(),
        "share_state": share_state.__version__,
        "calls": sum(not isinstance(one, Rows) for piece in pieces for one in getattr(piece, "pieces", [piece])),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("log", type=Path)
    arguments.add_argument("--face", choices=("scalar", "columnar", "kio"), required=True)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--tail-rounds", type=int, default=0)
    arguments.add_argument("--limit-s", type=float, default=60)
    arguments.add_argument("--expect", default="")
    arguments.add_argument("--polls", action="store_true")
    arguments.add_argument("--durable", choices=DURABILITIES, default="")
    arguments.add_argument("--dir", type=Path)
    given = arguments.parse_args()
    efforts = (given.rounds, given.tail_rounds, given.limit_s, given.expect)
    print(
        json.dumps(
            measure(OpLog.read(given.log), given.face, *efforts, polls=given.polls, durable=given.durable, directory=given.dir)
        )
    )


if __name__ == "__main__":
    main()
