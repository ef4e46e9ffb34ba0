"""The judge for as long as it is let: every profile in every length, with fresh seeds, and a tally that is kept.

    nice python -m tests.proof.judge.campaign [--minutes 60] [--jobs 1]
    python -m tests.proof.judge.campaign --show

Each round plays a piece of every profile and length. After each piece the tally is written, so a campaign may be stopped at any
time, and goes on where it was with other seeds. Unexplained differences are written as conformance files, as those of
``tests.proof.judge.differential`` are; with one in the tally the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.kafka.home import REPOSITORY, KafkaMissingError

from .differential import PROFILES, Result, run, write

LENGTHS = (20, 60, 200, 1_000)
TALLY = REPOSITORY / "build" / "campaign" / "tally.json"
#: Operations of one piece, in about a minute each on a busy machine. Of less, the start of Kafka's side takes too great a part.
PIECE = {
    "combiner": 1_000_000,
    "engine": 150_000,
    "coordinator": 150_000,
    "session": 150_000,
    "assignor": 100_000,
    "group": 100_000,
}

Run = Callable[..., Result]


@dataclass(slots=True)
class Cell:
    """Totals of one profile in one length."""

    operations: int = 0
    compared: int = 0
    seconds: float = 0.0
    classes: dict[str, int] = field(default_factory=dict)
    meetings: dict[str, int] = field(default_factory=dict)
    unexplained: dict[str, int] = field(default_factory=dict)
    #: Seeds of every piece, in order.
    seeds: list[int] = field(default_factory=list)

    def add(self, seed: int, result: Result) -> None:
        """Take a piece in."""
        self.operations += result.operations
        self.compared += result.compared
        self.seconds += result.seconds
        self.seeds.append(seed)
        met = {what: times for what, times in result.coverage.items() if what.startswith("meeting: ")}
        for into, found in ((self.classes, result.classes), (self.meetings, met), (self.unexplained, result.unexplained)):
            for name, times in found.items():
                into[name] = into.get(name, 0) + times


@dataclass(slots=True)
class Tally:
    """All pieces so far, by profile and length."""

    path: Path
    cells: dict[str, dict[int, Cell]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Tally:
        """The tally that is kept there, or an empty one."""
        tally = cls(path)
        if path.exists():
            for profile, lengths in json.loads(path.read_text(encoding="utf-8")).items():
                tally.cells[profile] = {int(length): Cell(**cell) for length, cell in lengths.items()}
        return tally

    def add(self, profile: str, length: int, seed: int, result: Result) -> None:
        """Take a piece in, and keep it: whole or not at all."""
        self.cells.setdefault(profile, {}).setdefault(length, Cell()).add(seed, result)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        whole = {name: {length: asdict(cell) for length, cell in lengths.items()} for name, lengths in self.cells.items()}
        unfinished.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(self.path)

    @property
    def unexplained(self) -> int:
        """Differences that nothing explains."""
        return sum(sum(cell.unexplained.values()) for lengths in self.cells.values() for cell in lengths.values())

    def lines(self) -> list[str]:
        """The tally as a table, and what it comes to."""
        lines = [
            "| profile | length | operations | compared | unexplained | deliberate differences |",
            "|---|---|---|---|---|---|",
        ]
        total = 0
        for profile in sorted(self.cells):
            for length, cell in sorted(self.cells[profile].items()):
                total += cell.operations
                classes = ", ".join(f"{name} {times:,}" for name, times in sorted(cell.classes.items())) or "none"
                found = sum(cell.unexplained.values())
                lines.append(f"| {profile} | {length:,} | {cell.operations:,} | {cell.compared:,} | {found:,} | {classes} |")
        return [*lines, "", f"{total:,} operations, {self.unexplained:,} unexplained"]


def campaign(tally: Tally, pieces: Sequence[tuple[str, int]], until: float, jobs: int, play: Run = run) -> None:
    """Play piece after piece until the time is over; at least one."""
    played = 0
    while True:
        for profile, length in pieces:
            if played and time.monotonic() >= until:
                return
            seed = secrets.randbits(32)
            print(f"{profile}, length {length}, seed {seed}", flush=True)
            result = play(profile, seed, max(PIECE[profile] // length, 1), length, jobs=jobs)
            for path in write(result.differences, tally.path.parent, seed):
                print(f"DIFFERS: {path}", flush=True)
            tally.add(profile, length, seed, result)
            played += 1


def main(arguments: Sequence[str] | None = None, play: Run = run) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.judge.campaign", description="Compare with Kafka for hours.")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=1, help="pairs of processes")
    parser.add_argument("--profile", choices=PROFILES, action="append", help="default: all; may be repeated")
    parser.add_argument("--length", type=int, choices=LENGTHS, action="append", help="default: all; may be repeated")
    parser.add_argument("--tally", type=Path, default=TALLY)
    parser.add_argument("--show", action="store_true", help="print the tally and play nothing")
    options = parser.parse_args(arguments)
    tally = Tally.load(options.tally)
    pieces = [(profile, length) for length in options.length or LENGTHS for profile in options.profile or PROFILES]
    try:
        if not options.show:
            campaign(tally, pieces, time.monotonic() + 60 * options.minutes, options.jobs, play)
    except KafkaMissingError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
    print("\n".join(tally.lines()))
    return int(tally.unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
