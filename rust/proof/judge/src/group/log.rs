//! The records of share groups: Kafka's bytes read by our codec, and the latest of each key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use share_state_core::ids::TopicId;
use share_state_core::share_group::{GroupRecord, GroupValue, StatePartitions};
use share_state_wire::group_record::{Decoded, decode, encode_key, encode_value};

use crate::bytes::from_hex;

/// Record type and member.
type Key = (Arc<str>, u8, Option<Arc<str>>);

/// The latest record of every key.
#[derive(Clone, Debug, Default)]
pub struct Latest(BTreeMap<Key, GroupRecord>);

fn key(record: &GroupRecord) -> Key {
    let (kind, member) = match &record.value {
        GroupValue::Member(member, _) => (10, Some(member)),
        GroupValue::Group(_) => (11, None),
        GroupValue::TargetAssignment(_) => (12, None),
        GroupValue::TargetMember(member, _) => (13, Some(member)),
        GroupValue::CurrentMember(member, _) => (14, Some(member)),
        GroupValue::StatePartitions(_) => (15, None),
    };
    (Arc::clone(&record.group), kind, member.cloned())
}

/// Returns true if the record deletes its key.
pub fn is_tombstone(record: &GroupRecord) -> bool {
    match &record.value {
        GroupValue::Member(_, value) => value.is_none(),
        GroupValue::Group(value) => value.is_none(),
        GroupValue::TargetAssignment(value) => value.is_none(),
        GroupValue::TargetMember(_, value) => value.is_none(),
        GroupValue::CurrentMember(_, value) => value.is_none(),
        GroupValue::StatePartitions(value) => value.is_none(),
    }
}

impl Latest {
    /// Takes a record in; whether it says something new.
    pub fn put(&mut self, record: &GroupRecord) -> bool {
        let key = key(record);
        if is_tombstone(record) {
            return self.0.remove(&key).is_some();
        }
        self.0.insert(key, record.clone()).as_ref() != Some(record)
    }

    /// Returns true if the record says something new.
    pub fn is_news(&self, record: &GroupRecord) -> bool {
        let known = self.0.get(&key(record));
        if is_tombstone(record) {
            known.is_some()
        } else {
            known != Some(record)
        }
    }

    /// The records of a group.
    pub fn of<'a>(&'a self, group: &str) -> impl Iterator<Item = &'a GroupRecord> + use<'a> {
        let group: Arc<str> = Arc::from(group);
        self.0
            .iter()
            .filter(move |((of, _, _), _)| *of == group)
            .map(|(_, record)| record)
    }

    /// The lists of share partitions of a group.
    pub fn state_partitions(&self, group: &str) -> Option<&StatePartitions> {
        self.of(group).find_map(|record| match &record.value {
            GroupValue::StatePartitions(lists) => lists.as_ref(),
            _ => None,
        })
    }

    /// Returns true if the group has a record 11.
    pub fn has_epoch(&self, group: &str) -> bool {
        self.of(group)
            .any(|record| matches!(record.value, GroupValue::Group(_)))
    }

    /// Records that are left when those that say nothing new are left out; by key where the order does not matter.
    pub fn news(&self, records: &[GroupRecord]) -> Vec<GroupRecord> {
        let mut latest = self.clone();
        let mut news: Vec<GroupRecord> = records
            .iter()
            .filter(|record| latest.put(record))
            .cloned()
            .collect();
        news.sort_by_key(key);
        news
    }
}

/// Bytes of a topic without partitions in an assignment: id, number of partitions, number of tagged fields.
const TOPIC_WITHOUT_PARTITIONS: usize = 18;

/// Kafka's records, read by our codec. A record that the codec would write otherwise, but for the order of lists, is an error.
///
/// # Errors
/// What is wrong with them.
pub fn read(records: &Value) -> Result<Vec<GroupRecord>, String> {
    let list = records.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(read_one).collect()
}

