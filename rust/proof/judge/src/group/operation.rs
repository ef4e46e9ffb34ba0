//! Operations on share groups, for both sides.

use serde_json::{Map, Value, json};
use share_state_core::ids::TopicId;

/// Epoch that a heartbeat carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// This number.
    Is(i32),
    /// The member's.
    Current,
    /// The one before it.
    Previous,
}

/// The epoch of a member that does not exist, as the driver has it.
pub const NO_EPOCH: i32 = 77;

/// A heartbeat.
#[derive(Clone, Debug)]
pub struct Beat {
    /// Id of the group.
    pub group: String,
    /// Id of the member.
    pub member: String,
    /// Its epoch.
    pub epoch: Epoch,
    /// Its rack.
    pub rack: Option<String>,
    /// Names of its topics.
    pub topics: Option<Vec<String>>,
    /// Id of the client.
    pub client: String,
    /// Last number of the client's address.
    pub host: u8,
}

impl Beat {
    /// The client's address as Java writes it.
    pub fn client_host(&self) -> String {
        format!("/127.0.0.{}", self.host)
    }
}

/// A topic: its name, its id, its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicNow {
    /// Name.
    pub name: String,
    /// Id.
    pub id: TopicId,
    /// Number of partitions.
    pub partitions: i32,
}

/// Properties with their values.
pub type Config = Vec<(&'static str, i64)>;

/// An operation.
#[derive(Clone, Debug)]
pub enum GroupOperation {
    /// A coordinator with this configuration, at this time.
    Create { config: Config, now: i64 },
    /// A heartbeat.
    Heartbeat(Beat),
    /// The share coordinator answers the oldest request of a group to initialise state.
    InitializeAnswer { group: String, code: i16 },
    /// Time passes, on the wall perhaps another.
    Advance { ms: i64, wall: i64 },
    /// The topics are these from now on.
    Topics(Vec<TopicNow>),
    /// Configuration that a group sets for itself.
    Configure { group: String, config: Config },
    /// Another coordinator takes over and reads the log.
    Restart { compacted: bool },
    /// Describe a group.
    Describe { group: String },
    /// List the groups.
    List,
    /// Asks for the share partitions that have state.
    Initialized { group: String },
    /// Delete a group; the share coordinator answers with the code.
    DeleteGroup { group: String, persister: i16 },
    /// Alter offsets, by topic name: partition and offset.
    Alter {
        group: String,
        topics: Vec<(String, Vec<(i32, i64)>)>,
        persister: i16,
    },
    /// Delete the offsets of these topics.
    DeleteOffsets {
        group: String,
        topics: Vec<String>,
        persister: i16,
    },
}

fn config_json(config: &Config) -> Value {
    let fields: Map<String, Value> = config
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    fields.into()
}

impl GroupOperation {
    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Heartbeat(_) => "heartbeat",
            Self::InitializeAnswer { .. } => "initialize_answer",
            Self::Advance { .. } => "advance_clock",
            Self::Topics(_) => "topics",
            Self::Configure { .. } => "group_config",
            Self::Restart { .. } => "restart",
            Self::Describe { .. } => "describe",
            Self::List => "list",
            Self::Initialized { .. } => "initialized_partitions",
            Self::DeleteGroup { .. } => "delete_group",
            Self::Alter { .. } => "alter_offsets",
            Self::DeleteOffsets { .. } => "delete_offsets",
        }
    }

    /// The operation for Kafka's side.
    pub fn to_json(&self) -> Value {
        let name = self.name();
        match self {
            Self::Create { config, now } => {
                json!({"op": name, "config": config_json(config), "now": now})
            }
            Self::Heartbeat(beat) => json!({
                "op": name, "group": beat.group, "member": beat.member,
                "epoch": match beat.epoch {
                    Epoch::Is(epoch) => json!(epoch),
                    Epoch::Current => json!("current"),
                    Epoch::Previous => json!("previous"),
                },
                "rack": beat.rack, "topics": beat.topics, "client_id": beat.client, "client_host": beat.host,
            }),
            Self::InitializeAnswer { group, code } => {
                json!({"op": name, "group": group, "code": code})
            }
            Self::Advance { ms, wall } => json!({"op": name, "ms": ms, "wall": wall}),
            Self::Topics(topics) => {
                let topics: Vec<Value> = topics
                    .iter()
                    .map(|topic| json!([topic.name, topic.id.to_base64(), topic.partitions]))
                    .collect();
                json!({"op": name, "topics": topics})
            }
            Self::Configure { group, config } => {
                json!({"op": name, "group": group, "config": config_json(config)})
            }
            Self::Restart { compacted } => json!({"op": name, "compacted": compacted}),
            Self::Describe { group } | Self::Initialized { group } => {
                json!({"op": name, "group": group})
            }
            Self::List => json!({"op": name}),
            Self::DeleteGroup { group, persister } => {
                json!({"op": name, "group": group, "persister_code": persister})
            }
            Self::Alter {
                group,
                topics,
                persister,
            } => {
                json!({"op": name, "group": group, "topics": topics, "persister_code": persister})
            }
            Self::DeleteOffsets {
                group,
                topics,
                persister,
            } => {
                json!({"op": name, "group": group, "topics": topics, "persister_code": persister})
            }
        }
    }

    /// Smaller forms.
    pub fn smaller(&self) -> Vec<Self> {
        match self {
            Self::Heartbeat(beat) => {
                let with = |change: &dyn Fn(&mut Beat)| {
                    let mut smaller = beat.clone();
                    change(&mut smaller);
                    Self::Heartbeat(smaller)
                };
                let mut forms = Vec::new();
                for at in 0..beat.topics.as_ref().map_or(0, Vec::len) {
                    forms.push(with(&|smaller| {
                        if let Some(topics) = &mut smaller.topics {
                            topics.remove(at);
                        }
                    }));
                }
                if beat.rack.is_some() {
                    forms.push(with(&|smaller| smaller.rack = None));
                }
                forms
            }
            Self::Topics(topics) => {
                let mut forms = Vec::new();
                for at in 0..topics.len() {
                    let mut fewer = topics.clone();
                    fewer.remove(at);
                    forms.push(Self::Topics(fewer));
                    if topics[at].partitions > 1 {
                        let mut smaller = topics.clone();
                        smaller[at].partitions -= 1;
                        forms.push(Self::Topics(smaller));
                    }
                }
                forms
            }
            Self::Create { config, now } => (0..config.len())
                .map(|at| {
                    let mut config = config.clone();
                    config.remove(at);
                    Self::Create { config, now: *now }
                })
                .collect(),
            _ => Vec::new(),
        }
    }
}
