//! Records of the state topic as plain dicts and back, in the form in which Kafka's own dump tool prints them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use share_state_analysis::state::compacted;
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::SharePartitionKey;
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::state_batch::StateBatches;
use share_state_wire::partitioner;
use share_state_wire::state_record::{self, Decoded};

use crate::args::{Int, Topic, bytes, bytes_or_none, flag, one, text};
use crate::convert;
use crate::errors;
use crate::locked::caught;
use crate::wire::plain::{Plain, as_dict, field};

/// Kafka's tools name record types and value versions by text.
const SNAPSHOT: &str = "0";
const UPDATE: &str = "1";
const VERSION: &str = "0";

fn versioned<'py>(
    py: Python<'py>,
    name: &str,
    number: &str,
    data: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item(name, number)?;
    dict.set_item("data", data)?;
    Ok(dict)
}

fn snapshot_out<'py>(py: Python<'py>, s: &ShareSnapshot) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("snapshotEpoch", s.snapshot_epoch)?;
    dict.set_item("stateEpoch", s.state_epoch)?;
    dict.set_item("leaderEpoch", s.leader_epoch)?;
    dict.set_item("startOffset", s.start_offset)?;
    if s.delivery_complete_count != -1 {
        dict.set_item("deliveryCompleteCount", s.delivery_complete_count)?;
    }
    dict.set_item("createTimestamp", s.create_timestamp)?;
    dict.set_item("writeTimestamp", s.write_timestamp)?;
    dict.set_item("stateBatches", s.state_batches.out(py, 0)?)?;
    Ok(dict)
}

fn update_out<'py>(py: Python<'py>, u: &ShareUpdate) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("snapshotEpoch", u.snapshot_epoch)?;
    dict.set_item("leaderEpoch", u.leader_epoch)?;
    dict.set_item("startOffset", u.start_offset)?;
    if u.delivery_complete_count != -1 {
        dict.set_item("deliveryCompleteCount", u.delivery_complete_count)?;
    }
    dict.set_item("stateBatches", u.state_batches.out(py, 0)?)?;
    Ok(dict)
}

/// Read a record of `__share_group_state` (Kafka: `ShareCoordinatorRecordSerde`).
///
/// Args:
///     key: key of the record.
///     value: value of the record; `None` for a tombstone.
///
/// Returns:
///     A dict of the form in which Kafka's own dump tool prints it: `{"key": {"type": "0" or "1", "data": {…}}, "value":
///     {"version": "0", "data": {…}} or None}`, names in camelCase, topic ids in URL-safe base64; type 0 is a snapshot, 1 an
///     update. Tagged fields that this release does not know are not shown. Elsewhere topic ids are hyphenated; whatever takes
///     a topic id takes this form too.
///
/// Raises:
///     WireDecodeError: the bytes are not such a record; `position` and `kind` say where and why.
///     UnsupportedVersionError: the type of the key, or the version of the value, is not known.
#[pyfunction]
#[pyo3(signature = (key, value))]
pub fn decode_record<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = bytes)] key: &[u8],
    #[pyo3(from_py_with = bytes_or_none)] value: Option<&[u8]>,
) -> PyResult<Bound<'py, PyDict>> {
    let decoded = caught(|| state_record::decode(key, value))
        .map_err(|panic| errors::bug(py, "decode_record", &panic))?;
    let record = match decoded.map_err(|e| errors::wire(py, &e))? {
        Decoded::Record(record) => record,
        Decoded::UnknownType(record_type) => {
            return Err(errors::unknown_record_type(py, record_type));
        }
    };
    let key = PyDict::new(py);
    key.set_item("groupId", &*record.key.group)?;
    key.set_item("topicId", record.key.topic_id.to_base64())?;
    key.set_item("partition", record.key.partition)?;
    let (kind, value) = match &record.value {
        ShareValue::Snapshot(snapshot) => (SNAPSHOT, Some(snapshot_out(py, snapshot)?)),
        ShareValue::Update(update) => (UPDATE, Some(update_out(py, update)?)),
        ShareValue::Tombstone => (SNAPSHOT, None),
    };
    let dict = PyDict::new(py);
    dict.set_item("key", versioned(py, "type", kind, &key)?)?;
    let value = value
        .map(|value| versioned(py, "version", VERSION, &value))
        .transpose()?;
    dict.set_item("value", value)?;
    Ok(dict)
}

/// The bytes of a record of `__share_group_state`.
///
/// Args:
///     record: as `decode_record` gives it.
///
/// Returns:
///     Key and value; the value of a tombstone is `None`.
///
/// Raises:
///     ValueError: a field is missing, or does not fit; the text names it.
///     WireDecodeError: a text or an array is longer than the format can say.
#[pyfunction]
pub fn encode_record<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = one)] record: &Bound<'py, PyDict>,
) -> PyResult<Encoded<'py>> {
    let key: Part = field(record, "key", None)?;
    let value: Option<Part> = field(record, "value", Some(None))?;
    let is_update = key.number == UPDATE;
    let record = ShareRecord {
        key: key_in(key.data.bind(py))?,
        value: match value {
            None => ShareValue::Tombstone,
            Some(value) if is_update => ShareValue::Update(update_in(value.data.bind(py))?),
            Some(value) => ShareValue::Snapshot(snapshot_in(value.data.bind(py))?),
        },
    };
    bytes_out(py, &record)
}

/// Key and value of a record.
type Encoded<'py> = (Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>);

