"""Play the cases, a number of inputs each: ``python -m tests.proof.mutations SEED COUNT``."""

from __future__ import annotations

import json
import random
import resource
import sys
from pathlib import Path

from .cases import CASES

#: Memory that an input may take, however much it announces.
ROOM = 512 << 20


def main(seed: int, count: int) -> int:
    """Print what came of each case: how many inputs were taken and how many refused, or which input did something else."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, resource.RLIM_INFINITY))
    outcomes = {}
    for name, (play, raises) in CASES.items():
        taken = 0
        for number in range(count):
            try:
                play(random.Random(f"{seed} {name} {number}"))  # noqa: S311 - what is drawn is no secret
            except raises as error:
                if type(error).__name__ == "EnginePoisonedError":
                    print(f"{name}, input {number}: {error}", file=sys.stderr)
                    raise
            except BaseException as error:
                print(f"{name}, input {number}: {type(error).__name__}: {error}", file=sys.stderr)
                raise
            else:
                taken += 1
        outcomes[name] = (taken, count - taken)
    print(json.dumps(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
