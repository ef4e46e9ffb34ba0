//! State that both sides hold of groups, as text that is the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use share_state_core::share_group::{
    CurrentAssignment, GroupRecord, GroupValue, MemberMetadata, StatePartitions,
};

use super::ours::Ours;
use super::text::{assigned, assigned_json, lists, lists_json};

#[derive(Default)]
struct Group {
    epoch: i32,
    hash: i64,
    target: (i32, i64),
    members: BTreeMap<Arc<str>, MemberMetadata>,
    currents: BTreeMap<Arc<str>, CurrentAssignment>,
    targets: BTreeMap<Arc<str>, String>,
    lists: Option<StatePartitions>,
}

fn members_text(members: &[String], targets: &[String]) -> String {
    format!(
        "members {{{}}} targets {{{}}}",
        members.join("; "),
        targets.join("; ")
    )
}

impl Group {
    fn put(&mut self, value: GroupValue) {
        match value {
            GroupValue::Member(id, Some(member)) => {
                self.members.insert(id, member);
            }
            GroupValue::Group(Some(group)) => {
                (self.epoch, self.hash) = (group.epoch, group.metadata_hash);
            }
            GroupValue::TargetAssignment(Some(target)) => {
                self.target = (target.assignment_epoch, target.assignment_timestamp);
            }
            GroupValue::TargetMember(id, Some(target)) => {
                self.targets.insert(id, assigned(&target));
            }
            GroupValue::CurrentMember(id, Some(current)) => {
                self.currents.insert(id, current);
            }
            GroupValue::StatePartitions(lists) => self.lists = lists,
            _ => {}
        }
    }

    fn text(&self) -> String {
        let members: Vec<String> = self
            .members
            .iter()
            .map(|(id, member)| {
                let current = self.currents.get(id);
                format!(
                    "{id} epoch {} after {} rack {} client {} {} topics {} {}",
                    current.map_or(0, |current| current.member_epoch),
                    current.map_or(-1, |current| current.previous_member_epoch),
                    member.rack_id.as_deref().unwrap_or("-"),
                    member.client_id,
                    member.client_host,
                    member.subscribed_topics.join(","),
                    current.map_or_else(|| "[]".to_owned(), |current| assigned(&current.assigned))
                )
            })
            .collect();
        let targets: Vec<String> = self
            .targets
            .iter()
            .map(|(id, target)| format!("{id} {target}"))
            .collect();
        format!(
            "{} epoch {} hash {} target {} at {} {} {}",
            if self.members.is_empty() {
                "Empty"
            } else {
                "Stable"
            },
            self.epoch,
            self.hash,
            self.target.0,
            self.target.1,
            members_text(&members, &targets),
            self.lists
                .as_ref()
                .map_or_else(|| "no lists".to_owned(), lists)
        )
    }
}

/// Our groups.
pub fn ours(ours: &Ours) -> String {
    let mut groups: BTreeMap<Arc<str>, Group> = BTreeMap::new();
    for GroupRecord { group, value } in ours.groups.live_records() {
        groups.entry(group).or_default().put(value);
    }
    let groups: Vec<String> = groups
        .iter()
        .map(|(id, group)| format!("{id}: {}", group.text()))
        .collect();
    groups.join("\n")
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(i64::MIN)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

/// Kafka's groups, with our hashes.
pub fn kafka(state: &Value, ours: &Ours) -> String {
    let groups = state.as_object().into_iter().flatten();
    let groups: Vec<String> = groups
        .map(|(id, group)| format!("{id}: {}", one(group, ours)))
        .collect();
    groups.join("\n")
}

fn one(group: &Value, ours: &Ours) -> String {
    let members = group["members"].as_object().into_iter().flatten();
    let members: Vec<String> = members
        .map(|(id, member)| {
            let topics = member["topics"].as_array().into_iter().flatten();
            let topics: Vec<&str> = topics.map(text).collect();
            format!(
                "{id} epoch {} after {} rack {} client {} {} topics {} {}",
                number(&member["epoch"]),
                number(&member["previous_epoch"]),
                text(&member["rack"]),
                text(&member["client_id"]),
                text(&member["client_host"]),
                topics.join(","),
                assigned_json(&member["assigned"])
            )
        })
        .collect();
    let targets = group["target"].as_object().into_iter().flatten();
    let targets: Vec<String> = targets
        .map(|(id, target)| format!("{id} {}", assigned_json(target)))
        .collect();
    format!(
        "{} epoch {} hash {} target {} at {} {} {}",
        text(&group["state"]),
        number(&group["epoch"]),
        ours.hash(number(&group["metadata_hash"])),
        number(&group["assignment_epoch"]),
        number(&group["assignment_timestamp"]),
        members_text(&members, &targets),
        if group.get("initializing").is_some() {
            lists_json(group)
        } else {
            "no lists".to_owned()
        }
    )
}
