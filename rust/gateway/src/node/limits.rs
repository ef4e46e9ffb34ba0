//! Limits for clients: what one may send, hold and keep unread. The memory that clients take is bounded because each of these is, and
//! because the driver of a node takes so many connections at most. Rings are bounded one by one, and all together from time to time.

use share_state_wire::messages::protocol::apis::{
    SASL_AUTHENTICATE, SHARE_ACKNOWLEDGE, SHARE_FETCH,
};

/// Limits of a node for its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of ShareFetch and ShareAcknowledge, whose lists of acknowledgements may be long.
    pub frame: usize,
    /// Bytes of a request that the node does not serve itself.
    pub other_frame: usize,
    /// Bytes of a request of a client that has not logged in.
    pub stranger_frame: usize,
    /// Bytes of a login with a token, of such a client.
    pub token_frame: usize,
    /// Elements of all arrays of a request altogether. A share session has as many partitions at most.
    pub elements: usize,
    /// Bytes of requests of one connection that may wait for the one before them; no more is read then.
    pub waiting: usize,
    /// Bytes of requests of all connections that have arrived and are not begun; the connection with most of them is ended then.
    pub queued: usize,
    /// Bytes of the answers of one connection that its client has not taken; its next request waits then.
    pub unread: usize,
    /// Bytes of all answers that clients have not taken; share fetches wait then.
    pub answers: usize,
    /// Bytes of records in one answer (`fetch.max.bytes`).
    pub fetch_max_bytes: usize,
    /// Number of share sessions (`group.share.max.share.sessions`).
    pub sessions: usize,
    /// Longest time that a fetch waits, however long its client would, ms. Java's and librdkafka's own time-outs are 30 s and
    /// 60 s; franz-go gives up 5 s after the time that it asked for.
    pub max_wait_ms: i32,
    /// Bytes of batches that a ring keeps for groups that are behind the fastest one. One read that is larger is kept too.
    pub ring: usize,
    /// Bytes of frames that all rings keep in memory together.
    pub rings: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: 8 << 20,
            other_frame: 1 << 20,
            stranger_frame: 4 << 10,
            token_frame: 68 << 10,
            elements: 25_000,
            waiting: 64 << 10,
            queued: 64 << 20,
            unread: 256 << 10,
            answers: 256 << 20,
            fetch_max_bytes: 55 << 20,
            sessions: 2_000,
            max_wait_ms: 25_000,
            ring: 8 << 20,
            rings: 256 << 20,
        }
    }
}

impl Limits {
    /// Bytes that a frame may have that begins with this API key; `None` while so much has not arrived.
    pub(crate) fn longest(&self, is_stranger: bool, api_key: Option<i16>) -> usize {
        let is_one_of = |keys: &[i16]| api_key.is_none_or(|key| keys.contains(&key));
        if is_stranger && is_one_of(&[SASL_AUTHENTICATE.key]) {
            self.token_frame
        } else if is_stranger {
            self.stranger_frame
        } else if api_key.is_none() {
            self.frame.max(self.other_frame)
        } else if is_one_of(&[SHARE_FETCH.key, SHARE_ACKNOWLEDGE.key]) {
            self.frame
        } else {
            self.other_frame
        }
    }
}
