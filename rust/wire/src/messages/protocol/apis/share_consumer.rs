//! RPCs of a share consumer: it is there, it takes records, it is done with some (KIP-932).

use super::super::schema::{
    Api, Field, Fields, array, boolean, bytes, int8, int8s, int16, int32, int32s, int64, string,
    strings, structure, uuid,
};
use super::{CURRENT_LEADER, ERROR_MESSAGE, NODE_ENDPOINTS, THROTTLE_TIME_MS};

/// RPC 76.
pub static SHARE_GROUP_HEARTBEAT: Api = Api {
    key: 76,
    name: "ShareGroupHeartbeat",
    versions: 1..=1,
    flexible_since: 0,
    request: &[
        string("groupId"),
        string("memberId"),
        int32("memberEpoch"),
        string("rackId").nullable().or_null(),
        strings("subscribedTopicNames").nullable().or_null(),
    ],
    response: &[
        THROTTLE_TIME_MS,
        int16("errorCode"),
        ERROR_MESSAGE,
        string("memberId").nullable().or_null(),
        int32("memberEpoch"),
        int32("heartbeatIntervalMs"),
        structure(
            "assignment",
            &[array(
                "topicPartitions",
                &[uuid("topicId"), int32s("partitions")],
            )],
        )
        .nullable()
        .or_null(),
    ],
};

/// RPC 78.
pub static SHARE_FETCH: Api = Api {
    key: 78,
    name: "ShareFetch",
    versions: 1..=2,
    flexible_since: 0,
    request: &[
        GROUP_ID,
        MEMBER_ID,
        int32("shareSessionEpoch"),
        int32("maxWaitMs"),
        int32("minBytes"),
        int32("maxBytes").or(0x7fff_ffff),
        int32("maxRecords"),
        int32("batchSize"),
        int8("shareAcquireMode").since(2).or_zero(),
        IS_RENEW_ACK,
        array("topics", ACKNOWLEDGED),
        array(
            "forgottenTopicsData",
            &[uuid("topicId"), int32s("partitions")],
        )
        .or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS,
        int16("errorCode"),
        ERROR_MESSAGE,
        int32("acquisitionLockTimeoutMs"),
        array(
            "responses",
            &[
                uuid("topicId"),
                array(
                    "partitions",
                    &[
                        int32("partitionIndex"),
                        int16("errorCode"),
                        ERROR_MESSAGE,
                        int16("acknowledgeErrorCode"),
                        string("acknowledgeErrorMessage").nullable().or_null(),
                        structure("currentLeader", CURRENT_LEADER).or_zero(),
                        bytes("records"),
                        array(
                            "acquiredRecords",
                            &[
                                int64("firstOffset"),
                                int64("lastOffset"),
                                int16("deliveryCount"),
                            ],
                        ),
                    ],
                ),
            ],
        ),
        array("nodeEndpoints", NODE_ENDPOINTS).or_zero(),
    ],
};

/// RPC 79.
pub static SHARE_ACKNOWLEDGE: Api = Api {
    key: 79,
    name: "ShareAcknowledge",
    versions: 1..=2,
    flexible_since: 0,
    request: &[
        GROUP_ID,
        MEMBER_ID,
        int32("shareSessionEpoch"),
        IS_RENEW_ACK,
        array("topics", ACKNOWLEDGED),
    ],
    response: &[
        THROTTLE_TIME_MS,
        int16("errorCode"),
        ERROR_MESSAGE,
        int32("acquisitionLockTimeoutMs").since(2),
        array(
            "responses",
            &[
                uuid("topicId"),
                array(
                    "partitions",
                    &[
                        int32("partitionIndex"),
                        int16("errorCode"),
                        ERROR_MESSAGE,
                        structure("currentLeader", CURRENT_LEADER).or_zero(),
                    ],
                ),
            ],
        ),
        array("nodeEndpoints", NODE_ENDPOINTS).or_zero(),
    ],
};

const GROUP_ID: Field = string("groupId").nullable().or_null();

const MEMBER_ID: Field = string("memberId").nullable();

const IS_RENEW_ACK: Field = boolean("isRenewAck").since(2).or_zero();

/// Partitions by topic, with what became of records that were acquired before.
const ACKNOWLEDGED: Fields = &[
    uuid("topicId"),
    array(
        "partitions",
        &[
            int32("partitionIndex"),
            array(
                "acknowledgementBatches",
                &[
                    int64("firstOffset"),
                    int64("lastOffset"),
                    int8s("acknowledgeTypes"),
                ],
            ),
        ],
    ),
];
