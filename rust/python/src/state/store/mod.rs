//! `StateStore` for Python: the durable embedded log. This file opens, closes and reports; `verbs` has the requests, `many`
//! many at once.

mod many;
mod verbs;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use share_state_core::coordinator::CoordinatorConfig;
use share_state_core::ids::SharePartitionKey;
use share_state_log as log;
use share_state_log::{Counters, Progress, Recovery, StoreConfig, StoreError, SyncPolicy};
use share_state_wire::record_batch::Compression;

pub use verbs::wall;

use crate::args::{Int, flag, path, text};
use crate::errors;
use crate::locked::caught;

/// The states of share partitions in a directory, in Kafka's own log format: durable, one writer, any number of threads.
///
/// A verb returns when all its answer depends on is as durable as `sync` asks. Verbs of several threads share their syncs (group
/// commit), and run without the interpreter. After a failed append or sync every call raises `StoreError` until the
/// directory is opened again; what was answered is in the log.
///
/// The directory is locked against other writers; readers such as `fold_path` need no lock. A forked child that inherits a store
/// is refused with `StoreError`; it may open another directory, or this one after the parent has closed it. A store is a
/// context manager and cannot be pickled or copied: pickle its path. One that is dropped is closed, also at the end of the
/// interpreter.
///
/// Opening replays the log. Ctrl-C during a long load raises `KeyboardInterrupt` within a MiB of log, and nothing was changed. An
/// unfinished batch at the end, which a crash leaves, is cut off and told by `recovery` and by a warning of the logger
/// `share_state.store`. Any other damage is refused, and after a clean close nothing is unfinished: a log that has not every byte
/// with which it was closed is damaged. `repair` is the consent to lose what cannot be read.
///
/// Args:
///     path: the directory.
///     partitions: number of state partitions; when absent what the store has, or 1 for a new one. It is fixed once made.
///     create: whether a store is made where there is none.
///     sync: when appended bytes are made durable: `"always"` before any answer that depends on them, `"interval"` every
///         `sync_interval_ms` by a thread of the store, `"never"` when the operating system likes, and at a roll and a close.
///         What was answered under the last two survives the end of the process, but not that of the machine.
///     sync_interval_ms: ms between two syncs under `"interval"`, at least 1.
///     segment_bytes: size beyond which no segment grows (`share.coordinator.state.topic.segment.bytes`).
///     compression: of record batches: `"none"`, `"gzip"`, `"snappy"`, `"lz4"` or `"zstd"`.
///     snapshot_update_records_per_snapshot, cold_partition_snapshot_interval_ms: as for `ShareCoordinator`.
///     repair: whether a damaged log is cut where its damage begins. That loses what was confirmed; what `CorruptLogError` says
///         of a refused directory is what would be lost, and `recovery` says what was.
///     progress: called with bytes read and bytes there are, about once a MiB while loading; what it raises ends the load.
///
/// Raises:
///     StoreError: the directory is used by another writer, holds no store, or the disk fails.
///     CorruptLogError: the log is damaged other than by a torn tail, and `repair` was not given or cannot mend it; nothing was
///         changed.
///     UnsupportedVersionError: a later release wrote the store.
///     ConfigError: a number is out of its range.
///     ValueError: `sync` or `compression` is not one of these.
#[pyclass(frozen, module = "share_state")]
pub struct StateStore {
    /// Shared with the share partitions that write to it by themselves.
    store: Arc<log::StateStore>,
}

/// The policy of this name.
pub fn sync_policy(py: Python<'_>, sync: &str, interval_ms: u64) -> PyResult<SyncPolicy> {
    match sync {
        "always" => Ok(SyncPolicy::Always),
        "interval" => Ok(SyncPolicy::Interval { ms: interval_ms }),
        "never" => Ok(SyncPolicy::Never),
        other => Err(errors::config_word(
            py,
            "sync",
            other,
            "always, interval or never",
        )),
    }
}

/// An empty path is the directory of the process for the system, and a slip for everybody else.
pub fn check_path(py: Python<'_>, path: &Path) -> PyResult<()> {
    if path.as_os_str().is_empty() {
        return Err(errors::config_word(py, "path", "", "a directory"));
    }
    Ok(())
}

