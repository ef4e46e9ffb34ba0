//! What members say about the records they hold.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::AcknowledgeBatch;
use share_state_core::time::LockTime;

use super::SharePartition;
use crate::args::{Int, LockMs};
use crate::columns::Column;
use crate::errors;

#[pymethods]
impl SharePartition {
    /// Acknowledge one range with one type for all its records (Kafka: `SharePartition.acknowledge`).
    ///
    /// The answer to the member waits for a write: take it with `poll_write`, and tell its result to `handle_write_result`. With
    /// a persister that has happened when the call returns. A renewal changes the lock at once and writes nothing. Offsets below the start offset are ignored.
    ///
    /// Args:
    ///     member: id of the member that holds the records.
    ///     first_offset: first offset.
    ///     last_offset: last offset, inclusive.
    ///     acknowledge_type: an `AcknowledgeType`: 0 gap, 1 accept, 2 release, 3 reject, 4 renew (KIP-1222).
    ///     now_ms: now, on the monotonic clock.
    ///
    /// Returns:
    ///     The token of the write to wait for; `None` when there is nothing to wait for, as ever with a persister.
    ///
    /// Raises:
    ///     PersisterError: the persister of this object refuses the write; `kafka_code` is the code for the member.
    ///     InvalidRequestError: the member id is empty, or the range is inverted, negative, or not in flight to its end; `field`
    ///         and `value` name it.
    ///     InvalidRecordStateError: a record is not held by the member, a write of it is under way, or the group does not allow
    ///         renewal; `value` is its offset.
    #[pyo3(signature = (member, first_offset, last_offset, acknowledge_type = Int(1), *, now_ms),
        text_signature = "($self, member, first_offset, last_offset, acknowledge_type=1, *, now_ms)")]
    fn acknowledge(
        &self,
        py: Python<'_>,
        member: &str,
        first_offset: Int<i64>,
        last_offset: Int<i64>,
        acknowledge_type: Int<i8>,
        now_ms: LockMs,
    ) -> PyResult<Option<u64>> {
        let batch = AcknowledgeBatch {
            first: first_offset.0,
            last: last_offset.0,
            types: &[acknowledge_type.0],
        };
        self.acknowledged(py, member, &[batch], now_ms.0)
    }

    /// Acknowledge several ranges, with a type each or a type for every record, all or none.
    ///
    /// Args:
    ///     member: id of the member that holds the records.
    ///     batches: `(first_offset, last_offset, types)`, ascending and disjoint, as in ShareAcknowledge (RPC 79). `types` is a
    ///         sequence of ints, `bytes` or an int8 array: one type, or one for every offset.
    ///     now_ms: now, on the monotonic clock.
    ///
    /// Returns:
    ///     The token of the write to wait for, or `None` when there is nothing to write.
    ///
    /// Raises:
    ///     PersisterError: as `acknowledge`.
    ///     InvalidRequestError: as `acknowledge`, and for a wrong number of types; `index` is that of the batch.
    ///     InvalidRecordStateError: as `acknowledge`, and for a record that is acknowledged twice.
    ///     LimitExceededError: the request would need a write of more state batches than one may carry.
    #[pyo3(signature = (member, batches, *, now_ms))]
    fn acknowledge_batches(
        &self,
        py: Python<'_>,
        member: &str,
        batches: &Bound<'_, PyAny>,
        now_ms: LockMs,
    ) -> PyResult<Option<u64>> {
        if let Ok(list) = batches.cast::<PyList>()
            && list.len() == 1
        {
            let (first, last, types) = batch_in(&list.get_item(0)?)?;
            let types = &types;
            return self.acknowledged(
                py,
                member,
                &[AcknowledgeBatch { first, last, types }],
                now_ms.0,
            );
        }
        let mut owned: Vec<(i64, i64, Vec<i8>)> = Vec::new();
        for batch in batches.try_iter()? {
            owned.push(batch_in(&batch?)?);
        }
        let batches: Vec<AcknowledgeBatch<'_>> = owned
            .iter()
            .map(|(first, last, types)| AcknowledgeBatch {
                first: *first,
                last: *last,
                types,
            })
            .collect();
        self.acknowledged(py, member, &batches, now_ms.0)
    }

    /// As `acknowledge_batches` with one type a range, from columns of one length n.
    ///
    /// Args:
    ///     member: id of the member that holds the records.
    ///     first_offset: int64 of shape (n,).
    ///     last_offset: int64 of shape (n,).
    ///     acknowledge_type: int8 of shape (n,).
    ///     now_ms: now, on the monotonic clock.
    ///
    /// A column is whatever `numpy.asarray` shows as such an array; one that is not contiguous is copied, another dtype or shape
    /// is refused and not converted.
    ///
    /// Returns:
    ///     The token of the write to wait for, or `None` when there is nothing to write.
    ///
    /// Raises:
    ///     PersisterError, InvalidRequestError, InvalidRecordStateError, LimitExceededError: as `acknowledge_batches`.
    ///     TypeError: a column is not an array of its dtype and of one dimension.
    ///     ValueError: the columns differ in length.
    #[pyo3(signature = (member, first_offset, last_offset, acknowledge_type, *, now_ms))]
    fn acknowledge_columns<'py>(
        &self,
        py: Python<'py>,
        member: &str,
        first_offset: &Bound<'py, PyAny>,
        last_offset: &Bound<'py, PyAny>,
        acknowledge_type: &Bound<'py, PyAny>,
        now_ms: LockMs,
    ) -> PyResult<Option<u64>> {
        let first = Column::<i64>::of("first_offset", first_offset)?;
        let last = Column::<i64>::of("last_offset", last_offset)?;
        let types = Column::<i8>::of("acknowledge_type", acknowledge_type)?;
        let (first, last, types) = (first.get(), last.get(), types.get());
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
        self.acknowledged(py, member, &batches, now_ms.0)
    }

    /// Release everything that `member` holds, as when its share session ends (Kafka: `SharePartition.releaseAcquiredRecords`).
    ///
    /// Returns:
    ///     The number of records; the write comes by `poll_write`. 0 for a member that holds nothing or is not known.
    ///
    /// Raises:
    ///     PersisterError: the persister of this object refuses the write, or one of several where there are more than 50,000 state
    ///         batches; `kafka_code` is the code for the member, which still holds what the refused write was about.
    #[pyo3(signature = (member, *, now_ms))]
    fn release(&self, py: Python<'_>, member: &str, now_ms: LockMs) -> PyResult<u64> {
        // A member may hold very much.
        let (records, code) = self.engine.settled(py, usize::MAX, |watched, settling| {
            watched.release(member, now_ms.0, settling)
        })?;
        confirmed(py, code)?;
        Ok(records)
    }
}

