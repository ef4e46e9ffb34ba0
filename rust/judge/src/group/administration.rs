//! What administrators ask of share groups, and what time and the cluster do to them, on both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use share_state_core::ids::TopicId;
use share_state_core::share_group::{
    AlteredPartition, DescribedGroup, GroupError, GroupRecord, GroupValue,
};

use super::log::{read, shown};
use super::ours::Ours;
use super::point::{G5, G9, G11, G11_OTHER, G12, Points};
use super::text::{assigned, assigned_json};

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(i64::MIN)
}

fn code(error: &GroupError) -> String {
    error.kafka_code().code().to_string()
}

/// Both sides of an operation.
pub struct Both<'a> {
    /// Our side.
    pub ours: &'a mut Ours,
    /// What Kafka's side gave.
    pub given: &'a Value,
    /// What differs.
    pub points: Points,
}

impl Both<'_> {
    /// Kafka's records with our hashes; `own` are ours.
    fn kafka(&mut self, own: &[GroupRecord]) -> Vec<GroupRecord> {
        let mut records = read(&self.given["records"]).unwrap_or_else(|wrong| {
            self.points.differ("codec", wrong, String::new(), None);
            Vec::new()
        });
        if let Err(wrong) = self.ours.translate(&mut records, own) {
            self.points
                .differ("metadata hash", wrong, String::new(), None);
        }
        records
    }

    /// Compares records, those that say nothing new left out, and takes over Kafka's.
    pub fn records(&mut self, own: &[GroupRecord]) {
        let kafka = self.kafka(own);
        self.points.same(
            "records",
            shown(&self.ours.latest.news(&kafka)),
            shown(&self.ours.latest.news(own)),
        );
        self.ours.adopt(&kafka);
    }

    /// Takes over what only Kafka does.
    pub fn adopt(&mut self) {
        let kafka = self.kafka(&[]);
        self.ours.adopt(&kafka);
    }

    fn code(&mut self, own: &str) {
        let kafka = number(&self.given["result"]["code"]);
        self.points.same("code", kafka.to_string(), own.to_owned());
    }

    /// Time passes, and sessions end.
    pub fn advance(&mut self, ms: i64, wall: i64) -> String {
        let due = self.ours.advance(ms, wall);
        let mut after = self.ours.clone();
        let mut records = Vec::new();
        for (group, member) in &due {
            match after.groups.decide_expire(group, member) {
                Ok(decided) => {
                    after.try_out(&decided.records);
                    records.extend(decided.records);
                }
                Err(error) => {
                    let error = format!("{group} {member}: {error}");
                    self.points.differ("expiry", String::new(), error, None);
                }
            }
        }
        let kafka = self.kafka(&records);
        self.points.same("records", shown(&kafka), shown(&records));
        self.ours.adopt(&kafka);
        format!("{} end", due.len().min(3))
    }

    /// The cluster has other topics.
    pub fn deleted(&mut self, gone: &[TopicId]) -> String {
        let own = self.ours.groups.decide_topics_deleted(gone);
        self.records(&own);
        format!("{} groups lose one", own.len())
    }

    /// A group is described.
    pub fn describe(&mut self, group: &str) -> String {
        let result = &self.given["result"];
        let own = self.ours.groups.describe(group);
        let own = own.map_or_else(|| "69".to_owned(), |own| self.described(&own));
        let kafka = match number(&result["code"]) {
            0 => described(result),
            code => code.to_string(),
        };
        let reached = own.split(' ').next().unwrap_or_default().to_owned();
        self.points.same("description", kafka, own);
        reached
    }

    fn described(&self, group: &DescribedGroup) -> String {
        let members: Vec<String> = group
            .members
            .iter()
            .map(|member| {
                // Topics that do not exist any more have no name.
                let named = member
                    .assigned
                    .restricted(|id| self.ours.topics.iter().any(|topic| topic.id == id));
                let m = &member.metadata;
                format!(
                    "{} epoch {} rack {} client {} {} topics {} {}",
                    member.id,
                    member.epoch,
                    m.rack_id.as_deref().unwrap_or("-"),
                    m.client_id,
                    m.client_host,
                    m.subscribed_topics.join(","),
                    assigned(&named)
                )
            })
            .collect();
        format!(
            "{} epoch {} assignment {} {} {{{}}}",
            group.state.name(),
            group.epoch,
            group.assignment_epoch,
            group.assignor,
            members.join("; ")
        )
    }

    /// The groups are listed.
    pub fn list(&mut self) -> String {
        let listed = self.given["result"].as_array().into_iter().flatten();
        let kafka: Vec<String> = listed
            .map(|group| {
                let field = |at: usize| group[at].as_str().unwrap_or("?").to_owned();
                format!("{} {} {} {}", field(0), field(1), field(2), field(3))
            })
            .collect();
        let own: Vec<String> = self
            .ours
            .groups
            .list()
            .map(|(id, state)| format!("{id} share {} share", state.name()))
            .collect();
        self.points.same("list", kafka.join(", "), own.join(", "));
        format!("{} groups", own.len())
    }

    /// Which share partitions have state.
    pub fn initialized(&mut self, group: &str) {
        let lists = self.ours.groups.state_partitions(group).unwrap_or_default();
        let own = lists.initialized.iter().flat_map(|(id, topic)| {
            let partitions = topic.partitions.iter();
            partitions.map(move |partition| (*id, *partition))
        });
        let kafka = assigned_json(&self.given["result"]);
        self.points
            .same("share partitions", kafka, assigned(&own.collect()));
    }

    /// A group is deleted.
    pub fn delete_group(&mut self, group: &str, persister: i16) -> String {
        let kafka = number(&self.given["result"]["code"]);
        let asks_for_nothing = self.given["result"]["delete"]
            .as_object()
            .is_some_and(|topics| {
                topics
                    .values()
                    .all(|p| p.as_array().is_some_and(Vec::is_empty))
            });
        if asks_for_nothing && kafka != 0 {
            // Of a topic that is listed without partitions Kafka wants no state to be deleted, and waits for it.
            let own = "nothing to delete".to_owned();
            self.points
                .differ("code", kafka.to_string(), own, Some(G12));
            self.adopt();
            return kafka.to_string();
        }
        let mut after = self.ours.clone();
        let mut records = Vec::new();
        let own = match after.groups.decide_begin_delete_group(group) {
            Err(error) => code(&error),
            Ok(begun) => {
                after.try_out(&begun.records);
                records.extend(begun.records);
                let deleted = assigned_json(&self.given["result"]["delete"]);
                self.points
                    .same("states to delete", deleted, assigned(&begun.answer));
                if persister != 0 && !begun.answer.is_empty() {
                    persister.to_string()
                } else {
                    match after.groups.decide_finish_delete_group(group) {
                        Err(error) => code(&error),
                        Ok(finished) => {
                            records.extend(finished.records);
                            "0".to_owned()
                        }
                    }
                }
            }
        };
        self.code(&own);
        self.deleted_group(group, &records);
        own
    }

    /// Kafka forgets that it deletes states of topics that are gone.
    fn deleted_group(&mut self, group: &str, own: &[GroupRecord]) {
        let kafka = self.kafka(own);
        let gone: BTreeSet<TopicId> = self
            .ours
            .latest
            .state_partitions(group)
            .into_iter()
            .flat_map(|lists| lists.deleting.keys().copied())
            .filter(|id| self.ours.topics.iter().all(|topic| topic.id != *id))
            .collect();
        let news = |records: &[GroupRecord]| shown(&self.ours.latest.news(records));
        let (theirs, mine) = (news(&kafka), news(own));
        if theirs != mine {
            let left = |records: &[GroupRecord]| {
                let mut latest = self.ours.latest.clone();
                records.iter().for_each(|record| {
                    latest.put(record);
                });
                let left: Vec<GroupRecord> = latest.of(group).cloned().collect();
                shown(&without(&left, &gone))
            };
            let class = (!gone.is_empty() && left(&kafka) == left(own)).then_some(G11);
            self.points.differ("records", theirs, mine, class);
        }
        self.ours.adopt(&kafka);
    }

    /// Offsets are altered.
    pub fn alter(
        &mut self,
        group: &str,
        topics: &[(String, Vec<(i32, i64)>)],
        persister: i16,
    ) -> String {
        let mut partitions = Vec::new();
        let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut offsets: BTreeMap<(String, i32), i64> = BTreeMap::new();
        for (name, altered) in topics {
            let topic = self.ours.topic(name);
            let mut codes: Vec<(i32, i16)> = Vec::new();
            for (partition, offset) in altered {
                let known = topic.filter(|topic| *partition < topic.partitions);
                codes.push((*partition, if known.is_some() { 0 } else { 3 }));
                if let Some(topic) = known {
                    offsets.insert((topic.id.to_base64(), *partition), *offset);
                    partitions.push(AlteredPartition {
                        topic_id: topic.id,
                        name: Arc::from(name.as_str()),
                        partition: *partition,
                    });
                }
            }
            codes.sort_unstable();
            let codes = codes.into_iter().map(|(p, code)| format!("{p} {code}"));
            answers.insert(name.clone(), codes.collect());
        }
        let mut after = self.ours.clone();
        let begun = match after.groups.decide_begin_alter_offsets(group, &partitions) {
            Ok(begun) => begun,
            Err(error) => return self.not_altered(&error),
        };
        self.code("0");
        self.altered_codes(&answers);
        after.try_out(&begun.records);
        let mut records = begun.records;
        if persister == 0 && !partitions.is_empty() {
            match after.groups.decide_finish_alter_offsets(group, &partitions) {
                Ok(finished) => records.extend(finished.records),
                Err(error) => self
                    .points
                    .differ("alter", String::new(), code(&error), None),
            }
        }
        self.altered_states(&offsets, begun.answer);
        self.altered_records(group, records);
        format!("0 of {} partitions", partitions.len().min(2))
    }

    fn not_altered(&mut self, error: &GroupError) -> String {
        let kafka = number(&self.given["result"]["code"]);
        let own = code(error);
        self.points.same("code", kafka.to_string(), own.clone());
        self.adopt();
        own
    }

    fn altered_codes(&mut self, answers: &BTreeMap<String, Vec<String>>) {
        let kafka = self.given["result"]["topics"]
            .as_object()
            .into_iter()
            .flatten();
        let kafka: BTreeMap<String, Vec<String>> = kafka
            .map(|(name, partitions)| {
                let codes = partitions.as_array().into_iter().flatten();
                let codes = codes.map(|p| format!("{} {}", number(&p[0]), number(&p[1])));
                (name.clone(), codes.collect())
            })
            .collect();
        self.points
            .same("answers", format!("{kafka:?}"), format!("{answers:?}"));
    }

    /// The states that are altered, with their epoch and offset.
    fn altered_states(&mut self, offsets: &BTreeMap<(String, i32), i64>, epoch: i32) {
        let asked = self.given["result"]["initialize"]
            .as_object()
            .into_iter()
            .flatten();
        let mut kafka = BTreeMap::new();
        let mut epochs = Vec::new();
        for (id, partitions) in asked {
            for p in partitions.as_array().into_iter().flatten() {
                let partition = i32::try_from(number(&p[0])).unwrap_or(i32::MIN);
                kafka.insert((id.clone(), partition), number(&p[2]));
                epochs.push(number(&p[1]));
            }
        }
        self.points
            .same("offsets", format!("{kafka:?}"), format!("{offsets:?}"));
        let own = i64::from(epoch);
        if let Some(theirs) = epochs.first().copied()
            && theirs != own
        {
            let class = (theirs + 1 == own).then_some(G5);
            self.points
                .differ("state epoch", theirs.to_string(), own.to_string(), class);
        }
    }

    /// Ours writes the group's new epoch, Kafka does not.
    fn altered_records(&mut self, group: &str, own: Vec<GroupRecord>) {
        let (epochs, lists): (Vec<GroupRecord>, Vec<GroupRecord>) = own
            .into_iter()
            .partition(|record| !matches!(record.value, GroupValue::StatePartitions(_)));
        let kafka = self.kafka(&epochs);
        let before = self
            .ours
            .groups
            .describe(group)
            .map_or(0, |group| group.epoch);
        let is_bump = matches!(
            epochs.as_slice(),
            [GroupRecord { value: GroupValue::Group(Some(group)), .. },
             GroupRecord { value: GroupValue::TargetAssignment(Some(target)), .. }]
                if group.epoch == before + 1 && target.assignment_epoch == group.epoch && target.assignment_timestamp == 0
        );
        if !epochs.is_empty() {
            self.points.differ(
                "records of epochs",
                String::new(),
                shown(&epochs),
                is_bump.then_some(G5),
            );
        }
        let (theirs, own) = (
            shown(&self.ours.latest.news(&kafka)),
            shown(&self.ours.latest.news(&lists)),
        );
        if theirs != own {
            let same = |topics: &BTreeSet<TopicId>| {
                let news = |records| shown(&self.ours.latest.news(&without(records, topics)));
                news(&kafka) == news(&lists)
            };
            let empty = empty_topics(&kafka);
            let both = self.in_two_lists(group);
            let class = if !empty.is_empty() && (same(&empty) || lists.is_empty()) {
                Some(G12)
            } else {
                (!both.is_empty() && same(&both)).then_some(G11_OTHER)
            };
            self.points.differ("records", theirs, own, class);
        }
        self.ours.adopt(&kafka);
    }

    /// Topics of which some states are being deleted and others initialised.
    fn in_two_lists(&self, group: &str) -> BTreeSet<TopicId> {
        let lists = self.ours.latest.state_partitions(group);
        let deleting = lists.into_iter().flat_map(|lists| lists.deleting.keys());
        deleting
            .filter(|id| lists.is_some_and(|lists| lists.initializing.contains_key(*id)))
            .copied()
            .collect()
    }

    /// Offsets of topics are deleted.
    pub fn delete_offsets(&mut self, group: &str, topics: &[String], persister: i16) -> String {
        let mut codes: BTreeMap<String, i16> = BTreeMap::new();
        let mut named: BTreeMap<TopicId, String> = BTreeMap::new();
        for name in topics {
            match self.ours.topic(name) {
                Some(topic) => {
                    named.insert(topic.id, name.clone());
                }
                None => {
                    codes.insert(name.clone(), 3);
                }
            }
        }
        let ids: Vec<TopicId> = named.keys().copied().collect();
        let mut after = self.ours.clone();
        let begun = match after.groups.decide_begin_delete_offsets(group, &ids) {
            Ok(begun) => begun,
            Err(error) => {
                let own = code(&error);
                self.code(&own);
                self.records(&[]);
                return own;
            }
        };
        after.try_out(&begun.records);
        let mut records = begun.records;
        let mut deleted = Vec::new();
        let mut states = Vec::new();
        for (id, partitions) in begun.answer {
            let name = named.get(&id).cloned().unwrap_or_default();
            let code = match partitions {
                None => 3,
                Some(partitions) => {
                    states.extend(partitions.into_iter().map(|p| (id, p)));
                    if persister == 0 {
                        deleted.push(id);
                    }
                    persister
                }
            };
            codes.insert(name, code);
        }
        if !deleted.is_empty() {
            match after.groups.decide_finish_delete_offsets(group, &deleted) {
                Ok(finished) => records.extend(finished.records),
                Err(error) => self
                    .points
                    .differ("delete", String::new(), code(&error), None),
            }
        }
        self.code("0");
        let kafka = assigned_json(&self.given["result"]["delete"]);
        self.points.same(
            "states to delete",
            kafka,
            assigned(&states.into_iter().collect()),
        );
        self.deleted_codes(group, &codes);
        self.records(&records);
        format!("0 of {} topics", deleted.len().min(2))
    }

    fn deleted_codes(&mut self, group: &str, codes: &BTreeMap<String, i16>) {
        let kafka = self.given["result"]["topics"]
            .as_object()
            .into_iter()
            .flatten();
        let kafka: BTreeMap<String, i16> = kafka
            .map(|(name, code)| (name.clone(), number(code) as i16))
            .collect();
        if kafka == *codes {
            return;
        }
        let without = self.ours.latest.state_partitions(group).is_none();
        let all_unknown = codes.values().all(|code| *code == 3);
        let class = (without && all_unknown && kafka.is_empty()).then_some(G9);
        self.points
            .differ("answers", format!("{kafka:?}"), format!("{codes:?}"), class);
    }
}

