"""How far the live view is behind the state topic, and its CPU: ``python -m benches.live [--rate 10000] [--seconds 20]``.

A process of its own serves made-up share state: 1,000 share partitions in 50 state partitions, whose records are accepted,
released and archived; one record a batch, as a coordinator writes them under little load, which is the dearest to read. The view
is on one core. Behind is the time since the first record was due that is not in the view at that moment: at every 50 ms for
what is read, and at the end of each refresh, every 2 s, for what a person is shown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import share_state as ss
from benches.live.feeder import STATE_PARTITIONS, TOPIC_ID
from share_state.live import LiveView

SHARE_PARTITIONS = 1_000
_BATCH = 10
_LOOK_S, _REFRESH_S = 0.05, 2.0


def make_log(log: Path, records: int) -> None:
    """Write the log: each share partition goes on by ten records a write, of which one comes back, or is given up."""
    with ss.open(log, partitions=STATE_PARTITIONS, sync="never") as store:
        keys = [ss.SharePartitionKey(f"group-{n // 100}", str(TOPIC_ID), n % 100) for n in range(SHARE_PARTITIONS)]
        for key in keys:
            store.initialize_state(key, 0, 0)
        for n in range(records - SHARE_PARTITIONS):
            key, turn = keys[n % SHARE_PARTITIONS], n // SHARE_PARTITIONS
            start = _BATCH * turn
            back = (start, start, 0, 1) if turn % 3 else (start, start, 4, 5)
            batches = [ss.StateBatch(*back), ss.StateBatch(start + 1, start + _BATCH - 1, 2, 1)]
            store.write_state(key, ss.WriteState(0, 0, start, _BATCH - 1, batches))


async def follow(port: int, began: float, seconds: float, records: int) -> dict[str, float]:
    """Follow the topic to its end, and measure."""
    rate = records / seconds
    read_behind, view_behind, refreshes = [], [], []
    async with LiveView(f"127.0.0.1:{port}") as live:

        def behind() -> float:
            read = sum(place.read for place in live.places().values())
            # Less than all partitions together write at a time is not behind.
            return max(0.0, time.time() - began - read / rate) if read < records - STATE_PARTITIONS else 0.0

        async def look() -> None:
            while True:
                read_behind.append(behind())
                await asyncio.sleep(_LOOK_S)

        await live.refresh()
        looking = asyncio.create_task(look())
        cpu, at = time.process_time(), time.time()
        first = sum(place.read for place in live.places().values())
        while time.time() < began + seconds:
            await asyncio.sleep(_REFRESH_S)
            before, clock = behind(), time.time()
            await live.refresh()
            refreshes.append(time.time() - clock)
            view_behind.append(before + refreshes[-1])
        looking.cancel()
        for _ in range(600):
            if sum(place.read for place in live.places().values()) == records:
                break
            await asyncio.sleep(_LOOK_S)
        read = sum(place.read for place in live.places().values())
        if read < records:
            raise SystemExit(f"{records - read} records are not read at the end")
        spent = time.process_time() - cpu
        took = time.time() - at
    read_behind.sort()
    return {
        "total": read,
        "records": read - first,
        "seconds": round(took, 1),
        "cpu_seconds": round(spent, 2),
        "cpu_us_per_record": round(1e6 * spent / max(1, read - first), 1),
        "cores": round(spent / took, 2),
        "read_behind_median_s": round(read_behind[len(read_behind) // 2], 3),
        "read_behind_most_s": round(read_behind[-1], 3),
        "view_behind_most_s": round(max(view_behind), 3),
        "refresh_most_s": round(max(refreshes), 3),
    }


def main() -> None:
    """Make the log, start the feeder, follow, and print a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=10_000, help="records a second")
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    records = int(given.rate * given.seconds)
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        make_log(log, records)
        command = [sys.executable, "-m", "benches.live.feeder", str(log), str(given.rate)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as feeder:
            assert feeder.stdout is not None
            port, began, seconds = feeder.stdout.readline().split()
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            found = asyncio.run(follow(int(port), float(began), float(seconds), records))
            feeder.communicate()
    print(json.dumps({"rate": given.rate, "share_partitions": SHARE_PARTITIONS, **found}))


if __name__ == "__main__":
    main()
