//! `ShareCoordinator` for Python: decides on requests, replays records.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use share_state_core::coordinator as core;
use share_state_core::coordinator::CoordinatorConfig;
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, ReadState};
use share_state_core::records::ShareRecord;
use share_state_core::state_batch::combine;
use share_state_core::time::WallTime;
use share_state_wire::state_record::{self, Decoded};

use crate::convert;
use crate::data::{Decision, ReadStateResult, Record, StateSummary, WriteState};
use crate::errors;
use crate::guarded::Guarded;

/// The states of the share partitions of one partition of the state topic.
#[pyclass(frozen, module = "share_state")]
pub struct ShareCoordinator {
    coordinator: Guarded<core::ShareCoordinator>,
}

#[pymethods]
impl ShareCoordinator {
    #[new]
    #[pyo3(signature = (*, snapshot_update_records_per_snapshot = 500, cold_partition_snapshot_interval_ms = 300_000))]
    fn new(
        py: Python<'_>,
        snapshot_update_records_per_snapshot: u32,
        cold_partition_snapshot_interval_ms: i64,
    ) -> PyResult<Self> {
        let config = CoordinatorConfig {
            snapshot_update_records_per_snapshot,
            cold_partition_snapshot_interval_ms,
        };
        let coordinator =
            core::ShareCoordinator::new(config).map_err(|e| errors::coordinator_config(py, &e))?;
        Ok(Self {
            coordinator: Guarded::new("this ShareCoordinator", coordinator),
        })
    }

    #[pyo3(signature = (group, topic_id, partition, state_epoch, start_offset, *, wall_ms, topic_exists = true))]
    #[expect(clippy::too_many_arguments, reason = "fields of the request")]
    fn initialize(
        &self,
        py: Python<'_>,
        group: &str,
        topic_id: &str,
        partition: i32,
        state_epoch: i32,
        start_offset: i64,
        wall_ms: i64,
        topic_exists: bool,
    ) -> PyResult<Decision> {
        let key = convert::key(group, topic_id, partition)?;
        let request = InitializeState {
            state_epoch,
            start_offset,
        };
        self.decide(
            py,
            |c| c.decide_initialize(&key, &request, topic_exists, WallTime(wall_ms)),
            |py, ()| Ok(py.None()),
        )
    }

    #[pyo3(signature = (group, topic_id, partition, leader_epoch, *, wall_ms, topic_exists = true))]
    #[expect(clippy::too_many_arguments, reason = "fields of the request")]
    fn read(
        &self,
        py: Python<'_>,
        group: &str,
        topic_id: &str,
        partition: i32,
        leader_epoch: i32,
        wall_ms: i64,
        topic_exists: bool,
    ) -> PyResult<Decision> {
        let key = convert::key(group, topic_id, partition)?;
        self.decide(
            py,
            |c| {
                c.decide_read(
                    &key,
                    &ReadState { leader_epoch },
                    topic_exists,
                    WallTime(wall_ms),
                )
            },
            |py, inner| Ok(Py::new(py, ReadStateResult { inner })?.into_any()),
        )
    }

    #[pyo3(signature = (group, topic_id, partition, state, *, wall_ms, topic_exists = true))]
    #[expect(clippy::too_many_arguments, reason = "fields of the request")]
    fn write(
        &self,
        py: Python<'_>,
        group: &str,
        topic_id: &str,
        partition: i32,
        state: &Bound<'_, WriteState>,
        wall_ms: i64,
        topic_exists: bool,
    ) -> PyResult<Decision> {
        let key = convert::key(group, topic_id, partition)?;
        let state = &state.get().inner;
        self.decide(
            py,
            |c| c.decide_write(&key, state, topic_exists, WallTime(wall_ms)),
            |py, ()| Ok(py.None()),
        )
    }

    #[pyo3(signature = (group, topic_id, partition, *, topic_exists = true))]
    fn delete(
        &self,
        py: Python<'_>,
        group: &str,
        topic_id: &str,
        partition: i32,
        topic_exists: bool,
    ) -> PyResult<Decision> {
        let key = convert::key(group, topic_id, partition)?;
        self.decide(
            py,
            |c| c.decide_delete(&key, topic_exists),
            |py, ()| Ok(py.None()),
        )
    }

    #[pyo3(signature = (group, topic_id, partition, *, topic_exists = true))]
    fn summary(
        &self,
        py: Python<'_>,
        group: &str,
        topic_id: &str,
        partition: i32,
        topic_exists: bool,
    ) -> PyResult<StateSummary> {
        let key = convert::key(group, topic_id, partition)?;
        self.coordinator
            .with(py, |c| c.read_summary(&key, topic_exists))?
            .map(|inner| StateSummary { inner })
            .map_err(|e| errors::coordinator(py, &e))
    }