fn bytes_out<'py>(py: Python<'py>, record: &ShareRecord) -> PyResult<Encoded<'py>> {
    let key = state_record::encode_key(record).map_err(|e| errors::wire(py, &e))?;
    let value = state_record::encode_value(&record.value).map_err(|e| errors::wire(py, &e))?;
    Ok((
        PyBytes::new(py, &key),
        value.map(|value| PyBytes::new(py, &value)),
    ))
}

/// The bytes of the one record that folds to a state: a snapshot, or an update where the snapshot is missing, so that the state
/// stays known as incomplete. It tells no times.
///
/// Args:
///     key: a `SharePartitionKey`, or a tuple like it.
///     batches: an iterable of `StateBatch` or tuples like it.
///     snapshot_epoch, state_epoch, leader_epoch, start_offset, delivery_complete_count, incomplete: as in `ShareState`.
///
/// Returns:
///     Key and value.
///
/// Raises:
///     ArgumentError: an argument does not fit; the text names it.
///     WireDecodeError: the group is longer than the format can say.
#[pyfunction]
#[pyo3(signature = (
    key, batches, *, snapshot_epoch, state_epoch, leader_epoch, start_offset, delivery_complete_count, incomplete
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn encode_state<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    batches: &Bound<'py, PyAny>,
    snapshot_epoch: Int<i32>,
    state_epoch: Int<i32>,
    leader_epoch: Int<i32>,
    start_offset: Int<i64>,
    delivery_complete_count: Int<i32>,
    #[pyo3(from_py_with = flag)] incomplete: bool,
) -> PyResult<Encoded<'py>> {
    let state = ShareGroupOffset {
        snapshot_epoch: snapshot_epoch.0,
        state_epoch: state_epoch.0,
        leader_epoch: leader_epoch.0,
        start_offset: start_offset.0,
        delivery_complete_count: delivery_complete_count.0,
        state_batches: StateBatches::from_batches(&convert::state_batches_in(batches)?),
        create_timestamp: 0,
        write_timestamp: 0,
        unknown_tagged_fields: Vec::new(),
        incomplete,
    };
    bytes_out(py, &compacted(convert::key_in(key)?, &state))
}

/// `{"type" or "version": number, "data": {...}}`.
struct Part {
    number: String,
    data: Py<PyDict>,
}

impl Plain for Part {
    fn out<'py>(&self, py: Python<'py>, _version: i16) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.data.bind(py).clone().into_any())
    }

    fn take(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let dict = as_dict(value)?;
        let data: Bound<'_, PyAny> = dict
            .get_item("data")?
            .ok_or_else(|| PyValueError::new_err("data is missing"))?;
        Ok(Self {
            number: field(dict, "type", Some(String::new()))?,
            data: as_dict(&data)?.clone().unbind(),
        })
    }
}

impl Plain for Option<Part> {
    fn out<'py>(&self, py: Python<'py>, version: i16) -> PyResult<Bound<'py, PyAny>> {
        match self {
            None => Ok(py.None().into_bound(py)),
            Some(part) => part.out(py, version),
        }
    }

    fn take(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(None);
        }
        Part::take(value).map(Some)
    }
}

fn key_in(data: &Bound<'_, PyDict>) -> PyResult<SharePartitionKey> {
    let group: String = field(data, "group_id", None)?;
    Ok(SharePartitionKey::new(
        &group,
        field(data, "topic_id", None)?,
        field(data, "partition", None)?,
    ))
}

fn snapshot_in(data: &Bound<'_, PyDict>) -> PyResult<ShareSnapshot> {
    Ok(ShareSnapshot {
        snapshot_epoch: field(data, "snapshot_epoch", None)?,
        state_epoch: field(data, "state_epoch", None)?,
        leader_epoch: field(data, "leader_epoch", None)?,
        start_offset: field(data, "start_offset", None)?,
        delivery_complete_count: field(data, "delivery_complete_count", Some(-1))?,
        create_timestamp: field(data, "create_timestamp", None)?,
        write_timestamp: field(data, "write_timestamp", None)?,
        state_batches: field(data, "state_batches", None)?,
        unknown_tagged_fields: Vec::new(),
    })
}

fn update_in(data: &Bound<'_, PyDict>) -> PyResult<ShareUpdate> {
    Ok(ShareUpdate {
        snapshot_epoch: field(data, "snapshot_epoch", None)?,
        leader_epoch: field(data, "leader_epoch", None)?,
        start_offset: field(data, "start_offset", None)?,
        delivery_complete_count: field(data, "delivery_complete_count", Some(-1))?,
        state_batches: field(data, "state_batches", None)?,
        unknown_tagged_fields: Vec::new(),
    })
}

/// The partition of `__share_group_state` that a share partition belongs to (Kafka: `ShareCoordinatorService.partitionFor`).
///
/// Args:
///     group, topic_id, partition: the share partition.
///     partitions: number of partitions of the state topic, at least 1.
///
/// Raises:
///     ArgumentValueError: `topic_id` is no topic id, or `partitions` is 0.
#[pyfunction]
pub fn state_partition(
    py: Python<'_>,
    #[pyo3(from_py_with = text)] group: &str,
    topic_id: Topic,
    partition: Int<i32>,
    partitions: Int<u32>,
) -> PyResult<u32> {
    if partitions.0 == 0 {
        return Err(errors::wrong_number(py, "partitions", 0, ">= 1"));
    }
    let key = SharePartitionKey::new(group, topic_id.0, partition.0);
    Ok(partitioner::state_partition(&key, partitions.0))
}
