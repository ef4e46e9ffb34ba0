//! `SharePartition` for Python.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::WriteToken;
use share_state_core::record_state::{Phase, RecordState};
use share_state_core::share_partition as core;
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, AcquiredRange, DeadLetterCause, DeadLetterToken,
    Initialized,
};
use share_state_core::time::LockTime;

use crate::config::{GroupConfig, auto_offset_reset_out};
use crate::convert;
use crate::data::{DeadLetter, InFlight, PendingWrite, ReadStateResult, WriteState};
use crate::engine::{Engine, each};
use crate::errors;
use crate::guarded::Guarded;

type AcquiredColumns<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i16>>,
);

/// The state machine of one share partition.
#[pyclass(frozen, module = "share_state")]
pub struct SharePartition {
    engine: Guarded<Engine>,
    key: share_state_core::ids::SharePartitionKey,
    leader_epoch: i32,
}

#[pymethods]
impl SharePartition {
    #[new]
    #[pyo3(signature = (group, topic_id, partition, *, leader_epoch = 0, config = None, store = "tree"))]
    fn new(
        py: Python<'_>,
        group: &str,
        topic_id: &str,
        partition: i32,
        leader_epoch: i32,
        config: Option<&Bound<'_, GroupConfig>>,
        store: &str,
    ) -> PyResult<Self> {
        let key = convert::key(group, topic_id, partition)?;
        let config = config.map_or_else(ShareGroupConfig::default, |c| c.get().inner);
        let made = match store {
            "tree" => {
                core::SharePartition::new(key.clone(), leader_epoch, config).map(Engine::Tree)
            }
            "twin" => {
                core::SharePartition::new(key.clone(), leader_epoch, config).map(Engine::Twin)
            }
            other => {
                return Err(PyValueError::new_err(format!(
                    "store is {other:?}, neither tree nor twin"
                )));
            }
        };
        Ok(Self {
            engine: Guarded::new(
                "this SharePartition",
                made.map_err(|e| errors::config(py, &e))?,
            ),
            key,
            leader_epoch,
        })
    }

