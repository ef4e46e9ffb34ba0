"""Plays episodes against two servers that run, prints the score, and ends with 1 when something differs."""

from __future__ import annotations

import argparse
import random
import sys
import time

from tests.gateway.differential.duel import Duel
from tests.gateway.differential.known import KNOWN
from tests.gateway.differential.match import match, score
from tests.gateway.differential.view import View
from tests.gateway.tools.compare import Side


def main() -> int:
    """Read the arguments and play."""
    parser = argparse.ArgumentParser(prog="python -m tests.gateway.differential")
    parser.add_argument("--real", required=True, help="HOST:PORT of a broker with share groups")
    parser.add_argument("--other", required=True, help="HOST:PORT of the gateway")
    parser.add_argument("--upstream", help="HOST:PORT of the gateway's upstream; left out if the gateway relays")
    parser.add_argument("--compared", type=int, default=20_000, help="how many answers")
    parser.add_argument("--seed", type=int, help="repeats a run")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(2**31) if given.seed is None else given.seed
    other = Side(given.other, given.upstream or given.other)
    duel = Duel(View("real", Side.broker(given.real)), View("other", other), KNOWN)
    started = time.monotonic()
    match(duel, seed, given.compared)
    print(f"seed {seed}: {score(duel)} in {time.monotonic() - started:.0f} s")
    return 1 if duel.differences else 0


if __name__ == "__main__":
    sys.exit(main())
