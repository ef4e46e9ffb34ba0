"""Serves a state topic that grows at a rate: ``python -m benches.live.feeder LOG RATE`` prints its port and begins at once."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.python.live.fake_cluster import FakeCluster, member

#: State partitions, as Kafka has them by default.
STATE_PARTITIONS = 50
TOPIC_ID = UUID(int=1)
#: Bytes of an answer for one partition.
_MAX_BYTES = 1 << 20


class Feeder(FakeCluster):
    """A cluster whose log is in memory; of each state partition, an equal share is written as time passes."""

    def begin(self, rate: float) -> tuple[float, float]:
        """Read the log, and begin to write it at so many records a second; when it began, and how long it takes."""
        self._all = {partition: self.batches(partition) for partition in range(self.state_partitions)}
        self._seconds = sum(map(len, self._all.values())) / rate
        self._began = time.time()
        return self._began, self._seconds

    def written(self, partition: int) -> int:
        """How many batches of a state partition are written by now; each holds one record."""
        elapsed = min(1.0, (time.time() - self._began) / self._seconds)
        return int(len(self._all[partition]) * elapsed)

    def end(self, partition: int) -> int:
        """Return where it ends by now."""
        return self.written(partition)

    def _fetched(self, partition: int, offset: int) -> dict[str, Any]:
        end = self.written(partition)
        records = b"".join(data for _, data in self._all[partition][offset:end])
        return {
            "partitionIndex": partition,
            "errorCode": 0,
            "highWatermark": end,
            "lastStableOffset": end,
            "logStartOffset": 0,
            "abortedTransactions": None,
            "preferredReadReplica": -1,
            "records": records[:_MAX_BYTES],
        }


async def main() -> None:
    """Serve until standard input ends."""
    log, rate = Path(sys.argv[1]), float(sys.argv[2])
    feeder = Feeder(
        log,
        state_partitions=STATE_PARTITIONS,
        ends={("orders", TOPIC_ID): [1 << 40] * 100},
        members={f"group-{number}": [member(f"m-{number}", {TOPIC_ID: list(range(100))})] for number in range(10)},
    )
    async with feeder.serving():
        print(feeder.port, *feeder.begin(rate), flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
