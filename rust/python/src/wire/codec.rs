//! Kafka's bytes as plain dicts and back, in the spelling of Kafka's own JSON (camelCase, topic ids in base64).

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use share_state_core::kafka_code::{CLIENT_CODES, KafkaCode};
use share_state_core::state_batch::StateBatch;
use share_state_wire::WireError;
use share_state_wire::messages;
use share_state_wire::messages::protocol::Direction;
use share_state_wire::messages::protocol::apis::APIS;
use share_state_wire::messages::schema::{
    DeletePartition, InitializePartition, PartitionResult, ReadPartition, ReadPartitionResult,
    SummaryPartition, SummaryPartitionResult, TopicPartitions, WritePartition,
};
use share_state_wire::messages::{
    AnyRequest, AnyResponse, Api, Delete, Initialize, Read, ReadSummary, Request, Response, Write,
};

use crate::args::{Int, bytes, flag, one};
use crate::errors;
use crate::locked::caught;
use crate::wire::plain::{Plain, field, only_fields, plain_struct};
use crate::wire::table_codec;

plain_struct!(StateBatch {
    first_offset,
    last_offset,
    delivery_state,
    delivery_count,
});
plain_struct!(TopicPartitions<P> { topic_id, partitions, });
plain_struct!(InitializePartition {
    partition,
    state_epoch,
    start_offset,
});
plain_struct!(ReadPartition {
    partition,
    leader_epoch,
});
plain_struct!(ReadPartitionResult {
    partition,
    error_code,
    error_message,
    state_epoch,
    start_offset,
    state_batches,
});
plain_struct!(WritePartition {
    partition,
    state_epoch,
    leader_epoch,
    start_offset,
    delivery_complete_count since 1 or -1,
    state_batches,
});
plain_struct!(DeletePartition { partition });
plain_struct!(PartitionResult {
    partition,
    error_code,
    error_message,
});
plain_struct!(SummaryPartition {
    partition,
    leader_epoch,
});
plain_struct!(SummaryPartitionResult {
    partition,
    error_code,
    error_message,
    state_epoch,
    leader_epoch,
    start_offset,
    delivery_complete_count since 1 or -1,
});

fn request_out<'py, A: Api<Asked: Plain>>(
    py: Python<'py>,
    request: &Request<A>,
    version: i16,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("groupId", request.group_id.out(py, version)?)?;
    dict.set_item("topics", request.topics.out(py, version)?)?;
    Ok(dict)
}

fn request_in<A: Api<Asked: Plain>>(dict: &Bound<'_, PyDict>) -> PyResult<Request<A>> {
    only_fields(dict, &["group_id", "topics"])?;
    Ok(Request {
        group_id: field(dict, "group_id", None)?,
        topics: field(dict, "topics", None)?,
    })
}

fn response_out<'py, A: Api<Answered: Plain>>(
    py: Python<'py>,
    response: &Response<A>,
    version: i16,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("results", response.results.out(py, version)?)?;
    Ok(dict)
}

fn response_in<A: Api<Answered: Plain>>(dict: &Bound<'_, PyDict>) -> PyResult<Response<A>> {
    only_fields(dict, &["results"])?;
    Ok(Response {
        results: field(dict, "results", None)?,
    })
}

/// The five RPCs that have types of their own: key, Kafka's name, newest version.
const TYPED: [(i16, &str, i16); 5] = [
    (
        Initialize::KEY,
        "InitializeShareGroupState",
        Initialize::MAX_VERSION,
    ),
    (Read::KEY, "ReadShareGroupState", Read::MAX_VERSION),
    (Write::KEY, "WriteShareGroupState", Write::MAX_VERSION),
    (Delete::KEY, "DeleteShareGroupState", Delete::MAX_VERSION),
    (
        ReadSummary::KEY,
        "ReadShareGroupStateSummary",
        ReadSummary::MAX_VERSION,
    ),
];

const fn direction(response: bool) -> Direction {
    if response {
        Direction::Response
    } else {
        Direction::Request
    }
}

/// The requests that `decode_message` and `encode_message` know: by key, Kafka's name for it, the oldest and the newest version,
/// and the first that is flexible (KIP-482).
///
/// A flexible request has request header version 2 and response header version 1, any other 1 and 0. ApiVersions (18) is the
/// exception: its answer has response header version 0 always. What is never flexible has 32767 there.
///
/// Returns:
///     `{api_key: (name, oldest, newest, flexible_from)}`.
#[pyfunction]
pub fn api_table() -> BTreeMap<i16, (&'static str, i16, i16, i16)> {
    let tables = APIS.iter().map(|api| {
        let row = (
            api.name,
            *api.versions.start(),
            *api.versions.end(),
            api.flexible_since,
        );
        (api.key, row)
    });
    tables
        .chain(TYPED.map(|(key, name, newest)| (key, (name, 0, newest, 0))))
        .collect()
}

/// Kafka's error codes by name: those of share groups, and those that a client of a cluster meets besides.
pub fn error_codes() -> BTreeMap<&'static str, i16> {
    let of_share_groups = KafkaCode::ALL.iter().map(|code| (code.name(), code.code()));
    let of_clients = CLIENT_CODES.iter().map(|(code, name)| (*name, *code));
    of_share_groups.chain(of_clients).collect()
}

