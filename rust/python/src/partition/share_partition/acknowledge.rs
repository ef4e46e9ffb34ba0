//! Acknowledgements of members for the records they hold.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString};
use share_state_core::share_partition::AcknowledgeBatch;
use share_state_core::time::LockTime;

use super::SharePartition;
use super::calls::LONG;
use crate::args::{self, Int, LockMs, named, text};
use crate::columns::Column;
use crate::errors::{self, Raise};
use crate::partition::inline_writes::RefusedWrite;
use crate::partition::refusals::{self, Given};
use crate::words::TypeId;

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
    ///     acknowledge_type: an `AcknowledgeType`, its id or its name: 0 gap, 1 accept, 2 release, 3 reject, 4 renew (KIP-1222).
    ///     now_ms: now, on the monotonic clock.
    ///
    /// Returns:
    ///     The token of the write to wait for; `None` when there is nothing to wait for, as ever with a persister.
    ///
    /// Raises:
    ///     SharePartitionNotActiveError: the share partition does not serve members; `status` says why.
    ///     PersisterError: the persister of this object refuses the write. `kafka_code` is the code for the member,
    ///         `persister_code`, `persister_code_name` and `persister_message` are what the persister says; its own exception is
    ///         the cause.
    ///     InvalidRequestError: the member id is empty, or the range is inverted, negative, or not in flight to its end; `field`
    ///         and `value` name it.
    ///     InvalidRecordStateError: a record is not held by the member, a write of it is under way, or the group does not allow
    ///         renewal; `value` is its offset.
    #[pyo3(signature = (member, first_offset, last_offset, acknowledge_type = TypeId(1), *, now_ms),
        text_signature = "($self, member, first_offset, last_offset, acknowledge_type=1, *, now_ms)")]
    fn acknowledge(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] member: &str,
        first_offset: Int<i64>,
        last_offset: Int<i64>,
        acknowledge_type: TypeId,
        now_ms: LockMs,
    ) -> PyResult<Option<u64>> {
        let batch = AcknowledgeBatch {
            first: first_offset.0,
            last: last_offset.0,
            types: &[acknowledge_type.0],
        };
        self.acknowledged(py, member, &[batch], now_ms.0, Given::Range)
    }

    /// Acknowledge several ranges, with a type each or a type for every record, all or none.
    ///
    /// Args:
    ///     member: id of the member that holds the records.
    ///     batches: `(first_offset, last_offset, types)`, ascending and disjoint, as in ShareAcknowledge (RPC 79). `types` is one
    ///         type for all, or a sequence, `bytes` or an int8 array of one type or one for every offset.
    ///     now_ms: now, on the monotonic clock.
    ///
    /// Returns:
    ///     The token of the write to wait for, or `None` when there is nothing to write.
    ///
    /// Raises:
    ///     SharePartitionNotActiveError, PersisterError: as `acknowledge`.
    ///     InvalidRequestError: as `acknowledge`, and for a wrong number of types; `index` is that of the batch.
    ///     InvalidRecordStateError: as `acknowledge`, and for a record that is acknowledged twice.
    ///     LimitExceededError: the request would need a write of more state batches than one may carry.
    #[pyo3(signature = (member, batches, *, now_ms))]
    fn acknowledge_batches(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] member: &str,
        batches: &Bound<'_, PyAny>,
        now_ms: LockMs,
    ) -> PyResult<Option<u64>> {
        if let Ok(list) = batches.cast::<PyList>()
            && list.len() == 1
        {
            let (first, last, types) = batch_in(0, &list.get_item(0)?)?;
            let types = &types;
            return self.acknowledged(
                py,
                member,
                &[AcknowledgeBatch { first, last, types }],
                now_ms.0,
                Given::Batches,
            );
        }
        let mut owned: Vec<(i64, i64, Vec<i8>)> = Vec::new();
        for (index, batch) in args::items("batches", batches)?.enumerate() {
            owned.push(batch_in(index, &batch?)?);
        }
        let batches: Vec<AcknowledgeBatch<'_>> = owned
            .iter()
            .map(|(first, last, types)| AcknowledgeBatch {
                first: *first,
                last: *last,
                types,
            })
            .collect();
        self.acknowledged(py, member, &batches, now_ms.0, Given::Batches)
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
    ///     SharePartitionNotActiveError, PersisterError, InvalidRequestError, InvalidRecordStateError, LimitExceededError: as
    ///         `acknowledge_batches`.
    ///     ArgumentTypeError: a column is not an array of its dtype and of one dimension.
    ///     ArgumentValueError: the columns differ in length.
    #[pyo3(signature = (member, first_offset, last_offset, acknowledge_type, *, now_ms))]
    fn acknowledge_columns<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] member: &str,
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
            let lengths = (first.len(), last.len(), types.len());
            let message = format!(
                "first_offset, last_offset and acknowledge_type have {}, {} and {} rows; expected one length",
                lengths.0, lengths.1, lengths.2
            );
            return Err(Raise::new(py, "ArgumentValueError", message)
                .of(self.key_of())
                .fact("value", lengths)
                .done());
        }
        let batches: Vec<AcknowledgeBatch<'_>> = (first.iter().zip(last.iter()))
            .zip(types.chunks(1))
            .map(|((first, last), types)| AcknowledgeBatch {
                first: *first,
                last: *last,
                types,
            })
            .collect();
        self.acknowledged(py, member, &batches, now_ms.0, Given::Columns)
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
    fn release(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] member: &str,
        now_ms: LockMs,
    ) -> PyResult<u64> {
        // A member may hold very much.
        let (records, refused) = self.writing(py, LONG, |state, writes| {
            state.release(member, now_ms.0, writes)
        })?;
        self.confirmed(py, refused)?;
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
        given: Given,
    ) -> PyResult<Option<u64>> {
        // What came of it is written to its place: a value would be moved by each layer between here and the engine.
        let mut done = Ok(None);
        let ((), refused) = self.writing(py, batches.len(), |state, writes| {
            done = state.acknowledge(member, batches, now, writes);
        })?;
        let token = done.map_err(|e| refusals::acknowledge(py, self.key_of(), &e, given))?;
        self.confirmed(py, refused)?;
        Ok(token.map(|token| token.0))
    }

    /// Raises what the persister of the share partition has refused.
    fn confirmed(&self, py: Python<'_>, refused: Option<RefusedWrite>) -> PyResult<()> {
        refused.map_or(Ok(()), |refused| {
            Err(refusals::write_refused(py, self.key_of(), &refused))
        })
    }
}

