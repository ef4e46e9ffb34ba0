//! Only answers that clients survive: the one place where Kafka's codes are chosen for share consumers.
//!
//! The Java consumer throws out of `poll` on any code of a fetched partition that it does not expect.
//!
//! | rule | content | reason |
//! |---|---|---|
//! | R1 | a fetched partition has a code of [`fetch`], else -1 | Java dies on others |
//! | R4 | no answer takes longer than MaxWait, which is at most [`Limits::max_wait_ms`](super::Limits), but for a second in which the start of a log is asked for | franz-go gives up 5 s after it |
//! | R5 | 133 comes after MaxWait | clients try again at once |
//! | R6 | every acknowledged partition is in the answer | a missing one counts as refused |
//! | R7 | a connection's next request begins when the one before it is answered | a ShareAcknowledge would move the session's epoch on under a waiting ShareFetch |
//! | R9 | CurrentLeader is -1/-1 unless it is a hint | 0/0 means "moved to node 0" to franz-go |
//!
//! R8 (merging) and R10 (replacing) are kept by the share sessions, R11 (release) by `sessions.rs`. R12 and R13 say what is *not*
//! checked: a member acknowledges by its locks alone.

use share_state_core::kafka_code::KafkaCode;

/// The start offset cannot be found yet.
pub(super) const OFFSET_NOT_AVAILABLE: i16 = 78;

/// Codes of a fetched partition that every client survives.
const FETCH: [i16; 6] = [
    KafkaCode::UnknownServerError.code(),
    KafkaCode::None.code(),
    KafkaCode::UnknownTopicOrPartition.code(),
    KafkaCode::TopicAuthorizationFailed.code(),
    KafkaCode::UnknownTopicId.code(),
    OFFSET_NOT_AVAILABLE,
];

/// The code of a fetched partition for a client (R1). A share partition of this node that was fenced is loaded again, and the
/// client sees no error; "not here" is no business of this function.
pub(super) fn fetch(code: i16) -> i16 {
    const LOADED_AGAIN: [i16; 3] = [
        KafkaCode::NotLeaderOrFollower.code(),
        KafkaCode::FencedLeaderEpoch.code(),
        KafkaCode::FencedStateEpoch.code(),
    ];
    if LOADED_AGAIN.contains(&code) {
        KafkaCode::None.code()
    } else if FETCH.contains(&code) {
        code
    } else {
        KafkaCode::UnknownServerError.code()
    }
}

/// Kafka's name of a code that a share partition has ended with and that no client is told.
pub(super) fn name(code: i16) -> &'static str {
    let code = KafkaCode::from_i16(code);
    code.unwrap_or(KafkaCode::UnknownServerError).name()
}

/// The code of acknowledgements for a client. Any is survived, and goes to the application; but not every client tries again
/// after KAFKA_STORAGE_ERROR.
pub(super) fn acknowledge(code: i16) -> i16 {
    if code == KafkaCode::KafkaStorageError.code() {
        KafkaCode::UnknownServerError.code()
    } else {
        code
    }
}

/// The text beside a code of acknowledgements, after Kafka's (`Errors`). Kafka says the code alone where a share partition has
/// not seen the acknowledgements.
pub(super) fn acknowledge_text(code: i16) -> Option<&'static str> {
    match KafkaCode::from_i16(code) {
        Some(
            KafkaCode::None
            | KafkaCode::UnknownTopicOrPartition
            | KafkaCode::TopicAuthorizationFailed
            | KafkaCode::UnknownTopicId,
        ) => None,
        Some(KafkaCode::CoordinatorNotAvailable) => Some("The coordinator is not available."),
        Some(KafkaCode::InvalidRequest) => {
            Some("The request is malformed, or was sent to a server of another kind.")
        }
        Some(KafkaCode::InvalidRecordState) => Some(
            "The record state is invalid. The acknowledgement of delivery could not be completed.",
        ),
        _ => Some("The server experienced an unexpected error when processing the request."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_codes_that_clients_survive() {
        for (code, fetched, acknowledged) in [
            (0, 0, 0),
            (-1, -1, -1),
            (3, 3, 3),
            (29, 29, 29),
            (78, 78, 78),
            (100, 100, 100),
            // It is loaded again.
            (6, 0, 6),
            (74, 0, 74),
            (124, 0, 124),
            // Clients do not survive these in a fetch.
            (2, -1, 2),
            (5, -1, 5),
            (14, -1, 14),
            (15, -1, 15),
            (16, -1, 16),
            (42, -1, 42),
            (56, -1, -1),
            (69, -1, 69),
            (121, -1, 121),
        ] {
            assert_eq!((fetch(code), acknowledge(code)), (fetched, acknowledged));
        }
    }

    #[test]
    fn a_code_of_acknowledgements_has_a_text_where_a_share_partition_has_seen_them() {
        for code in [0, 3, 29, 100] {
            assert_eq!(acknowledge_text(code), None, "{code}");
        }
        let unexpected = "The server experienced an unexpected error when processing the request.";
        for (code, text) in [
            (-1, unexpected),
            (6, unexpected),
            (15, "The coordinator is not available."),
            (
                42,
                "The request is malformed, or was sent to a server of another kind.",
            ),
            (
                121,
                "The record state is invalid. The acknowledgement of delivery could not be completed.",
            ),
        ] {
            assert_eq!(acknowledge_text(code), Some(text), "{code}");
        }
    }
}
