//! The tables, by what they are about.

mod cluster;
mod configs;
mod connection;
mod group_members;
mod groups;
mod offsets;
mod produce;
mod records;
mod share_admin;
mod share_consumer;
mod topics;

pub use cluster::{DESCRIBE_CLUSTER, FIND_COORDINATOR, METADATA};
pub use configs::{
    ALTER_CONFIGS, DESCRIBE_CONFIGS, INCREMENTAL_ALTER_CONFIGS, LIST_CONFIG_RESOURCES,
};
pub use connection::{API_VERSIONS, SASL_AUTHENTICATE, SASL_HANDSHAKE};
pub use group_members::{HEARTBEAT, JOIN_GROUP, LEAVE_GROUP, SYNC_GROUP};
pub use groups::{DELETE_GROUPS, DESCRIBE_GROUPS, LIST_GROUPS};
pub use offsets::{LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH};
pub use produce::{INIT_PRODUCER_ID, PRODUCE};
pub use records::FETCH;
pub use share_admin::{
    ALTER_SHARE_GROUP_OFFSETS, DELETE_SHARE_GROUP_OFFSETS, DESCRIBE_SHARE_GROUP_OFFSETS,
    SHARE_GROUP_DESCRIBE,
};
pub use share_consumer::{SHARE_ACKNOWLEDGE, SHARE_FETCH, SHARE_GROUP_HEARTBEAT};
pub use topics::{CREATE_PARTITIONS, CREATE_TOPICS, DELETE_TOPICS};

use super::schema::{Api, Field, Fields, int32, string};

/// Every RPC that has a table, by key.
pub static APIS: [&Api; 32] = [
    &PRODUCE,
    &FETCH,
    &LIST_OFFSETS,
    &METADATA,
    &FIND_COORDINATOR,
    &JOIN_GROUP,
    &HEARTBEAT,
    &LEAVE_GROUP,
    &SYNC_GROUP,
    &DESCRIBE_GROUPS,
    &LIST_GROUPS,
    &SASL_HANDSHAKE,
    &API_VERSIONS,
    &CREATE_TOPICS,
    &DELETE_TOPICS,
    &INIT_PRODUCER_ID,
    &OFFSET_FOR_LEADER_EPOCH,
    &DESCRIBE_CONFIGS,
    &ALTER_CONFIGS,
    &SASL_AUTHENTICATE,
    &CREATE_PARTITIONS,
    &DELETE_GROUPS,
    &INCREMENTAL_ALTER_CONFIGS,
    &DESCRIBE_CLUSTER,
    &LIST_CONFIG_RESOURCES,
    &SHARE_GROUP_HEARTBEAT,
    &SHARE_GROUP_DESCRIBE,
    &SHARE_FETCH,
    &SHARE_ACKNOWLEDGE,
    &DESCRIBE_SHARE_GROUP_OFFSETS,
    &ALTER_SHARE_GROUP_OFFSETS,
    &DELETE_SHARE_GROUP_OFFSETS,
];

/// Time for which the broker held the answer back, ms.
const THROTTLE_TIME_MS: Field = int32("throttleTimeMs").or_zero();

/// Text with an error code, if any.
const ERROR_MESSAGE: Field = string("errorMessage").nullable().or_null();

/// Operations that the client may do, as bits; the least `int32` when it did not ask.
const NOT_ASKED: i64 = i32::MIN as i64;

/// Leader of the partition. Kafka's share messages say 0 and 0 when it does not know, which clients read as "moved to
/// node 0"; -1 and -1 say nothing, as in Fetch.
const CURRENT_LEADER: Fields = &[int32("leaderId").or(-1), int32("leaderEpoch").or(-1)];

/// Addresses of the leaders that an answer names.
const NODE_ENDPOINTS: Fields = &[
    int32("nodeId"),
    string("host"),
    int32("port"),
    string("rack").nullable().or_null(),
];
