//! Requests of administrators, and their effects.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::share_group::{AlteredPartition, GroupError};
use share_state_log::Accepted;

use super::ShareGroupStore;
use crate::args::{Int, Topic, WallMs, text, topics};
use crate::convert;
use crate::errors;
use crate::groups::assignor::topics_out;

/// A topic id and a partition.
type SharePartitionOut = (String, i32);
/// A topic id, the topic's name and some of its partitions.
type NamedPartitionsOut = (String, String, Vec<i32>);

#[pymethods]
impl ShareGroupStore {
    /// Describe a group (ShareGroupDescribe, RPC 77) under Kafka's names of the fields: `groupId`, `groupState`, `groupEpoch`,
    /// `assignmentEpoch`, `assignorName` and `members`, each with `memberId`, `rackId`, `memberEpoch`, `clientId`, `clientHost`,
    /// `subscribedTopicNames` and `assignment`, a list of (topic id, partitions).
    ///
    /// Returns:
    ///     `None` when there is no such group.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    fn describe<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] group: &str,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let seen = self.call(py, |store| store.look(|groups| groups.describe(group)))?;
        let Some(described) = seen.answer else {
            return Ok(None);
        };
        let members = PyList::empty(py);
        for member in &described.members {
            let dict = PyDict::new(py);
            let metadata = &member.metadata;
            dict.set_item("memberId", &*member.id)?;
            dict.set_item("rackId", metadata.rack_id.as_deref())?;
            dict.set_item("memberEpoch", member.epoch)?;
            dict.set_item("clientId", &*metadata.client_id)?;
            dict.set_item("clientHost", &*metadata.client_host)?;
            let topics: Vec<&str> = metadata.subscribed_topics.iter().map(|t| &**t).collect();
            dict.set_item("subscribedTopicNames", topics)?;
            dict.set_item("assignment", topics_out(&member.assigned))?;
            members.append(dict)?;
        }
        let dict = PyDict::new(py);
        dict.set_item("groupId", group)?;
        dict.set_item("groupState", described.state.name())?;
        dict.set_item("groupEpoch", described.epoch)?;
        dict.set_item("assignmentEpoch", described.assignment_epoch)?;
        dict.set_item("assignorName", described.assignor)?;
        dict.set_item("members", members)?;
        Ok(Some(dict))
    }

    /// Every group with its state, `"Empty"` or `"Stable"`, by id.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    fn groups(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        let seen = self.call(py, |store| {
            store.look(|groups| {
                groups
                    .list()
                    .map(|(id, state)| (id.to_string(), state.name()))
                    .collect()
            })
        })?;
        Ok(seen.answer)
    }

    /// Names of topics that some member subscribes to and that `set_topics` did not tell, ascending.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    fn unknown_topics(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let seen = self.call(py, |store| {
            store.look(|groups| {
                let names = groups.unknown_topics();
                names.iter().map(ToString::to_string).collect()
            })
        })?;
        Ok(seen.answer)
    }

    /// The share partitions of a group that have state, as (topic id, topic name, partitions).
    ///
    /// Returns:
    ///     `None` when there is no such group.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    fn share_partitions(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
    ) -> PyResult<Option<Vec<NamedPartitionsOut>>> {
        let seen = self.call(py, |store| {
            store.look(|groups| groups.state_partitions(group))
        })?;
        Ok(seen.answer.map(|lists| {
            let topics = lists.initialized.into_iter();
            topics
                .map(|(id, topic)| {
                    let partitions = topic.partitions.into_iter().collect();
                    (id.to_base64(), topic.name.to_string(), partitions)
                })
                .collect()
        }))
    }

    /// Begin to delete a group (DeleteGroups, RPC 42): what is to be deleted is written first. Between this and
    /// `finish_delete_group` the caller lets no heartbeat of the group in.
    ///
    /// Returns:
    ///     Error code (0, NON_EMPTY_GROUP 68 or GROUP_ID_NOT_FOUND 69), the share partitions whose state is to be deleted as
    ///     (topic id, partition), and a ticket.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (group, *, wall_ms))]
    fn begin_delete_group(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        wall_ms: WallMs,
    ) -> PyResult<(i16, Vec<SharePartitionOut>, i64)> {
        let accepted = self.call(py, |store| store.begin_delete_group(group, wall_ms.0))?;
        let (code, states) = code_and(accepted.answer);
        let states = states.unwrap_or_default();
        let states = states.partitions().map(|(id, p)| (id.to_base64(), p));
        Ok((code, states.collect(), accepted.ticket))
    }

    /// Finish deleting a group, once the states are deleted: nothing of it is left.
    ///
    /// Returns:
    ///     A ticket.
    ///
    /// Raises:
    ///     ShareGroupError: the group has members again (68), or is gone already (69); `kafka_code` is the code.
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (group, *, wall_ms))]
    fn finish_delete_group(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        wall_ms: WallMs,
    ) -> PyResult<i64> {
        let accepted = self.call(py, |store| store.finish_delete_group(group, wall_ms.0))?;
        finished(py, accepted)
    }

    /// Begin to delete a group's states of some topics (DeleteShareGroupOffsets, RPC 92). Between this and
    /// `finish_delete_offsets` the caller lets no heartbeat of the group in.
    ///
    /// Returns:
    ///     Error code (0, INVALID_GROUP_ID 24, NON_EMPTY_GROUP 68 or GROUP_ID_NOT_FOUND 69); for each topic the partitions whose
    ///     state is to be deleted, or `None` when there is none (UNKNOWN_TOPIC_OR_PARTITION); and a ticket.
    ///
    /// Raises:
    ///     ValueError: a topic id is not one.
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (group, topic_ids, *, wall_ms))]
    fn begin_delete_offsets<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] group: &str,
        #[pyo3(from_py_with = topics)] topic_ids: Vec<Topic>,
        wall_ms: WallMs,
    ) -> PyResult<(i16, Bound<'py, PyDict>, i64)> {
        let ids = convert::topic_ids_in(&topic_ids);
        let accepted = self.call(py, |store| {
            store.begin_delete_offsets(group, &ids, wall_ms.0)
        })?;
        let (code, topics) = code_and(accepted.answer);
        let dict = PyDict::new(py);
        for (id, partitions) in topics.unwrap_or_default() {
            dict.set_item(id.to_base64(), partitions)?;
        }
        Ok((code, dict, accepted.ticket))
    }

    /// Finish deleting a group's states of some topics, once they are deleted.
    ///
    /// Returns:
    ///     A ticket.
    ///
    /// Raises:
    ///     ShareGroupError: there is no such group (69); `kafka_code` is the code.
    ///     ValueError: a topic id is not one.
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (group, topic_ids, *, wall_ms))]
    fn finish_delete_offsets(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        #[pyo3(from_py_with = topics)] topic_ids: Vec<Topic>,
        wall_ms: WallMs,
    ) -> PyResult<i64> {
        let ids = convert::topic_ids_in(&topic_ids);
        let accepted = self.call(py, |store| {
            store.finish_delete_offsets(group, &ids, wall_ms.0)
        })?;
        finished(py, accepted)
    }

    /// Begin to alter start offsets (AlterShareGroupOffsets, RPC 91). A group that does not exist is made, and the group epoch
    /// rises: the caller initialises the altered states with it (KAFKA-20910).
    ///
    /// Args:
    ///     group: id of the group.
    ///     partitions: (topic id, topic name, partition) of share partitions that exist.
    ///     wall_ms: ms since the epoch.
    ///
    /// Returns:
    ///     Error code (0, INVALID_GROUP_ID 24, INVALID_REQUEST 42 or NON_EMPTY_GROUP 68), state epoch, and a ticket.
    ///
    /// Raises:
    ///     ValueError: a topic id is not one.
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (group, partitions, *, wall_ms))]
    fn begin_alter_offsets(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        partitions: Vec<(String, String, Int<i32>)>,
        wall_ms: WallMs,
    ) -> PyResult<(i16, i32, i64)> {
        let partitions = altered(partitions)?;
        let accepted = self.call(py, |store| {
            store.begin_alter_offsets(group, &partitions, wall_ms.0)
        })?;
        let (code, epoch) = code_and(accepted.answer);
        Ok((code, epoch.unwrap_or_default(), accepted.ticket))
    }

    /// Finish altering start offsets, once the states are initialised.
    ///
    /// Returns:
    ///     A ticket.
    ///
    /// Raises:
    ///     ShareGroupError: there is no such group (69); `kafka_code` is the code.
    ///     ValueError: a topic id is not one.
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (group, partitions, *, wall_ms))]
    fn finish_alter_offsets(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        partitions: Vec<(String, String, Int<i32>)>,
        wall_ms: WallMs,
    ) -> PyResult<i64> {
        let partitions = altered(partitions)?;
        let accepted = self.call(py, |store| {
            store.finish_alter_offsets(group, &partitions, wall_ms.0)
        })?;
        finished(py, accepted)
    }

    /// Forget the share partitions of deleted topics, in every group.
    ///
    /// Returns:
    ///     A ticket.
    ///
    /// Raises:
    ///     ValueError: a topic id is not one.
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (topic_ids, *, wall_ms))]
    fn topics_deleted(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = topics)] topic_ids: Vec<Topic>,
        wall_ms: WallMs,
    ) -> PyResult<i64> {
        let ids = convert::topic_ids_in(&topic_ids);
        let accepted = self.call(py, |store| store.topics_deleted(&ids, wall_ms.0))?;
        finished(py, accepted)
    }
}

fn altered(partitions: Vec<(String, String, Int<i32>)>) -> PyResult<Vec<AlteredPartition>> {
    partitions
        .into_iter()
        .map(|(id, name, partition)| {
            Ok(AlteredPartition {
                topic_id: convert::topic_id(&id)?,
                name: name.into(),
                partition: partition.0,
            })
        })
        .collect()
}

fn code_and<A>(answer: Result<A, GroupError>) -> (i16, Option<A>) {
    match answer {
        Ok(answer) => (0, Some(answer)),
        Err(refused) => (refused.kafka_code().code(), None),
    }
}

fn finished(py: Python<'_>, accepted: Accepted<Result<(), GroupError>>) -> PyResult<i64> {
    match accepted.answer {
        Ok(()) => Ok(accepted.ticket),
        Err(refused) => Err(errors::group(py, &refused)),
    }
}
