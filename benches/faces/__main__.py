"""Replays an operation log through Python: the questions and the answers of `benches/rust/src/bin/oplog.rs`.

    python -m benches.faces LOG --face scalar|columnar|kio [--limit-s 60]
                        [--durable never|interval|always|polled --dir DIRECTORY]

With `--durable` the timed replays write to a store in a new directory, which must then hold what was persisted.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
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
_PARTS = (Kind.FETCHED, Kind.RANGE)


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


def tails(log: OpLog, rounds: int) -> dict[str, dict[str, int]]:
    """Times of each timed operation, played one by one; of each the least over the rounds."""
    rows, inside = log.ops.tolist(), timed(log.ops).tolist()
    kinds = log.ops["kind"]
    least: NDArray[np.int64] | None = None
    for _ in range(rounds):
        replay = Replay(log, None)
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


def two_threads(log: OpLog, face: str) -> float:
    """Speed-up of a log with two threads, one for share partition 0 and one for the others."""
    kind, hot = log.ops["kind"], log.ops["partition"] == 0
    sections = (kind == Kind.BEGIN) | (kind == Kind.END)
    parts = [program(log, STRETCH[face], log.ops[sections | part]) for part in (hot, ~hot)]

    def total(pieces: Program) -> int:
        return play(pieces, Replay(log, None), float("inf"))[0]

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
            if kept.differs(replay.partitions, expected.durable):
                raise NotKeptError(f"{log.workload}, {durability}: the store does not hold what was persisted")
    return spent


class Face:
    """A log that a face has replayed once, for the results, and replays as often as is asked."""

    def __init__(
        self,
        log: OpLog,
        face: str,
        limit_s: float = 60,
        *,
        durable: str = "",
        directory: Path | None = None,
    ) -> None:
        self.log, self.face, self.durable = log, face, durable
        self._directory = directory or Path(gettempdir())
        self._replay: Replay | None = None
        self._pieces: Program = []
        digest = Digest()
        if log.is_fold():
            _, stopped = folds.replay(log, digest, face, limit_s)
        else:
            self._pieces = program(log, STRETCH[face])
            self._replay = Replay(log, digest)
            _, stopped = play(self._pieces, self._replay, limit_s)
        persisted = self._replay.durable if self._replay else None
        self.results: dict[str, Any] = {
            "engine": face if face == "kio" else f"python_{face}",
            "digest": digest.value() if stopped is None else None,
            "stopped": stopped,
            "writes": persisted.writes if persisted else 0,
            "batches": persisted.batches if persisted else 0,
            "bytes": persisted.bytes if persisted else 0,
            "python": platform.python_version(),
            "share_state": share_state.__version__,
            "calls": sum(not isinstance(one, Rows) for piece in self._pieces for one in getattr(piece, "pieces", [piece])),
        }

    def once(self) -> int:
        """Nanoseconds in the timed sections of one replay."""
        if self._replay is None:
            return folds.replay(self.log, None, self.face, float("inf"))[0]
        if self.durable:
            return keeping(self.log, self._pieces, self._replay, self.durable, self._directory)
        return play(self._pieces, Replay(self.log, None), float("inf"))[0]

    def answer(self, what: str, times: int) -> dict[str, Any]:
        """The answer to a question."""
        if what == "replays":
            return {"ns": sum(self.once() for _ in range(times))}
        if what == "tails":
            return {"tails": tails(self.log, times)}
        return {"two_threads_ratio": two_threads(self.log, self.face)}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("log", type=Path)
    arguments.add_argument("--face", choices=("scalar", "columnar", "kio"), required=True)
    arguments.add_argument("--limit-s", type=float, default=60)
    arguments.add_argument("--durable", choices=DURABILITIES, default="")
    arguments.add_argument("--dir", type=Path)
    given = arguments.parse_args()
    durably = {"durable": given.durable, "directory": given.dir}
    face = Face(OpLog.read(given.log), given.face, given.limit_s, **durably)
    print(json.dumps(face.results), flush=True)
    for line in sys.stdin:
        what, times = line.split()
        print(json.dumps(face.answer(what, int(times))), flush=True)


if __name__ == "__main__":
    main()