/// Read a request, or an answer, without its header (Kafka: `WriteShareGroupStateRequestData` and its like).
///
/// Memory is bounded by the length of `data`, whatever counts it announces.
///
/// Args:
///     api_key: one of `api_table`.
///     version: version of the message.
///     data: the bytes.
///     response: whether it is the answer.
///     trailing: whether bytes after the message are passed over, as Kafka's own readers do; never for RPC 83 to 87.
///     max_elements: the most elements that its arrays may have altogether; None for as many as fit `data`.
///
/// Returns:
///     A dict in the spelling of Kafka's own JSON: names in camelCase, topic ids in URL-safe base64; records, bytes and arrays of
///     `int8` are `bytes`, null is `None`. A tagged field is there only if the message has it; those that this release does not
///     know are not shown. Elsewhere topic ids are hyphenated. Here they are as in the output of Kafka's tools, so that both can
///     be compared; whatever takes a topic id takes this form too.
///
/// Raises:
///     WireDecodeError: the bytes are not such a message; `field`, `position` and `kind` say where and why.
///     UnsupportedVersionError: there is no such message or version.
#[pyfunction]
#[pyo3(signature = (api_key, version, data, *, response = false, trailing = false, max_elements = None))]
pub fn decode_message<'py>(
    py: Python<'py>,
    api_key: Int<i16>,
    version: Int<i16>,
    #[pyo3(from_py_with = bytes)] data: &[u8],
    #[pyo3(from_py_with = flag)] response: bool,
    #[pyo3(from_py_with = flag)] trailing: bool,
    max_elements: Option<Int<usize>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (api_key, version) = (api_key.0, version.0);
    let elements = max_elements.map_or(usize::MAX, |most| most.0);
    if let Some(table) = table_codec::table(py, api_key) {
        return table.decode(py, direction(response), version, data, elements, trailing);
    }
    let refuse = |error: WireError| errors::wire(py, &error);
    let bug = |panic: String| errors::bug(py, "decode_message", &panic);
    if response {
        let message =
            caught(|| AnyResponse::decode_within(api_key, version, data, elements)).map_err(bug)?;
        match message.map_err(refuse)? {
            AnyResponse::Initialize(m) => response_out(py, &m, version),
            AnyResponse::Read(m) => response_out(py, &m, version),
            AnyResponse::Write(m) => response_out(py, &m, version),
            AnyResponse::Delete(m) => response_out(py, &m, version),
            AnyResponse::ReadSummary(m) => response_out(py, &m, version),
        }
    } else {
        let message =
            caught(|| AnyRequest::decode_within(api_key, version, data, elements)).map_err(bug)?;
        match message.map_err(refuse)? {
            AnyRequest::Initialize(m) => request_out(py, &m, version),
            AnyRequest::Read(m) => request_out(py, &m, version),
            AnyRequest::Write(m) => request_out(py, &m, version),
            AnyRequest::Delete(m) => request_out(py, &m, version),
            AnyRequest::ReadSummary(m) => request_out(py, &m, version),
        }
    }
}

/// Position after the tagged fields of a header. They are skipped: none of Kafka's matters here.
///
/// Args:
///     frame: a request or an answer with its header.
///     position: where its tagged fields begin.
///
/// Raises:
///     WireDecodeError: they end too late, or there are more than 64.
#[pyfunction]
pub fn header_end(
    py: Python<'_>,
    #[pyo3(from_py_with = bytes)] frame: &[u8],
    position: Int<usize>,
) -> PyResult<usize> {
    messages::header_end(frame, position.0).map_err(|error| errors::wire(py, &error))
}

/// The bytes of a request, or an answer, without its header.
///
/// Args:
///     api_key: as for `decode_message`.
///     version: version of the message. A field that it does not have is left out.
///     message: as `decode_message` gives it. Instead of `bytes` it may hold a `bytearray` or a `memoryview`, for an array of
///         `int8` also a list. What has a default may be left out, as `throttleTimeMs` (0), `errorMessage` (`None`) or
///         `currentLeader` (-1 and -1); tagged fields are written when given.
///     response: whether it is the answer.
///
/// Raises:
///     ValueError: a field is missing, or does not fit, or no version of the message has it; the text names it.
///     WireDecodeError: a text or an array is longer than the format can say.
///     UnsupportedVersionError: there is no such message or version.
#[pyfunction]
#[pyo3(signature = (api_key, version, message, *, response = false))]
pub fn encode_message<'py>(
    py: Python<'py>,
    api_key: Int<i16>,
    version: Int<i16>,
    #[pyo3(from_py_with = one)] message: &Bound<'py, PyDict>,
    #[pyo3(from_py_with = flag)] response: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let (api_key, version) = (api_key.0, version.0);
    if let Some(table) = table_codec::table(py, api_key) {
        return table.encode(direction(response), version, message);
    }
    let bytes = if response {
        let message = match api_key {
            Initialize::KEY => AnyResponse::Initialize(response_in(message)?),
            Read::KEY => AnyResponse::Read(response_in(message)?),
            Write::KEY => AnyResponse::Write(response_in(message)?),
            Delete::KEY => AnyResponse::Delete(response_in(message)?),
            ReadSummary::KEY => AnyResponse::ReadSummary(response_in(message)?),
            _ => return Err(errors::unknown_api(py, api_key)),
        };
        message.encode(version)
    } else {
        let message = match api_key {
            Initialize::KEY => AnyRequest::Initialize(request_in(message)?),
            Read::KEY => AnyRequest::Read(request_in(message)?),
            Write::KEY => AnyRequest::Write(request_in(message)?),
            Delete::KEY => AnyRequest::Delete(request_in(message)?),
            ReadSummary::KEY => AnyRequest::ReadSummary(request_in(message)?),
            _ => return Err(errors::unknown_api(py, api_key)),
        };
        message.encode(version)
    };
    let bytes = bytes.map_err(|error| errors::wire(py, &error))?;
    Ok(PyBytes::new(py, &bytes))
}
