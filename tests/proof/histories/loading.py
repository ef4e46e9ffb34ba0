"""A large state, and a broker that is killed again and again: whether an answer shows a state that is still being loaded.

``python -m tests.proof.histories.loading --system 4.4.0`` (docs/verdicts.md).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from share_state.operate.histories import check_history
from tests.gateway.upstreams import kraft
from tests.gateway.wire import Connection
from tests.kafka.home import JUDGE, VERSIONS
from tests.kafka.roundtrip.workload import BROKER_SETTINGS
from tests.proof.histories import brokers
from tests.proof.histories.defects.member import ACCEPT
from tests.proof.histories.defects.stage import Stage, Topic
from tests.proof.histories.recorded import encoded, write
from tests.proof.histories.system import Line

#: Each write has so many batches, so that the state topic grows by six kilobytes.
_BATCHES: Final = 300
_AVAILABLE, _ACKNOWLEDGED = 0, 2
#: For so long after each start the offsets are asked for.
_LOOKING_S: Final = 8.0


def grow(topic: Topic, bootstrap: str, writes: int) -> None:
    """Write the state of the share partition as its leader does, each time with a start offset that is one greater."""
    place = {"topicId": topic.topic_id, "partitions": [{"partition": 0, "leaderEpoch": -1}]}
    shown = topic.view()
    with Connection(bootstrap) as connection:
        answer = connection.ask("ReadShareGroupStateSummary", 1, {"groupId": topic.group, "topics": [place]})
        state_epoch = answer["results"][0]["partitions"][0]["stateEpoch"]
        for start in range(shown["start_offset"] + 1, shown["start_offset"] + 1 + writes):
            batches = [
                {
                    "firstOffset": at,
                    "lastOffset": at,
                    "deliveryState": _ACKNOWLEDGED if at % 2 else _AVAILABLE,
                    "deliveryCount": 1,
                }
                for at in range(start + 1, start + 1 + _BATCHES)
            ]
            row = {"partition": 0, "stateEpoch": state_epoch, "leaderEpoch": shown["leader_epoch"], "startOffset": start}
            topics = [{"topicId": topic.topic_id, "partitions": [{**row, "stateBatches": batches}]}]
            answer = connection.ask("WriteShareGroupState", 0, {"groupId": topic.group, "topics": topics})
            (written,) = answer["results"][0]["partitions"]
            if written["errorCode"] != 0:
                raise RuntimeError(f"a write was refused: {written}")


def changes(lines: Iterable[Line]) -> list[Line]:
    """Leave out answers that show the start offset of the answer before."""
    kept: list[Line] = []
    before = None
    for line in lines:
        if line["type"] != "view" or line["start_offset"] != before:
            kept.append(line)
        before = line.get("start_offset", before)
    return kept


def main() -> int:
    """Record and check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--system", choices=VERSIONS, default=JUDGE)
    parser.add_argument("--writes", type=int, default=10_000, help="of the state, before the first SIGKILL")
    parser.add_argument("--kills", type=int, default=8, help="at most; the first answer with an older state is the end")
    parser.add_argument("--out", type=Path, default=Path("build/histories/loading.jsonl"))
    arguments = parser.parse_args()
    settings = {**kraft.SHARE_SETTINGS, **kraft.QUICK, **BROKER_SETTINGS}
    with (
        tempfile.TemporaryDirectory() as directory,
        brokers.opened(arguments.system, Path(directory), settings) as server,
        Stage(server) as stage,
    ):
        topic = stage.topic()
        topic.produce(5)
        member = topic.member()
        member.take(4)
        member.acknowledge((0, 4, ACCEPT))
        topic.disconnect()
        grow(topic, server.direct, arguments.writes)
        kept = topic.view()["start_offset"]
        oldest, kills = kept, 0
        while oldest == kept and kills < arguments.kills:
            server.process.kill()
            server.process.start()
            kills += 1
            until = time.monotonic() + _LOOKING_S
            while oldest == kept and time.monotonic() < until:
                oldest = min(oldest, topic.view()["start_offset"])
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    lines = changes(topic.lines)
    write(arguments.out, lines)
    found = sorted({one.check for one in check_history(encoded(lines)).violations})
    print(
        f"{arguments.system}: start offset {kept}; {oldest} after {kills} kills; {' '.join(found) or 'nothing'}; {arguments.out}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
