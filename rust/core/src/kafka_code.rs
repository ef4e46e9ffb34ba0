//! Kafka's error codes, as far as share groups use them (`org.apache.kafka.common.protocol.Errors`).

macro_rules! kafka_codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// An error code of Kafka's protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i16)]
        pub enum KafkaCode { $($(#[$doc])* $name = $code,)* }

        impl KafkaCode {
            /// Every code that share groups use, in ascending order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code with this number, if share groups use it.
            #[must_use]
            pub const fn from_i16(code: i16) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            /// Kafka's name for the code, such as `INVALID_RECORD_STATE`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

kafka_codes! {
    /// Anything the broker has no better word for.
    UnknownServerError = -1, "UNKNOWN_SERVER_ERROR";
    /// No error.
    None = 0, "NONE";
    /// A record batch does not match its checksum.
    CorruptMessage = 2, "CORRUPT_MESSAGE";
    /// The topic or partition does not exist.
    UnknownTopicOrPartition = 3, "UNKNOWN_TOPIC_OR_PARTITION";
    /// The partition has no leader yet.
    LeaderNotAvailable = 5, "LEADER_NOT_AVAILABLE";
    /// Not, or no longer, the leader of the partition.
    NotLeaderOrFollower = 6, "NOT_LEADER_OR_FOLLOWER";
    /// The request took too long.
    RequestTimedOut = 7, "REQUEST_TIMED_OUT";
    /// The connection failed.
    NetworkException = 13, "NETWORK_EXCEPTION";
    /// The coordinator is still loading its state.
    CoordinatorLoadInProgress = 14, "COORDINATOR_LOAD_IN_PROGRESS";
    /// The coordinator is not available.
    CoordinatorNotAvailable = 15, "COORDINATOR_NOT_AVAILABLE";
    /// Another broker is the coordinator.
    NotCoordinator = 16, "NOT_COORDINATOR";
    /// The group id is not valid.
    InvalidGroupId = 24, "INVALID_GROUP_ID";
    /// The group does not know the member.
    UnknownMemberId = 25, "UNKNOWN_MEMBER_ID";
    /// Not authorised for the topic.
    TopicAuthorizationFailed = 29, "TOPIC_AUTHORIZATION_FAILED";
    /// Not authorised for the group.
    GroupAuthorizationFailed = 30, "GROUP_AUTHORIZATION_FAILED";
    /// Not authorised for cluster actions.
    ClusterAuthorizationFailed = 31, "CLUSTER_AUTHORIZATION_FAILED";
    /// The version of the request or record is not supported.
    UnsupportedVersion = 35, "UNSUPPORTED_VERSION";
    /// A configuration is not valid.
    InvalidConfig = 40, "INVALID_CONFIG";
    /// The request breaks the protocol's rules.
    InvalidRequest = 42, "INVALID_REQUEST";
    /// The disk failed.
    KafkaStorageError = 56, "KAFKA_STORAGE_ERROR";
    /// The group still has members.
    NonEmptyGroup = 68, "NON_EMPTY_GROUP";
    /// The group does not exist.
    GroupIdNotFound = 69, "GROUP_ID_NOT_FOUND";
    /// The leader epoch is older than one already seen.
    FencedLeaderEpoch = 74, "FENCED_LEADER_EPOCH";
    /// The group has no room for another member.
    GroupMaxSizeReached = 81, "GROUP_MAX_SIZE_REACHED";
    /// The topic id is not known.
    UnknownTopicId = 100, "UNKNOWN_TOPIC_ID";
    /// The member epoch is not the current one.
    FencedMemberEpoch = 110, "FENCED_MEMBER_EPOCH";
    /// The record is not in the state that the acknowledgement needs.
    InvalidRecordState = 121, "INVALID_RECORD_STATE";
    /// The share session does not exist.
    ShareSessionNotFound = 122, "SHARE_SESSION_NOT_FOUND";
    /// The share-session epoch is not the expected one.
    InvalidShareSessionEpoch = 123, "INVALID_SHARE_SESSION_EPOCH";
    /// The state epoch is older than one already seen.
    FencedStateEpoch = 124, "FENCED_STATE_EPOCH";
    /// No room for another share session.
    ShareSessionLimitReached = 133, "SHARE_SESSION_LIMIT_REACHED";
}

impl KafkaCode {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> i16 {
        self as i16
    }
}

/// Codes that share groups never answer with, but a client of a cluster meets: number and Kafka's name, in ascending order.
pub const CLIENT_CODES: &[(i16, &str)] = &[
    (1, "OFFSET_OUT_OF_RANGE"),
    (8, "BROKER_NOT_AVAILABLE"),
    (9, "REPLICA_NOT_AVAILABLE"),
    (10, "MESSAGE_TOO_LARGE"),
    (17, "INVALID_TOPIC_EXCEPTION"),
    (18, "RECORD_LIST_TOO_LARGE"),
    (19, "NOT_ENOUGH_REPLICAS"),
    (20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
    (22, "ILLEGAL_GENERATION"),
    (23, "INCONSISTENT_GROUP_PROTOCOL"),
    (27, "REBALANCE_IN_PROGRESS"),
    (32, "INVALID_TIMESTAMP"),
    (33, "UNSUPPORTED_SASL_MECHANISM"),
    (34, "ILLEGAL_SASL_STATE"),
    (45, "OUT_OF_ORDER_SEQUENCE_NUMBER"),
    (46, "DUPLICATE_SEQUENCE_NUMBER"),
    (47, "INVALID_PRODUCER_EPOCH"),
    (58, "SASL_AUTHENTICATION_FAILED"),
    (59, "UNKNOWN_PRODUCER_ID"),
    (70, "FETCH_SESSION_ID_NOT_FOUND"),
    (71, "INVALID_FETCH_SESSION_EPOCH"),
    (75, "UNKNOWN_LEADER_EPOCH"),
    (76, "UNSUPPORTED_COMPRESSION_TYPE"),
    (78, "OFFSET_NOT_AVAILABLE"),
    (79, "MEMBER_ID_REQUIRED"),
    (87, "INVALID_RECORD"),
    (103, "INCONSISTENT_TOPIC_ID"),
    (106, "FETCH_SESSION_TOPIC_ID_ERROR"),
    (114, "MISMATCHED_ENDPOINT_TYPE"),
    (115, "UNSUPPORTED_ENDPOINT_TYPE"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_number_and_the_list_ascends() {
        assert_eq!(KafkaCode::ALL.len(), 31);
        for pair in KafkaCode::ALL.windows(2) {
            assert!(pair[0].code() < pair[1].code());
        }
        for code in KafkaCode::ALL {
            assert_eq!(KafkaCode::from_i16(code.code()), Some(*code));
        }
        assert_eq!(KafkaCode::from_i16(1), None);
    }

    #[test]
    fn a_code_of_clients_is_none_of_share_groups_and_the_list_ascends() {
        assert!(CLIENT_CODES.is_sorted_by(|(one, _), (next, _)| one < next));
        for (code, _) in CLIENT_CODES {
            assert_eq!(KafkaCode::from_i16(*code), None);
        }
    }
}
