"""Leads one share partition of a topic that lies in a Kafka cluster, and keeps its state in that cluster too.

The records are fetched with confluent-kafka, the engine decides who may hold them, and what it wants written goes to the
share coordinator through `KafkaPersister`. One member, "worker", takes the records: most it accepts, some it releases once,
a few it rejects. Kill the process at any moment and start it again with a higher leader epoch: it goes on where the last
confirmed write stands. The older one, should it still be alive, is fenced at its next write.

The group has to be known to the cluster, once:

    kafka-share-groups --bootstrap-server HOST:PORT --reset-offsets --group GROUP --topic TOPIC --to-earliest --execute
    python -m examples.leader_with_kafka.leader HOST:PORT GROUP TOPIC --leader-epoch 1

On stdout it prints a line for each write that the coordinator has confirmed, as JSON.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Iterable

from confluent_kafka import Consumer, TopicPartition

from share_state import AcknowledgeType, SharePartition, SharePartitionKey, WriteState
from share_state.errors import FencedLeaderEpochError
from share_state.kafka import KafkaPersister
from share_state.persister import lead

MEMBER = "worker"
#: Records that the member takes at once.
AT_ONCE = 40
FENCED = 1


class Leader:
    """Share partition with its log and its home."""

    def __init__(self, share_partition: SharePartition, persister: KafkaPersister, consumer: Consumer, topic: str) -> None:
        self.share_partition = share_partition
        self.persister = persister
        self.consumer = consumer
        self.place = TopicPartition(topic, share_partition.key.partition)
        self.position = -1

    def serve(self, die_after: int) -> int:
        """Serve until fenced; ``die_after`` writes this process kills itself, to show what that does (0: never)."""
        for number in self._writes():
            if number == die_after:
                os.kill(os.getpid(), signal.SIGKILL)
        print(json.dumps({"fenced": True}), flush=True)
        return FENCED

    def _writes(self) -> Iterable[int]:
        number = 0
        while True:
            self._take_and_acknowledge()
            while (write := self.share_partition.poll_write()) is not None:
                try:
                    self.persister.write_state(self.share_partition.key, write.state)
                except FencedLeaderEpochError as fenced:
                    # The member's acknowledgements are rolled back; the new leader hands the records out again.
                    self.share_partition.handle_write_result(write.token, fenced.kafka_code or 0, now_ms=_now_ms())
                    return
                self.share_partition.handle_write_result(write.token, now_ms=_now_ms())
                self._show(write.state)
                number += 1
                yield number

    def _take_and_acknowledge(self) -> None:
        self.share_partition.handle_timeout(now_ms=_now_ms())
        fetched = self._fetch(self.share_partition.next_fetch_offset())
        if not fetched:
            return
        acquired = self.share_partition.acquire(MEMBER, fetched, max_records=AT_ONCE, now_ms=_now_ms())
        batches = [
            (first, last, [_verdict(offset, count) for offset in range(first, last + 1)]) for first, last, count in acquired
        ]
        if batches:
            self.share_partition.acknowledge_batches(MEMBER, batches, now_ms=_now_ms())

    def _fetch(self, offset: int) -> list[tuple[int, int]]:
        """Read from the topic; runs of offsets that hold records."""
        if offset != self.position:
            self.consumer.assign([TopicPartition(self.place.topic, self.place.partition, offset)])
        runs: list[tuple[int, int]] = []
        for message in self.consumer.consume(AT_ONCE, 0.2):
            found = message.offset()
            if message.error() is not None or found is None:
                continue
            if runs and runs[-1][1] + 1 == found:
                runs[-1] = (runs[-1][0], found)
            else:
                runs.append((found, found))
        self.position = runs[-1][1] + 1 if runs else offset
        return runs

    def _show(self, written: WriteState) -> None:
        _, log_end = self.consumer.get_watermark_offsets(self.place, 10)
        lag = log_end - written.start_offset - written.delivery_complete_count
        print(json.dumps({"start_offset": written.start_offset, "lag": lag}), flush=True)


def _verdict(offset: int, delivery_count: int) -> int:
    """Decide what the member says of a record."""
    if offset % 31 == 5:
        return AcknowledgeType.REJECT
    if offset % 7 == 3 and delivery_count == 1:
        return AcknowledgeType.RELEASE
    return AcknowledgeType.ACCEPT


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def main() -> int:
    """Lead until fenced or killed."""
    parser = argparse.ArgumentParser(description="Lead a share partition of a topic in a Kafka cluster.")
    parser.add_argument("bootstrap")
    parser.add_argument("group")
    parser.add_argument("topic")
    parser.add_argument("--partition", type=int, default=0)
    parser.add_argument("--leader-epoch", type=int, required=True)
    parser.add_argument("--die-after", type=int, default=0, metavar="WRITES")
    asked = parser.parse_args()

    consumer = Consumer({"bootstrap.servers": asked.bootstrap, "group.id": asked.group, "enable.auto.commit": False})
    with KafkaPersister(asked.bootstrap) as persister:
        topic_id = persister.topic_ids([asked.topic])[asked.topic]
        key = SharePartitionKey(asked.group, topic_id, asked.partition)
        low, high = consumer.get_watermark_offsets(TopicPartition(asked.topic, asked.partition), 10)
        share_partition = lead(persister, key, leader_epoch=asked.leader_epoch, earliest=low, latest=high)
        print(json.dumps({"leading_from": share_partition.start_offset}), flush=True)
        try:
            return Leader(share_partition, persister, consumer, asked.topic).serve(asked.die_after)
        finally:
            consumer.close()


if __name__ == "__main__":
    sys.exit(main())
