"""Break the Rust crates one place at a time and see whether a test notices: `python -m scripts.mutants_rust TOOL`.

TOOL is cargo-mutants, which says what to break. Prints what became of each mutant, a table by crate, and what lives without
being listed in rust/mutants.toml; then the status is 1, as it is where the list names what is no mutant, or does not live.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.mutants_rust.mutant import (
    CAUGHT,
    SURVIVED,
    TIMED_OUT,
    UNVIABLE,
    Change,
    Crate,
    Mutant,
    complaints,
    crates,
    listed,
    made_in,
)
from scripts.mutants_rust.trial import TREE, Trials, renew_tree


def main(arguments: Sequence[str] | None = None) -> int:
    """Try what was asked for, and judge what became of it."""
    parser = argparse.ArgumentParser(prog="mutants_rust", description=__doc__)
    parser.add_argument("tool", type=Path)
    parser.add_argument("--only", metavar="REGEX", default="", help="those whose names, with file and line, match")
    parser.add_argument("--shard", type=_shard, metavar="K/N", default=(1, 1), help="the K-th of N parts")
    parser.add_argument("--seconds", type=float, help="as many as they allow, drawn, and at least one of each crate")
    parser.add_argument("--count", type=int, help="so many of each crate, drawn")
    parser.add_argument("--seed", type=int, help="draws in the same order again")
    options = parser.parse_args(arguments)
    known = listed()
    renew_tree()
    made = made_in(TREE, options.tool)
    number, parts = options.shard
    chosen = [mutant for mutant in made if re.search(options.only, mutant.name)][number - 1 :: parts]
    source = None
    if options.seconds is not None or options.count is not None:
        seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
        print(f"--seed {seed}", flush=True)
        source = random.Random(seed)  # noqa: S311 - a draw that can be repeated
    tried = list(_tried(chosen, crates(), source, options.seconds, options.count))
    return judge(tried, made, known)


def _shard(text: str) -> tuple[int, int]:
    number, _, parts = text.partition("/")
    shard = int(number), int(parts)
    if not 1 <= shard[0] <= shard[1]:
        raise ValueError(text)
    return shard


def _tried(
    chosen: list[Mutant], of: list[Crate], source: random.Random | None, seconds: float | None, count: int | None
) -> Iterator[tuple[Mutant, str]]:
    """Try mutants, crate by crate, each crate for its part of the time; the first build is no part of it."""
    by_crate = [(crate, [mutant for mutant in chosen if mutant.crate == crate.name]) for crate in of]
    by_crate = [(crate, mutants) for crate, mutants in by_crate if mutants]
    for crate, mutants in by_crate:
        trials = Trials(crate)
        if source:
            source.shuffle(mutants)
        trials.prepare()
        first = time.monotonic()
        for mutant in mutants[:count]:
            began = time.monotonic()
            outcome = trials.outcome(mutant)
            print(f"{outcome:9} {mutant.name} ({time.monotonic() - began:.0f} s)", flush=True)
            yield mutant, outcome
            if seconds is not None and time.monotonic() - first > seconds / len(by_crate):
                break


def judge(tried: list[tuple[Mutant, str]], made: list[Mutant], known: dict[Change, str]) -> int:
    """Print the figures and what is wrong; gives the status."""
    rows: dict[str, Counter[str]] = {}
    for mutant, outcome in tried:
        verdict = "listed" if outcome == SURVIVED and mutant.change in known else outcome
        for row in (mutant.crate, "all"):
            rows.setdefault(row, Counter())[verdict] += 1
    print("| crate | mutants | do not compile | viable | caught | of them by time | listed | live |")
    print("|---|---|---|---|---|---|---|---|")
    for row, counts in rows.items():
        caught = counts[CAUGHT] + counts[TIMED_OUT]
        print(
            f"| {row} | {counts.total()} | {counts[UNVIABLE]} | {counts.total() - counts[UNVIABLE]} | {caught} "
            f"| {counts[TIMED_OUT]} | {counts['listed']} | {counts[SURVIVED]} |"
        )
    wrong = complaints(tried, made, known)
    if not tried:
        wrong.append("no mutant was tried")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
