//! RPCs of administrators of share groups (KIP-932).

use super::super::schema::{
    Api, Fields, array, boolean, int16, int32, int32s, int64, string, strings, structure, uuid,
};
use super::{ERROR_MESSAGE, NOT_ASKED, THROTTLE_TIME_MS};

/// RPC 77.
pub static SHARE_GROUP_DESCRIBE: Api = Api {
    key: 77,
    name: "ShareGroupDescribe",
    versions: 1..=1,
    flexible_since: 0,
    request: &[
        strings("groupIds"),
        boolean("includeAuthorizedOperations").or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS,
        array(
            "groups",
            &[
                int16("errorCode"),
                ERROR_MESSAGE,
                string("groupId"),
                string("groupState"),
                int32("groupEpoch"),
                int32("assignmentEpoch"),
                string("assignorName"),
                array("members", MEMBERS),
                int32("authorizedOperations").or(NOT_ASKED),
            ],
        ),
    ],
};

const MEMBERS: Fields = &[
    string("memberId"),
    string("rackId").nullable().or_null(),
    int32("memberEpoch"),
    string("clientId"),
    string("clientHost"),
    strings("subscribedTopicNames"),
    structure(
        "assignment",
        &[array(
            "topicPartitions",
            &[uuid("topicId"), string("topicName"), int32s("partitions")],
        )],
    ),
];

/// RPC 90. Null topics are all that have state.
pub static DESCRIBE_SHARE_GROUP_OFFSETS: Api = Api {
    key: 90,
    name: "DescribeShareGroupOffsets",
    versions: 0..=1,
    flexible_since: 0,
    request: &[array(
        "groups",
        &[
            string("groupId"),
            array("topics", &[string("topicName"), int32s("partitions")]).nullable(),
        ],
    )],
    response: &[
        THROTTLE_TIME_MS,
        array(
            "groups",
            &[
                string("groupId"),
                array(
                    "topics",
                    &[
                        string("topicName"),
                        uuid("topicId"),
                        array(
                            "partitions",
                            &[
                                int32("partitionIndex"),
                                int64("startOffset"),
                                int32("leaderEpoch"),
                                int64("lag").since(1).or(-1),
                                int16("errorCode"),
                                ERROR_MESSAGE,
                            ],
                        ),
                    ],
                ),
                int16("errorCode"),
                ERROR_MESSAGE,
            ],
        ),
    ],
};

/// RPC 91.
pub static ALTER_SHARE_GROUP_OFFSETS: Api = Api {
    key: 91,
    name: "AlterShareGroupOffsets",
    versions: 0..=0,
    flexible_since: 0,
    request: &[
        string("groupId"),
        array(
            "topics",
            &[
                string("topicName"),
                array(
                    "partitions",
                    &[int32("partitionIndex"), int64("startOffset")],
                ),
            ],
        ),
    ],
    response: &[
        THROTTLE_TIME_MS,
        int16("errorCode"),
        ERROR_MESSAGE,
        array(
            "responses",
            &[
                string("topicName"),
                uuid("topicId"),
                array(
                    "partitions",
                    &[int32("partitionIndex"), int16("errorCode"), ERROR_MESSAGE],
                ),
            ],
        ),
    ],
};

/// RPC 92.
pub static DELETE_SHARE_GROUP_OFFSETS: Api = Api {
    key: 92,
    name: "DeleteShareGroupOffsets",
    versions: 0..=0,
    flexible_since: 0,
    request: &[string("groupId"), array("topics", &[string("topicName")])],
    response: &[
        THROTTLE_TIME_MS,
        int16("errorCode"),
        ERROR_MESSAGE,
        array(
            "responses",
            &[
                string("topicName"),
                uuid("topicId"),
                int16("errorCode"),
                ERROR_MESSAGE,
            ],
        ),
    ],
};