/// An object with a directory as Python shows it: whether it can be used, and how much is in it.
pub fn shown(
    py: Python<'_>,
    class: &str,
    path: &Path,
    what: &str,
    count: Result<usize, StoreError>,
) -> PyResult<String> {
    let path = path.to_string_lossy().into_pyobject(py)?.repr()?;
    let status = match count {
        Ok(count) => format!("open, {what}={count}"),
        Err(StoreError::Closed) => "closed".to_owned(),
        Err(_) => "unusable".to_owned(),
    };
    Ok(format!("{class}({path}, {status})"))
}

fn compression(py: Python<'_>, name: &str) -> PyResult<Compression> {
    match name {
        "none" => Ok(Compression::None),
        "gzip" => Ok(Compression::Gzip),
        "snappy" => Ok(Compression::Snappy),
        "lz4" => Ok(Compression::Lz4),
        "zstd" => Ok(Compression::Zstd),
        other => Err(errors::config_word(
            py,
            "compression",
            other,
            "none, gzip, snappy, lz4 or zstd",
        )),
    }
}

#[pymethods]
impl StateStore {
    #[new]
    #[pyo3(signature = (path, *, partitions = None, create = true, sync = "always", sync_interval_ms = Int(1000),
        segment_bytes = Int(104_857_600), compression = "none", snapshot_update_records_per_snapshot = Int(500),
        cold_partition_snapshot_interval_ms = Int(300_000), repair = false, progress = None),
        text_signature = "(path, *, partitions=None, create=True, sync='always', sync_interval_ms=1000, \
        segment_bytes=104857600, compression='none', snapshot_update_records_per_snapshot=500, \
        cold_partition_snapshot_interval_ms=300000, repair=False, progress=None)")]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python constructor"
    )]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = path)] path: PathBuf,
        partitions: Option<Int<u32>>,
        #[pyo3(from_py_with = flag)] create: bool,
        #[pyo3(from_py_with = text)] sync: &str,
        sync_interval_ms: Int<u64>,
        segment_bytes: Int<u64>,
        #[pyo3(from_py_with = text)] compression: &str,
        snapshot_update_records_per_snapshot: Int<u32>,
        cold_partition_snapshot_interval_ms: Int<i64>,
        #[pyo3(from_py_with = flag)] repair: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        check_path(py, &path)?;
        let config = StoreConfig {
            partitions: partitions.map(|number| number.0),
            create,
            sync: sync_policy(py, sync, sync_interval_ms.0)?,
            segment_bytes: segment_bytes.0,
            compression: self::compression(py, compression)?,
            coordinator: CoordinatorConfig {
                snapshot_update_records_per_snapshot: snapshot_update_records_per_snapshot.0,
                cold_partition_snapshot_interval_ms: cold_partition_snapshot_interval_ms.0,
            },
            repair,
        };
        // Ctrl-C and the caller's progress function are heard about once a MiB.
        let mut stopped = None;
        let open = || {
            log::StateStore::open(&path, &config, |at| {
                match Python::attach(|py| report(py, progress.as_ref(), at)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        stopped = Some(error);
                        ControlFlow::Break(())
                    }
                }
            })
        };
        let opened = py.detach(|| caught(open));
        if let Some(error) = stopped {
            return Err(error);
        }
        let store = opened
            .map_err(|panic| errors::bug(py, "opening a StateStore", &panic))?
            .map_err(|error| errors::open(py, &error))?;
        let store = Self {
            store: Arc::new(store),
        };
        py.import("share_state.logs")?
            .call_method1("store_opened", (&path, store.recovery(py)?))?;
        Ok(store)
    }

    /// Make all that was accepted so far durable, whatever `sync` says.
    ///
    /// Raises:
    ///     StoreError: the sync failed, or the store cannot be used.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, log::StateStore::flush)
    }

    /// Flush, note where the log ends, and let go of the directory. Closing again does nothing.
    ///
    /// Raises:
    ///     StoreError: the flush failed; the directory is given up nevertheless.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, log::StateStore::close)
    }

    /// Return the counts of the store since it was opened: `writes` (verbs that appended), `records`, `bytes`, `batches`
    /// (group commits), `fsyncs`, `pruned_segments`.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counters_out(py, self.store.counters())
    }

    /// Return the findings of the opening: `records` replayed, `batches` read, `unknown_types` and `control_batches` passed
    /// over; `torn`, a list of texts, one for each unfinished batch that was cut off; `repaired`, a list of texts, one for
    /// each damage that was cut off, with what was lost; and `note_damaged`, true if the note of where the log ended could not
    /// be read, so that nobody knows if whole batches are missing at its end.
    fn recovery<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        recovery_out(py, self.store.recovery())
    }

    /// Number of state partitions.
    #[getter]
    fn partition_count(&self) -> u32 {
        self.store.partition_count()
    }

    /// The directory, as a `pathlib.Path`.
    #[getter]
    fn path(&self) -> PathBuf {
        self.store.path().to_owned()
    }

    const fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*raised))]
    fn __exit__(&self, py: Python<'_>, raised: &Bound<'_, PyTuple>) -> PyResult<()> {
        errors::left(self.close(py), raised)
    }

    /// Refuses to be pickled or copied.
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a StateStore is the one writer of its directory and cannot be pickled or copied; pickle its path",
        ))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let states = py.detach(|| self.store.state_count());
        shown(py, "StateStore", self.store.path(), "states", states)
    }
}

