//! RPCs about the beginning and end of a partition's log, by time and by leader epoch.

use super::super::schema::{Api, array, int8, int16, int32, int64, string};
use super::THROTTLE_TIME_MS;

/// RPC 2.
pub static LIST_OFFSETS: Api = Api {
    key: 2,
    name: "ListOffsets",
    versions: 1..=11,
    flexible_since: 6,
    request: &[
        int32("replicaId").or(-1),
        int8("isolationLevel").since(2).or_zero(),
        array(
            "topics",
            &[
                string("name"),
                array(
                    "partitions",
                    &[
                        int32("partitionIndex"),
                        int32("currentLeaderEpoch").since(4).or(-1),
                        int64("timestamp"),
                    ],
                ),
            ],
        ),
        int32("timeoutMs").since(10).or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS.since(2),
        array(
            "topics",
            &[
                string("name"),
                array(
                    "partitions",
                    &[
                        int32("partitionIndex"),
                        int16("errorCode"),
                        int64("timestamp").or(-1),
                        int64("offset").or(-1),
                        int32("leaderEpoch").since(4).or(-1),
                    ],
                ),
            ],
        ),
    ],
};

/// RPC 23. Kafka's default of `replicaId` is -2, a tool that looks for faults; a consumer says -1.
pub static OFFSET_FOR_LEADER_EPOCH: Api = Api {
    key: 23,
    name: "OffsetForLeaderEpoch",
    versions: 2..=4,
    flexible_since: 4,
    request: &[
        int32("replicaId").since(3).or(-1),
        array(
            "topics",
            &[
                string("topic"),
                array(
                    "partitions",
                    &[
                        int32("partition"),
                        int32("currentLeaderEpoch").or(-1),
                        int32("leaderEpoch"),
                    ],
                ),
            ],
        ),
    ],
    response: &[
        THROTTLE_TIME_MS,
        array(
            "topics",
            &[
                string("topic"),
                array(
                    "partitions",
                    &[
                        int16("errorCode"),
                        int32("partition"),
                        int32("leaderEpoch").or(-1),
                        int64("endOffset").or(-1),
                    ],
                ),
            ],
        ),
    ],
};
