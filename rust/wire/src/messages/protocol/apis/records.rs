//! Records out of a cluster, by the ordinary Fetch.

use super::super::schema::{
    Api, array, bytes, int8, int16, int32, int32s, int64, string, structure, uuid,
};
use super::{CURRENT_LEADER, NODE_ENDPOINTS, THROTTLE_TIME_MS};

/// RPC 1.
pub static FETCH: Api = Api {
    key: 1,
    name: "Fetch",
    versions: 4..=18,
    flexible_since: 12,
    request: &[
        int32("replicaId").until(14).or(-1),
        int32("maxWaitMs"),
        int32("minBytes"),
        int32("maxBytes").or(0x7fff_ffff),
        int8("isolationLevel").or_zero(),
        int32("sessionId").since(7).or_zero(),
        int32("sessionEpoch").since(7).or(-1),
        array(
            "topics",
            &[
                string("topic").until(12),
                uuid("topicId").since(13),
                array(
                    "partitions",
                    &[
                        int32("partition"),
                        int32("currentLeaderEpoch").since(9).or(-1),
                        int64("fetchOffset"),
                        int32("lastFetchedEpoch").since(12).or(-1),
                        int64("logStartOffset").since(5).or(-1),
                        int32("partitionMaxBytes"),
                        uuid("replicaDirectoryId").since(17).tag(0),
                        int64("highWatermark").since(18).tag(1),
                    ],
                ),
            ],
        ),
        array(
            "forgottenTopicsData",
            &[
                string("topic").until(12),
                uuid("topicId").since(13),
                int32s("partitions"),
            ],
        )
        .since(7)
        .or_zero(),
        string("rackId").since(11).or_zero(),
        string("clusterId").since(12).nullable().tag(0),
        structure(
            "replicaState",
            &[int32("replicaId").or(-1), int64("replicaEpoch").or(-1)],
        )
        .since(15)
        .tag(1),
    ],
    response: &[
        THROTTLE_TIME_MS,
        int16("errorCode").since(7),
        int32("sessionId").since(7).or_zero(),
        array(
            "responses",
            &[
                string("topic").until(12),
                uuid("topicId").since(13),
                array(
                    "partitions",
                    &[
                        int32("partitionIndex"),
                        int16("errorCode"),
                        int64("highWatermark"),
                        int64("lastStableOffset").or(-1),
                        int64("logStartOffset").since(5).or(-1),
                        array(
                            "abortedTransactions",
                            &[int64("producerId"), int64("firstOffset")],
                        )
                        .nullable()
                        .or_null(),
                        int32("preferredReadReplica").since(11).or(-1),
                        bytes("records").nullable(),
                        structure(
                            "divergingEpoch",
                            &[int32("epoch").or(-1), int64("endOffset").or(-1)],
                        )
                        .since(12)
                        .tag(0),
                        structure("currentLeader", CURRENT_LEADER).since(12).tag(1),
                        structure(
                            "snapshotId",
                            &[int64("endOffset").or(-1), int32("epoch").or(-1)],
                        )
                        .since(12)
                        .tag(2),
                    ],
                ),
            ],
        ),
        array("nodeEndpoints", NODE_ENDPOINTS).since(16).tag(0),
    ],
};
