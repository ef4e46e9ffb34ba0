//! The writes of many share partitions, encoded, and their answers.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{WriteState, WriteToken};
use share_state_core::share_partition::PendingWrite;
use share_state_wire::messages::{Api, Write, encode_write_request};

use super::{POISONED, SharePartitions, requests};
use crate::args::LockMs;
use crate::columns::Column;
use crate::convert::kafka_code;
use crate::errors;
use crate::partition::engine::each;

/// Topics of an empty request, with which a group is tried.
const NO_TOPICS: &[(TopicId, &[(i32, &WriteState)])] = &[];

const VERSION: i16 = <Write as Api>::MAX_VERSION;

/// Writes to make, as bodies of WriteShareGroupState requests (RPC 85), one after the other.
///
/// Row i is one write of one share partition. The rows of a request follow one another, and the requests of one group have to
/// reach its share coordinator in this order.
#[pyclass(frozen, get_all, module = "share_state")]
pub struct PendingWrites {
    /// int32 of shape (n,): share partition of each write.
    partition: Py<PyArray1<i32>>,
    /// int64 of shape (n,): its token, for `handle_write_results`.
    token: Py<PyArray1<i64>>,
    /// The requests, without headers.
    data: Py<PyBytes>,
    /// int64 of shape (requests + 1,): request i is `data[data_starts[i]:data_starts[i + 1]]`.
    data_starts: Py<PyArray1<i64>>,
    /// int64 of shape (requests + 1,): request i has the rows from `row_starts[i]` to before `row_starts[i + 1]`.
    row_starts: Py<PyArray1<i64>>,
    /// The group of each request.
    groups: Vec<String>,
}

#[pymethods]
impl PendingWrites {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.token.bind(py).len()
    }
}

/// A write that was taken from its share partition.
struct Taken {
    /// Number of writes of the same share partition that were taken before it: a request has one of each at most.
    round: u32,
    index: u32,
    key: SharePartitionKey,
    write: PendingWrite,
}

#[derive(Default)]
struct Encoded {
    partition: Vec<i32>,
    token: Vec<i64>,
    data: Vec<u8>,
    data_starts: Vec<i64>,
    row_starts: Vec<i64>,
    groups: Vec<String>,
}

#[pymethods]
impl SharePartitions {
    /// Take all writes to make of share partitions without a persister, encoded (RPC 85; Kafka: `PersisterStateManager`, which folds writes into requests alike).
    ///
    /// Each write must be answered by `handle_write_results`: until then its records belong to nobody.
    ///
    /// Returns:
    ///     A `PendingWrites`: a request for each group, more where a share partition has more than one write. They are of version
    ///     1, which has delivery complete counts (KIP-1226).
    fn poll_writes(&self, py: Python<'_>) -> PyResult<PendingWrites> {
        let encoded = py
            .detach(|| {
                let mut taken = self.take_writes();
                taken.sort_unstable_by(|a, b| (a.round, &a.key).cmp(&(b.round, &b.key)));
                encode(&taken)
            })
            .map_err(|e| errors::wire(py, &e))?;
        Ok(PendingWrites {
            partition: encoded.partition.into_pyarray(py).unbind(),
            token: encoded.token.into_pyarray(py).unbind(),
            data: PyBytes::new(py, &encoded.data).unbind(),
            data_starts: encoded.data_starts.into_pyarray(py).unbind(),
            row_starts: encoded.row_starts.into_pyarray(py).unbind(),
            groups: encoded.groups,
        })
    }

