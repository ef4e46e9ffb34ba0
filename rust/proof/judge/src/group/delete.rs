//! Groups and offsets are deleted, on both sides.

use std::collections::{BTreeMap, BTreeSet};

use share_state_core::ids::TopicId;
use share_state_core::share_group::GroupRecord;

use super::administration::{Both, code, number};
use super::log::{shown, without};
use super::point::{G9, G11, G12};
use super::text::{assigned, assigned_json};

impl Both<'_> {
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
