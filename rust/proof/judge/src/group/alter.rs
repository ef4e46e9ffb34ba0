//! Offsets are altered, on both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use share_state_core::ids::TopicId;
use share_state_core::share_group::{AlteredPartition, GroupError, GroupRecord, GroupValue};

use super::administration::{Both, code, number};
use super::log::{shown, without};
use super::point::{G5, G11_OTHER, G12};

impl Both<'_> {
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
            let either = &empty | &self.in_two_lists(group);
            let class = match (same(&either) || lists.is_empty(), empty.is_empty()) {
                (true, false) => Some(G12),
                (true, true) if !either.is_empty() => Some(G11_OTHER),
                _ => None,
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
