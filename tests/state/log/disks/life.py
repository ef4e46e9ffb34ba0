"""The life of a store on a real disk whose N-th system call fails: `python life.py ROOT KIND` under the shim.

It lives once for each N until N is beyond the last call, each in a directory of its own, and prints a line each: what was
confirmed, and what failed.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path

import share_state as ss
from share_state.errors import ShareStateError

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
#: Initialised one after the other; small segments, so that there are several.
GROUPS = [f"g{number}" for number in range(12)]


def live(path: Path, confirmed: list[str]) -> None:
    """Opens, confirms half, closes; opens again, confirms the rest, prunes and closes."""
    for half in (GROUPS[:6], GROUPS[6:]):
        with ss.open(path, segment_bytes=1024) as store:
            for group in half:
                store.reset_state(ss.SharePartitionKey(group, TOPIC, 0), 0, 7, wall_ms=1)
                confirmed.append(group)
            store.cold_snapshots(wall_ms=10_000_000)
            store.prune()


def main() -> None:
    root, kind = Path(sys.argv[1]), int(sys.argv[2])
    shim = ctypes.CDLL(None)
    shim.faults_disarm.restype = ctypes.c_long
    number = 0
    while True:
        path = root / str(number)
        confirmed: list[str] = []
        failure: ShareStateError | None = None
        shim.faults_arm(str(path).encode(), ctypes.c_long(number), kind)
        try:
            live(path, confirmed)
        except ShareStateError as error:
            failure = error
        calls = shim.faults_disarm()
        told = None
        if failure is not None:
            told = {"type": type(failure).__name__, "errno": getattr(failure, "errno", None), "text": str(failure)}
        print(json.dumps({"at": number, "calls": calls, "confirmed": confirmed, "failure": told}), flush=True)
        if calls <= number:
            return
        number += 1


if __name__ == "__main__":
    main()
