"""Where a leader epoch ends (OffsetForLeaderEpoch, KIP-320): how a cut of the log is seen below Fetch version 12.

A consumer asks it when a partition has another leader than before: if the log of the new one has left the epoch of the last
batch that was read before that batch ends, what was read after that is no longer there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from share_state.gateway.upstream.cluster import Upstream
from share_state.kafka import codes
from share_state.kafka.client.apis import FETCH, OFFSET_FOR_LEADER_EPOCH
from share_state.kafka.client.peers import LostError, Node

if TYPE_CHECKING:
    from share_state.gateway.upstream.reader import PartitionReader

__all__ = ["cut_at"]

#: The first Fetch that tells by itself where a log has diverged.
_TELLS: Final = 12
_UNDEFINED: Final = -1


async def cut_at(upstream: Upstream, node: Node, reader: PartitionReader, leader_epoch: int) -> int | None:
    """Find out whether the log of a new leader ends before what was read.

    Args:
        upstream: the cluster.
        node: the new leader.
        reader: what was read.
        leader_epoch: of the new leader.

    Returns:
        The offset from which on the log is another one, or ``None`` where it is the same, or nobody can tell.

    Raises:
        UpstreamError: the leader cannot be asked, or does not answer for the partition now.
    """
    read_epoch = reader.last_fetched_epoch
    if read_epoch < 0 or leader_epoch < 0 or leader_epoch == reader.leader_epoch:
        return None
    connection = await upstream.control.connection(node)
    if connection.version_of(FETCH) >= _TELLS or OFFSET_FOR_LEADER_EPOCH not in connection.offered:
        return None
    row = {"partition": reader.partition, "currentLeaderEpoch": leader_epoch, "leaderEpoch": read_epoch}
    answer = await connection.request(
        OFFSET_FOR_LEADER_EPOCH, {"replicaId": -1, "topics": [{"topic": reader.topic, "partitions": [row]}]}
    )
    for topic in answer["topics"]:
        for found in topic["partitions"]:
            if topic["topic"] != reader.topic or found["partition"] != reader.partition:
                continue
            if found["errorCode"] != codes.NONE:
                raise LostError(str(node), "no answer where a leader epoch ends", code=found["errorCode"], sent=True)
            if found["endOffset"] == _UNDEFINED or found["leaderEpoch"] == _UNDEFINED:
                return None
            return found["endOffset"] if found["endOffset"] < reader.tail or found["leaderEpoch"] < read_epoch else None
    return None
