//! The writes of many share partitions, encoded, and their answers.

use std::collections::HashMap;
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
use crate::args::{Int, LockMs};
use crate::columns::Column;
use crate::convert::kafka_code;
use crate::errors;
use crate::partition::engine::each;

/// Topics of an empty request, with which a version and a group are tried.
const NO_TOPICS: &[(TopicId, &[(i32, &WriteState)])] = &[];

const NEWEST: i16 = <Write as Api>::MAX_VERSION;

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

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "PendingWrites({} writes in {} requests)",
            self.__len__(py)?,
            self.groups.len()
        ))
    }
}

/// A write that was taken from its share partition.
struct Taken {
    /// Number of writes of the same share partition that were taken before it: a request has one of each at most.
    round: u32,
    index: u32,
    /// Number of the group, in order of appearance.
    group: u32,
    topic_id: TopicId,
    partition: i32,
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
    /// Args:
    ///     version: version of the request: 0, or 1 with delivery complete counts (KIP-1226).
    ///
    /// Returns:
    ///     A `PendingWrites`: a request for each group, more where a share partition has more than one write.
    ///
    /// Raises:
    ///     UnsupportedVersionError: the version is not known. Nothing was taken.
    #[pyo3(signature = (version = Int(1)), text_signature = "($self, version=1)")]
    fn poll_writes(&self, py: Python<'_>, version: Int<i16>) -> PyResult<PendingWrites> {
        // The version is tried on nothing, so that no write is taken and then lost.
        encode_write_request("", NO_TOPICS, version.0).map_err(|e| errors::wire(py, &e))?;
        let encoded = py
            .detach(|| {
                let (mut taken, groups) = self.take_writes();
                taken.sort_unstable_by_key(|t| (t.round, t.group, t.topic_id, t.partition));
                encode(&taken, &groups, version.0)
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
    ///     error_code: Kafka's code in the answer to each write, int16 of shape (n,), or an int for all: 0 for success.
    ///     now_ms: now, on the monotonic clock.
    ///
    /// Returns:
    ///     int16 of shape (n,): Kafka's code for the member that waits; 42 where no such write is under way, or the share
    ///     partition was removed.
    ///
    /// Raises:
    ///     InvalidRequestError: columns do not fit together, or a number names no share partition. Nothing has changed.
    ///     TypeError: a column is not of its dtype and of one dimension.
    #[pyo3(signature = (partition, token, error_code = None, *, now_ms),
        text_signature = "($self, partition, token, error_code=0, *, now_ms)")]
    fn handle_write_results<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        token: &Bound<'py, PyAny>,
        error_code: Option<&Bound<'py, PyAny>>,
        now_ms: LockMs,
    ) -> PyResult<Bound<'py, PyArray1<i16>>> {
        let partition = Column::of("partition", partition)?;
        let partition = partition.get();
        let token = Column::<i64>::of("token", token)?;
        let token = token.get();
        let removed = requests::removed_rows(py, &partition, self)?;
        requests::same_length(py, "token", token.len(), partition.len())?;
        let one_for_all = match error_code {
            None => Some(0),
            Some(code) => code.extract::<Int<i16>>().ok().map(|code| code.0),
        };
        let each = match (one_for_all, error_code) {
            (None, Some(codes)) => Some(Column::<i16>::of("error_code", codes)?),
            _ => None,
        };
        let each = each.as_ref().map(Column::get);
        if let Some(each) = &each {
            requests::same_length(py, "error_code", each.len(), partition.len())?;
        }
        let answers = py.detach(|| {
            let mut answers = vec![KafkaCode::InvalidRequest.code(); partition.len()];
            self.each_request(
                &partition,
                &mut answers,
                |answers, row, share_partition, _| {
                    let code = each
                        .as_ref()
                        .map_or_else(|| one_for_all.unwrap_or_default(), |each| each[row]);
                    let token = WriteToken(token[row] as u64);
                    let answer = each!(&mut share_partition.engine, sp => sp.handle_write_result(token, kafka_code(code), now_ms.0));
                    if let Ok(answer) = answer {
                        answers[row] = answer.member_code.code();
                    }
                },
                |answers, row| answers[row] = POISONED,
                |_, _, _| {},
            );
            for row in removed {
                answers[row] = KafkaCode::InvalidRequest.code();
            }
            answers
        });
        Ok(answers.into_pyarray(py))
    }
}

impl SharePartitions {
    /// All writes to make, and the groups that they name by number.
    fn take_writes(&self) -> (Vec<Taken>, Vec<Arc<str>>) {
        let homes = self.homes();
        let mut taken = Vec::new();
        let mut groups: Vec<Arc<str>> = Vec::new();
        let mut numbers: HashMap<Arc<str>, u32> = HashMap::new();
        for index in self.agenda.take_writes() {
            let Some(home) = homes.get(index as usize) else {
                continue;
            };
            let Some(object) = &home.object else {
                continue;
            };
            let SharePartitionKey {
                group,
                topic_id,
                partition,
            } = object.get().key_of();
            let group = *numbers.entry(Arc::clone(group)).or_insert_with(|| {
                groups.push(Arc::clone(group));
                groups.len() as u32 - 1
            });
            // One that is unusable after a bug has no writes any more.
            let _ = home.state.lock().run(|share_partition| {
                share_partition.unlist();
                let mut round = 0;
                while let Some(write) = each!(&mut share_partition.engine, sp => sp.poll_write()) {
                    taken.push(Taken {
                        round,
                        index,
                        group,
                        topic_id: *topic_id,
                        partition: *partition,
                        write,
                    });
                    round += 1;
                }
            });
        }
        (taken, groups)
    }
}

/// Refuses a group whose writes could not be encoded: once taken they would be lost.
pub fn check_group(py: Python<'_>, group: &Arc<str>) -> PyResult<()> {
    if encode_write_request(group, NO_TOPICS, NEWEST).is_ok() {
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

/// The requests for what was taken, sorted by round, group, topic and partition.
fn encode(
    taken: &[Taken],
    groups: &[Arc<str>],
    version: i16,
) -> Result<Encoded, share_state_wire::WireError> {
    let mut out = Encoded {
        data_starts: vec![0],
        row_starts: vec![0],
        ..Encoded::default()
    };
    for request in taken.chunk_by(|a, b| (a.round, a.group) == (b.round, b.group)) {
        let writes: Vec<(i32, &WriteState)> = request
            .iter()
            .map(|t| (t.partition, &t.write.state))
            .collect();
        let mut rest = &writes[..];
        let mut topics: Vec<(TopicId, &[(i32, &WriteState)])> = Vec::new();
        for topic in request.chunk_by(|a, b| a.topic_id == b.topic_id) {
            let (partitions, beyond) = rest.split_at(topic.len());
            topics.push((topic[0].topic_id, partitions));
            rest = beyond;
        }
        let group: &str = &groups[request[0].group as usize];
        out.data
            .extend_from_slice(&encode_write_request(group, &topics, version)?);
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
