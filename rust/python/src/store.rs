//! `StateStore` for Python: the durable embedded log.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::exceptions::{PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::coordinator::CoordinatorConfig;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, ReadState};
use share_state_core::time::WallTime;
use share_state_log as log;
use share_state_log::{Progress, StoreConfig, StoreError, SyncPolicy};
use share_state_wire::record_batch::Compression;

use crate::convert;
use crate::coordinator::state_out;
use crate::data::{ReadStateResult, StateSummary, WriteState};
use crate::errors;

/// The states of share partitions in a directory, in Kafka's own log format.
#[pyclass(frozen, module = "share_state")]
pub struct StateStore {
    store: log::StateStore,
}

/// The wall clock, for callers who give no time of their own.
fn wall(wall_ms: Option<i64>) -> WallTime {
    WallTime(wall_ms.unwrap_or_else(|| {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| {
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            })
    }))
}

fn sync_policy(sync: &str, interval_ms: u64) -> PyResult<SyncPolicy> {
    match sync {
        "always" => Ok(SyncPolicy::Always),
        "interval" => Ok(SyncPolicy::Interval { ms: interval_ms }),
        "never" => Ok(SyncPolicy::Never),
        other => Err(PyValueError::new_err(format!(
            "sync is {other:?}, neither always, interval nor never"
        ))),
    }
}

fn compression(name: &str) -> PyResult<Compression> {
    match name {
        "none" => Ok(Compression::None),
        "gzip" => Ok(Compression::Gzip),
        "snappy" => Ok(Compression::Snappy),
        "lz4" => Ok(Compression::Lz4),
        "zstd" => Ok(Compression::Zstd),
        other => Err(PyValueError::new_err(format!(
            "compression is {other:?}, neither none, gzip, snappy, lz4 nor zstd"
        ))),
    }
}

