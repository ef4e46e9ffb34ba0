"""ShareAcknowledge (RPC 79): acknowledgements outside of a fetch (``KafkaApis.handleShareAcknowledgeRequest``)."""

from __future__ import annotations

from typing import Any

from share_state._core import ShareSessions
from share_state.gateway.acknowledgements import Acknowledgements, merged
from share_state.gateway.answers import NO_LEADER, acknowledge_code, acknowledge_text
from share_state.gateway.group_configs import GroupConfigs
from share_state.gateway.net import Net
from share_state.gateway.requests import Client, check_member
from share_state.gateway.share_partitions import SharePartitionManager
from share_state.gateway.topic_names import TopicNames
from share_state.kafka import codes

__all__ = ["ShareAcknowledge"]

_FINAL = -1


class ShareAcknowledge:
    """Answers ShareAcknowledge.

    Args:
        sessions: the share sessions.
        manager: the share partitions.
        names: what topics there are.
        configs: configurations of groups.
        net: catches what a partition raises.
    """

    def __init__(
        self, sessions: ShareSessions, manager: SharePartitionManager, names: TopicNames, configs: GroupConfigs, *, net: Net
    ) -> None:
        self._sessions = sessions
        self._manager = manager
        self._names = names
        self._configs = configs
        self._net = net

    async def answer(self, client: Client, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer a request."""
        group, member, epoch = asked["groupId"], asked["memberId"], asked["shareSessionEpoch"]
        code = check_member(client, group, member)
        if code == codes.NONE:
            code = self._sessions.acknowledge(group, member, epoch, client.connection_id)
        if code != codes.NONE:
            return {"errorCode": code, "acquisitionLockTimeoutMs": 0, "responses": []}
        acknowledged, _ = await merged(asked["topics"], self._net.slices)
        names = await self._names.of({topic_id for topic_id, _ in acknowledged})
        is_renewal = asked.get("isRenewAck", False)
        acknowledgements = Acknowledgements(self._manager, names, client, group, member, is_renewal=is_renewal, net=self._net)
        await acknowledgements.begin(acknowledged)
        found = await acknowledgements.codes()
        if epoch == _FINAL:
            self._sessions.close(group, member)
            self._manager.release(group, member)
        responses: dict[str, list[dict[str, Any]]] = {}
        leader_id, leader_epoch = NO_LEADER
        async for (topic_id, partition), outcome in self._net.slices.of(found.items()):
            code = acknowledge_code(outcome)
            responses.setdefault(topic_id, []).append(
                {
                    "partitionIndex": partition,
                    "errorCode": code,
                    "errorMessage": acknowledge_text(code),
                    "currentLeader": {"leaderId": leader_id, "leaderEpoch": leader_epoch},
                }
            )
        return {
            "errorCode": codes.NONE,
            "acquisitionLockTimeoutMs": self._configs.resolved(group).record_lock_duration_ms,
            "responses": [{"topicId": topic_id, "partitions": rows} for topic_id, rows in responses.items()],
        }