/// `(first_offset, last_offset, types)`.
fn batch_in(index: usize, batch: &Bound<'_, PyAny>) -> PyResult<(i64, i64, Vec<i8>)> {
    let py = batch.py();
    let part = |name: &str| format!("batches[{index}]{name}");
    let Ok((first, last, types)) =
        batch.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>)>()
    else {
        let error = errors::wrong_value(batch, "(first_offset, last_offset, types)");
        return named(py, Err(error), part(""));
    };
    let first: Int<i64> = named(py, first.extract(), part(".first_offset"))?;
    let last: Int<i64> = named(py, last.extract(), part(".last_offset"))?;
    let types = named(py, types_in(&types), part(".types"))?;
    Ok((first.0, last.0, types))
}

/// Acknowledge types as a sequence, as bytes, one byte a type, or as one type for all.
fn types_in(types: &Bound<'_, PyAny>) -> PyResult<Vec<i8>> {
    if let Ok(bytes) = types.extract::<&[u8]>() {
        // The byte is the int8 of the wire.
        return Ok(bytes.iter().map(|b| i8::from_ne_bytes([*b])).collect());
    }
    if let Ok(array) = types.extract::<PyReadonlyArray1<'_, i8>>() {
        return Ok(array.as_array().to_vec());
    }
    if types.is_instance_of::<PyString>() || types.is_instance_of::<PyInt>() {
        return types.extract::<TypeId>().map(|id| vec![id.0]);
    }
    let Ok(sequence) = types.extract::<Vec<Bound<'_, PyAny>>>() else {
        let expected = "an acknowledge type, or a sequence of them";
        return Err(errors::wrong_type(types, expected));
    };
    sequence
        .iter()
        .map(|id| id.extract::<TypeId>().map(|id| id.0))
        .collect()
}
