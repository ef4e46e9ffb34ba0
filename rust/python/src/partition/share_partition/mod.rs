//! `SharePartition` for Python, a file for each part of its work.

mod acknowledge;
mod acquire;
mod calls;
mod inspect;
mod lifecycle;
mod pending;

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use share_state_core::ids::SharePartitionKey;
use share_state_core::share_partition as core;

use crate::args::{Int, Topic, one_or_none, text};
use crate::errors;
use crate::groups::config::GroupConfig;
use crate::locked::Locked;
use crate::named_tuples;
use crate::partition::engine::{Engine, each};
use crate::partition::inline_writes::Persister;
use crate::partition::partition_state::PartitionState;

/// The state machine of one share partition (KIP-932; Kafka: `SharePartition`): who may hold which record, and since when.
///
/// It has no clock, no socket and no disk. Commands are those of members (`acquire`, `acknowledge`, `release`) and of
/// operators; `handle_…` tell it what happened; `poll_…` tell what to do next: poll after every command and every `handle_…`
/// until there is nothing more. Nothing calls back into Python.
///
/// With a `persister` it makes its writes by itself, as Kafka's does: a call that leads to writes returns when they are answered,
/// and `poll_write` has nothing to give. Where a write is refused that a member waits for, the call raises `PersisterError` with
/// the code for that member, and the change is undone; the refusal of any other write goes to the logger
/// `share_state.persister`. A sync is waited for without the interpreter and without this object's lock: other threads go on with
/// it, and their writes share the sync. Without one, a short append is made with both. What a confirmed acknowledgement survives
/// is what the store promises: with `sync="always"` it is on the disk.
///
/// Offsets are whole numbers from 0 to 2**63 - 2, ranges are inclusive. `now_ms` is a `LockTime`, or a number of ms on the
/// caller's monotonic clock; every call that takes it first lets due locks run out (a lock is due when now >= deadline), and a
/// clock that goes back counts as standing still.
///
/// A call that raises has changed nothing. Beside what a method names, any call raises `TypeError` or `OverflowError` for an
/// argument that does not fit (a bool is no number), and `EnginePoisonedError` once a bug has made a call of this object panic.
///
/// Threads may share an object: its calls run one after the other, those that take long without the interpreter. It cannot
/// be pickled or copied; its state is in the persister. A forked child has a copy of its own, which the parent does not hear
/// of; fork while no other thread is inside a call.
///
/// Args:
///     group: id of the share group.
///     topic_id: a `uuid.UUID`, a hyphenated UUID, or 22 characters of URL-safe base64.
///     partition: partition of the topic.
///     leader_epoch: epoch of this leader of the partition; goes with every write.
///     config: configuration of the group; Kafka's defaults when absent.
///     persister: who takes the writes inside the calls: a `StateStore`, whose state must have been initialised, or a
///         `NoOpStatePersister`. Without one they are polled; so are those for any other persister
///         (`share_state.persister.drain_writes`).
///     store: `"leaves"`, the adaptive store to work with, or `"twin"`, the plain and slow one to compare it with.
///
/// Raises:
///     InvalidRequestError: `group` is empty, `partition` is negative, or `topic_id` or `store` is none of these.
///     TypeError: `persister` is none of these.
#[pyclass(frozen, weakref, module = "share_state")]
pub struct SharePartition {
    state: Arc<Locked<PartitionState>>,
    key: SharePartitionKey,
    leader_epoch: i32,
}

