//! The suite `share_session`: the cache of share sessions and the table of their epochs.
//!
//! Every operation is made on our sessions, and its result and all sessions are compared. Three things of the recordings are not
//! the operations' own:
//!
//! * Kafka's tests make some sessions without the calls that were recorded: see [`adopt`].
//! * `max_sessions` 0 means that the cache was a stub, which shows no sessions: each operation then stands for itself.
//! * A release answers for each partition what its share partition says; a session knows the partitions only, so they are
//!   compared.

mod adopt;
mod operations;
mod partitions;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use share_state_core::share_session::{ShareFetchRequest, ShareSessions, TopicIdPartition};

use super::cases::{Played, Player, Points, operations, play_each};
use super::fields::{Unknown, known, list, number, text};
use partitions::Partitions;

const FIELDS: &[&str] = &["op", "args", "result", "sessions", "max_sessions"];
const SESSION: &[&str] = &["key", "epoch", "connection", "partitions"];

/// Room for the sessions of a stubbed cache.
const STUB_ROOM: usize = 1000;

/// Group and member.
type Key = (String, String);

/// Plays a scenario.
///
/// # Errors
/// It has no operations.
pub fn play(scenario: &Value) -> Result<Played, Unknown> {
    let mut player = OnSessions {
        named: Partitions::named_in(operations(scenario)?)?,
        cache: None,
    };
    play_each(scenario, &mut player)
}

struct OnSessions {
    /// The partitions that the operations name by topic id and name.
    named: Partitions,
    cache: Option<Cache>,
}

impl Player for OnSessions {
    const OPERATIONS: &'static [&'static str] = &[
        "size",
        "totalPartitions",
        "get",
        "maybeCreateSession",
        "remove",
        "removeAllSessions",
        "newContext",
        "acknowledgeSessionUpdate",
        "releaseSession",
    ];

    fn step(&mut self, op: &Value, points: &mut Points) -> Result<(), Unknown> {
        known(op, FIELDS, "the operation")?;
        let max_sessions: usize = number::<u32>(&op["max_sessions"])? as usize;
        let is_stub = max_sessions == 0;
        if is_stub {
            self.cache = None;
        }
        let room = if is_stub { STUB_ROOM } else { max_sessions };
        let cache = self
            .cache
            .get_or_insert_with(|| Cache::new(room, self.named.clone()));
        let mut expected = BTreeMap::new();
        for session in list(&op["sessions"])? {
            known(session, SESSION, "a session")?;
            let mut shown = session.clone();
            if let Some(fields) = shown.as_object_mut() {
                fields.remove("key");
            }
            expected.insert(key(&session["key"])?, shown);
        }
        adopt::adopt(cache, op, &expected)?;
        let result = operations::play(cache, op)?;
        points.same_json("result", &op["result"], &result);
        if !is_stub {
            points.same("sessions", &expected, &cache.shown());
        }
        cache.sessions.check();
        Ok(())
    }
}

fn key(value: &Value) -> Result<Key, Unknown> {
    known(value, &["group", "member"], "a session's key")?;
    Ok((
        text(&value["group"])?.to_owned(),
        text(&value["member"])?.to_owned(),
    ))
}

/// The sessions under test, and what the recording calls their parts.
struct Cache {
    sessions: ShareSessions,
    /// Names; the number of a connection is its place.
    connections: Vec<String>,
    partitions: Partitions,
}

impl Cache {
    fn new(room: usize, partitions: Partitions) -> Self {
        Self {
            sessions: ShareSessions::new(room),
            connections: Vec::new(),
            partitions,
        }
    }

    fn connection(&mut self, name: &str) -> u64 {
        let place = self.connections.iter().position(|known| known == name);
        let place = place.unwrap_or_else(|| {
            self.connections.push(name.to_owned());
            self.connections.len() - 1
        });
        place as u64
    }

    /// Reads a list of partitions.
    fn partitions(&mut self, listed: &Value) -> Result<Vec<TopicIdPartition>, Unknown> {
        let listed = list(listed)?.iter();
        listed.map(|text| self.partitions.read(text)).collect()
    }

    /// Our sessions as the recording shows them.
    fn shown(&self) -> BTreeMap<Key, Value> {
        let sessions = self.sessions.sessions().map(|session| {
            let partitions = session.partitions();
            let partitions: Vec<Value> = partitions
                .map(|(id, _)| self.partitions.shown(id))
                .collect();
            let connection = usize::try_from(session.connection()).ok();
            let connection = connection.and_then(|place| self.connections.get(place));
            (
                (session.group.to_owned(), session.member.to_owned()),
                json!({
                    "epoch": session.next_epoch(), "connection": connection, "partitions": partitions,
                }),
            )
        });
        sessions.collect()
    }

    /// A session with its key.
    fn get(&self, key: &Key) -> Value {
        let Some(mut session) = self.shown().remove(key) else {
            return Value::Null;
        };
        session["key"] = json!({"group": key.0, "member": key.1});
        session
    }

    /// Opens a session.
    fn open(
        &mut self,
        (group, member): &Key,
        connection: u64,
        added: &[TopicIdPartition],
    ) -> Result<Vec<TopicIdPartition>, i16> {
        let opened = self.sessions.fetch(&ShareFetchRequest {
            group,
            member,
            epoch: 0,
            connection,
            added,
            forgotten: &[],
            acknowledges: false,
        });
        match opened {
            Ok(context) => Ok(context.partitions().collect()),
            Err(error) => Err(error.kafka_code().code()),
        }
    }
}
