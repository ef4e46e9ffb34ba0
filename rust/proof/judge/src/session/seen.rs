//! Meetings of two things in a sequence, and what Kafka remembers of connections.

use std::collections::{BTreeMap, BTreeSet};

use super::operation::{Fetch, Key, SessionOperation};
use super::ours::Ours;
use super::outcome::SessionOutcome;

/// Meetings and connections of a sequence so far.
#[derive(Default)]
pub struct Seen {
    /// Kafka remembers one session a connection, the last that it opened; whether it has been removed, or another one of the
    /// same connection.
    remembered: BTreeMap<u64, (Key, bool)>,
    /// The connection of every session.
    opened_by: BTreeMap<Key, u64>,
    answered: BTreeSet<usize>,
    /// Connections on which a session was that now lives on another.
    left: BTreeSet<u64>,
}

impl Seen {
    /// The meetings of an operation, before it is played.
    pub fn before(&self, op: &SessionOperation, ours: &Ours) -> Vec<&'static str> {
        let mut met = Vec::new();
        let mut note = |what: &'static str, is: bool| met.extend(is.then_some(what));
        match op {
            SessionOperation::Fetch(fetch) => self.of_fetch(fetch, ours, &mut note),
            SessionOperation::Answer { context, fetched } => {
                let gone = ours.outlived(*context);
                note("meeting: an answer whose session is gone", gone);
                let marked = ours.contexts.get(context).is_some_and(|(context, _)| {
                    ours.sessions.sessions().any(|session| {
                        *session.group == *context.key().group
                            && *session.member == *context.key().member
                            && session.partitions().any(|(_, marked)| marked)
                    })
                });
                let quiet = fetched
                    .iter()
                    .all(|(_, code, bytes)| (*code, *bytes) == (0, 0));
                note(
                    "meeting: nothing fetched, but a partition is new or had an error",
                    marked && quiet && !gone,
                );
                note(
                    "meeting: records and an error in one answer",
                    fetched.iter().any(|f| f.1 != 0) && fetched.iter().any(|f| f.2 != 0),
                );
                note(
                    "meeting: a request is answered twice",
                    self.answered.contains(context),
                );
            }
            SessionOperation::Disconnect { connection } => {
                let sessions = ours
                    .sessions
                    .sessions()
                    .filter(|session| session.connection() == *connection)
                    .count();
                note(
                    "meeting: the connection of a replaced session ends",
                    self.left.contains(connection),
                );
                note(
                    "meeting: a connection with several sessions ends",
                    sessions > 1,
                );
            }
            SessionOperation::Acknowledge { key, .. } => {
                let epoch = ours.session(*key).map(|session| session.next_epoch());
                note(
                    "meeting: an acknowledgement right after the opening",
                    epoch == Some(1),
                );
            }
            SessionOperation::Close { .. } | SessionOperation::Create { .. } => {}
        }
        met
    }

    fn of_fetch(&self, fetch: &Fetch, ours: &Ours, note: &mut impl FnMut(&'static str, bool)) {
        let session = ours.session(fetch.key);
        let full = ours.sessions.len() == ours.sessions.max_sessions();
        let expected = session.map(|session| session.next_epoch());
        let opens = fetch.epoch == 0 && !fetch.acknowledges;
        note(
            "meeting: a full cache, and a session that is replaced",
            opens && full && expected.is_some(),
        );
        note(
            "meeting: a full cache, and a new member",
            opens && full && expected.is_none(),
        );
        note(
            "meeting: a session is opened again from another connection",
            opens && session.is_some_and(|session| session.connection() != fetch.connection),
        );
        note(
            "meeting: acknowledgements in an opening request",
            fetch.epoch == 0 && fetch.acknowledges,
        );
        let current = expected == Some(fetch.epoch);
        let forgotten: BTreeSet<_> = fetch.forgotten.iter().collect();
        note(
            "meeting: a partition added and forgotten by one request",
            current && fetch.added.iter().any(|tip| forgotten.contains(tip)),
        );
        note(
            "meeting: a later request over another connection",
            current && session.is_some_and(|session| session.connection() != fetch.connection),
        );
        note(
            "meeting: a final request with another epoch's partitions",
            fetch.epoch == -1 && expected.is_some() && !fetch.added.is_empty(),
        );
    }

    /// Takes the operation in; whose sessions Kafka overlooks when their connection ends.
    pub fn after(&mut self, op: &SessionOperation, own: &SessionOutcome) -> Vec<String> {
        match op {
            SessionOperation::Create { .. } => *self = Self::default(),
            SessionOperation::Fetch(fetch) if own.answer.starts_with("0 full") => {
                let before = self.forget(fetch.key);
                self.left
                    .extend(before.filter(|connection| *connection != fetch.connection));
                self.opened_by.insert(fetch.key, fetch.connection);
                self.remembered.insert(fetch.connection, (fetch.key, false));
            }
            SessionOperation::Close { key } => {
                self.forget(*key);
            }
            SessionOperation::Answer { context, .. } => {
                self.answered.insert(*context);
            }
            SessionOperation::Disconnect { connection } => {
                let remembered = self.remembered.remove(connection);
                let told = remembered.filter(|(_, stale)| !stale).map(|(key, _)| key);
                let all: Vec<Key> = self
                    .opened_by
                    .iter()
                    .filter(|(_, opened_by)| *opened_by == connection)
                    .map(|(key, _)| *key)
                    .collect();
                for key in &all {
                    self.opened_by.remove(key);
                }
                let kept = all.iter().filter(|key| Some(**key) != told);
                return kept
                    .map(|key| format!("{}/{}", key.group(), key.member()))
                    .collect();
            }
            SessionOperation::Fetch(_) | SessionOperation::Acknowledge { .. } => {}
        }
        Vec::new()
    }

    /// A session is removed; the connection that it was on.
    fn forget(&mut self, key: Key) -> Option<u64> {
        let connection = self.opened_by.remove(&key)?;
        if let Some((_, stale)) = self.remembered.get_mut(&connection) {
            *stale = true;
        }
        Some(connection)
    }
}
