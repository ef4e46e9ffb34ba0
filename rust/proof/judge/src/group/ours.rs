//! share_state's side: it decides by itself, is compared, and then takes over the records that Kafka has decided on. So both sides
//! stand at the same state before every operation, whatever they chose before.

use std::collections::BTreeMap;
use std::sync::Arc;

use share_state_core::ids::TopicId;
use share_state_core::share_group::{
    GroupMetadata, GroupRecord, GroupValue, Numbers, ShareGroups, TargetAssignmentMetadata, Topic,
};
use share_state_core::time::{LockTime, WallTime};

use super::log::Latest;
use super::operation::{Config, TopicNow};

/// Epoch of a group that has none yet (Kafka: `ModernGroup`).
const FIRST_EPOCH: i32 = 1;

/// Our groups, and what both sides know.
#[derive(Clone)]
pub struct Ours {
    /// The object under test.
    pub groups: ShareGroups,
    /// Kafka's records, the latest of each key.
    pub latest: Latest,
    /// The topics.
    pub topics: Vec<TopicNow>,
    log: Vec<GroupRecord>,
    broker: Numbers,
    configs: BTreeMap<String, Numbers>,
    now: i64,
    wall: i64,
    /// Kafka's hashes of topics, and ours for the same.
    hashes: BTreeMap<i64, i64>,
}

fn numbers(config: &Config) -> Numbers {
    config
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect()
}

impl Default for Ours {
    fn default() -> Self {
        Self::new(&Vec::new(), 0)
    }
}

impl Ours {
    /// No group yet.
    pub fn new(config: &Config, now: i64) -> Self {
        let broker = numbers(config);
        let mut ours = Self {
            groups: groups(&broker),
            latest: Latest::default(),
            topics: Vec::new(),
            log: Vec::new(),
            broker,
            configs: BTreeMap::new(),
            now,
            wall: now,
            hashes: BTreeMap::from([(0, 0)]),
        };
        ours.advance(0, 0);
        ours
    }

    /// The time on the wall.
    pub const fn now(&self) -> WallTime {
        WallTime(self.wall)
    }

    /// Time passes; whose session is over by then.
    pub fn advance(&mut self, ms: i64, wall: i64) -> Vec<(Arc<str>, Arc<str>)> {
        self.now += ms;
        self.wall += wall;
        self.groups.handle_timeout(LockTime(self.now))
    }

    /// The member is heard.
    pub fn heard(&mut self, group: &str, member: &str) {
        self.groups.heard(group, member, LockTime(self.now));
    }

    /// A topic by its name.
    pub fn topic(&self, name: &str) -> Option<&TopicNow> {
        self.topics.iter().find(|topic| topic.name == name)
    }

    /// The topics are others from now on; the ids that are gone.
    pub fn set_topics(&mut self, topics: &[TopicNow]) -> Vec<TopicId> {
        let gone = self.topics.iter().map(|topic| topic.id);
        let gone = gone.filter(|id| topics.iter().all(|topic| topic.id != *id));
        let gone = gone.collect();
        self.topics = topics.to_vec();
        self.tell_topics();
        gone
    }

    fn tell_topics(&mut self) {
        let topics = self.topics.iter().map(|topic| Topic {
            name: Arc::from(topic.name.as_str()),
            id: topic.id,
            partitions: topic.partitions,
        });
        // The generator makes none that cannot be.
        let _ = self.groups.set_topics(topics.collect());
    }

    /// A group configures itself; whether it may.
    pub fn configure(&mut self, group: &str, config: &Config) -> bool {
        let config = numbers(config);
        let may = self.groups.set_group_config(group, &config).is_ok();
        if may {
            self.configs.insert(group.to_owned(), config);
        }
        may
    }

    /// Another coordinator reads the log, or what is left of it.
    pub fn restart(&mut self, compacted: bool) {
        if compacted {
            self.log = self.groups.live_records().collect();
        }
        self.groups = groups(&self.broker);
        for (group, config) in &self.configs {
            let _ = self.groups.set_group_config(group, config);
        }
        self.tell_topics();
        for record in &self.log {
            self.groups.replay(record);
        }
        self.advance(0, 0);
    }

    /// Replays records that stand in nobody's log, for trying.
    pub fn try_out(&mut self, records: &[GroupRecord]) {
        for record in records {
            self.groups.replay(record);
        }
    }

    /// Replays Kafka's records.
    pub fn adopt(&mut self, records: &[GroupRecord]) {
        for record in records {
            self.put(record.clone());
            // A record 15 makes a group in Kafka; ours begins with a record 11.
            if let GroupValue::StatePartitions(Some(_)) = record.value
                && !self.latest.has_epoch(&record.group)
            {
                self.begin(&record.group);
            }
        }
    }

    fn begin(&mut self, group: &Arc<str>) {
        let values = [
            GroupValue::Group(Some(GroupMetadata {
                epoch: FIRST_EPOCH,
                metadata_hash: 0,
            })),
            GroupValue::TargetAssignment(Some(TargetAssignmentMetadata {
                assignment_epoch: FIRST_EPOCH,
                assignment_timestamp: 0,
            })),
        ];
        for value in values {
            self.put(GroupRecord {
                group: Arc::clone(group),
                value,
            });
        }
    }

    fn put(&mut self, record: GroupRecord) {
        self.groups.replay(&record);
        self.latest.put(&record);
        self.log.push(record);
    }

    /// Puts our hashes in the place of Kafka's. A hash that is new is ours of the same record 11; the first pair that
    /// contradicts another is an error.
    ///
    /// # Errors
    /// Kafka's hash has changed and ours has not, or the other way round.
    pub fn translate(
        &mut self,
        kafka: &mut [GroupRecord],
        ours: &[GroupRecord],
    ) -> Result<(), String> {
        let mut of_ours = ours.iter().filter_map(epoch_record);
        let mut wrong = None;
        for record in kafka {
            let GroupValue::Group(Some(metadata)) = &mut record.value else {
                continue;
            };
            let theirs = metadata.metadata_hash;
            if let Some(of_ours) = of_ours.next() {
                let new = of_ours.metadata_hash;
                let known = *self.hashes.entry(theirs).or_insert(new);
                let twice = self
                    .hashes
                    .iter()
                    .any(|(other, mine)| *other != theirs && *mine == new);
                if known != new || twice {
                    wrong.get_or_insert(format!("Kafka's hash {theirs} is {new} here"));
                }
            }
            metadata.metadata_hash = self.hash(theirs);
        }
        wrong.map_or(Ok(()), Err)
    }

    /// Our hash for one of Kafka's.
    pub fn hash(&self, kafka: i64) -> i64 {
        self.hashes.get(&kafka).copied().unwrap_or(kafka)
    }
}

fn groups(broker: &Numbers) -> ShareGroups {
    ShareGroups::new(broker.clone())
        .or_else(|_| ShareGroups::new(Numbers::new()))
        .unwrap_or_else(|error| unreachable!("Kafka's defaults are legal: {error}"))
}

fn epoch_record(record: &GroupRecord) -> Option<GroupMetadata> {
    match record.value {
        GroupValue::Group(metadata) => metadata,
        _ => None,
    }
}
