//! `ShareCoordinator` for Python: decides on requests, replays records.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::coordinator as core;
use share_state_core::coordinator::CoordinatorConfig;
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::{InitializeState, ReadState};
use share_state_wire::state_record::{self, Decoded};

use crate::args::{Int, Topic, WallMs, bytes, bytes_or_none, flag, one, text, topics};
use crate::convert;
use crate::errors;
use crate::locked::Locked;
use crate::partition::seen;
use crate::state::data::{ReadStateResult, StateSummary, WriteState};
use crate::state::folded::{records_out, state_out};

/// The states of the share partitions of one partition of `__share_group_state` (Kafka: `ShareCoordinatorShard`).
///
/// It decides, and keeps nothing on a disk: a verb returns records to append and the answer to give. Append the records, make
/// them durable, `replay` each, and only then give the answer. `replay` is the only thing that changes the object, so loading
/// a log and writing one are the same.
///
/// Share partitions are named by group, topic id and partition. `wall_ms` is a `WallTime`, or a number of ms since the epoch, for
/// the timestamps of records. `topic_exists` is what the broker's metadata says.
///
/// Beside what a verb names, any call raises `ValueError` for a `topic_id` that is none, `TypeError` or `OverflowError` for an
/// argument that does not fit, and `EnginePoisonedError` once a bug has made a call of this object panic. Threads may share an
/// object; it cannot be pickled or copied.
///
/// Args:
///     snapshot_update_records_per_snapshot: updates of a key before its next write becomes a snapshot, 0 to 500
///         (`share.coordinator.snapshot.update.records.per.snapshot`).
///     cold_partition_snapshot_interval_ms: age in ms at which a snapshot is written again, at least 1
///         (`share.coordinator.cold.partition.snapshot.interval.ms`).
///
/// Raises:
///     ConfigError: a number is out of its range; `field` is the argument.
#[pyclass(frozen, module = "share_state")]
pub struct ShareCoordinator {
    coordinator: Locked<core::ShareCoordinator>,
}