    #[pyo3(signature = (*, wall_ms))]
    fn cold_snapshots(&self, py: Python<'_>, wall_ms: i64) -> PyResult<Py<PyList>> {
        let records = self
            .coordinator
            .detached(py, |c| c.decide_cold_snapshots(WallTime(wall_ms)))?;
        records_out(py, &records)
    }

    fn topics_deleted(&self, py: Python<'_>, topic_ids: Vec<String>) -> PyResult<Py<PyList>> {
        let ids: Vec<TopicId> = topic_ids
            .iter()
            .map(|id| convert::topic_id(id))
            .collect::<PyResult<_>>()?;
        let records = self
            .coordinator
            .with(py, |c| c.decide_topics_deleted(&ids))?;
        records_out(py, &records)
    }

    #[pyo3(signature = (offset, key, value))]
    fn replay(
        &self,
        py: Python<'_>,
        offset: i64,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> PyResult<bool> {
        match state_record::decode(key, value).map_err(|e| errors::wire(py, &e))? {
            Decoded::Record(record) => {
                self.coordinator.with(py, |c| c.replay(offset, &record))?;
                Ok(true)
            }
            Decoded::UnknownType(_) => Ok(false),
        }
    }

    fn last_redundant_offset(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.coordinator.with(py, |c| c.last_redundant_offset())
    }

    #[pyo3(signature = (group, topic_id, partition))]
    fn state<'py>(
        &self,
        py: Python<'py>,
        group: &str,
        topic_id: &str,
        partition: i32,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let key = convert::key(group, topic_id, partition)?;
        let known = self.coordinator.with(py, |c| {
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
}

impl ShareCoordinator {
    fn decide<A>(
        &self,
        py: Python<'_>,
        verb: impl FnOnce(&core::ShareCoordinator) -> Result<core::Decision<A>, core::CoordinatorError>,
        answer: impl FnOnce(Python<'_>, A) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Decision> {
        let decision = self
            .coordinator
            .with(py, |c| verb(c))?
            .map_err(|e| errors::coordinator(py, &e))?;
        Ok(Decision {
            records: records_out(py, &decision.records)?,
            answer: answer(py, decision.answer)?,
        })
    }
}

pub fn records_out(py: Python<'_>, records: &[ShareRecord]) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    for record in records {
        let key = state_record::encode_key(record).map_err(|e| errors::wire(py, &e))?;
        let value = state_record::encode_value(&record.value).map_err(|e| errors::wire(py, &e))?;
        list.append(Py::new(
            py,
            Record {
                key: PyBytes::new(py, &key).unbind(),
                value: value.map(|value| PyBytes::new(py, &value).unbind()),
            },
        )?)?;
    }
    Ok(list.unbind())
}

/// A folded state as a dict; `state_batches` are sorted and coalesced.
pub fn state_out<'py>(
    py: Python<'py>,
    key: &SharePartitionKey,
    state: &ShareGroupOffset,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("group", &*key.group)?;
    dict.set_item("topic_id", key.topic_id.to_string())?;
    dict.set_item("partition", key.partition)?;
    dict.set_item("snapshot_epoch", state.snapshot_epoch)?;
    dict.set_item("state_epoch", state.state_epoch)?;
    dict.set_item("leader_epoch", state.leader_epoch)?;
    dict.set_item("start_offset", state.start_offset)?;
    dict.set_item("delivery_complete_count", state.delivery_complete_count)?;
    let batches = state.state_batches.to_vec();
    dict.set_item("batches", convert::state_batches_out(py, &batches)?)?;
    dict.set_item("create_timestamp", state.create_timestamp)?;
    dict.set_item("write_timestamp", state.write_timestamp)?;
    dict.set_item("incomplete", state.incomplete)?;
    Ok(dict)
}

/// Merges state batches: at every offset the higher delivery count wins, then the higher state id.
#[pyfunction]
#[pyo3(signature = (current, new, start_offset = -1), text_signature = "(current, new, start_offset=-1)")]
pub fn combine_state_batches<'py>(
    py: Python<'py>,
    current: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
    start_offset: i64,
) -> PyResult<Bound<'py, PyList>> {
    let current = convert::state_batches_in(current)?;
    let new = convert::state_batches_in(new)?;
    let merged = py.detach(|| combine(&current, &new, start_offset));
    convert::state_batches_out(py, &merged)
}

/// The text by which a share partition finds its coordinator.
#[pyfunction]
pub fn coordinator_key(group: &str, topic_id: &str, partition: i32) -> PyResult<String> {
    Ok(convert::key(group, topic_id, partition)?.coordinator_key())
}

/// Reads the text by which a share partition finds its coordinator.
#[pyfunction]
pub fn parse_coordinator_key<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let key = SharePartitionKey::parse_coordinator_key(text)
        .map_err(|error| PyValueError::new_err(format!("{text:?}: {error}")))?;
    convert::key_out(py, &key)
}
