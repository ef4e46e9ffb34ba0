//! Share groups as a state machine: who is a member, and which partitions each member is to consume (Kafka: the part of
//! `GroupMetadataManager` that serves share groups, KIP-932).
//!
//! A verb *decides*: it takes `&self`, checks, and returns the records to append and the answer to give once they are
//! durable. The only change of what is stored is [`ShareGroups::replay`] of a record, the same for one just appended and
//! for one loaded from a log. The records of one verb belong together: half of them must never be replayed.
//!
//! | verb | RPC | file |
//! |---|---|---|
//! | heartbeat: join, rejoin, go on | 76 | `request.rs`, `heartbeat.rs`; what is due with it `admission.rs`, `target.rs` |
//! | leave, time out | 76 | `leave.rs`, `deadlines.rs` |
//! | which share partitions to initialise first | – | `initialize.rs` |
//! | alter offsets | 91 | `alter.rs` |
//! | delete offsets, delete groups | 92, 42 | `delete.rs` |
//! | describe, list | 77, 16 | `describe.rs` |
//! | forget deleted topics | – | `topic_deletion.rs` |
//!
//! What is not stored, the caller gives: the topics ([`ShareGroups::set_topics`]), the configuration of groups, and the time
//! that members were heard ([`ShareGroups::heard`]).
//!
//! Initialising is one step here, where Kafka needs two: the caller initialises the state of new share partitions, then the
//! heartbeat makes them `Initialized` and assigns them at once. A crash between the two leaves state that nobody was given
//! a record of, and the next heartbeat initialises it again.

mod admission;
mod alter;
mod assignable;
mod check;
mod config;
mod deadlines;
mod delete;
mod describe;
mod error;
mod group;
mod heartbeat;
mod initialize;
mod invariants;
mod leave;
mod live;
mod records;
mod replay;
mod request;
mod state_partitions;
mod target;
mod topic_deletion;
mod topics;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use alter::AlteredPartition;
pub use check::{MAX_MEMBER_ID_LENGTH, MAX_TEXT_BYTES};
pub use config::{GroupSettings, Numbers, numbers};
pub use delete::DeletedTopic;
pub use describe::{DescribedGroup, DescribedMember};
pub use error::GroupError;
pub use group::GroupState;
pub use initialize::Uninitialized;
pub use records::{
    CurrentAssignment, GroupMetadata, GroupRecord, GroupValue, MemberMetadata, NamedPartitions,
    PartitionsByTopic, StatePartitions, TargetAssignmentMetadata,
};
pub use request::{Heartbeat, HeartbeatAnswer, JOIN_EPOCH, LEAVE_EPOCH};
pub use topics::{MAX_TOPIC_PARTITIONS, Topic, TopicsError};

use crate::decision;
use crate::settings::limits::ConfigError;
use crate::time::LockTime;
use config::BrokerConfig;
use deadlines::Deadlines;
use group::ShareGroup;
use topics::Topics;

/// Decision of a verb.
pub type Decision<A> = decision::Decision<A, GroupRecord>;

/// The share groups of one group coordinator.
#[derive(Clone, Debug)]
pub struct ShareGroups {
    broker: BrokerConfig,
    max_size: i64,
    /// Settings in force for groups that set nothing.
    defaults: GroupSettings,
    settings: HashMap<Arc<str>, GroupSettings>,
    topics: Topics,
    /// Rises whenever topics are told.
    topics_version: u64,
    groups: BTreeMap<Arc<str>, ShareGroup>,
    /// Stands for a group that does not exist yet.
    nobody: ShareGroup,
    deadlines: Deadlines,
}

impl ShareGroups {
    /// No group and no topic. `broker` holds the broker's properties (`group.share.…`); what it lacks has Kafka's default.
    ///
    /// # Errors
    /// A property is outside its bounds, or a minimum above its maximum.
    pub fn new(broker: Numbers) -> Result<Self, ConfigError> {
        let broker = BrokerConfig::new(broker);
        Ok(Self {
            max_size: broker.max_size()?,
            defaults: broker.settings(&Numbers::new())?,
            broker,
            settings: HashMap::new(),
            topics: Topics::default(),
            topics_version: 0,
            groups: BTreeMap::new(),
            nobody: ShareGroup::default(),
            deadlines: Deadlines::default(),
        })
    }

    /// Tells every topic that there is; internal ones are left out by the caller. Groups whose topics have changed get a
    /// new epoch with their next heartbeat.
    ///
    /// # Errors
    /// A topic that cannot exist, or one that occurs twice; the view before it stays.
    pub fn set_topics(&mut self, topics: Vec<Topic>) -> Result<(), TopicsError> {
        self.topics = Topics::new(topics)?;
        self.topics_version += 1;
        Ok(())
    }

    /// Sets what a group configures for itself, the whole of it; the group need not exist. It counts from the next use on.
    ///
    /// # Errors
    /// A value is outside Kafka's own bounds. One that is only outside the broker's is clamped.
    pub fn set_group_config(&mut self, group: &str, config: &Numbers) -> Result<(), ConfigError> {
        let settings = self.broker.settings(config)?;
        if settings == self.defaults {
            self.settings.remove(group);
        } else {
            self.settings.insert(Arc::from(group), settings);
        }
        Ok(())
    }

    /// Returns the settings in force for a group.
    #[must_use]
    pub fn settings(&self, group: &str) -> &GroupSettings {
        self.settings.get(group).unwrap_or(&self.defaults)
    }

    /// Begins a member's session again: it was heard at `now`. A member that does not exist is nobody to wait for.
    pub fn heard(&mut self, group: &str, member: &str, now: LockTime) {
        let now = self.deadlines.now(now);
        let deadline = now.plus(self.settings(group).session_timeout_ms);
        let known = self.groups.get_key_value(group).and_then(|(id, known)| {
            let (member, records) = known.records.get_key_value(member)?;
            records.metadata.as_ref().map(|_| (id, member))
        });
        if let Some((group, member)) = known {
            self.deadlines.set(group, member, deadline);
        }
        self.note_nothing_due(group);
    }

    /// Latest time at which [`Self::handle_timeout`] should be called. After a replay that is at once.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<LockTime> {
        self.deadlines.next()
    }

    /// The members whose session has ended, as (group, member) by time; each of them is to be taken out with
    /// [`Self::decide_expire`]. Members that were loaded and not heard since begin a full session now.
    pub fn handle_timeout(&mut self, now: LockTime) -> Vec<(Arc<str>, Arc<str>)> {
        for (group, member) in self.deadlines.waiting() {
            self.heard(&group, &member, now);
        }
        let now = self.deadlines.now(now);
        self.deadlines.due(now)
    }

    /// Number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns `true` if there is no group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// A group, or what stands for one that does not exist yet.
    fn group(&self, id: &str) -> &ShareGroup {
        self.groups.get(id).unwrap_or(&self.nobody)
    }

    /// A group that exists: one with an epoch or a member.
    fn existing(&self, id: &str) -> Result<&ShareGroup, GroupError> {
        self.groups
            .get(id)
            .filter(|group| group.metadata.is_some() || !group.is_empty())
            .ok_or_else(|| GroupError::GroupIdNotFound {
                group: Arc::from(id),
            })
    }
}