impl StateStore {
    /// Store that share partitions write to.
    pub const fn shared(&self) -> &Arc<log::StateStore> {
        &self.store
    }

    /// Runs a verb detached from the interpreter: it may wait for the disk.
    fn call<R: Send>(
        &self,
        py: Python<'_>,
        verb: impl FnOnce(&log::StateStore) -> Result<R, StoreError> + Send,
    ) -> PyResult<R> {
        self.called(py, None, verb)
    }

    /// As [`Self::call`], about one share partition.
    fn call_for<R: Send>(
        &self,
        py: Python<'_>,
        key: &SharePartitionKey,
        verb: impl FnOnce(&log::StateStore) -> Result<R, StoreError> + Send,
    ) -> PyResult<R> {
        self.called(py, Some(key), verb)
    }

    fn called<R: Send>(
        &self,
        py: Python<'_>,
        key: Option<&SharePartitionKey>,
        verb: impl FnOnce(&log::StateStore) -> Result<R, StoreError> + Send,
    ) -> PyResult<R> {
        // A panic inside the store poisons the store itself.
        match py.detach(|| caught(|| verb(&self.store))) {
            Ok(done) => done.map_err(|error| errors::store(py, key, &error)),
            Err(panic) => Err(errors::poisoned(py, "this StateStore", &panic)),
        }
    }
}

fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, at: Progress) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        progress.call1(py, (at.bytes_done, at.bytes_total))?;
    }
    Ok(())
}

/// Counters by name.
pub fn counters_out(py: Python<'_>, counters: Counters) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("writes", counters.writes)?;
    dict.set_item("records", counters.records)?;
    dict.set_item("bytes", counters.bytes)?;
    dict.set_item("batches", counters.batches)?;
    dict.set_item("fsyncs", counters.fsyncs)?;
    dict.set_item("pruned_segments", counters.pruned_segments)?;
    Ok(dict)
}

/// Findings of the opening, by name.
pub fn recovery_out<'py>(py: Python<'py>, recovery: &Recovery) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("records", recovery.records)?;
    dict.set_item("batches", recovery.batches)?;
    dict.set_item("unknown_types", recovery.unknown_types)?;
    dict.set_item("control_batches", recovery.control_batches)?;
    let torn: Vec<String> = recovery.torn.iter().map(ToString::to_string).collect();
    dict.set_item("torn", torn)?;
    let repaired: Vec<String> = recovery.repaired.iter().map(ToString::to_string).collect();
    dict.set_item("repaired", repaired)?;
    dict.set_item("note_damaged", recovery.note_damaged)?;
    Ok(dict)
}
