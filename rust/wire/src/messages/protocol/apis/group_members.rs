//! Members of ordinary groups, by the first protocol of consumers ("classic").

use super::super::schema::{Api, Field, array, boolean, bytes, int16, int32, string};
use super::THROTTLE_TIME_MS;

/// Name of a member that keeps its place over restarts (KIP-345).
const GROUP_INSTANCE_ID: Field = string("groupInstanceId").nullable().or_null();
const PROTOCOL_TYPE: Field = string("protocolType").nullable().or_null();

/// RPC 11.
pub static JOIN_GROUP: Api = Api {
    key: 11,
    name: "JoinGroup",
    versions: 0..=9,
    flexible_since: 6,
    request: &[
        string("groupId"),
        int32("sessionTimeoutMs"),
        int32("rebalanceTimeoutMs").since(1).or(-1),
        string("memberId"),
        GROUP_INSTANCE_ID.since(5),
        string("protocolType"),
        array("protocols", &[string("name"), bytes("metadata")]),
        string("reason").since(8).nullable().or_null(),
    ],
    response: &[
        THROTTLE_TIME_MS.since(2),
        int16("errorCode"),
        int32("generationId").or(-1),
        PROTOCOL_TYPE.since(7),
        string("protocolName").nullable_since(7),
        string("leader"),
        boolean("skipAssignment").since(9).or_zero(),
        string("memberId"),
        array(
            "members",
            &[
                string("memberId"),
                GROUP_INSTANCE_ID.since(5),
                bytes("metadata"),
            ],
        ),
    ],
};

/// RPC 12.
pub static HEARTBEAT: Api = Api {
    key: 12,
    name: "Heartbeat",
    versions: 0..=4,
    flexible_since: 4,
    request: &[
        string("groupId"),
        int32("generationId"),
        string("memberId"),
        GROUP_INSTANCE_ID.since(3),
    ],
    response: &[THROTTLE_TIME_MS.since(1), int16("errorCode")],
};

/// RPC 13.
pub static LEAVE_GROUP: Api = Api {
    key: 13,
    name: "LeaveGroup",
    versions: 0..=5,
    flexible_since: 4,
    request: &[
        string("groupId"),
        string("memberId").until(2),
        array(
            "members",
            &[
                string("memberId"),
                GROUP_INSTANCE_ID,
                string("reason").since(5).nullable().or_null(),
            ],
        )
        .since(3),
    ],
    response: &[
        THROTTLE_TIME_MS.since(1),
        int16("errorCode"),
        array(
            "members",
            &[
                string("memberId"),
                string("groupInstanceId").nullable(),
                int16("errorCode"),
            ],
        )
        .since(3),
    ],
};

/// RPC 14.
pub static SYNC_GROUP: Api = Api {
    key: 14,
    name: "SyncGroup",
    versions: 0..=5,
    flexible_since: 4,
    request: &[
        string("groupId"),
        int32("generationId"),
        string("memberId"),
        GROUP_INSTANCE_ID.since(3),
        PROTOCOL_TYPE.since(5),
        string("protocolName").since(5).nullable().or_null(),
        array("assignments", &[string("memberId"), bytes("assignment")]),
    ],
    response: &[
        THROTTLE_TIME_MS.since(1),
        int16("errorCode"),
        PROTOCOL_TYPE.since(5),
        string("protocolName").since(5).nullable().or_null(),
        bytes("assignment"),
    ],
};
