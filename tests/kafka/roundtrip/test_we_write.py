"""We write, Kafka reads: its dump tool decodes our log, and a broker started over our segments answers with our state."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import share_state
from share_state import SharePartitionKey, StateStore, WriteState
from share_state.arguments import Compression
from share_state.operate import analysis
from tests.kafka import broker as kafka
from tests.kafka import home
from tests.kafka.broker import Broker
from tests.kafka.roundtrip import agree
from tests.kafka.roundtrip.tools import dump_log
from tests.kafka.roundtrip.wire import WRITE, Coordinator, read_all
from tests.kafka.roundtrip.workload import STATE_TOPIC, create_topic

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

#: Codec of each state partition.
CODECS: tuple[Compression, ...] = ("none", "gzip", "snappy", "lz4", "zstd")
_GROUPS = 12
_PARTITIONS = 40
_WRITES = 12
#: Small, so that every state partition has several segments.
_SEGMENT_BYTES = 65_536
#: States that may be in a write: available, acknowledged, archived.
_STATES = (0, 2, 4)


@pytest.mark.parametrize("version", home.VERSIONS)
def test_a_broker_started_over_our_segments_answers_with_our_state(version: str, tmp_path: Path) -> None:
    directory = tmp_path / "broker"
    directory.mkdir()
    settings = {"share.coordinator.state.topic.num.partitions": str(len(CODECS))}
    with kafka.running(version, directory, settings) as broker:
        topic_id = create_topic(broker, "jobs", _PARTITIONS)
        keys = [
            SharePartitionKey(f"group-{group}", topic_id, partition)
            for group in range(_GROUPS)
            for partition in range(_PARTITIONS)
        ]
        with Coordinator(broker.port) as coordinator:
            coordinator.find(keys[0])
        broker.stop()

        ours: dict[SharePartitionKey, dict[str, Any]] = {}
        for number, codec in enumerate(CODECS):
            here = [key for key in keys if share_state.state_partition(*key, len(CODECS)) == number]
            store = tmp_path / codec
            ours |= _write(store, codec, here)
            _replace(broker, store, number)
        _forget_what_was_there(broker)
        _kafka_decodes(broker.data)

        broker.start()
        answers = read_all(broker.port, keys)
        assert agree.differences(ours, answers) == []
        _says_enough(ours, keys)

        # The broker goes on where we stopped, and we read that again.
        _write_on(broker, [key for key in keys if key in ours][:50], ours)
        agree.agree_live(broker.data, broker.port, keys)


def _write(path: Path, codec: Compression, keys: list[SharePartitionKey]) -> dict[SharePartitionKey, dict[str, Any]]:
    """Fill a store with torn windows, new beginnings and deletions; what it holds at the end."""
    with StateStore(
        path,
        partitions=len(CODECS),
        compression=codec,
        sync="never",
        segment_bytes=_SEGMENT_BYTES,
        snapshot_update_records_per_snapshot=5,
    ) as store:
        for key in keys:
            # By the key without the topic id, which differs from run to run.
            _live(store, key, random.Random(f"{key.group} {key.partition}"))  # noqa: S311  a workload, not a secret
        store.prune()
        return {SharePartitionKey(s["group"], s["topic_id"], s["partition"]): s for s in store.states()}


def _live(store: StateStore, key: SharePartitionKey, chance: random.Random) -> None:
    """Plays a share partition: a start, writes that move its window on, and now and then another beginning or an end."""
    state_epoch, start = chance.randrange(3), chance.randrange(1000)
    leader_epoch = chance.randrange(3)
    store.reset_state(key, state_epoch, start)
    store.read_state(key, leader_epoch)
    for turn in range(_WRITES):
        if chance.random() < 0.02:
            state_epoch += 1
            start = chance.randrange(1000)
            store.reset_state(key, state_epoch, start)
        start += chance.randrange(20) if turn % 3 == 0 else 0
        batches = _batches(start, chance)
        complete = sum(last - first + 1 for first, last, state, _ in batches if state != 0)
        store.write_state(key, WriteState(state_epoch, leader_epoch, start, complete, batches))
    if chance.random() < 0.1:
        store.delete_state(key)


def _batches(start: int, chance: random.Random) -> list[tuple[int, int, int, int]]:
    """Runs with holes between them, most of them short."""
    at, batches = start, []
    for _ in range(chance.choice((0, 1, 3, 8, 60))):
        at += chance.choice((0, 0, 1, 7))
        last = at + chance.choice((0, 0, 1, 2, 30))
        batches.append((at, last, chance.choice(_STATES), chance.randrange(1, 6)))
        at = last + 1
    return batches


def _kafka_decodes(directory: Path) -> None:
    """DumpLogSegments has nothing to complain of in segments of ours, and reads the same records as we do."""
    dump = dump_log(directory)
    assert dump.codecs == set(CODECS)
    assert len(dump.records) > 100 * len(CODECS)
    read = [
        {
            "partition": partition,
            "segment": segment,
            "offset": offset,
            "timestamp": timestamp,
            **share_state.decode_record(key, value),
        }
        for partition, segment, offset, timestamp, key, value in analysis.scan_path(directory)
    ]
    assert dump.records == read


def _replace(broker: Broker, store: Path, number: int) -> None:
    """Put our segments where the broker's were."""
    folder = broker.data / f"{STATE_TOPIC}-{number}"
    for kind in (".log", ".index", ".timeindex", ".snapshot"):
        for old in folder.glob(f"*{kind}"):
            old.unlink()
    segments = list((store / folder.name).glob("*.log"))
    assert len(segments) > 1
    for segment in segments:
        shutil.copy(segment, folder)


def _forget_what_was_there(broker: Broker) -> None:
    """As after a crash, so that the broker looks at the segments instead of believing its checkpoints."""
    (broker.data / ".kafka_cleanshutdown").unlink()
    for name in ("recovery-point-offset-checkpoint", "log-start-offset-checkpoint"):
        path = broker.data / name
        version, _count, *lines = path.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if not line.startswith(f"{STATE_TOPIC} ")]
        path.write_text("\n".join([version, str(len(kept)), *kept]) + "\n", encoding="utf-8")


def _write_on(broker: Broker, keys: list[SharePartitionKey], ours: dict[SharePartitionKey, dict[str, Any]]) -> None:
    with Coordinator(broker.port) as coordinator:
        for key in keys:
            state = ours[key]
            first = state["start_offset"] + 5000
            answer = coordinator.call(
                WRITE,
                key,
                stateEpoch=state["state_epoch"],
                # A new leader's: what the replayed records fence may lie above the state's.
                leaderEpoch=state["leader_epoch"] + 100,
                startOffset=-1,
                deliveryCompleteCount=0,
                stateBatches=[{"firstOffset": first, "lastOffset": first + 3, "deliveryState": 2, "deliveryCount": 1}],
            )
            assert answer["errorCode"] == 0, answer


def _says_enough(ours: dict[SharePartitionKey, dict[str, Any]], keys: list[SharePartitionKey]) -> None:
    """That the comparison was about something: many keys, some gone, torn windows in each codec's partition."""
    assert 300 < len(ours) < len(keys)
    torn = Counter(share_state.state_partition(*key, len(CODECS)) for key, state in ours.items() if len(state["batches"]) > 20)
    assert len(torn) == len(CODECS)
    assert min(torn.values()) > 5, torn