    fn configure(&self, py: Python<'_>, config: &Bound<'_, GroupConfig>) -> PyResult<()> {
        let config = config.get().inner;
        self.engine
            .with(py, |e| each!(e, sp => sp.configure(config)))?
            .map_err(|e| errors::config(py, &e))
    }

    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::key_out(py, &self.key)
    }

    #[getter]
    const fn leader_epoch(&self) -> i32 {
        self.leader_epoch
    }

    #[getter]
    fn status(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.engine.with(py, |e| each!(e, sp => sp.status().name()))
    }

    #[getter]
    fn start_offset(&self, py: Python<'_>) -> PyResult<i64> {
        self.engine.with(py, |e| each!(e, sp => sp.start_offset()))
    }

    #[getter]
    fn end_offset(&self, py: Python<'_>) -> PyResult<i64> {
        self.engine.with(py, |e| each!(e, sp => sp.end_offset()))
    }

    #[getter]
    fn state_epoch(&self, py: Python<'_>) -> PyResult<i32> {
        self.engine.with(py, |e| each!(e, sp => sp.state_epoch()))
    }

    #[getter]
    fn delivery_complete_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.engine
            .with(py, |e| each!(e, sp => sp.delivery_complete_count()))
    }

    #[getter]
    fn window_len(&self, py: Python<'_>) -> PyResult<u64> {
        self.engine.with(py, |e| each!(e, sp => sp.window_len()))
    }

    #[getter]
    fn gap_window(&self, py: Python<'_>) -> PyResult<Option<(i64, i64)>> {
        let gap = self.engine.with(py, |e| each!(e, sp => sp.gap_window()))?;
        Ok(gap.map(|gap| (gap.gap_start_offset, gap.end_offset)))
    }

    fn begin_initialize(&self, py: Python<'_>) -> PyResult<i32> {
        self.engine
            .with(py, |e| each!(e, sp => sp.begin_initialize()))?
            .map(|read| read.leader_epoch)
            .map_err(|e| errors::initialize(py, &e))
    }

    fn initialize(
        &self,
        py: Python<'_>,
        read: &Bound<'_, ReadStateResult>,
    ) -> PyResult<Option<String>> {
        let read = read.get().inner.clone();
        let done = self
            .engine
            .detached(py, |e| each!(e, sp => sp.initialize(read)))?;
        match done.map_err(|e| errors::initialize(py, &e))? {
            Initialized::Active => Ok(None),
            Initialized::NeedsStartOffset(strategy) => Ok(Some(auto_offset_reset_out(strategy))),
        }
    }

    fn resolve_start_offset(&self, py: Python<'_>, start_offset: i64) -> PyResult<()> {
        self.engine
            .with(
                py,
                |e| each!(e, sp => sp.resolve_start_offset(start_offset)),
            )?
            .map(|_| ())
            .map_err(|e| errors::initialize(py, &e))
    }

    fn initialize_failed(&self, py: Python<'_>, error_code: i16) -> PyResult<()> {
        let code = kafka_code(error_code);
        let error = self
            .engine
            .with(py, |e| each!(e, sp => sp.initialize_failed(code)))?;
        Err(errors::initialize(py, &error))
    }

    fn next_fetch_offset(&self, py: Python<'_>) -> PyResult<i64> {
        self.engine
            .with(py, |e| each!(e, sp => sp.next_fetch_offset()))
    }

    fn can_acquire(&self, py: Python<'_>) -> PyResult<bool> {
        self.engine.with(py, |e| each!(e, sp => sp.can_acquire()))
    }

    #[pyo3(signature = (member, fetched, *, now_ms, max_records, batch_size = 500, mode = 0, fetch_offset = None, aborted = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn acquire<'py>(
        &self,
        py: Python<'py>,
        member: &str,
        fetched: &Bound<'py, PyAny>,
        now_ms: i64,
        max_records: i32,
        batch_size: i32,
        mode: u8,
        fetch_offset: Option<i64>,
        aborted: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let acquired = self.acquire_core(
            py,
            member,
            fetched,
            now_ms,
            max_records,
            batch_size,
            mode,
            fetch_offset,
            aborted,
        )?;
        convert::acquired_out(py, &acquired)
    }

    #[pyo3(signature = (member, fetched, *, now_ms, max_records, batch_size = 500, mode = 0, fetch_offset = None, aborted = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn acquire_columns<'py>(
        &self,
        py: Python<'py>,
        member: &str,
        fetched: &Bound<'py, PyAny>,
        now_ms: i64,
        max_records: i32,
        batch_size: i32,
        mode: u8,
        fetch_offset: Option<i64>,
        aborted: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<AcquiredColumns<'py>> {
        let acquired = self.acquire_core(
            py,
            member,
            fetched,
            now_ms,
            max_records,
            batch_size,
            mode,
            fetch_offset,
            aborted,
        )?;
        let first: Vec<i64> = acquired.iter().map(|a| a.range.first).collect();
        let last: Vec<i64> = acquired.iter().map(|a| a.range.last).collect();
        let count: Vec<i16> = acquired.iter().map(|a| a.delivery_count).collect();
        Ok((
            first.into_pyarray(py),
            last.into_pyarray(py),
            count.into_pyarray(py),
        ))
    }

    #[pyo3(signature = (member, first_offset, last_offset, acknowledge_type = 1, *, now_ms))]
    fn acknowledge(
        &self,
        py: Python<'_>,
        member: &str,
        first_offset: i64,
        last_offset: i64,
        acknowledge_type: i8,
        now_ms: i64,
    ) -> PyResult<Option<u64>> {
        let types = [acknowledge_type];
        let batch = AcknowledgeBatch {
            first: first_offset,
            last: last_offset,
            types: &types,
        };
        self.engine
            .with(
                py,
                |e| each!(e, sp => sp.acknowledge(member, &[batch], LockTime(now_ms))),
            )?
            .map(token_out)
            .map_err(|e| errors::acknowledge(py, &e))
    }

    #[pyo3(signature = (member, batches, *, now_ms))]
    fn acknowledge_batches(
        &self,
        py: Python<'_>,
        member: &str,
        batches: &Bound<'_, PyAny>,
        now_ms: i64,
    ) -> PyResult<Option<u64>> {
        let mut owned: Vec<(i64, i64, Vec<i8>)> = Vec::new();
        for batch in batches.try_iter()? {
            let (first, last, types): (i64, i64, Bound<'_, PyAny>) = batch?.extract()?;
            owned.push((first, last, types_in(&types)?));
        }
        let batches: Vec<AcknowledgeBatch<'_>> = owned
            .iter()
            .map(|(first, last, types)| AcknowledgeBatch {
                first: *first,
                last: *last,
                types,
            })
            .collect();
        self.engine
            .detached(
                py,
                |e| each!(e, sp => sp.acknowledge(member, &batches, LockTime(now_ms))),
            )?
            .map(token_out)
            .map_err(|e| errors::acknowledge(py, &e))
    }

    #[pyo3(signature = (member, first_offset, last_offset, acknowledge_type, *, now_ms))]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the borrow of an array is a value"
    )]
    fn acknowledge_columns<'py>(
        &self,
        py: Python<'py>,
        member: &str,
        first_offset: PyReadonlyArray1<'py, i64>,
        last_offset: PyReadonlyArray1<'py, i64>,
        acknowledge_type: PyReadonlyArray1<'py, i8>,
        now_ms: i64,
    ) -> PyResult<Option<u64>> {
        let first = convert::column(&first_offset);
        let last = convert::column(&last_offset);
        let types = convert::column(&acknowledge_type);
        if first.len() != last.len() || first.len() != types.len() {
            return Err(PyValueError::new_err(format!(
                "the columns have {}, {} and {} rows",
                first.len(),
                last.len(),
                types.len()
            )));
        }
        let batches: Vec<AcknowledgeBatch<'_>> = (first.iter().zip(last.iter()))
            .zip(types.chunks(1))
            .map(|((first, last), types)| AcknowledgeBatch {
                first: *first,
                last: *last,
                types,
            })
            .collect();
        self.engine
            .detached(
                py,
                |e| each!(e, sp => sp.acknowledge(member, &batches, LockTime(now_ms))),
            )?
            .map(token_out)
            .map_err(|e| errors::acknowledge(py, &e))
    }

    #[pyo3(signature = (member, *, now_ms))]
    fn release(&self, py: Python<'_>, member: &str, now_ms: i64) -> PyResult<u64> {
        self.engine
            .detached(py, |e| each!(e, sp => sp.release(member, LockTime(now_ms))))
    }

    fn poll_write(&self, py: Python<'_>) -> PyResult<Option<PendingWrite>> {
        let write = self.engine.with(py, |e| each!(e, sp => sp.poll_write()))?;
        write
            .map(|write| {
                let state = Py::new(py, WriteState { inner: write.state })?;
                Ok(PendingWrite {
                    token: write.token.0,
                    state,
                })
            })
            .transpose()
    }

    #[pyo3(signature = (token, error_code = 0, *, now_ms))]
    fn handle_write_result(
        &self,
        py: Python<'_>,
        token: u64,
        error_code: i16,
        now_ms: i64,
    ) -> PyResult<i16> {
        let code = kafka_code(error_code);
        self.engine
            .with(py, |e| {
                each!(e, sp => sp.handle_write_result(WriteToken(token), code, LockTime(now_ms)))
            })?
            .map(|answer| answer.member_code.code())
            .map_err(|e| errors::unknown_token(py, e))
    }

    #[getter]
    fn writes_under_way(&self, py: Python<'_>) -> PyResult<usize> {
        self.engine
            .with(py, |e| each!(e, sp => sp.writes_under_way()))
    }

    fn poll_timeout(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        let deadline = self
            .engine
            .with(py, |e| each!(e, sp => sp.poll_timeout()))?;
        Ok(deadline.map(|deadline| deadline.0))
    }

    #[pyo3(signature = (*, now_ms))]
    fn handle_timeout(&self, py: Python<'_>, now_ms: i64) -> PyResult<u64> {
        self.engine
            .detached(py, |e| each!(e, sp => sp.handle_timeout(LockTime(now_ms))))
    }

    fn move_log_start_offset(&self, py: Python<'_>, log_start_offset: i64) -> PyResult<bool> {
        self.engine.detached(
            py,
            |e| each!(e, sp => sp.move_log_start_offset(log_start_offset)),
        )
    }

    fn fence(&self, py: Python<'_>) -> PyResult<()> {
        self.engine.with(py, |e| each!(e, sp => sp.fence()))
    }

    fn poll_dead_letter(&self, py: Python<'_>) -> PyResult<Option<DeadLetter>> {
        let letter = self
            .engine
            .with(py, |e| each!(e, sp => sp.poll_dead_letter()))?;
        Ok(letter.map(|letter| DeadLetter {
            token: letter.token.0,
            first_offset: letter.range.first,
            last_offset: letter.range.last,
            delivery_count: letter.delivery_count,
            cause: match letter.cause {
                DeadLetterCause::ClientReject => "client_reject",
                DeadLetterCause::DeliveryCountExceeded => "delivery_count_exceeded",
            },
        }))
    }

    #[pyo3(signature = (token, *, now_ms))]
    fn handle_dead_letter_done(&self, py: Python<'_>, token: u64, now_ms: i64) -> PyResult<()> {
        let token = DeadLetterToken(token);
        self.engine
            .with(
                py,
                |e| each!(e, sp => sp.handle_dead_letter_done(token, LockTime(now_ms))),
            )?
            .map_err(|e| errors::unknown_token(py, e))
    }

    fn acquire_fetch_lock(&self, py: Python<'_>, fetch_id: u64) -> PyResult<bool> {
        self.engine
            .with(py, |e| each!(e, sp => sp.acquire_fetch_lock(fetch_id)))
    }

    fn release_fetch_lock(&self, py: Python<'_>, fetch_id: u64) -> PyResult<bool> {
        self.engine
            .with(py, |e| each!(e, sp => sp.release_fetch_lock(fetch_id)))
    }

    fn in_flight(&self, py: Python<'_>) -> PyResult<Vec<InFlight>> {
        self.engine.detached(py, |e| {
            each!(e, sp => sp.in_flight().map(|run| InFlight {
                first_offset: run.range.first,
                last_offset: run.range.last,
                state: run.state as u8,
                delivery_count: run.delivery_count,
                pending: run.phase != Phase::Settled,
                member: run.holder.map(|(member, _, _)| member.to_owned()),
                acquired_at_ms: run.holder.map(|(_, since, _)| since.0),
                deadline_ms: run.holder.map(|(_, _, until)| until.0),
            }).collect())
        })
    }

    fn in_flight_columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (mut first, mut last, mut state) = (Vec::new(), Vec::new(), Vec::new());
        let (mut count, mut pending, mut deadline) = (Vec::new(), Vec::new(), Vec::new());
        self.engine.detached(py, |e| {
            each!(e, sp => for run in sp.in_flight() {
                first.push(run.range.first);
                last.push(run.range.last);
                state.push(run.state.id());
                count.push(run.delivery_count);
                pending.push(run.phase != Phase::Settled);
                deadline.push(run.holder.map_or(-1, |(_, _, until)| until.0));
            });
        })?;
        let columns = PyDict::new(py);
        columns.set_item("first_offset", first.into_pyarray(py))?;
        columns.set_item("last_offset", last.into_pyarray(py))?;
        columns.set_item("state", state.into_pyarray(py))?;
        columns.set_item("delivery_count", count.into_pyarray(py))?;
        columns.set_item("pending", pending.into_pyarray(py))?;
        columns.set_item("deadline_ms", deadline.into_pyarray(py))?;
        Ok(columns)
    }

    fn state_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self
            .engine
            .with(py, |e| each!(e, sp => sp.state_counts()))?;
        let dict = PyDict::new(py);
        for (state, count) in RecordState::ALL.into_iter().zip(counts) {
            dict.set_item(state.name(), count)?;
        }
        Ok(dict)
    }

    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.engine.with(py, |e| each!(e, sp => *sp.counters()))?;
        let dict = PyDict::new(py);
        for (name, count) in counters.entries() {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }

    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.engine
            .detached(py, |e| each!(e, sp => sp.check()))?
            .map_err(|broken| errors::internal(&broken))
    }

    #[expect(
        clippy::panic,
        reason = "the deliberate panic that the tests of poisoning need"
    )]
    fn _panic_for_test(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        self.engine.with(py, |_| panic!("{text}"))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyNotImplementedError::new_err(
            "a SharePartition holds live locks and cannot be pickled; read its state from the persister",
        ))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.engine.with(py, |e| {
            each!(e, sp => format!(
                "SharePartition(group={:?}, topic_id='{}', partition={}, status={}, start_offset={}, end_offset={})",
                &*sp.key().group, sp.key().topic_id, sp.key().partition, sp.status().name(), sp.start_offset(),
                sp.end_offset(),
            ))
        })
    }
}