#[pymethods]
impl StateStore {
    #[new]
    #[pyo3(signature = (path, *, partitions = None, create = true, sync = "always", sync_interval_ms = 1000,
        segment_bytes = 104_857_600, compression = "none", snapshot_update_records_per_snapshot = 500,
        cold_partition_snapshot_interval_ms = 300_000, progress = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python constructor"
    )]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        partitions: Option<u32>,
        create: bool,
        sync: &str,
        sync_interval_ms: u64,
        segment_bytes: u64,
        compression: &str,
        snapshot_update_records_per_snapshot: u32,
        cold_partition_snapshot_interval_ms: i64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let config = StoreConfig {
            partitions,
            create,
            sync: sync_policy(sync, sync_interval_ms)?,
            segment_bytes,
            compression: self::compression(compression)?,
            coordinator: CoordinatorConfig {
                snapshot_update_records_per_snapshot,
                cold_partition_snapshot_interval_ms,
            },
        };
        // Ctrl-C and the caller's progress function are heard about once a MiB.
        let mut stopped = None;
        let opened = py.detach(|| {
            log::StateStore::open(&path, &config, |at| {
                match Python::attach(|py| report(py, progress.as_ref(), at)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        stopped = Some(error);
                        ControlFlow::Break(())
                    }
                }
            })
        });
        match (opened, stopped) {
            (_, Some(error)) => Err(error),
            (Err(error), None) => Err(errors::open(py, &error)),
            (Ok(store), None) => Ok(Self { store }),
        }
    }

    #[pyo3(signature = (key, state_epoch, start_offset, *, wall_ms = None))]
    fn initialize_state(
        &self,
        py: Python<'_>,
        key: (String, String, i32),
        state_epoch: i32,
        start_offset: i64,
        wall_ms: Option<i64>,
    ) -> PyResult<()> {
        let request = InitializeState {
            state_epoch,
            start_offset,
        };
        let key = key_in(&key)?;
        self.call(py, |store| store.initialize(&key, &request, wall(wall_ms)))
    }

    #[pyo3(signature = (key, leader_epoch, *, wall_ms = None))]
    fn read_state(
        &self,
        py: Python<'_>,
        key: (String, String, i32),
        leader_epoch: i32,
        wall_ms: Option<i64>,
    ) -> PyResult<ReadStateResult> {
        let key = key_in(&key)?;
        self.call(py, |store| {
            store.read(&key, &ReadState { leader_epoch }, wall(wall_ms))
        })
        .map(|inner| ReadStateResult { inner })
    }

    #[pyo3(signature = (key, state, *, wall_ms = None))]
    fn write_state(
        &self,
        py: Python<'_>,
        key: (String, String, i32),
        state: &Bound<'_, WriteState>,
        wall_ms: Option<i64>,
    ) -> PyResult<()> {
        let key = key_in(&key)?;
        let state = &state.get().inner;
        self.call(py, |store| store.write(&key, state, wall(wall_ms)))
    }

    #[pyo3(signature = (key, *, wall_ms = None))]
    fn delete_state(
        &self,
        py: Python<'_>,
        key: (String, String, i32),
        wall_ms: Option<i64>,
    ) -> PyResult<()> {
        let key = key_in(&key)?;
        self.call(py, |store| store.delete(&key, wall(wall_ms)))
    }

    fn read_summary(&self, py: Python<'_>, key: (String, String, i32)) -> PyResult<StateSummary> {
        let key = key_in(&key)?;
        self.call(py, |store| store.summary(&key))
            .map(|inner| StateSummary { inner })
    }

    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let states = self.call(py, log::StateStore::states)?;
        let list = PyList::empty(py);
        for (key, state) in &states {
            list.append(state_out(py, key, state)?)?;
        }
        Ok(list)
    }

    #[pyo3(signature = (topic_ids, *, wall_ms = None))]
    fn topics_deleted(
        &self,
        py: Python<'_>,
        topic_ids: Vec<String>,
        wall_ms: Option<i64>,
    ) -> PyResult<usize> {
        let ids: Vec<TopicId> = topic_ids
            .iter()
            .map(|id| convert::topic_id(id))
            .collect::<PyResult<_>>()?;
        self.call(py, |store| store.topics_deleted(&ids, wall(wall_ms)))
    }

    #[pyo3(signature = (*, wall_ms = None))]
    fn cold_snapshots(&self, py: Python<'_>, wall_ms: Option<i64>) -> PyResult<usize> {
        self.call(py, |store| store.cold_snapshots(wall(wall_ms)))
    }

    fn prune(&self, py: Python<'_>) -> PyResult<usize> {
        self.call(py, log::StateStore::prune)
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, log::StateStore::flush)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, log::StateStore::close)
    }

    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.store.counters();
        let dict = PyDict::new(py);
        dict.set_item("writes", counters.writes)?;
        dict.set_item("records", counters.records)?;
        dict.set_item("bytes", counters.bytes)?;
        dict.set_item("batches", counters.batches)?;
        dict.set_item("fsyncs", counters.fsyncs)?;
        dict.set_item("pruned_segments", counters.pruned_segments)?;
        Ok(dict)
    }

    fn recovery<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let recovery = self.store.recovery();
        let dict = PyDict::new(py);
        dict.set_item("records", recovery.records)?;
        dict.set_item("batches", recovery.batches)?;
        dict.set_item("unknown_types", recovery.unknown_types)?;
        dict.set_item("control_batches", recovery.control_batches)?;
        let torn: Vec<String> = recovery.torn.iter().map(ToString::to_string).collect();
        dict.set_item("torn", torn)?;
        Ok(dict)
    }

    #[getter]
    fn partition_count(&self) -> u32 {
        self.store.partition_count()
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.store.path().to_owned()
    }

    const fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyNotImplementedError::new_err(
            "a StateStore is the one writer of its directory and cannot be pickled; pickle its path",
        ))
    }

    fn __repr__(&self) -> String {
        format!(
            "StateStore({:?}, partitions={})",
            self.store.path(),
            self.store.partition_count()
        )
    }
}

impl StateStore {
    /// Runs a verb detached from the interpreter: it may wait for the disk.
    fn call<R: Send>(
        &self,
        py: Python<'_>,
        verb: impl FnOnce(&log::StateStore) -> Result<R, StoreError> + Send,
    ) -> PyResult<R> {
        // Unwind safety: a panic inside the store poisons the store itself.
        match py.detach(|| catch_unwind(AssertUnwindSafe(|| verb(&self.store)))) {
            Ok(done) => done.map_err(|error| errors::store(py, &error)),
            Err(_) => Err(errors::poisoned(
                py,
                "this StateStore",
                "a thread panicked inside it",
            )),
        }
    }
}

fn key_in((group, topic_id, partition): &(String, String, i32)) -> PyResult<SharePartitionKey> {
    convert::key(group, topic_id, *partition)
}

fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, at: Progress) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        progress.call1(py, (at.bytes_done, at.bytes_total))?;
    }
    Ok(())
}
