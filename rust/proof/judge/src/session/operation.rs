//! Operations on share sessions, in the words of the conformance files.

use serde_json::{Value, json};
use share_state_core::ids::TopicId;

/// A partition: the number of its topic, and its own.
pub type Tip = (u8, i32);

/// Owner of a session: the number of the group and of the member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Number of the group.
    pub group: u8,
    /// Number of the member.
    pub member: u8,
}

impl Key {
    /// Id of the group.
    pub fn group(self) -> String {
        format!("group-{}", self.group)
    }

    /// Id of the member.
    pub fn member(self) -> String {
        format!("member-{}", self.member)
    }
}

/// A ShareFetch request that arrives.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// Number by which an answer names it.
    pub context: usize,
    /// Owner of the session.
    pub key: Key,
    /// The epoch that it carries.
    pub epoch: i32,
    /// Number of the connection over which it comes.
    pub connection: u64,
    /// Partitions to fetch from now on.
    pub added: Vec<Tip>,
    /// Partitions not to fetch any more.
    pub forgotten: Vec<Tip>,
    /// True if it brings acknowledgements.
    pub acknowledges: bool,
}

/// Result of a fetch for a partition: error code and bytes of records.
pub type Fetched = (Tip, i16, usize);

/// An operation.
#[derive(Clone, Debug)]
pub enum SessionOperation {
    /// A cache with room for so many sessions.
    Create { max_sessions: usize },
    /// A ShareFetch request.
    Fetch(Fetch),
    /// The answer to one.
    Answer {
        context: usize,
        fetched: Vec<Fetched>,
    },
    /// A ShareAcknowledge request.
    Acknowledge { key: Key, epoch: i32 },
    /// Closes the session, as after a final request.
    Close { key: Key },
    /// A connection ends.
    Disconnect { connection: u64 },
}

/// Id of a topic by its number.
pub fn topic_id(topic: u8) -> TopicId {
    let mut bytes = [0; 16];
    bytes[15] = topic;
    TopicId(bytes)
}

/// A partition as the recordings write it.
pub fn tip((topic, partition): Tip) -> String {
    format!("{}:topic{topic}-{partition}", topic_id(topic).to_base64())
}

fn tips(list: &[Tip]) -> Vec<String> {
    list.iter().copied().map(tip).collect()
}

fn connection_name(connection: u64) -> String {
    format!("connection-{connection}")
}

impl SessionOperation {
    /// Its name in the conformance files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Fetch(_) => "newContext",
            Self::Answer { .. } => "respond",
            Self::Acknowledge { .. } => "acknowledgeSessionUpdate",
            Self::Close { .. } => "releaseSession",
            Self::Disconnect { .. } => "disconnect",
        }
    }

    /// The operation for Kafka's side.
    pub fn to_json(&self) -> Value {
        let name = self.name();
        match self {
            Self::Create { max_sessions } => json!({"op": name, "max_sessions": max_sessions}),
            Self::Fetch(fetch) => json!({
                "op": name, "context": fetch.context,
                "args": [
                    fetch.key.group(), tips(&fetch.added), tips(&fetch.forgotten), fetch.key.member(),
                    fetch.epoch, fetch.acknowledges, connection_name(fetch.connection),
                ],
            }),
            Self::Answer { context, fetched } => {
                let fetched: Vec<Value> = fetched
                    .iter()
                    .map(|(id, code, bytes)| json!([tip(*id), code, bytes]))
                    .collect();
                json!({"op": name, "args": [context, fetched]})
            }
            Self::Acknowledge { key, epoch } => {
                json!({"op": name, "args": [key.group(), key.member(), epoch]})
            }
            Self::Close { key } => json!({"op": name, "args": [key.group(), key.member()]}),
            Self::Disconnect { connection } => {
                json!({"op": name, "args": [connection_name(*connection)]})
            }
        }
    }

    /// Smaller forms.
    pub fn smaller(&self) -> Vec<Self> {
        fn without<T: Clone>(list: &[T]) -> impl Iterator<Item = Vec<T>> {
            (0..list.len()).map(|at| {
                let mut list = list.to_vec();
                list.remove(at);
                list
            })
        }
        match self {
            Self::Fetch(fetch) => {
                let with = |change: &dyn Fn(&mut Fetch)| {
                    let mut smaller = fetch.clone();
                    change(&mut smaller);
                    Self::Fetch(smaller)
                };
                let mut forms: Vec<Self> = without(&fetch.added)
                    .map(|added| with(&|smaller| smaller.added.clone_from(&added)))
                    .collect();
                forms.extend(
                    without(&fetch.forgotten)
                        .map(|left| with(&|smaller| smaller.forgotten.clone_from(&left))),
                );
                if fetch.acknowledges {
                    forms.push(with(&|smaller| smaller.acknowledges = false));
                }
                forms
            }
            Self::Answer { context, fetched } => without(fetched)
                .map(|fetched| Self::Answer {
                    context: *context,
                    fetched,
                })
                .collect(),
            _ => Vec::new(),
        }
    }
}