impl SharePartition {
    #[expect(
        clippy::too_many_arguments,
        reason = "carries the arguments of `acquire` to both its forms"
    )]
    fn acquire_core(
        &self,
        py: Python<'_>,
        member: &str,
        fetched: &Bound<'_, PyAny>,
        now_ms: i64,
        max_records: i32,
        batch_size: i32,
        mode: u8,
        fetch_offset: Option<i64>,
        aborted: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<AcquiredRange>> {
        let fetched = convert::fetched_in(fetched)?;
        let aborted = aborted.map(convert::aborted_in).transpose()?;
        let mode = match mode {
            0 => AcquireMode::BatchOptimized,
            1 => AcquireMode::RecordLimit,
            other => {
                return Err(PyValueError::new_err(format!(
                    "mode is {other}, neither 0 nor 1"
                )));
            }
        };
        let request = AcquireRequest {
            member,
            mode,
            batch_size,
            max_records,
            fetch_offset: fetch_offset
                .unwrap_or_else(|| fetched.first().map_or(0, |batch| batch.base_offset)),
            fetched: &fetched,
            aborted: aborted.as_deref(),
        };
        self.engine
            .with(
                py,
                |e| each!(e, sp => sp.acquire(&request, LockTime(now_ms))),
            )?
            .map_err(|e| errors::acquire(py, &e))
    }
}

/// Acknowledge types as a sequence of integers, or as bytes, one byte a type.
fn types_in(types: &Bound<'_, PyAny>) -> PyResult<Vec<i8>> {
    if let Ok(bytes) = types.extract::<&[u8]>() {
        // The byte is the int8 of the wire.
        return Ok(bytes.iter().map(|b| i8::from_ne_bytes([*b])).collect());
    }
    if let Ok(array) = types.extract::<PyReadonlyArray1<'_, i8>>() {
        return Ok(convert::column(&array).into_owned());
    }
    types.extract()
}

fn token_out(token: Option<WriteToken>) -> Option<u64> {
    token.map(|token| token.0)
}

/// A code that share groups do not use is as good as unknown.
pub fn kafka_code(code: i16) -> KafkaCode {
    KafkaCode::from_i16(code).unwrap_or(KafkaCode::UnknownServerError)
}
