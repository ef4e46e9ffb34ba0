//! The requests that a store serves, and its upkeep.

use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::PyList;
use share_state_core::persister::{InitializeState, ReadState};
use share_state_core::time::WallTime;
use share_state_log as log;

use super::StateStore;
use crate::args::{Int, Topic, WallMs, one, topics};
use crate::convert;
use crate::state::data::{ReadStateResult, StateSummary, WriteState};
use crate::state::folded::state_out;

/// The wall clock, for callers who give no time of their own.
pub fn wall(wall_ms: Option<WallMs>) -> WallTime {
    wall_ms.map_or_else(
        || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            let ms = since.map_or(0, |since| since.as_millis());
            WallTime(i64::try_from(ms).unwrap_or(i64::MAX))
        },
        |wall_ms| wall_ms.0,
    )
}

#[pymethods]
impl StateStore {
    /// Replace a state by a new one (InitializeShareGroupState, RPC 83). Every acknowledgement in it is forgotten. A repetition,
    /// by state epoch and the start offset that the state has now, writes nothing. At the start of a program use
    /// `share_state.persister.initialize_if_absent`.
    ///
    /// Args:
    ///     key: the share partition, a `SharePartitionKey` or a tuple like it.
    ///     state_epoch: epoch of the new state, at least 0.
    ///     start_offset: where it starts; -1 leaves it to the leader.
    ///     wall_ms: timestamp of the record, a `WallTime` or ms since the epoch; the system's clock when absent.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed; `field` names the value.
    ///     FencedStateEpochError: the state has a higher epoch.
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (key, state_epoch, start_offset, *, wall_ms = None))]
    fn reset_state(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        state_epoch: Int<i32>,
        start_offset: Int<i64>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<()> {
        let request = InitializeState {
            state_epoch: state_epoch.0,
            start_offset: start_offset.0,
        };
        let key = convert::key_in(key)?;
        self.call_for(py, &key, |store| {
            store.initialize(&key, &request, wall(wall_ms))
        })
    }

    /// Read a state as the leader of this epoch, and fence older ones (ReadShareGroupState, RPC 84).
    ///
    /// Args:
    ///     key: the share partition.
    ///     leader_epoch: epoch of the leader that reads, at least 0.
    ///     wall_ms: as for `reset_state`.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed, or there is no state.
    ///     FencedLeaderEpochError: a leader with a higher epoch has read the state.
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (key, leader_epoch, *, wall_ms = None))]
    fn read_state(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        leader_epoch: Int<i32>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<ReadStateResult> {
        let key = convert::key_in(key)?;
        let request = ReadState {
            leader_epoch: leader_epoch.0,
        };
        self.call_for(py, &key, |store| store.read(&key, &request, wall(wall_ms)))
            .map(|inner| ReadStateResult { inner })
    }

    /// Write a change (WriteShareGroupState, RPC 85).
    ///
    /// Args:
    ///     key: the share partition.
    ///     state: what to write, as `SharePartition.poll_write` gives it.
    ///     wall_ms: as for `reset_state`.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed (`field`, `index` and `value` say where), or there is no state.
    ///     LimitExceededError: the write, or the state with it, has more state batches than allowed, or more bytes than one group commit may.
    ///     FencedLeaderEpochError, FencedStateEpochError: the writer's epoch is out of date.
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (key, state, *, wall_ms = None))]
    fn write_state(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = one)] state: &Bound<'_, WriteState>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<()> {
        let key = convert::key_in(key)?;
        let state = &state.get().inner;
        self.call_for(py, &key, |store| store.write(&key, state, wall(wall_ms)))
    }

    /// Delete a state (DeleteShareGroupState, RPC 86); deleting what is not there succeeds.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed.
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (key, *, wall_ms = None))]
    fn delete_state(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<()> {
        let key = convert::key_in(key)?;
        self.call_for(py, &key, |store| store.delete(&key, wall(wall_ms)))
    }

    /// Read epochs, start offset and delivery complete count (ReadShareGroupStateSummary, RPC 87). Fences nobody.
    ///
    /// A share partition without state has the summary of one that has not begun.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed.
    ///     StoreError: the store cannot be used.
    fn read_summary(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<StateSummary> {
        let key = convert::key_in(key)?;
        self.call_for(py, &key, |store| store.summary(&key))
            .map(|inner| StateSummary { inner })
    }

    /// Every state, as `ShareCoordinator.state` gives it without the last three, ordered by group, topic id and partition.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let states = self.call(py, log::StateStore::states)?;
        let list = PyList::empty(py);
        for (key, state) in &states {
            list.append(state_out(py, key, state)?)?;
        }
        Ok(list)
    }

    /// Delete the states of these topics, as a broker does when topics are deleted.
    ///
    /// Returns:
    ///     How many states there were.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (topic_ids, *, wall_ms = None))]
    fn topics_deleted(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = topics)] topic_ids: Vec<Topic>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<usize> {
        let ids = convert::topic_ids_in(&topic_ids);
        self.call(py, |store| store.topics_deleted(&ids, wall(wall_ms)))
    }

    /// Forget the offsets from `offset` on in every state of a topic partition whose log was cut: they are those of other
    /// records now. Not Kafka's, which keeps what was terminal. The state epochs rise, so leaders of the old states are fenced.
    ///
    /// Args:
    ///     topic_id: the topic.
    ///     partition: the partition.
    ///     offset: the first that is forgotten.
    ///     wall_ms: as for `reset_state`.
    ///
    /// Returns:
    ///     How many states knew something of these offsets.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (topic_id, partition, offset, *, wall_ms = None))]
    fn log_truncated(
        &self,
        py: Python<'_>,
        topic_id: Topic,
        partition: Int<i32>,
        offset: Int<i64>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<usize> {
        self.call(py, |store| {
            store.log_truncated(topic_id.0, partition.0, offset.0, wall(wall_ms))
        })
    }

    /// Write again the snapshots that are older than the interval, so that `prune` finds something to delete (KAFKA-18170). A
    /// broker does both every five minutes; here the caller does.
    ///
    /// Returns:
    ///     How many were written.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (*, wall_ms = None))]
    fn cold_snapshots(&self, py: Python<'_>, wall_ms: Option<WallMs>) -> PyResult<usize> {
        self.call(py, |store| store.cold_snapshots(wall(wall_ms)))
    }

    /// Delete the segments that lie whole below the latest snapshot of every share partition.
    ///
    /// Returns:
    ///     How many.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used, or deleting failed, after which the store goes on.
    fn prune(&self, py: Python<'_>) -> PyResult<usize> {
        self.call(py, log::StateStore::prune)
    }
}