#[pymethods]
impl ShareCoordinator {
    #[new]
    #[pyo3(signature = (*, snapshot_update_records_per_snapshot = Int(500),
        cold_partition_snapshot_interval_ms = Int(300_000)),
        text_signature = "(*, snapshot_update_records_per_snapshot=500, cold_partition_snapshot_interval_ms=300000)")]
    fn new(
        py: Python<'_>,
        snapshot_update_records_per_snapshot: Int<u32>,
        cold_partition_snapshot_interval_ms: Int<i64>,
    ) -> PyResult<Self> {
        let config = CoordinatorConfig {
            snapshot_update_records_per_snapshot: snapshot_update_records_per_snapshot.0,
            cold_partition_snapshot_interval_ms: cold_partition_snapshot_interval_ms.0,
        };
        let coordinator =
            core::ShareCoordinator::new(config).map_err(|e| errors::config_argument(py, &e))?;
        Ok(Self {
            coordinator: Locked::new("this ShareCoordinator", coordinator),
        })
    }

    /// Decide on InitializeShareGroupState (RPC 83): create a state, or replace the whole of it. A repetition, by state epoch and
    /// stored start offset, writes nothing.
    ///
    /// Args:
    ///     state_epoch: epoch of the new state, at least 0.
    ///     start_offset: where it starts; -1 leaves it to the leader.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed; `field` names the value.
    ///     FencedStateEpochError: the state has a higher epoch.
    ///     UnknownPartitionError: the topic does not exist.
    #[pyo3(signature = (group, topic_id, partition, state_epoch, start_offset, *, wall_ms, topic_exists = true))]
    #[expect(clippy::too_many_arguments, reason = "fields of the request")]
    fn initialize<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] group: &str,
        topic_id: Topic,
        partition: Int<i32>,
        state_epoch: Int<i32>,
        start_offset: Int<i64>,
        wall_ms: WallMs,
        #[pyo3(from_py_with = flag)] topic_exists: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = SharePartitionKey::new(group, topic_id.0, partition.0);
        let request = InitializeState {
            state_epoch: state_epoch.0,
            start_offset: start_offset.0,
        };
        self.decide(
            py,
            &key,
            |c| c.decide_initialize(&key, &request, topic_exists, wall_ms.0),
            |py, ()| Ok(py.None()),
        )
    }

    /// Decide on ReadShareGroupState (RPC 84): answer a state, and fence leaders older than the reader.
    ///
    /// A new leader epoch is a record to append, for which the answer, a `ReadStateResult`, has to wait (KAFKA-17796).
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed, or there is no state.
    ///     FencedLeaderEpochError: a leader with a higher epoch has read the state.
    ///     UnknownPartitionError: the topic does not exist.
    #[pyo3(signature = (group, topic_id, partition, leader_epoch, *, wall_ms, topic_exists = true))]
    #[expect(clippy::too_many_arguments, reason = "fields of the request")]
    fn read<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] group: &str,
        topic_id: Topic,
        partition: Int<i32>,
        leader_epoch: Int<i32>,
        wall_ms: WallMs,
        #[pyo3(from_py_with = flag)] topic_exists: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = SharePartitionKey::new(group, topic_id.0, partition.0);
        self.decide(
            py,
            &key,
            |c| {
                c.decide_read(
                    &key,
                    &ReadState {
                        leader_epoch: leader_epoch.0,
                    },
                    topic_exists,
                    wall_ms.0,
                )
            },
            |py, inner| Ok(Py::new(py, ReadStateResult { inner })?.into_any()),
        )
    }

    /// Decide on WriteShareGroupState (RPC 85): merge what a leader says has changed. Writes may arrive late,
    /// doubled or out of order: neither the start offset nor the delivery complete count goes back.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed (`field`, `index` and `value` say where), or there is no state.
    ///     LimitExceededError: the write, or the state with it, has more state batches than allowed.
    ///     FencedLeaderEpochError, FencedStateEpochError: the writer's epoch is out of date.
    ///     UnknownPartitionError: the topic does not exist.
    #[pyo3(signature = (group, topic_id, partition, state, *, wall_ms, topic_exists = true))]
    #[expect(clippy::too_many_arguments, reason = "fields of the request")]
    fn write<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] group: &str,
        topic_id: Topic,
        partition: Int<i32>,
        #[pyo3(from_py_with = one)] state: &Bound<'_, WriteState>,
        wall_ms: WallMs,
        #[pyo3(from_py_with = flag)] topic_exists: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = SharePartitionKey::new(group, topic_id.0, partition.0);
        let state = &state.get().inner;
        self.decide(
            py,
            &key,
            |c| c.decide_write(&key, state, topic_exists, wall_ms.0),
            |py, ()| Ok(py.None()),
        )
    }

    /// Decide on DeleteShareGroupState (RPC 86). Deleting what is not there succeeds and writes nothing.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed.
    ///     UnknownPartitionError: the topic does not exist.
    #[pyo3(signature = (group, topic_id, partition, *, topic_exists = true))]
    fn delete<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] group: &str,
        topic_id: Topic,
        partition: Int<i32>,
        #[pyo3(from_py_with = flag)] topic_exists: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = SharePartitionKey::new(group, topic_id.0, partition.0);
        self.decide(
            py,
            &key,
            |c| c.decide_delete(&key, topic_exists),
            |py, ()| Ok(py.None()),
        )
    }

    /// Answer ReadShareGroupStateSummary (RPC 87): epochs, start offset and delivery complete count. Fences nobody. A share
    /// partition without state has the summary of one that has not begun.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed.
    ///     UnknownPartitionError: the topic does not exist.
    #[pyo3(signature = (group, topic_id, partition, *, topic_exists = true))]
    fn summary(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        topic_id: Topic,
        partition: Int<i32>,
        #[pyo3(from_py_with = flag)] topic_exists: bool,
    ) -> PyResult<StateSummary> {
        let key = SharePartitionKey::new(group, topic_id.0, partition.0);
        self.coordinator
            .attached(py, |c| c.read_summary(&key, topic_exists))?
            .map(|inner| StateSummary { inner })
            .map_err(|e| errors::coordinator(py, &key, &e))
    }

    /// New snapshots of the keys whose last one is older than the interval, so that the log below can be pruned (KAFKA-18170).
    #[pyo3(signature = (*, wall_ms))]
    fn cold_snapshots<'py>(
        &self,
        py: Python<'py>,
        wall_ms: WallMs,
    ) -> PyResult<Bound<'py, PyList>> {
        let records = self
            .coordinator
            .detached(py, |c| c.decide_cold_snapshots(wall_ms.0))?;
        records_out(py, &records)
    }

    /// A tombstone for every key of these topics (Kafka: `ShareCoordinatorShard.maybeCleanupShareState`).
    fn topics_deleted<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = topics)] topic_ids: Vec<Topic>,
    ) -> PyResult<Bound<'py, PyList>> {
        let ids = convert::topic_ids_in(&topic_ids);
        let records = self
            .coordinator
            .attached(py, |c| c.decide_topics_deleted(&ids))?;
        records_out(py, &records)
    }

    /// Apply the record at `offset` of the log (Kafka: `ShareCoordinatorShard.replay`).
    ///
    /// Returns whether the record is of a known type; one that is not is passed over, as Kafka does.
    ///
    /// Raises:
    ///     WireDecodeError: the bytes are not such a record; nothing has changed.
    ///     UnsupportedVersionError: the version of the value is not known.
    #[pyo3(signature = (offset, key, value))]
    fn replay(
        &self,
        py: Python<'_>,
        offset: Int<i64>,
        #[pyo3(from_py_with = bytes)] key: &[u8],
        #[pyo3(from_py_with = bytes_or_none)] value: Option<&[u8]>,
    ) -> PyResult<bool> {
        match state_record::decode(key, value).map_err(|e| errors::wire(py, &e))? {
            Decoded::Record(record) => {
                self.coordinator
                    .attached(py, |c| c.replay(offset.0, &record))?;
                Ok(true)
            }
            Decoded::UnknownType(_) => Ok(false),
        }
    }

    /// The offset below which nothing of the log is needed; `None` when nothing new is redundant (KAFKA-18170).
    fn last_redundant_offset(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.coordinator.attached(py, |c| c.last_redundant_offset())
    }

    /// The state of one share partition, or `None`.
    ///
    /// Returns:
    ///     A dict: `group`, `topic_id` (hyphenated), `partition`, `snapshot_epoch`, `state_epoch`, `leader_epoch`, `start_offset`,
    ///     `delivery_complete_count`, `batches` (sorted and coalesced, a list of `StateBatch`), `create_timestamp` and
    ///     `write_timestamp` of the last snapshot in ms since the epoch, `incomplete` (whether there were only updates), and
    ///     `max_leader_epoch`, `max_state_epoch` (by which writers are fenced), `updates_since_snapshot`.
    #[pyo3(signature = (group, topic_id, partition))]
    fn state<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] group: &str,
        topic_id: Topic,
        partition: Int<i32>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let key = SharePartitionKey::new(group, topic_id.0, partition.0);
        let known = self.coordinator.attached(py, |c| {
            c.state(&key).map(|state| {
                let maxima = (c.highest_leader_epoch(&key), c.highest_state_epoch(&key));
                (state.clone(), maxima, c.updates_since_snapshot(&key))
            })
        })?;
        let Some((state, (leader, epoch), updates)) = known else {
            return Ok(None);
        };
        let dict = state_out(py, &key, &state)?;
        dict.set_item("max_leader_epoch", leader)?;
        dict.set_item("max_state_epoch", epoch)?;
        dict.set_item("updates_since_snapshot", updates)?;
        Ok(Some(dict))
    }

    /// Every state, as `state` gives it without the last three, ordered by group, topic id and partition.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let states: Vec<(SharePartitionKey, ShareGroupOffset)> =
            self.coordinator.detached(py, |c| {
                c.states().map(|(k, s)| (k.clone(), s.clone())).collect()
            })?;
        let list = PyList::empty(py);
        for (key, state) in &states {
            list.append(state_out(py, key, state)?)?;
        }
        Ok(list)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let states = self.coordinator.attached(py, |c| c.len())?;
        Ok(format!("ShareCoordinator(states={states})"))
    }

    /// Refuses to be pickled or copied.
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a ShareCoordinator cannot be pickled or copied; replay its records into another",
        ))
    }
}

impl ShareCoordinator {
    fn decide<'py, A>(
        &self,
        py: Python<'py>,
        key: &SharePartitionKey,
        verb: impl FnOnce(&core::ShareCoordinator) -> Result<core::Decision<A>, core::CoordinatorError>,
        answer: impl FnOnce(Python<'_>, A) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let decision = self
            .coordinator
            .attached(py, |c| verb(c))?
            .map_err(|e| errors::coordinator(py, key, &e))?;
        let records = records_out(py, &decision.records)?;
        seen::decision(py, records, answer(py, decision.answer)?)
    }
}
