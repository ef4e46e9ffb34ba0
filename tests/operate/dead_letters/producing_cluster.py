"""A fake cluster that takes records as a broker does: it sets offsets, refuses what a test wants, and knows repeated batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from share_state._core import ERROR_CODES
from tests.gateway.wire.batches import Header, headers, rebased
from tests.operate.live.fake_cluster import FakeCluster

PRODUCE, INIT = 0, 22


@dataclass
class ProducingCluster(FakeCluster):
    """Broker that leads everything, with the logs of ``logs``.

    Attributes:
        max_bytes: of a batch; a larger one is too large.
        cut: API keys whose next answer is lost with the connection, after it was done.
        batches_seen: topic, partition and header of each batch that came, in order.
        acks: of each request.
        before_produce: called before each answer to Produce, when all is done.
    """

    max_bytes: int = 1 << 20
    cut: list[int] = field(default_factory=list)
    batches_seen: list[tuple[str, int, Header]] = field(default_factory=list)
    acks: set[int] = field(default_factory=set)
    before_produce: Callable[[], None] = lambda: None

    def _versions(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        told = super()._versions(asked)
        told["apiKeys"] += [{"apiKey": key, "minVersion": 0, "maxVersion": newest} for key, newest in ((PRODUCE, 13), (INIT, 6))]
        return told

    def _answer(self, api_key: int, asked: Mapping[str, Any]) -> dict[str, Any]:
        if api_key == INIT:
            return {"throttleTimeMs": 0, "errorCode": self._refusal(INIT), "producerId": 7, "producerEpoch": 1}
        answer = self._produced(asked) if api_key == PRODUCE else super()._answer(api_key, asked)
        if api_key in self.cut:
            self.cut.remove(api_key)
            raise ConnectionResetError
        return answer

    def _produced(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self.acks.add(asked["acks"])
        told = [
            {"name": topic["name"], "partitionResponses": [self._appended(topic["name"], row) for row in topic["partitionData"]]}
            for topic in asked["topicData"]
        ]
        self.before_produce()
        return {"responses": told, "throttleTimeMs": 0}

    def _appended(self, name: str, row: Mapping[str, Any]) -> dict[str, Any]:
        (header,) = headers(row["records"])
        place = name, row["index"]
        self.batches_seen.append((*place, header))
        log = self.logs.setdefault(place, [])
        known = [one for data in log for one in headers(data) if one.base_sequence == header.base_sequence]
        code = self._refusal(PRODUCE)
        if len(row["records"]) > self.max_bytes:
            code = ERROR_CODES["MESSAGE_TOO_LARGE"]
        base = known[0].base_offset if known else sum(one.records for data in log for one in headers(data))
        if not code and not known:
            log.append(rebased(row["records"], base, 0))
        return {"index": row["index"], "errorCode": code, "baseOffset": -1 if code else base, "errorMessage": None}
