//! Share groups with their log, as an owner would drive them: initialise, decide, append, replay.

use std::collections::BTreeMap;
use std::sync::Arc;

use share_state_core::assignor::Assignment;
use share_state_core::ids::TopicId;
use share_state_core::share_group::{
    AlteredPartition, Decision, GroupError, GroupRecord, GroupValue, Heartbeat, HeartbeatAnswer,
    LEAVE_EPOCH, Numbers, ShareGroups, Topic, Uninitialized,
};
use share_state_core::time::{LockTime, WallTime};

pub const ORDERS: TopicId = TopicId([1; 16]);
pub const JOBS: TopicId = TopicId([2; 16]);
pub const MAILS: TopicId = TopicId([3; 16]);
pub const NAMES: [(&str, TopicId); 3] = [("orders", ORDERS), ("jobs", JOBS), ("mails", MAILS)];

/// Session time-out and heartbeat interval when nothing is configured.
pub const SESSION_MS: i64 = 45_000;
pub const INTERVAL_MS: i64 = 5_000;

pub fn id_of(name: &str) -> TopicId {
    NAMES.iter().find(|(known, _)| *known == name).unwrap().1
}

pub fn numbers(numbers: &[(&str, i64)]) -> Numbers {
    numbers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect()
}

pub fn partitions(assignment: &Assignment) -> Vec<(TopicId, i32)> {
    assignment.partitions().collect()
}

pub fn altered(name: &str, partition: i32) -> AlteredPartition {
    AlteredPartition {
        topic_id: id_of(name),
        name: Arc::from(name),
        partition,
    }
}

/// The number of a record's type.
pub fn record_type(record: &GroupRecord) -> i16 {
    match record.value {
        GroupValue::Member(..) => 10,
        GroupValue::Group(_) => 11,
        GroupValue::TargetAssignment(_) => 12,
        GroupValue::TargetMember(..) => 13,
        GroupValue::CurrentMember(..) => 14,
        GroupValue::StatePartitions(_) => 15,
    }
}

/// Key of a record: its group, the number of its kind, and its member.
pub fn key(record: &GroupRecord) -> (Arc<str>, i16, Option<Arc<str>>) {
    let member = match &record.value {
        GroupValue::Member(member, _)
        | GroupValue::TargetMember(member, _)
        | GroupValue::CurrentMember(member, _) => Some(Arc::clone(member)),
        _ => None,
    };
    (Arc::clone(&record.group), record_type(record), member)
}

pub struct Owner {
    pub groups: ShareGroups,
    pub broker: Numbers,
    /// The records of each verb.
    pub log: Vec<Vec<GroupRecord>>,
    /// Epoch of each state that was initialised, by group.
    pub states: BTreeMap<(String, TopicId, i32), i32>,
    pub topics: BTreeMap<&'static str, i32>,
    pub now: LockTime,
    pub wall: WallTime,
}

impl Owner {
    pub fn new() -> Self {
        Self::with_broker(&[])
    }

    pub fn with_broker(broker: &[(&str, i64)]) -> Self {
        let broker = numbers(broker);
        Self {
            groups: ShareGroups::new(broker.clone()).unwrap(),
            broker,
            log: Vec::new(),
            states: BTreeMap::new(),
            topics: BTreeMap::new(),
            now: LockTime(0),
            wall: WallTime(1_700_000_000_000),
        }
    }

