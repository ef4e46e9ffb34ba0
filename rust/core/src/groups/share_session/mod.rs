//! Share sessions: which partitions a member fetches, without naming them in every request (Kafka: `ShareSessionCache`,
//! the contexts of `SharePartitionManager`; KIP-932).
//!
//! A member opens its session with epoch 0 and the whole list of its partitions; from then on a request names only what
//! changes and carries the epoch that the session expects next. [`ShareSessions::fetch`] and [`ShareSessions::acknowledge`]
//! admit a request, [`ShareSessions::answer`] says what its answer lists, [`ShareSessions::close`] and
//! [`ShareSessions::connection_closed`] end sessions. Who holds which record is the share partitions' affair: whoever ends a
//! session releases the member's records.
//!
//! A session lives on the connection that opened it. Later requests may come over others, as Kafka allows; the end of those
//! means nothing to the session. When epoch 0 replaces a session, the connection of the old one forgets it (KAFKA-19950).
//!
//! A full cache turns new members away; no session is evicted.

mod answer;
mod context;
mod error;
mod partitions;
mod request;
mod session;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use answer::Outcome;
pub use context::ShareFetchContext;
pub use error::ShareSessionError;
pub use request::ShareFetchRequest;
pub use session::{SessionView, next_epoch};

use crate::ids::TopicId;
use crate::util::quick_hash::QuickHash;
use session::Session;

/// The epoch that opens a session (`ShareRequestMetadata.INITIAL_EPOCH`).
pub const INITIAL_EPOCH: i32 = 0;
/// The epoch that ends a session (`ShareRequestMetadata.FINAL_EPOCH`).
pub const FINAL_EPOCH: i32 = -1;

/// Id of a connection, chosen by the caller.
pub type ConnectionId = u64;

/// A partition of a topic, by the topic's id (Kafka: `TopicIdPartition`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicIdPartition {
    /// Id of the topic.
    pub topic_id: TopicId,
    /// Partition of the topic.
    pub partition: i32,
}

/// Names a session: the member and its group (Kafka: `ShareSessionKey`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShareSessionKey {
    /// Id of the share group.
    pub group: Arc<str>,
    /// Id of the member.
    pub member: Arc<str>,
}

/// The share sessions of a broker.
///
/// Invariants: every session is listed by exactly the connection that opened it; no connection and no group is kept without a
/// session; there are at most `max_sessions`.
#[derive(Debug)]
pub struct ShareSessions {
    max_sessions: usize,
    count: usize,
    groups: HashMap<Arc<str>, Members, QuickHash>,
    connections: HashMap<ConnectionId, HashSet<ShareSessionKey, QuickHash>, QuickHash>,
    /// Number of sessions ever opened: the serial number of the next one.
    opened: u64,
}

/// The sessions of a group by member.
type Members = HashMap<Arc<str>, Session, QuickHash>;

impl ShareSessions {
    /// No sessions, and room for so many (`group.share.max.share.sessions`).
    #[must_use]
    pub fn new(max_sessions: usize) -> Self {
        Self {
            max_sessions,
            count: 0,
            groups: HashMap::default(),
            connections: HashMap::default(),
            opened: 0,
        }
    }

    /// Number of sessions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns `true` if there is no session.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of sessions that fit.
    #[must_use]
    pub fn max_sessions(&self) -> usize {
        self.max_sessions
    }

    /// Number of partitions in all sessions; one that is in two sessions counts twice. O(sessions).
    #[must_use]
    pub fn partition_count(&self) -> usize {
        let sessions = self.groups.values().flat_map(HashMap::values);
        sessions.map(|session| session.partitions.len()).sum()
    }

    /// Every session as it is, in no order.
    pub fn sessions(&self) -> impl Iterator<Item = SessionView<'_>> {
        self.groups.iter().flat_map(|(group, members)| {
            members.iter().map(move |(member, session)| SessionView {
                group,
                member,
                session,
            })
        })
    }

    /// Ends a session; whether there was one. For after a final request (epoch −1).
    pub fn close(&mut self, group: &str, member: &str) -> bool {
        self.remove(group, member).is_some()
    }

    /// Ends the sessions that this connection opened and returns whose they were, in no order.
    pub fn connection_closed(&mut self, connection: ConnectionId) -> Vec<ShareSessionKey> {
        let keys = self.connections.remove(&connection).unwrap_or_default();
        for key in &keys {
            self.take_out(&key.group, &key.member);
        }
        keys.into_iter().collect()
    }

    /// Takes a deleted topic out of every session; how many partitions that were. O(partitions).
    pub fn remove_topic(&mut self, topic_id: TopicId) -> usize {
        let sessions = self.groups.values_mut().flat_map(HashMap::values_mut);
        sessions
            .map(|session| session.partitions.remove_topic(topic_id))
            .sum()
    }

    fn session(&self, group: &str, member: &str) -> Option<&Session> {
        self.groups.get(group)?.get(member)
    }

    fn session_mut(&mut self, group: &str, member: &str) -> Option<&mut Session> {
        self.groups.get_mut(group)?.get_mut(member)
    }

    fn put(&mut self, key: ShareSessionKey, session: Session) {
        let members = self.groups.entry(Arc::clone(&key.group)).or_default();
        self.connections
            .entry(session.connection)
            .or_default()
            .insert(key.clone());
        if members.insert(key.member, session).is_none() {
            self.count += 1;
        }
    }

    fn remove(&mut self, group: &str, member: &str) -> Option<Session> {
        let (key, session) = self.take_out(group, member)?;
        if let Some(keys) = self.connections.get_mut(&session.connection) {
            keys.remove(&key);
            if keys.is_empty() {
                self.connections.remove(&session.connection);
            }
        }
        Some(session)
    }

    /// Removes a session and leaves its connection as it is.
    fn take_out(&mut self, group: &str, member: &str) -> Option<(ShareSessionKey, Session)> {
        let (group, _) = self.groups.get_key_value(group)?;
        let group = Arc::clone(group);
        let members = self.groups.get_mut(&group)?;
        let (member, session) = members.remove_entry(member)?;
        if members.is_empty() {
            self.groups.remove(&group);
        }
        self.count -= 1;
        Some((ShareSessionKey { group, member }, session))
    }

    /// Panics when an invariant is broken. For tests.
    #[doc(hidden)]
    pub fn check(&self) {
        assert!(self.count <= self.max_sessions);
        assert_eq!(self.count, self.sessions().count());
        assert!(self.groups.values().all(|members| !members.is_empty()));
        let listed: usize = self.connections.values().map(HashSet::len).sum();
        assert_eq!(listed, self.count);
        for (connection, keys) in &self.connections {
            assert!(!keys.is_empty());
            for key in keys {
                let session = self.session(&key.group, &key.member);
                assert_eq!(session.map(|s| s.connection), Some(*connection));
            }
        }
        for view in self.sessions() {
            view.session.check();
        }
    }
}