    /// Tell the persister's answers (Kafka: `SharePartition.writeShareGroupState`, its completion).
    ///
    /// Args:
    ///     partition: int32 of shape (n,): share partition of each write.
    ///     token: int64 of shape (n,).
    ///     error_code: Kafka's code in the answer to each write, int16 of shape (n,): 0 for success.
    ///     now_ms: now, on the monotonic clock.
    ///
    /// Returns:
    ///     int16 of shape (n,): Kafka's code for the member that waits; 42 where no such write is under way.
    ///
    /// Raises:
    ///     InvalidRequestError: columns do not fit together, or a number names no share partition. Nothing has changed.
    ///     TypeError: a column is not of its dtype and of one dimension.
    #[pyo3(signature = (partition, token, error_code, *, now_ms))]
    fn handle_write_results<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        token: &Bound<'py, PyAny>,
        error_code: &Bound<'py, PyAny>,
        now_ms: LockMs,
    ) -> PyResult<Bound<'py, PyArray1<i16>>> {
        let partition = Column::of("partition", partition)?;
        let partition = partition.get();
        let token = Column::<i64>::of("token", token)?;
        let token = token.get();
        let error_code = Column::<i16>::of("error_code", error_code)?;
        let error_code = error_code.get();
        requests::check_partitions(py, &partition, self)?;
        requests::same_length(py, "token", token.len(), partition.len())?;
        requests::same_length(py, "error_code", error_code.len(), partition.len())?;
        let answers = py.detach(|| {
            let mut answers = vec![KafkaCode::InvalidRequest.code(); partition.len()];
            self.each_request(
                &partition,
                &mut answers,
                |answers, row, share_partition, _| {
                    let (token, code) = (WriteToken(token[row] as u64), kafka_code(error_code[row]));
                    let answer = each!(&mut share_partition.engine, sp => sp.handle_write_result(token, code, now_ms.0));
                    if let Ok(answer) = answer {
                        answers[row] = answer.member_code.code();
                    }
                },
                |answers, row| answers[row] = POISONED,
            );
            answers
        });
        Ok(answers.into_pyarray(py))
    }
}

impl SharePartitions {
    /// All writes to make.
    fn take_writes(&self) -> Vec<Taken> {
        let homes = self.homes();
        let mut taken = Vec::new();
        for index in self.agenda.take_writes() {
            let Some(home) = homes.get(index as usize) else {
                continue;
            };
            // One that is unusable after a bug has no writes any more.
            let _ = home.lock().run(|share_partition| {
                share_partition.unlist();
                each!(&mut share_partition.engine, sp => for round in 0.. {
                    let Some(write) = sp.poll_write() else { break };
                    let key = sp.key().clone();
                    taken.push(Taken { round, index, key, write });
                });
            });
        }
        taken
    }
}

/// Refuses a group whose writes could not be encoded: once taken they would be lost.
pub fn check_group(py: Python<'_>, group: &Arc<str>) -> PyResult<()> {
    if encode_write_request(group, NO_TOPICS, VERSION).is_ok() {
        return Ok(());
    }
    let message = format!(
        "group has {} bytes, more than a request can carry",
        group.len()
    );
    Err(errors::Raise::new(py, "InvalidRequestError", message)
        .fact("field", "group")
        .fact("value", &**group)
        .done())
}

/// The requests for what was taken, sorted by round and key.
fn encode(taken: &[Taken]) -> Result<Encoded, share_state_wire::WireError> {
    let mut out = Encoded {
        data_starts: vec![0],
        row_starts: vec![0],
        ..Encoded::default()
    };
    for request in taken.chunk_by(|a, b| (a.round, &a.key.group) == (b.round, &b.key.group)) {
        let writes: Vec<(i32, &WriteState)> = request
            .iter()
            .map(|t| (t.key.partition, &t.write.state))
            .collect();
        let mut rest = &writes[..];
        let mut topics: Vec<(TopicId, &[(i32, &WriteState)])> = Vec::new();
        for topic in request.chunk_by(|a, b| a.key.topic_id == b.key.topic_id) {
            let (partitions, beyond) = rest.split_at(topic.len());
            topics.push((topic[0].key.topic_id, partitions));
            rest = beyond;
        }
        let group: &str = &request[0].key.group;
        out.data
            .extend_from_slice(&encode_write_request(group, &topics, VERSION)?);
        out.groups.push(group.to_owned());
        for t in request {
            out.partition.push(t.index as i32);
            out.token.push(t.write.token.0 as i64);
        }
        out.data_starts.push(out.data.len() as i64);
        out.row_starts.push(out.token.len() as i64);
    }
    Ok(out)
}
