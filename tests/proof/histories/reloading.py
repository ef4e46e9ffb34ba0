"""Ends the only share session of a group again and again, while other groups write: a fetch may read the state before.

``python -m tests.proof.histories.reloading --system 4.4.0`` (docs/verdicts.md).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.kafka.home import JUDGE, VERSIONS
from tests.proof.histories.defects.member import ACCEPT, Member
from tests.proof.histories.defects.playing import GATEWAY, opened
from tests.proof.histories.defects.stage import Stage

#: Groups whose writes keep the write of the release waiting.
_BUSY: Final = 3
_ROUNDS: Final = 4
#: Below the delivery limit of 5.
_DELIVERIES: Final = 4


def deliveries(stage: Stage) -> list[int]:
    """Delivery counts of a record, each after the connection of the only member of its group has ended."""
    # What a session that was ended by mistake holds is free again after the lock.
    topic = stage.topic(share_record_lock_duration_ms="1000")
    topic.produce(1)
    member = topic.member()
    counts: list[int] = []
    while len(counts) < _DELIVERIES:
        fetched = member.fetch(wait_ms=50)
        if fetched.code:
            # The end of the connection before this one has ended the session on this one.
            member.begin_again()
        for _, _, count in fetched.acquired:
            counts.append(count)
            member.connect_again(stage.server.direct)
    return counts


@contextmanager
def busy(stage: Stage) -> Iterator[None]:
    """Let other groups write state all the time."""
    over = threading.Event()

    def work(member: Member) -> None:
        while not over.is_set():
            for first, last, _ in member.fetch(wait_ms=20, most=1, limit=True).acquired:
                member.acknowledge((first, last, ACCEPT))

    topics = [stage.topic() for _ in range(_BUSY)]
    for topic in topics:
        topic.produce(2000)
    threads = [threading.Thread(target=work, args=(topic.member(),)) for topic in topics]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def main() -> int:
    """Play the rounds; the status is 1 where a count is given twice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--system", choices=(*VERSIONS, GATEWAY), default=JUDGE)
    arguments = parser.parse_args()
    again = 0
    with (
        tempfile.TemporaryDirectory() as directory,
        opened(arguments.system, Path(directory)) as server,
        Stage(server) as stage,
        busy(stage),
    ):
        for _ in range(_ROUNDS):
            counts = deliveries(stage)
            again += len(set(counts)) < len(counts)
            print(f"delivery counts: {', '.join(map(str, counts))}", flush=True)
    print(f"{arguments.system}: a count was given twice in {again} of {_ROUNDS} rounds")
    return 1 if again else 0


if __name__ == "__main__":
    sys.exit(main())
