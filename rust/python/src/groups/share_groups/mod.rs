//! `ShareGroupStore` for Python: share groups with their durable log. This file opens, closes and reports; `heartbeat` has
//! what members ask for, `admin` what administrators do.

mod admin;
mod heartbeat;

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use share_state_core::share_group::{Numbers, Topic, numbers};
use share_state_log as log;
use share_state_log::{GroupStoreConfig, StoreError};

use crate::args::{Int, LockMs, WallMs, flag, path, text};
use crate::convert;
use crate::errors;
use crate::groups::config::Texts;
use crate::locked::caught;
use crate::state::store::{check_path, counters_out, recovery_out, shown, sync_policy};

/// The share groups of a group coordinator (KIP-932) and their log, `__consumer_offsets-0` in a directory, in Kafka's own
/// format: durable, one writer, any number of threads. It may stand in the directory of a `StateStore`.
///
/// A verb decides at once and returns a *ticket*; its answer must not leave before `wait` has returned for that ticket. All who
/// wait at the same time share one sync. Ticket 0 means that there is nothing to wait for. After a failed append or sync every
/// call raises `StoreError` until the directory is opened again.
///
/// Topics and the configuration of groups are not stored here: `set_topics` and `set_group_config` tell them. Member sessions
/// are timed by the caller's clock (`now_ms`); after opening, every member has a full session timeout before it.
///
/// Args:
///     path: the directory; it is made if it is missing.
///     broker_config: the broker's properties by Kafka's name, such as `group.share.max.size`; those that are not needed are
///         passed over, and those that are missing have Kafka's default.
///     sync, sync_interval_ms: as for `StateStore`.
///     rewrite_bytes: size from which on the log is rewritten when most of its records are dead.
///     repair: whether a damaged log is cut where its damage begins, as for `StateStore`.
///
/// Raises:
///     StoreError: the log is used by another writer, the directory holds a broker's, or the disk fails.
///     CorruptLogError: the log is damaged other than by a torn tail, and `repair` was not given or cannot mend it; nothing was
///         changed.
///     UnsupportedVersionError: a later release wrote the log.
///     ConfigError: a property is no whole number, or out of its range, or `sync` is not one of these.
#[pyclass(frozen, module = "share_state.gateway")]
pub struct ShareGroupStore {
    store: log::ShareGroupStore,
}

