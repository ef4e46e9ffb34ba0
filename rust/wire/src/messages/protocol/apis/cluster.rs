//! RPCs about the cluster: its topics, its coordinators and its brokers.

use super::super::schema::{
    Api, array, boolean, int8, int16, int32, int32s, string, strings, uuid,
};
use super::{ERROR_MESSAGE, NOT_ASKED, THROTTLE_TIME_MS};

/// RPC 3.
pub static METADATA: Api = Api {
    key: 3,
    name: "Metadata",
    versions: 0..=13,
    flexible_since: 9,
    request: &[
        array(
            "topics",
            &[
                uuid("topicId").since(10).or_zero(),
                string("name").nullable_since(10),
            ],
        )
        .nullable_since(1),
        boolean("allowAutoTopicCreation").since(4).or_true(),
        boolean("includeClusterAuthorizedOperations")
            .since(8)
            .until(10)
            .or_zero(),
        boolean("includeTopicAuthorizedOperations")
            .since(8)
            .or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS.since(3),
        array(
            "brokers",
            &[
                int32("nodeId"),
                string("host"),
                int32("port"),
                string("rack").since(1).nullable().or_null(),
            ],
        ),
        string("clusterId").since(2).nullable().or_null(),
        int32("controllerId").since(1).or(-1),
        array(
            "topics",
            &[
                int16("errorCode"),
                string("name").nullable_since(12),
                uuid("topicId").since(10),
                boolean("isInternal").since(1).or_zero(),
                array(
                    "partitions",
                    &[
                        int16("errorCode"),
                        int32("partitionIndex"),
                        int32("leaderId"),
                        int32("leaderEpoch").since(7).or(-1),
                        int32s("replicaNodes"),
                        int32s("isrNodes"),
                        int32s("offlineReplicas").since(5).or_zero(),
                    ],
                ),
                int32("topicAuthorizedOperations").since(8).or(NOT_ASKED),
            ],
        ),
        int32("clusterAuthorizedOperations")
            .since(8)
            .until(10)
            .or(NOT_ASKED),
        int16("errorCode").since(13).or_zero(),
    ],
};

/// RPC 10. Key type 2, a share partition, is known since version 6 (KIP-932).
pub static FIND_COORDINATOR: Api = Api {
    key: 10,
    name: "FindCoordinator",
    versions: 0..=6,
    flexible_since: 3,
    request: &[
        string("key").until(3),
        int8("keyType").since(1).or_zero(),
        strings("coordinatorKeys").since(4),
    ],
    response: &[
        THROTTLE_TIME_MS.since(1),
        int16("errorCode").until(3),
        ERROR_MESSAGE.since(1).until(3),
        int32("nodeId").until(3),
        string("host").until(3),
        int32("port").until(3),
        array(
            "coordinators",
            &[
                string("key"),
                int32("nodeId"),
                string("host"),
                int32("port"),
                int16("errorCode"),
                ERROR_MESSAGE,
            ],
        )
        .since(4),
    ],
};

/// RPC 60.
pub static DESCRIBE_CLUSTER: Api = Api {
    key: 60,
    name: "DescribeCluster",
    versions: 0..=2,
    flexible_since: 0,
    request: &[
        boolean("includeClusterAuthorizedOperations").or_zero(),
        int8("endpointType").since(1).or(1),
        boolean("includeFencedBrokers").since(2).or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS,
        int16("errorCode"),
        ERROR_MESSAGE,
        int8("endpointType").since(1).or(1),
        string("clusterId"),
        int32("controllerId").or(-1),
        array(
            "brokers",
            &[
                int32("brokerId"),
                string("host"),
                int32("port"),
                string("rack").nullable().or_null(),
                boolean("isFenced").since(2).or_zero(),
            ],
        ),
        int32("clusterAuthorizedOperations").or(NOT_ASKED),
    ],
};
