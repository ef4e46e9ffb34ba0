//! Share partitions that a heartbeat wants initialised, on both sides, and what ours does once they are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use share_state_core::share_group::{GroupValue, LEAVE_EPOCH, NamedPartitions, Uninitialized};

use super::administration::number;
use super::heartbeat::Turn;
use super::point::{G2_AGAIN, G2_EPOCH, G2_START, Points};
use super::targets::Targets;
use super::text::lists;

impl Turn<'_> {
    /// Compares the requests of both sides to the share coordinator.
    pub fn initialize(&mut self, need: &[Uninitialized], asked: &Value) {
        let mut theirs: BTreeMap<(String, i64), (i64, i64)> = BTreeMap::new();
        for (topic, partitions) in asked.as_object().into_iter().flatten() {
            for p in partitions.as_array().into_iter().flatten() {
                theirs.insert(
                    (topic.clone(), number(&p[0])),
                    (number(&p[1]), number(&p[2])),
                );
            }
        }
        let empty = self.ours.topics.is_empty();
        let known = self.ours.latest.state_partitions(self.request.group);
        let mut points = Points::default();
        for new in need {
            let place = (new.topic_id.to_base64(), i64::from(new.partition));
            let own = (i64::from(new.state_epoch), new.start_offset);
            let initializing = known.and_then(|known| known.initializing.get(&new.topic_id));
            let is_known = initializing.is_some_and(|i| i.partitions.contains(&new.partition));
            let Some(kafka) = theirs.remove(&place) else {
                let class = (is_known && !empty).then_some(G2_AGAIN);
                points.differ(
                    "initialize",
                    "nothing".to_owned(),
                    format!("{new:?}"),
                    class,
                );
                continue;
            };
            if kafka.0 != own.0 {
                let class = (own.0 == kafka.0 + 1).then_some(G2_EPOCH);
                points.differ(
                    "state epoch",
                    format!("{place:?} {kafka:?}"),
                    format!("{own:?}"),
                    class,
                );
            }
            if kafka.1 != own.1 {
                let only = initializing.is_some()
                    && known.is_some_and(|k| !k.initialized.contains_key(&new.topic_id));
                let class = (kafka.1 == 0 && own.1 == -1 && only).then_some(G2_START);
                points.differ(
                    "start offset",
                    format!("{place:?} {kafka:?}"),
                    format!("{own:?}"),
                    class,
                );
            }
        }
        if !theirs.is_empty() {
            points.differ(
                "initialize",
                format!("{theirs:?}"),
                "nothing".to_owned(),
                None,
            );
        }
        self.points.0.extend(points.0);
    }

    /// Checks that with everything initialised our heartbeat does what Kafka does in the end.
    pub fn one_step(&mut self, need: &[Uninitialized]) {
        let partitions: Vec<_> = need
            .iter()
            .map(|new| (new.topic_id, new.partition))
            .collect();
        let decided =
            self.ours
                .groups
                .decide_heartbeat(&self.request, &partitions, self.ours.now());
        let Ok(decided) = decided else {
            self.points.differ(
                "in one step",
                "accepted".to_owned(),
                format!("{decided:?}"),
                None,
            );
            return;
        };
        let mut expected = self
            .ours
            .latest
            .state_partitions(self.request.group)
            .cloned()
            .unwrap_or_default();
        for new in need {
            let Some(topic) = self
                .ours
                .topics
                .iter()
                .find(|topic| topic.id == new.topic_id)
            else {
                continue;
            };
            let named = || NamedPartitions {
                name: Arc::from(topic.name.as_str()),
                partitions: BTreeSet::new(),
            };
            let initialized = expected.initialized.entry(new.topic_id);
            initialized
                .or_insert_with(named)
                .partitions
                .insert(new.partition);
            expected.deleting.remove(&new.topic_id);
            if let Some(topic) = expected.initializing.get_mut(&new.topic_id) {
                topic.partitions.remove(&new.partition);
                if topic.partitions.is_empty() {
                    expected.initializing.remove(&new.topic_id);
                }
            }
        }
        let told = decided
            .records
            .iter()
            .find_map(|record| match &record.value {
                GroupValue::StatePartitions(lists) => lists.clone(),
                _ => None,
            });
        let expected = (!need.is_empty()).then_some(expected);
        self.points.same(
            "lists in one step",
            format!("{:?}", expected.as_ref().map(lists)),
            format!("{:?}", told.as_ref().map(lists)),
        );
        let mut after = self.ours.clone();
        after.try_out(&decided.records);
        let described = after.groups.describe(self.request.group);
        if let (Some(new), Some(group)) = (need.first(), &described) {
            self.points.same(
                "state epoch in one step",
                group.epoch.to_string(),
                new.state_epoch.to_string(),
            );
        }
        let is_assigned = decided
            .records
            .iter()
            .any(|record| matches!(record.value, GroupValue::TargetAssignment(_)));
        if is_assigned && self.request.member_epoch != LEAVE_EPOCH {
            let flaws = Targets::of(self.ours, &self.request).flaws(&after, expected.as_ref());
            self.points
                .same("targets in one step", String::new(), flaws);
        }
    }
}
