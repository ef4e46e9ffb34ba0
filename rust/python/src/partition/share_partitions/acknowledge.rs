//! Acknowledgements of members for records of many share partitions.

use numpy::PyArray1;
use pyo3::prelude::*;
use share_state_core::share_partition::AcknowledgeBatch;

use super::requests::{self, Requests};
use super::{POISONED, SharePartitions};
use crate::args::LockMs;
use crate::columns::{Column, column_out};

/// Stands for "nothing to write" in a column of tokens.
const NO_TOKEN: i64 = -1;

type CodesAndTokens<'py> = (Bound<'py, PyArray1<i16>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl SharePartitions {
    /// Acknowledge ranges of many share partitions (Kafka: `SharePartition.acknowledge`, a call for each request).
    ///
    /// The ranges of a request are acknowledged all or none.
    ///
    /// Args:
    ///     partition: int32 of shape (m,): share partition of each request.
    ///     member: int32 of shape (m,): member of each request.
    ///     first_offset: int64 of shape (n,).
    ///     last_offset: int64 of shape (n,), inclusive.
    ///     acknowledge_type: int8 of shape (n,): an `AcknowledgeType` for each range.
    ///     now_ms: now, on the monotonic clock.
    ///     request_starts: int64 of shape (m + 1,): the ranges of request i are those from `request_starts[i]` to before
    ///         `request_starts[i + 1]`. Without it each request has one range, and m is n.
    ///
    /// Returns:
    ///     Two arrays of shape (m,): int16, 0 or Kafka's code for a request that was refused; int64, the token of the write to
    ///     wait for, -1 when there is none. Where the share partition has a persister, there is nothing to wait for, and the code
    ///     is also that of its answer; the requests of one call share the wait for the disk of a store.
    ///
    /// Raises:
    ///     InvalidRequestError: columns do not fit together, or a number names nothing; `field` names the column, `value` and
    ///         `index` the row. Nothing has changed.
    ///     TypeError: a column is not of its dtype and of one dimension.
    #[pyo3(signature = (partition, member, first_offset, last_offset, acknowledge_type, *, now_ms, request_starts = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn acknowledge<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        member: &Bound<'py, PyAny>,
        first_offset: &Bound<'py, PyAny>,
        last_offset: &Bound<'py, PyAny>,
        acknowledge_type: &Bound<'py, PyAny>,
        now_ms: LockMs,
        request_starts: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<CodesAndTokens<'py>> {
        let partition = Column::of("partition", partition)?;
        let member = Column::of("member", member)?;
        let first = Column::of("first_offset", first_offset)?;
        let last = Column::of("last_offset", last_offset)?;
        let types = Column::<i8>::of("acknowledge_type", acknowledge_type)?;
        let starts = request_starts
            .map(|starts| Column::of("request_starts", starts))
            .transpose()?;
        let asked = Requests {
            partition: partition.get(),
            member: member.get(),
            first: first.get(),
            last: last.get(),
            starts: starts.as_ref().map(Column::get),
        };
        asked.check(py, self)?;
        let types = types.get();
        requests::same_length(py, "acknowledge_type", types.len(), asked.first.len())?;

        let (codes, tokens) = py.detach(|| {
            let members = self.members();
            let mut answers = (vec![0; asked.len()], vec![NO_TOKEN; asked.len()]);
            let refused = self.each_request(
                &asked.partition,
                &mut answers,
                |(codes, tokens), request, share_partition, writes| {
                    let member = members.name(asked.member[request]).unwrap_or_default();
                    let batch = |range: usize| AcknowledgeBatch {
                        first: asked.first[range],
                        last: asked.last[range],
                        types: &types[range..=range],
                    };
                    let ranges = asked.ranges(request);
                    let done = if ranges.len() == 1 {
                        share_partition.acknowledge(
                            member,
                            &[batch(ranges.start)],
                            now_ms.0,
                            writes,
                        )
                    } else {
                        let batches: Vec<AcknowledgeBatch<'_>> = ranges.map(batch).collect();
                        share_partition.acknowledge(member, &batches, now_ms.0, writes)
                    };
                    match done {
                        Ok(token) => {
                            tokens[request] = token.map_or(NO_TOKEN, |token| token.0 as i64);
                        }
                        Err(error) => codes[request] = error.kafka_code().code(),
                    }
                },
                |(codes, tokens), request| {
                    codes[request] = POISONED;
                    tokens[request] = NO_TOKEN;
                },
            );
            let (mut codes, mut tokens) = answers;
            for (request, code) in refused {
                codes[request] = code.code();
                tokens[request] = NO_TOKEN;
            }
            (codes, tokens)
        });
        Ok((column_out(py, codes), column_out(py, tokens)))
    }
}