#[pymethods]
impl SharePartition {
    #[new]
    #[pyo3(signature = (group, topic_id, partition, *, leader_epoch = Int(0), config = None, persister = None,
        store = "leaves"),
        text_signature = "(group, topic_id, partition, *, leader_epoch=0, config=None, persister=None, store='leaves')")]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python constructor"
    )]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        topic_id: Topic,
        partition: Int<i32>,
        leader_epoch: Int<i32>,
        #[pyo3(from_py_with = one_or_none)] config: Option<&Bound<'_, GroupConfig>>,
        persister: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = text)] store: &str,
    ) -> PyResult<Self> {
        let key = SharePartitionKey::new(group, topic_id.0, partition.0);
        key.check()
            .map_err(|e| errors::coordinator(py, &key, &e.into()))?;
        let config = config.map_or_else(Arc::default, |c| Arc::clone(&c.get().inner));
        let leader_epoch = leader_epoch.0;
        let made = match store {
            "leaves" => core::SharePartition::new(key.clone(), leader_epoch, Arc::clone(&config))
                .map(Engine::Leaves),
            "twin" => core::SharePartition::new(key.clone(), leader_epoch, Arc::clone(&config))
                .map(Engine::Twin),
            other => {
                return Err(errors::wrong_word(py, "store", other, "leaves or twin"));
            }
        };
        let engine = made.map_err(|e| errors::config(py, &e))?;
        let persister = persister.map(Persister::of).transpose()?;
        Ok(Self {
            state: Arc::new(PartitionState::locked(engine, persister)),
            key,
            leader_epoch,
        })
    }

    /// Group, topic id and partition, as a `SharePartitionKey`.
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        named_tuples::key_out(py, &self.key)
    }

    /// Epoch of this leader of the partition.
    #[getter]
    const fn leader_epoch(&self) -> i32 {
        self.leader_epoch
    }

    /// Persister that takes the writes inside the calls; `None` when they are polled. A persister that is set later is given
    /// the writes that wait to be polled; those that were polled are still answered by `handle_write_result`.
    ///
    /// Raises:
    ///     TypeError: what is set is neither a `StateStore` nor a `NoOpStatePersister`.
    #[getter]
    fn persister(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.state.attached(py, |state| {
            state
                .persister
                .as_ref()
                .map(|persister| persister.object(py))
        })
    }

    #[setter]
    fn set_persister(&self, py: Python<'_>, persister: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let persister = persister.map(Persister::of).transpose()?;
        // The old one is dropped when the lock is free again, for it may be the last that holds a store.
        let old = self.state.attached(py, |state| {
            std::mem::replace(&mut state.persister, persister)
        })?;
        drop(old);
        // The new one gets the writes that wait to be polled.
        self.attached(py, |_| ())
    }

    /// `"EMPTY"`, `"INITIALIZING"`, `"ACTIVE"`, `"FAILED"` or `"FENCED"` (Kafka: `SharePartitionState`).
    #[getter]
    fn status(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.attached(py, |e| each!(e, sp => sp.status().name()))
    }

    /// First offset of the window (SPSO): everything before it is settled. It never goes back.
    ///
    /// Records after it may be settled too: it stays where it is when records at the head of the window are archived in memory
    /// alone (compaction, aborted transactions), as in Kafka. `settled_to` says whether anything is left.
    #[getter]
    fn start_offset(&self, py: Python<'_>) -> PyResult<i64> {
        self.attached(py, |e| each!(e, sp => sp.start_offset()))
    }

    /// Last offset of the window while a batch is in flight, else the offset to fetch next (SPEO).
    #[getter]
    fn end_offset(&self, py: Python<'_>) -> PyResult<i64> {
        self.attached(py, |e| each!(e, sp => sp.end_offset()))
    }

    /// Epoch of the state that was read; goes with every write.
    #[getter]
    fn state_epoch(&self, py: Python<'_>) -> PyResult<i32> {
        self.attached(py, |e| each!(e, sp => sp.state_epoch()))
    }

    /// Number of terminal records at or after the start offset (KIP-1226).
    #[getter]
    fn delivery_complete_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.attached(py, |e| each!(e, sp => sp.delivery_complete_count()))
    }

    /// Length of the window in offsets, settled records and holes inside it included. It exceeds `partition_max_record_locks`
    /// by one log batch at most.
    #[getter]
    fn window_len(&self, py: Python<'_>) -> PyResult<u64> {
        self.attached(py, |e| each!(e, sp => sp.window_len()))
    }

    /// Window in which a new leader has to read again the offsets that the persister knows nothing of: (first offset that may
    /// lie in such a gap, last offset of the window when the state was read); `None` when no gap is left (Kafka: `GapWindow`,
    /// KAFKA-18494).
    #[getter]
    fn gap_window(&self, py: Python<'_>) -> PyResult<Option<(i64, i64)>> {
        let gap = self.attached(py, |e| each!(e, sp => sp.gap_window()))?;
        Ok(gap.map(|gap| (gap.gap_start_offset, gap.end_offset)))
    }

    /// Refuses to be pickled or copied.
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a SharePartition holds live locks and cannot be pickled or copied; read its state from the persister",
        ))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let status = self.attached(py, |e| {
            each!(e, sp => format!(
                "leader_epoch={}, status={}, start_offset={}, end_offset={}, in_flight={}, writes_under_way={}",
                sp.leader_epoch(), sp.status().name(), sp.start_offset(), sp.end_offset(),
                sp.state_counts().iter().sum::<u64>(), sp.writes_under_way(),
            ))
        })?;
        let SharePartitionKey {
            group,
            topic_id,
            partition,
        } = &self.key;
        let group = group.into_pyobject(py)?.repr()?;
        Ok(format!(
            "SharePartition(group={group}, topic_id='{topic_id}', partition={partition}, {status})"
        ))
    }
}

impl SharePartition {
    /// Part of it that a set of share partitions keeps.
    pub const fn state(&self) -> &Arc<Locked<PartitionState>> {
        &self.state
    }

    /// Key of the share partition.
    pub const fn key_of(&self) -> &SharePartitionKey {
        &self.key
    }
}
