//! Record batches of any topic: read from the answer to a Fetch, and written for a Produce.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};
use share_state_wire::WireError;
use share_state_wire::record_batch::{
    BatchHeader, BatchHeaders, Checksums, Compression, DecodedBatch, Limits, NewRecord, Producer,
    decode_batch as decode, encode_produced_batch,
};

use crate::args::{Int, bytes, items, named};
use crate::errors;
use crate::locked::caught;

/// End of the batch, its first and last offset, producer, transactional, control, records.
type BatchTuple<'py> = (usize, i64, i64, i64, bool, bool, Bound<'py, PyList>);

/// Timestamp, key, value, headers.
type NewRecordTuple = (
    Int<i64>,
    Option<PyBackedBytes>,
    Option<PyBackedBytes>,
    Vec<(PyBackedBytes, Option<PyBackedBytes>)>,
);

/// Records that are to be written, each by its place in the list where it does not fit.
fn new_records(records: &Bound<'_, PyAny>) -> PyResult<Vec<NewRecordTuple>> {
    let read = |(index, record): (usize, PyResult<Bound<'_, PyAny>>)| {
        let record = record?;
        let read = record.extract().map_err(|_| {
            let expected = "(timestamp in ms, key or None, value or None, headers), with bytes";
            errors::wrong_type(&record, expected)
        });
        named(records.py(), read, format_args!("records[{index}]"))
    };
    items("records", records)?.enumerate().map(read).collect()
}

/// Return the bytes of a record batch, as Produce takes it.
///
/// Args:
///     records: `(timestamp, key, value, headers)` each, in the form in which `decode_batch` gives them.
///     compression: number of Kafka's codec: 0 for none, 1 for gzip, 2 for snappy, 3 for lz4, 4 for zstd.
///     producer_id, producer_epoch, base_sequence: as a broker has given them out, and the sequence number of the first record;
///         -1 for none.
///
/// Raises:
///     ArgumentTypeError: a record is none.
///     ArgumentValueError: no codec has this number.
///     WireDecodeError: there is no record, or the batch would be longer than the format can say.
#[pyfunction]
#[pyo3(
    signature = (records, compression = Int(0), producer_id = Int(-1), producer_epoch = Int(-1), base_sequence = Int(-1)),
    text_signature = "(records, compression=0, producer_id=-1, producer_epoch=-1, base_sequence=-1)"
)]
pub fn encode_batch<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = new_records)] records: Vec<NewRecordTuple>,
    compression: Int<u8>,
    producer_id: Int<i64>,
    producer_epoch: Int<i16>,
    base_sequence: Int<i32>,
) -> PyResult<Bound<'py, PyBytes>> {
    let number = i64::from(compression.0);
    let compression = Compression::from_codec(compression.0)
        .ok_or_else(|| errors::wrong_number(py, "compression", number, "0 to 4"))?;
    let producer = Producer {
        id: producer_id.0,
        epoch: producer_epoch.0,
        base_sequence: base_sequence.0,
    };
    let write = || {
        let records = records.iter().map(|(timestamp, key, value, headers)| {
            let record = NewRecord {
                timestamp: timestamp.0,
                key: key.as_deref(),
                value: value.as_deref(),
            };
            let headers = headers
                .iter()
                .map(|(name, value)| (&**name, value.as_deref()));
            (record, headers.collect())
        });
        encode_produced_batch(producer, compression, &records.collect::<Vec<_>>())
    };
    let written = py.detach(|| caught(write));
    let written = written.map_err(|panic| errors::bug(py, "encode_batch", &panic))?;
    written
        .map(|bytes| PyBytes::new(py, &bytes))
        .map_err(|error| errors::wire(py, &error))
}

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
