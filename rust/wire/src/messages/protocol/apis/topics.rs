//! Topics made, grown and deleted.

use super::super::schema::{
    Api, array, boolean, int8, int16, int32, int32s, string, strings, uuid,
};
use super::{ERROR_MESSAGE, THROTTLE_TIME_MS};

/// RPC 19.
pub static CREATE_TOPICS: Api = Api {
    key: 19,
    name: "CreateTopics",
    versions: 2..=7,
    flexible_since: 5,
    request: &[
        array(
            "topics",
            &[
                string("name"),
                int32("numPartitions"),
                int16("replicationFactor"),
                array(
                    "assignments",
                    &[int32("partitionIndex"), int32s("brokerIds")],
                )
                .or_zero(),
                array("configs", &[string("name"), string("value").nullable()]).or_zero(),
            ],
        ),
        int32("timeoutMs").or(60_000),
        boolean("validateOnly").or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS,
        array(
            "topics",
            &[
                string("name"),
                uuid("topicId").since(7),
                int16("errorCode"),
                ERROR_MESSAGE,
                int16("topicConfigErrorCode").since(5).tag(0),
                int32("numPartitions").since(5).or(-1),
                int16("replicationFactor").since(5).or(-1),
                array(
                    "configs",
                    &[
                        string("name"),
                        string("value").nullable(),
                        boolean("readOnly"),
                        int8("configSource").or(-1),
                        boolean("isSensitive"),
                    ],
                )
                .since(5)
                .nullable()
                .or_zero(),
            ],
        ),
    ],
};

/// RPC 20.
pub static DELETE_TOPICS: Api = Api {
    key: 20,
    name: "DeleteTopics",
    versions: 1..=6,
    flexible_since: 4,
    request: &[
        array(
            "topics",
            &[
                string("name").nullable().or_null(),
                uuid("topicId").or_zero(),
            ],
        )
        .since(6),
        strings("topicNames").until(5),
        int32("timeoutMs"),
    ],
    response: &[
        THROTTLE_TIME_MS,
        array(
            "responses",
            &[
                string("name").nullable_since(6),
                uuid("topicId").since(6),
                int16("errorCode"),
                ERROR_MESSAGE.since(5),
            ],
        ),
    ],
};

/// RPC 37.
pub static CREATE_PARTITIONS: Api = Api {
    key: 37,
    name: "CreatePartitions",
    versions: 0..=3,
    flexible_since: 2,
    request: &[
        array(
            "topics",
            &[
                string("name"),
                int32("count"),
                array("assignments", &[int32s("brokerIds")])
                    .nullable()
                    .or_null(),
            ],
        ),
        int32("timeoutMs"),
        boolean("validateOnly").or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS,
        array(
            "results",
            &[string("name"), int16("errorCode"), ERROR_MESSAGE],
        ),
    ],
};
