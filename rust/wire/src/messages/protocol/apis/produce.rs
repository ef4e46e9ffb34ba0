//! Records into a cluster.

use super::super::schema::{
    Api, array, boolean, bytes, int16, int32, int64, string, structure, uuid,
};
use super::{CURRENT_LEADER, ERROR_MESSAGE, NODE_ENDPOINTS, THROTTLE_TIME_MS};

/// RPC 0.
pub static PRODUCE: Api = Api {
    key: 0,
    name: "Produce",
    versions: 3..=13,
    flexible_since: 9,
    request: &[
        string("transactionalId").nullable().or_null(),
        int16("acks"),
        int32("timeoutMs"),
        array(
            "topicData",
            &[
                string("name").until(12),
                uuid("topicId").since(13),
                array(
                    "partitionData",
                    &[int32("index"), bytes("records").nullable()],
                ),
            ],
        ),
    ],
    response: &[
        array(
            "responses",
            &[
                string("name").until(12),
                uuid("topicId").since(13),
                array(
                    "partitionResponses",
                    &[
                        int32("index"),
                        int16("errorCode"),
                        int64("baseOffset"),
                        int64("logAppendTimeMs").or(-1),
                        int64("logStartOffset").since(5).or(-1),
                        array(
                            "recordErrors",
                            &[
                                int32("batchIndex"),
                                string("batchIndexErrorMessage").nullable().or_null(),
                            ],
                        )
                        .since(8)
                        .or_zero(),
                        ERROR_MESSAGE.since(8),
                        structure("currentLeader", CURRENT_LEADER).since(10).tag(0),
                    ],
                ),
            ],
        ),
        THROTTLE_TIME_MS,
        array("nodeEndpoints", NODE_ENDPOINTS).since(10).tag(0),
    ],
};

/// RPC 22.
pub static INIT_PRODUCER_ID: Api = Api {
    key: 22,
    name: "InitProducerId",
    versions: 0..=6,
    flexible_since: 2,
    request: &[
        string("transactionalId").nullable(),
        int32("transactionTimeoutMs"),
        int64("producerId").since(3).or(-1),
        int16("producerEpoch").since(3).or(-1),
        boolean("enable2Pc").since(6).or_zero(),
        boolean("keepPreparedTxn").since(6).or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS,
        int16("errorCode"),
        int64("producerId").or(-1),
        int16("producerEpoch"),
        int64("ongoingTxnProducerId").since(6).or(-1),
        int16("ongoingTxnProducerEpoch").since(6).or(-1),
    ],
};