fn read_one(record: &Value) -> Result<GroupRecord, String> {
    let key = record[0]
        .as_str()
        .and_then(from_hex)
        .ok_or("a key is no hex")?;
    let value = match record[1].as_str() {
        Some(text) => Some(from_hex(text).ok_or("a value is no hex")?),
        None => None,
    };
    let decoded = decode(&key, value.as_deref())
        .map_err(|error| format!("our codec refuses {record}: {error}"))?;
    let Decoded::Record(decoded) = decoded else {
        return Err(format!("our codec does not know {record}"));
    };
    let encoded_key = encode_key(&decoded).map_err(|error| error.to_string())?;
    let encoded = encode_value(&decoded.value).map_err(|error| error.to_string())?;
    // Kafka's lists come in the order of hash maps.
    let again = decode(&encoded_key, encoded.as_deref());
    let (theirs, own) = (
        value.as_ref().map_or(0, Vec::len),
        encoded.as_ref().map_or(0, Vec::len),
    );
    // In assignments, ours names no topic of which there is no partition.
    let is_assignment = matches!(
        decoded.value,
        GroupValue::TargetMember(..) | GroupValue::CurrentMember(..)
    );
    let left_out = theirs.wrapping_sub(own);
    let fits = left_out == 0 || (is_assignment && left_out % TOPIC_WITHOUT_PARTITIONS == 0);
    if encoded_key != key || !fits || again != Ok(Decoded::Record(decoded.clone())) {
        return Err(format!(
            "our codec writes {record} otherwise: {encoded_key:?} {encoded:?}"
        ));
    }
    Ok(decoded)
}

/// Records as text.
pub fn shown(records: &[GroupRecord]) -> String {
    records.iter().map(show).collect::<Vec<_>>().join("\n")
}

fn show(record: &GroupRecord) -> String {
    format!("{} {}", record.group, value(&record.value))
}

fn value(value: &GroupValue) -> String {
    use crate::group::text::{assigned, lists};
    match value {
        GroupValue::Member(member, Some(m)) => format!(
            "10 {member} rack {:?} client {} {} topics {:?}",
            m.rack_id, m.client_id, m.client_host, m.subscribed_topics
        ),
        GroupValue::Member(member, None) => format!("10 {member} gone"),
        GroupValue::Group(Some(g)) => format!("11 epoch {} hash {}", g.epoch, g.metadata_hash),
        GroupValue::Group(None) => "11 gone".to_owned(),
        GroupValue::TargetAssignment(Some(t)) => {
            format!(
                "12 epoch {} at {}",
                t.assignment_epoch, t.assignment_timestamp
            )
        }
        GroupValue::TargetAssignment(None) => "12 gone".to_owned(),
        GroupValue::TargetMember(member, Some(t)) => format!("13 {member} {}", assigned(t)),
        GroupValue::TargetMember(member, None) => format!("13 {member} gone"),
        GroupValue::CurrentMember(member, Some(c)) => format!(
            "14 {member} epoch {} after {} state {} {}",
            c.member_epoch,
            c.previous_member_epoch,
            c.state,
            assigned(&c.assigned)
        ),
        GroupValue::CurrentMember(member, None) => format!("14 {member} gone"),
        GroupValue::StatePartitions(Some(s)) => format!("15 {}", lists(s)),
        GroupValue::StatePartitions(None) => "15 gone".to_owned(),
    }
}

/// Records without these topics in the lists of what is initialised and deleted.
pub fn without(records: &[GroupRecord], topics: &BTreeSet<TopicId>) -> Vec<GroupRecord> {
    let mut records = records.to_vec();
    for record in &mut records {
        if let GroupValue::StatePartitions(Some(lists)) = &mut record.value {
            lists.initializing.retain(|id, _| !topics.contains(id));
            lists.deleting.retain(|id, _| !topics.contains(id));
        }
    }
    records
}