#[pymethods]
impl ShareGroupStore {
    #[new]
    #[pyo3(signature = (path, *, broker_config = None, sync = "always", sync_interval_ms = Int(1000),
        rewrite_bytes = Int(16_777_216), repair = false),
        text_signature = "(path, *, broker_config=None, sync='always', sync_interval_ms=1000, rewrite_bytes=16777216, \
        repair=False)")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = path)] path: PathBuf,
        broker_config: Option<Texts>,
        #[pyo3(from_py_with = text)] sync: &str,
        sync_interval_ms: Int<u64>,
        rewrite_bytes: Int<u64>,
        #[pyo3(from_py_with = flag)] repair: bool,
    ) -> PyResult<Self> {
        check_path(py, &path)?;
        let config = GroupStoreConfig {
            sync: sync_policy(py, sync, sync_interval_ms.0)?,
            broker: broker_config
                .map(|texts| read(py, &texts))
                .transpose()?
                .unwrap_or_default(),
            rewrite_bytes: rewrite_bytes.0,
            repair,
            ..GroupStoreConfig::default()
        };
        let opened = py.detach(|| caught(|| log::ShareGroupStore::open(&path, &config)));
        let store = opened
            .map_err(|panic| errors::bug(py, "opening a ShareGroupStore", &panic))?
            .map_err(|error| errors::open(py, &error))?;
        let store = Self { store };
        py.import("share_state.logs")?
            .call_method1("store_opened", (store.path(), store.recovery(py)?))?;
        Ok(store)
    }

    /// Wait until what `ticket` stands for is as durable as `sync` asks. Runs without the interpreter.
    ///
    /// Raises:
    ///     StoreError: the append or the sync failed, or the store cannot be used.
    fn wait(&self, py: Python<'_>, ticket: Int<i64>) -> PyResult<()> {
        self.call(py, |store| store.wait(ticket.0))
    }

    /// Return True if `wait` would return at once.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    fn is_durable(&self, py: Python<'_>, ticket: Int<i64>) -> PyResult<bool> {
        self.call(py, |store| store.is_durable(ticket.0))
    }

    /// The ticket of everything so far: for an answer made of what `describe`, `groups` or `share_partitions` told.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    fn ticket(&self, py: Python<'_>) -> PyResult<i64> {
        self.call(py, log::ShareGroupStore::ticket)
    }

    /// Make all that was accepted so far durable, whatever `sync` says.
    ///
    /// Raises:
    ///     StoreError: the sync failed, or the store cannot be used.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, log::ShareGroupStore::flush)
    }

    /// Flush, note where the log ends, and let go of it. Closing again does nothing.
    ///
    /// Raises:
    ///     StoreError: the flush failed; the log is given up nevertheless.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, log::ShareGroupStore::close)
    }

    /// Return the counts of the store since it was opened, as `StateStore.counters` gives them.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counters_out(py, self.store.counters())
    }

    /// Return the findings of the opening, as `StateStore.recovery` gives them.
    fn recovery<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        recovery_out(py, self.store.recovery())
    }

    /// Tell every topic that there is, as (name, topic id, number of partitions); internal topics are left out.
    ///
    /// Groups whose topics have changed notice with their next heartbeat.
    ///
    /// Raises:
    ///     InvalidRequestError: a topic cannot exist, or occurs twice; the topics told before stay.
    ///     ValueError: a topic id is not one.
    ///     StoreError: the store cannot be used.
    fn set_topics(&self, py: Python<'_>, topics: Vec<(String, String, Int<i32>)>) -> PyResult<()> {
        let topics = topics
            .into_iter()
            .map(|(name, id, partitions)| {
                Ok(Topic {
                    name: name.into(),
                    id: convert::topic_id(&id)?,
                    partitions: partitions.0,
                })
            })
            .collect::<PyResult<_>>()?;
        self.call(py, |store| store.set_topics(topics))?
            .map_err(|error| errors::topics(py, &error))
    }

    /// Set what a group configures for itself, the whole of it: text by Kafka's name of the property. It counts from the next
    /// heartbeat on; the group need not exist. Properties that are not needed here are passed over.
    ///
    /// Raises:
    ///     ConfigError: a property is no whole number, or outside Kafka's own bounds. One outside the broker's is clamped to them.
    ///     StoreError: the store cannot be used.
    fn set_group_config(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        config: Texts,
    ) -> PyResult<()> {
        let config = read(py, &config)?;
        self.call(py, |store| store.set_group_config(group, &config))?
            .map_err(|error| errors::config(py, &error))
    }

    /// Return the latest time to call `handle_timeout`, on the clock of `now_ms`; `None` while there is no member. After
    /// opening that is at once.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    fn poll_timeout(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        let next = self.call(py, log::ShareGroupStore::poll_timeout)?;
        Ok(next.map(|time| time.0))
    }

    /// Take out the members whose session has ended.
    ///
    /// Returns:
    ///     These members as (group, member), and a ticket.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (*, now_ms, wall_ms))]
    fn handle_timeout(
        &self,
        py: Python<'_>,
        now_ms: LockMs,
        wall_ms: WallMs,
    ) -> PyResult<(Vec<(String, String)>, i64)> {
        let expired = self.call(py, |store| store.handle_timeout(now_ms.0, wall_ms.0))?;
        let members = expired.answer.iter();
        let members = members.map(|(group, member)| (group.to_string(), member.to_string()));
        Ok((members.collect(), expired.ticket))
    }

    /// The directory of the log, as a `pathlib.Path`.
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
            "a ShareGroupStore is the one writer of its directory and cannot be pickled or copied; pickle its path",
        ))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let groups = py.detach(|| self.store.look(|groups| groups.list().count()));
        let groups = groups.map(|seen| seen.answer);
        shown(py, "ShareGroupStore", self.store.path(), "groups", groups)
    }
}

impl ShareGroupStore {
    /// Runs a verb detached from the interpreter: it may wait for another one.
    fn call<R: Send>(
        &self,
        py: Python<'_>,
        verb: impl FnOnce(&log::ShareGroupStore) -> Result<R, StoreError> + Send,
    ) -> PyResult<R> {
        // A panic inside the store poisons the store itself.
        match py.detach(|| caught(|| verb(&self.store))) {
            Ok(done) => done.map_err(|error| errors::store(py, None, &error)),
            Err(panic) => Err(errors::poisoned(py, "this ShareGroupStore", &panic)),
        }
    }
}

fn read(py: Python<'_>, texts: &Texts) -> PyResult<Numbers> {
    numbers(&texts.0).map_err(|error| errors::property(py, &error))
}
