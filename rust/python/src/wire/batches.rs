//! Record batches of any topic, read from the answer to a Fetch.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use share_state_wire::WireError;
use share_state_wire::record_batch::{
    BatchHeader, BatchHeaders, Checksums, DecodedBatch, Limits, decode_batch as decode,
};

use crate::args::{Int, bytes};
use crate::errors;
use crate::locked::caught;

/// End of the batch, its first and last offset, producer, transactional, control, records.
type BatchTuple<'py> = (usize, i64, i64, i64, bool, bool, Bound<'py, PyList>);

/// Read the first record batch in `data[start:end]`, as an answer to Fetch has them, in any compression.
///
/// Memory is bounded by 256 MiB of decompressed records, whatever a batch announces.
///
/// Args:
///     data: the bytes.
///     start, end: where the batches are in it.
///     from_offset: of the first record to return. A batch that ends before is not decompressed.
///
/// Returns:
///     None where no whole batch is left, otherwise `(end, first_offset, last_offset, producer_id, is_transactional, is_control,
///     records)`: `end` is where the batch ends in `data`. A record is `(offset, timestamp, key, value, headers)`: the timestamp
///     in ms since the epoch; key and value are `bytes` or None; a header is a name and a value, as `bytes`. A control batch has
///     no records.
///
/// Raises:
///     WireDecodeError: the bytes are no batch, or a damaged one; `kind` says why.
#[pyfunction]
#[pyo3(
    signature = (data, start, end, from_offset = Int(0)),
    text_signature = "(data, start, end, from_offset=0)"
)]
pub fn decode_batch<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = bytes)] data: &[u8],
    start: Int<usize>,
    end: Int<usize>,
    from_offset: Int<i64>,
) -> PyResult<Option<BatchTuple<'py>>> {
    let read = py.detach(|| caught(|| first(data, start.0, end.0, from_offset.0)));
    let read = read.map_err(|panic| errors::bug(py, "decode_batch", &panic))?;
    let Some((header, decoded)) = read.map_err(|error| errors::wire(py, &error))? else {
        return Ok(None);
    };
    let records = PyList::empty(py);
    for record in decoded.iter().flat_map(DecodedBatch::records) {
        if record.offset < from_offset.0 {
            continue;
        }
        let headers = record.headers().map(|(name, value)| {
            let value = value.map(|value| PyBytes::new(py, value));
            (PyBytes::new(py, name), value)
        });
        let headers = headers.collect::<Vec<_>>();
        records.append((
            record.offset,
            record.timestamp,
            record.key.map(|key| PyBytes::new(py, key)),
            record.value.map(|value| PyBytes::new(py, value)),
            headers,
        ))?;
    }
    let batch = header.batch;
    Ok(Some((
        header.end,
        batch.base_offset,
        batch.last_offset,
        batch.producer_id,
        batch.is_transactional,
        batch.control.is_some(),
        records,
    )))
}

/// The first whole batch, and its records where it has some that are wanted.
fn first(
    data: &[u8],
    start: usize,
    end: usize,
    from_offset: i64,
) -> Result<Option<(BatchHeader, Option<DecodedBatch<'_>>)>, WireError> {
    let mut headers = BatchHeaders::new(data, start, end, Checksums::Trusted);
    let Some(header) = headers.next().transpose()? else {
        return Ok(None);
    };
    if header.batch.control.is_some() || header.batch.last_offset < from_offset {
        return Ok(Some((header, None)));
    }
    let bytes = data.get(header.start..header.end).unwrap_or_default();
    let decoded = decode(bytes, &Limits::default())?;
    Ok(Some((header, Some(decoded))))
}
