//! The simple assignor as a function.

use std::collections::{BTreeMap, BTreeSet};

use pyo3::prelude::*;
use share_state_core::assignor::{AssignableTopics, Assignment, Subscriber, assign};
use share_state_core::ids::TopicId;

use crate::args::{Int, Topic};
use crate::errors::Raise;
use crate::locked::caught;

/// Partitions by topic id, as an assignment is told to Python.
type Topics = Vec<(String, Vec<i32>)>;

/// Each topic with its partitions.
pub fn topics_out(assignment: &Assignment) -> Topics {
    let topics = assignment.topics();
    let topics = topics.map(|(id, partitions)| (id.to_base64(), partitions.to_vec()));
    topics.collect()
}

fn topics_in(topics: Vec<(Topic, Vec<Int<i32>>)>) -> impl Iterator<Item = (TopicId, Vec<i32>)> {
    topics.into_iter().map(|(id, partitions)| {
        let partitions = partitions.into_iter().map(|partition| partition.0);
        (id.0, partitions.collect())
    })
}

/// Spread partitions over the members of a share group (Kafka: `SimpleAssignor`).
///
/// Every partition of a subscribed topic has a member, several when there are more members than partitions; members with the
/// same topics differ by one partition at most; what is assigned already moves only as far as the balance needs. The same input
/// has the same output.
///
/// Args:
///     members: by member id, the topic ids that the member subscribes to, and what it has now as (topic id, partitions).
///     topics: (topic id, partitions that can be assigned) of every topic that exists.
///
/// Returns:
///     By member id what the member is to have, as (topic id, partitions).
///
/// Raises:
///     UnknownPartitionError: a member subscribes to a topic that is not in `topics`.
///     ValueError: a topic id is not one.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "plain data from Python")]
pub fn simple_assignment(
    py: Python<'_>,
    members: BTreeMap<String, (Vec<Topic>, Vec<(Topic, Vec<Int<i32>>)>)>,
    topics: Vec<(Topic, Vec<Int<i32>>)>,
) -> PyResult<BTreeMap<String, Topics>> {
    let mut assignable = AssignableTopics::new();
    for (id, partitions) in topics_in(topics) {
        assignable.entry(id).or_default().extend(partitions);
    }
    let mut subscribed = Vec::with_capacity(members.len());
    for (id, (topics, current)) in members {
        let topics: BTreeSet<TopicId> = topics.into_iter().map(|topic| topic.0).collect();
        let current = topics_in(current);
        let current =
            current.flat_map(|(id, partitions)| partitions.into_iter().map(move |p| (id, p)));
        subscribed.push((id, topics, current.collect::<Assignment>()));
    }
    let targets = py.detach(|| {
        let members: Vec<_> = subscribed
            .iter()
            .map(|(_, topics, current)| Subscriber {
                topics: topics.clone(),
                current,
            })
            .collect();
        caught(|| assign(&members, &assignable))
    });
    let targets = targets
        .map_err(|panic| crate::errors::bug(py, "the assignor", &panic))?
        .map_err(|unknown| {
            Raise::new(py, "UnknownPartitionError", unknown)
                .fact("field", "topics")
                .fact("value", unknown.0.to_base64())
                .done()
        })?;
    let ids = subscribed.into_iter().map(|(id, _, _)| id);
    Ok(ids.zip(targets.iter().map(topics_out)).collect())
}