impl SharePartition {
    fn acknowledged(
        &self,
        py: Python<'_>,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
        now: LockTime,
    ) -> PyResult<Option<u64>> {
        let (done, code) = self
            .engine
            .settled(py, batches.len(), |watched, settling| {
                watched.acknowledge(member, batches, now, settling)
            })?;
        let token = done.map_err(|e| errors::acknowledge(py, &e))?;
        confirmed(py, code)?;
        Ok(token.map(|token| token.0))
    }
}

/// Raises what the persister of the share partition has refused.
fn confirmed(py: Python<'_>, code: KafkaCode) -> PyResult<()> {
    match code {
        KafkaCode::None => Ok(()),
        code => Err(errors::write_refused(py, code)),
    }
}

/// `(first_offset, last_offset, types)`.
fn batch_in(batch: &Bound<'_, PyAny>) -> PyResult<(i64, i64, Vec<i8>)> {
    let (first, last, types): (Int<i64>, Int<i64>, Bound<'_, PyAny>) = batch.extract()?;
    Ok((first.0, last.0, types_in(&types)?))
}

/// Acknowledge types as a sequence of integers, or as bytes, one byte a type.
fn types_in(types: &Bound<'_, PyAny>) -> PyResult<Vec<i8>> {
    if let Ok(bytes) = types.extract::<&[u8]>() {
        // The byte is the int8 of the wire.
        return Ok(bytes.iter().map(|b| i8::from_ne_bytes([*b])).collect());
    }
    if let Ok(array) = types.extract::<PyReadonlyArray1<'_, i8>>() {
        return Ok(array.as_array().to_vec());
    }
    let types: Vec<Int<i8>> = types.extract()?;
    Ok(types.into_iter().map(|id| id.0).collect())
}