    /// Sets the number of partitions of topics, 0 for one that does not exist.
    pub fn topics(&mut self, topics: &[(&'static str, i32)]) {
        for (name, partitions) in topics {
            match partitions {
                0 => self.topics.remove(name),
                _ => self.topics.insert(name, *partitions),
            };
        }
        self.groups.set_topics(self.view()).unwrap();
    }

    fn view(&self) -> Vec<Topic> {
        let topics = self.topics.iter();
        topics
            .map(|(name, partitions)| Topic {
                name: Arc::from(*name),
                id: id_of(name),
                partitions: *partitions,
            })
            .collect()
    }

    pub fn wait(&mut self, ms: i64) {
        self.now = self.now.plus(ms);
        self.wall.0 += ms;
    }

    /// Appends and replays, unless it was refused.
    pub fn take<A>(&mut self, decided: Result<Decision<A>, GroupError>) -> Result<A, GroupError> {
        let decision = decided?;
        for record in &decision.records {
            self.groups.replay(record);
        }
        if !decision.records.is_empty() {
            self.log.push(decision.records);
        }
        Ok(decision.answer)
    }

    /// The whole of a heartbeat: what is missing is initialised first.
    pub fn heartbeat(
        &mut self,
        group: &str,
        member: &str,
        epoch: i32,
        topics: Option<&[&str]>,
    ) -> Result<HeartbeatAnswer, GroupError> {
        let request = heartbeat(group, member, epoch, topics);
        let missing = self.groups.to_initialize(&request);
        for state in &missing {
            let key = (group.to_owned(), state.topic_id, state.partition);
            let known = self.states.insert(key, state.state_epoch);
            assert!(known.is_none_or(|known| known <= state.state_epoch));
        }
        let initialized: Vec<_> = missing.iter().map(|s| (s.topic_id, s.partition)).collect();
        self.heartbeat_with(&request, &initialized)
    }

    pub fn heartbeat_with(
        &mut self,
        request: &Heartbeat<'_>,
        initialized: &[(TopicId, i32)],
    ) -> Result<HeartbeatAnswer, GroupError> {
        let decided = self
            .groups
            .decide_heartbeat(request, initialized, self.wall);
        let answer = self.take(decided)?;
        if request.member_epoch != LEAVE_EPOCH {
            self.groups.heard(request.group, request.member, self.now);
        }
        Ok(answer)
    }

    pub fn join(&mut self, member: &str, topics: &[&str]) -> HeartbeatAnswer {
        self.heartbeat("g", member, 0, Some(topics)).unwrap()
    }

    pub fn beat(&mut self, member: &str, epoch: i32) -> HeartbeatAnswer {
        self.heartbeat("g", member, epoch, None).unwrap()
    }

    pub fn leave(&mut self, member: &str) -> Result<HeartbeatAnswer, GroupError> {
        self.heartbeat("g", member, LEAVE_EPOCH, None)
    }

    pub fn missing(&self, member: &str, epoch: i32, topics: Option<&[&str]>) -> Vec<Uninitialized> {
        self.groups
            .to_initialize(&heartbeat("g", member, epoch, topics))
    }

    /// Members whose session has ended, taken out.
    pub fn expire(&mut self) -> Vec<String> {
        let due = self.groups.handle_timeout(self.now);
        due.into_iter()
            .map(|(group, member)| {
                let decided = self.groups.decide_expire(&group, &member);
                self.take(decided).unwrap();
                member.to_string()
            })
            .collect()
    }

    pub fn epochs(&self, group: &str) -> (i32, i32) {
        let described = self.groups.describe(group).unwrap();
        (described.epoch, described.assignment_epoch)
    }

    /// Types of the records of the latest verb.
    pub fn last_types(&self) -> Vec<i16> {
        let records = self.log.last().map_or(&[][..], Vec::as_slice);
        records.iter().map(record_type).collect()
    }

    /// Machines that loaded the same: one from the whole log, one from the live records alone.
    pub fn reloaded(&self) -> [ShareGroups; 2] {
        let live: Vec<_> = self.groups.live_records().collect();
        let all = self.log.iter().flatten().cloned().collect();
        [all, live].map(|records: Vec<GroupRecord>| {
            let mut groups = ShareGroups::new(self.broker.clone()).unwrap();
            groups.set_topics(self.view()).unwrap();
            for record in &records {
                groups.replay(record);
            }
            groups
        })
    }
}

pub fn heartbeat<'a>(
    group: &'a str,
    member: &'a str,
    member_epoch: i32,
    topics: Option<&'a [&'a str]>,
) -> Heartbeat<'a> {
    Heartbeat {
        group,
        member,
        member_epoch,
        rack: None,
        topics,
        client_id: "client",
        client_host: "/127.0.0.1",
    }
}
