//! Assignments and lists as text that is the same for both sides.

use std::collections::BTreeMap;

use serde_json::Value;
use share_state_core::assignor::Assignment;
use share_state_core::share_group::{PartitionsByTopic, StatePartitions};

/// An assignment of ours.
pub fn assigned(assignment: &Assignment) -> String {
    let topics = assignment.topics().map(|(id, partitions)| {
        let partitions: Vec<String> = partitions.iter().map(i32::to_string).collect();
        (id.to_base64(), partitions.join(","))
    });
    by_topic(topics)
}

/// An assignment of Kafka's: topics with their partitions.
pub fn assigned_json(assignment: &Value) -> String {
    let topics = assignment.as_object().into_iter().flatten();
    let topics = topics.filter_map(|(id, partitions)| {
        let partitions = numbers(partitions);
        // A topic without partitions is none.
        (!partitions.is_empty()).then(|| (id.clone(), partitions.join(",")))
    });
    by_topic(topics)
}

fn by_topic(topics: impl Iterator<Item = (String, String)>) -> String {
    let sorted: BTreeMap<String, String> = topics.collect();
    let topics: Vec<String> = sorted
        .into_iter()
        .map(|(id, partitions)| format!("{id}:{partitions}"))
        .collect();
    format!("[{}]", topics.join(" "))
}

fn numbers(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_i64)
        .map(|n| n.to_string())
        .collect()
}

/// The lists of share partitions.
pub fn lists(lists: &StatePartitions) -> String {
    let mut deleting: Vec<String> = lists.deleting.keys().map(|id| id.to_base64()).collect();
    deleting.sort_unstable();
    format!(
        "initializing {} initialized {} deleting [{}]",
        named(&lists.initializing),
        named(&lists.initialized),
        deleting.join(" ")
    )
}

fn named(topics: &PartitionsByTopic) -> String {
    by_topic(topics.iter().map(|(id, topic)| {
        let partitions: Vec<String> = topic.partitions.iter().map(i32::to_string).collect();
        (
            format!("{}={}", id.to_base64(), topic.name),
            partitions.join(","),
        )
    }))
}

/// The lists of share partitions that Kafka remembers for a group.
pub fn lists_json(group: &Value) -> String {
    let named = |list: &str| {
        let topics = group[list].as_object().into_iter().flatten();
        by_topic(topics.map(|(id, topic)| {
            let name = topic[0].as_str().unwrap_or("?");
            (format!("{id}={name}"), numbers(&topic[1]).join(","))
        }))
    };
    let deleting = group["deleting"].as_array().into_iter().flatten();
    let deleting: Vec<&str> = deleting.filter_map(Value::as_str).collect();
    format!(
        "initializing {} initialized {} deleting [{}]",
        named("initializing"),
        named("initialized"),
        deleting.join(" ")
    )
}
