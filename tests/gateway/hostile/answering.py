"""The answers of one broker out of the cluster's state. Called under the cluster's lock."""

from __future__ import annotations

from typing import NamedTuple

from tests.gateway.hostile.cluster import Cluster, Partition, Topic
from tests.gateway.hostile.faults import Faults
from tests.gateway.hostile.log import PartitionLog
from tests.gateway.wire.codec import Message

OUT_OF_RANGE, UNKNOWN, NOT_LEADER, FENCED, TOO_NEW, UNKNOWN_ID = 1, 3, 6, 74, 75, 100
_NO_ID = "00000000-0000-0000-0000-000000000000"
_LATEST, _EARLIEST, _OF_MAX_TIMESTAMP = -1, -2, -3
#: From these versions on.
_FETCH_TAGS, _METADATA_IDS = 12, 10


class Broker(NamedTuple):
    """Broker that answers."""

    node: int
    cluster: Cluster
    faults: Faults
    #: Address of each broker.
    addresses: dict[int, tuple[str, int]]
    #: True if topics have ids.
    ids: bool

    def metadata(self, version: int, asked: Message) -> Message:
        """Metadata of all topics, or of those that are named."""
        topics = asked.get("topics")
        if topics is None or (version == 0 and not topics):
            known = [topic for topic in self.cluster.topics.values() if self.node not in topic.unknown_to]
            told = [self._topic(version, topic) for topic in known]
        else:
            told = [self._named(version, one) for one in topics]
        brokers = [{"nodeId": node, "host": host, "port": port} for node, (host, port) in self.addresses.items()]
        answer: Message = {"brokers": brokers, "topics": told}
        if version >= 1:
            answer["controllerId"] = self.cluster.brokers[0]
        if version >= 2:
            answer["clusterId"] = self.cluster.cluster_id
        if version >= 3:
            answer["throttleTimeMs"] = self.faults.throttle_ms
        return answer

    def _named(self, version: int, one: Message) -> Message:
        name, wanted = one.get("name"), one.get("topicId", _NO_ID)
        topic = self.cluster.by_id(wanted) if name is None else self.cluster.topics.get(name)
        if topic is None or self.node in topic.unknown_to:
            told: Message = {"errorCode": UNKNOWN_ID if name is None else UNKNOWN, "name": name, "partitions": []}
            return {**told, "topicId": wanted} if version >= _METADATA_IDS else told
        return self._topic(version, topic)

    def _topic(self, version: int, topic: Topic) -> Message:
        told: Message = {"errorCode": 0, "name": topic.name, "partitions": []}
        if version >= _METADATA_IDS:
            told["topicId"] = topic.topic_id if self.ids else _NO_ID
        for number, partition in enumerate(topic.partitions):
            epoch = max(0, partition.epoch - self.faults.epochs_back)
            leader = partition.leaders[epoch]
            one: Message = {
                "errorCode": 0 if leader >= 0 else 5,
                "partitionIndex": number,
                "leaderId": leader,
                "replicaNodes": self.cluster.brokers,
                "isrNodes": self.cluster.brokers,
            }
            if version >= 7:
                one["leaderEpoch"] = epoch
            told["partitions"].append(one)
        return told

    def find(
        self, name: str | None, topic_id: str | None, number: int, epoch: int, *, fetches: bool = False
    ) -> tuple[int, Partition | None, str]:
        """A partition that this broker leads in an epoch (-1: any), or the code that says why not; the topic's name."""
        topic = self.cluster.topics.get(name) if name is not None else self.cluster.by_id(topic_id or _NO_ID)
        missing = UNKNOWN if name is not None else UNKNOWN_ID
        if topic is None or self.node in topic.unknown_to:
            return missing, None, name or ""
        if not 0 <= number < len(topic.partitions):
            return UNKNOWN, None, topic.name
        partition = topic.partitions[number]
        if (code := self.faults.codes.get((topic.name, number), 0)) != 0:
            return code, partition, topic.name
        replica = self.faults.preferred.get((topic.name, number))
        if epoch >= 0 and epoch != partition.epoch:
            return (FENCED if epoch < partition.epoch else TOO_NEW), partition, topic.name
        if self.node not in {partition.leader, *((replica,) if fetches else ())}:
            return NOT_LEADER, partition, topic.name
        return 0, partition, topic.name

    def list_offsets(self, version: int, asked: Message) -> Message:
        """Earliest, latest, and by time."""
        topics = []
        for topic in asked["topics"]:
            partitions = []
            for one in topic["partitions"]:
                number = one["partitionIndex"]
                code, partition, _ = self.find(topic["name"], None, number, one.get("currentLeaderEpoch", -1))
                told: Message = {"partitionIndex": number, "errorCode": code}
                if partition is not None and code == 0:
                    told["timestamp"], told["offset"] = self._offset(partition.log, asked, one["timestamp"])
                    if version >= 4:
                        told["leaderEpoch"] = partition.epoch
                partitions.append(told)
            topics.append({"name": topic["name"], "partitions": partitions})
        answer: Message = {"topics": topics}
        return {**answer, "throttleTimeMs": self.faults.throttle_ms} if version >= 2 else answer

    def _offset(self, log: PartitionLog, asked: Message, timestamp: int) -> tuple[int, int]:
        if timestamp == _LATEST:
            end = log.last_stable_offset if asked.get("isolationLevel") else log.high_watermark
            return -1, end
        if timestamp == _EARLIEST:
            return -1, log.start
        if timestamp == _OF_MAX_TIMESTAMP:
            youngest = max((header.max_timestamp for header, _ in log.batches), default=-1)
            return log.offset_at(youngest)
        return log.offset_at(timestamp)

    def ends_of_epochs(self, version: int, asked: Message) -> Message:
        """OffsetForLeaderEpoch."""
        topics = []
        for topic in asked["topics"]:
            partitions = []
            for one in topic["partitions"]:
                code, partition, _ = self.find(topic["topic"], None, one["partition"], one.get("currentLeaderEpoch", -1))
                told: Message = {"partition": one["partition"], "errorCode": code}
                if partition is not None and code == 0:
                    told["leaderEpoch"], told["endOffset"] = partition.log.end_of_epoch(one["leaderEpoch"])
                partitions.append(told)
            topics.append({"topic": topic["topic"], "partitions": partitions})
        answer: Message = {"topics": topics}
        return {**answer, "throttleTimeMs": self.faults.throttle_ms} if version >= 2 else answer

    def describe_configs(self, version: int, asked: Message) -> Message:
        """Configurations that topics have set."""
        return {"throttleTimeMs": 0, "results": [self._described(version, one) for one in asked["resources"]]}

    def _described(self, version: int, one: Message) -> Message:
        topic = self.cluster.topics.get(one["resourceName"])
        more: Message = {"configType": 5, "documentation": None} if version >= 3 else {}
        told = {"readOnly": False, "configSource": 1, "isSensitive": False, "synonyms": [], **more}
        configs = [] if topic is None else [{"name": name, "value": value, **told} for name, value in topic.configs.items()]
        place = {"resourceType": one["resourceType"], "resourceName": one["resourceName"]}
        code, message = (UNKNOWN, None) if topic is None else (0, "")
        return {"errorCode": code, "errorMessage": message, **place, "configs": configs}

    def alter_configs(self, asked: Message, *, anew: bool = False) -> Message:
        """Set what topics shall have, beside what they have or instead of it."""
        rows = []
        for one in asked["resources"]:
            topic = self.cluster.topics.get(one["resourceName"])
            if topic is not None and not asked["validateOnly"]:
                before = {} if anew else topic.configs
                topic.configs = before | {change["name"]: change["value"] for change in one["configs"]}
            place = {"resourceType": one["resourceType"], "resourceName": one["resourceName"]}
            rows.append({"errorCode": UNKNOWN if topic is None else 0, "errorMessage": None, **place})
        return {"throttleTimeMs": 0, "responses": rows}

    def create_partitions(self, asked: Message) -> Message:
        """Let topics grow."""
        for one in asked["topics"]:
            self.cluster.grow(one["name"], one["count"])
        return {"throttleTimeMs": 0, "results": [{"name": one["name"], "errorCode": 0} for one in asked["topics"]]}

    def produce(self, version: int, asked: Message) -> Message:
        """Append what a producer sends, batch by batch."""
        topics = []
        for topic in asked["topicData"]:
            partitions = []
            for one in topic["partitionData"]:
                code, partition, _ = self.find(topic["name"], None, one["index"], -1)
                told: Message = {"index": one["index"], "errorCode": code, "baseOffset": -1}
                if partition is not None and code == 0:
                    told["baseOffset"] = partition.log.append_all(one["records"] or b"", partition.epoch)
                partitions.append(told)
            topics.append({"name": topic["name"], "partitionResponses": partitions})
        del version
        self.cluster.changed()
        return {"responses": topics, "throttleTimeMs": self.faults.throttle_ms}

    def fetch_partition(self, version: int, asked: Message, want: Message, place: tuple[str | None, str | None]) -> Message:
        """Answer of a Fetch for a partition; ``place`` is the topic's name or its id."""
        number, offset = want["partition"], want["fetchOffset"]
        code, partition, topic = self.find(*place, number, want.get("currentLeaderEpoch", -1), fetches=True)
        told: Message = {"partitionIndex": number, "errorCode": code, "highWatermark": -1, "records": b""}
        if partition is None:
            return told
        if code in {NOT_LEADER, FENCED} and version >= _FETCH_TAGS:
            told["currentLeader"] = {"leaderId": partition.leader, "leaderEpoch": partition.epoch}
        if code:
            return told
        if (replica := self.faults.preferred.get((topic, number), self.node)) != self.node:
            return {**told, "highWatermark": partition.log.high_watermark, "preferredReadReplica": replica}
        log = partition.log
        told["highWatermark"] = log.high_watermark
        told["lastStableOffset"] = log.last_stable_offset
        if version >= 5:
            told["logStartOffset"] = log.start
        if (last := want.get("lastFetchedEpoch", -1)) >= 0:
            epoch, end = log.end_of_epoch(last)
            if epoch < last or end < offset:
                return {**told, "divergingEpoch": {"epoch": epoch, "endOffset": end}}
        if not log.start <= offset <= log.end:
            return {**told, "errorCode": OUT_OF_RANGE, "highWatermark": -1}
        committed = asked["isolationLevel"] == 1
        told["records"] = self.faults.records(
            topic, self._records(log, offset, committed=committed, most=want["partitionMaxBytes"])
        )
        aborted = log.aborted_in(offset, told["records"]) if committed else []
        told["abortedTransactions"] = [{"producerId": one.producer_id, "firstOffset": one.first_offset} for one in aborted]
        return told

    def _records(self, log: PartitionLog, offset: int, *, committed: bool, most: int) -> bytes:
        data = log.read(offset, committed=committed, most=most)
        if not data:
            return data
        if self.faults.earlier_batches:
            before = [bytes_ for header, bytes_ in log.batches if header.last_offset < offset]
            data = b"".join(before[-self.faults.earlier_batches :]) + data
        if self.faults.tail_bytes:
            # The next batch, of which only so much has fitted in; of the last there is none.
            whole = log.read(offset, committed=committed, most=len(data) + most + 1_000_000)
            data += whole[len(data) :][: self.faults.tail_bytes] or data[: self.faults.tail_bytes]
        return data