/// Topics that are listed without a partition.
fn empty_topics(records: &[GroupRecord]) -> BTreeSet<TopicId> {
    let lists = records.iter().filter_map(|record| match &record.value {
        GroupValue::StatePartitions(lists) => lists.as_ref(),
        _ => None,
    });
    lists
        .flat_map(|lists| &lists.initializing)
        .filter(|(_, topic)| topic.partitions.is_empty())
        .map(|(id, _)| *id)
        .collect()
}

/// Without these topics in the lists.
fn without(records: &[GroupRecord], topics: &BTreeSet<TopicId>) -> Vec<GroupRecord> {
    let mut records = records.to_vec();
    for record in &mut records {
        if let GroupValue::StatePartitions(Some(lists)) = &mut record.value {
            lists.initializing.retain(|id, _| !topics.contains(id));
            lists.deleting.retain(|id, _| !topics.contains(id));
        }
    }
    records
}

fn described(result: &Value) -> String {
    let members = result["members"].as_array().into_iter().flatten();
    let members: Vec<String> = members
        .map(|member| {
            let topics = member["topics"].as_array().into_iter().flatten();
            let topics: Vec<&str> = topics.filter_map(Value::as_str).collect();
            let mut by_id = serde_json::Map::new();
            for (topic, partitions) in member["assignment"].as_object().into_iter().flatten() {
                let id = topic.split(':').next().unwrap_or_default();
                by_id.insert(id.to_owned(), partitions.clone());
            }
            format!(
                "{} epoch {} rack {} client {} {} topics {} {}",
                member["member"].as_str().unwrap_or("?"),
                number(&member["epoch"]),
                member["rack"].as_str().unwrap_or("-"),
                member["client_id"].as_str().unwrap_or("?"),
                member["client_host"].as_str().unwrap_or("?"),
                topics.join(","),
                assigned_json(&by_id.into())
            )
        })
        .collect();
    format!(
        "{} epoch {} assignment {} {} {{{}}}",
        result["state"].as_str().unwrap_or("?"),
        number(&result["epoch"]),
        number(&result["assignment_epoch"]),
        result["assignor"].as_str().unwrap_or("?"),
        members.join("; ")
    )
}
