//! Records of many share partitions on their way to dead-letter queues (KIP-1191).

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::{DeadLetter, DeadLetterCause, DeadLetterToken};

use super::{POISONED, SharePartitions, requests};
use crate::args::LockMs;
use crate::columns::{Column, column_out};
use crate::partition::engine::each;

/// Records for dead-letter queues; made by `SharePartitions.poll_dead_letters`.
#[pyclass(frozen, get_all, module = "share_state")]
pub struct DeadLetters {
    /// int32 of shape (n,): share partition of each letter.
    partition: Py<PyArray1<i32>>,
    /// int64 of shape (n,): names the letter in `SharePartitions.handle_dead_letters_done`, together with its share partition.
    token: Py<PyArray1<i64>>,
    /// int64 of shape (n,).
    first_offset: Py<PyArray1<i64>>,
    /// int64 of shape (n,), inclusive.
    last_offset: Py<PyArray1<i64>>,
    /// int16 of shape (n,): how often the records were delivered.
    delivery_count: Py<PyArray1<i16>>,
    /// int8 of shape (n,): 0 for records that a member has rejected, 1 for those that were delivered as often as allowed.
    cause: Py<PyArray1<i8>>,
}

#[pymethods]
impl DeadLetters {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.token.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("DeadLetters({} letters)", self.__len__(py)?))
    }
}

#[pymethods]
impl SharePartitions {
    /// Take all records for dead-letter queues (KIP-1191). Share partitions without such are not touched.
    ///
    /// They are ARCHIVING, as persisted, until `handle_dead_letters_done` is told.
    fn poll_dead_letters(&self, py: Python<'_>) -> DeadLetters {
        let letters = py.detach(|| self.take_dead_letters());
        let of = |number: fn(&DeadLetter) -> i64| -> Vec<i64> {
            letters.iter().map(|(_, letter)| number(letter)).collect()
        };
        let partition: Vec<i32> = letters.iter().map(|(index, _)| *index as i32).collect();
        let count: Vec<i16> = letters.iter().map(|(_, l)| l.delivery_count).collect();
        let cause: Vec<i8> = letters.iter().map(|(_, l)| number_of(l.cause)).collect();
        DeadLetters {
            partition: column_out(py, partition).unbind(),
            token: column_out(py, of(|letter| letter.token.0 as i64)).unbind(),
            first_offset: column_out(py, of(|letter| letter.range.first)).unbind(),
            last_offset: column_out(py, of(|letter| letter.range.last)).unbind(),
            delivery_count: column_out(py, count).unbind(),
            cause: column_out(py, cause).unbind(),
        }
    }

    /// Tell that records have reached their dead-letter queues, or were given up: they become ARCHIVED, by writes.
    ///
    /// Args:
    ///     partition: int32 of shape (n,): share partition of each letter.
    ///     token: int64 of shape (n,).
    ///     now_ms: now, on the monotonic clock.
    ///
    /// Returns:
    ///     int16 of shape (n,): 0; 42 where no such letter is under way, or the share partition was removed.
    ///
    /// Raises:
    ///     InvalidRequestError: columns do not fit together, or a number names no share partition. Nothing has changed.
    ///     TypeError: a column is not of its dtype and of one dimension.
    #[pyo3(signature = (partition, token, *, now_ms))]
    fn handle_dead_letters_done<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        token: &Bound<'py, PyAny>,
        now_ms: LockMs,
    ) -> PyResult<Bound<'py, PyArray1<i16>>> {
        let partition = Column::of("partition", partition)?;
        let partition = partition.get();
        let token = Column::<i64>::of("token", token)?;
        let token = token.get();
        let removed = requests::removed_rows(py, &partition, self)?;
        requests::same_length(py, "token", token.len(), partition.len())?;
        let codes = py.detach(|| {
            let mut codes = vec![KafkaCode::InvalidRequest.code(); partition.len()];
            self.each_request(
                &partition,
                &mut codes,
                |codes, row, share_partition, _| {
                    let token = DeadLetterToken(token[row] as u64);
                    let done = each!(&mut share_partition.engine, sp => sp.handle_dead_letter_done(token, now_ms.0));
                    if done.is_ok() {
                        codes[row] = KafkaCode::None.code();
                    }
                },
                |codes, row| codes[row] = POISONED,
                |_, _, _| {},
            );
            for row in removed {
                codes[row] = KafkaCode::InvalidRequest.code();
            }
            codes
        });
        Ok(codes.into_pyarray(py))
    }
}

impl SharePartitions {
    fn take_dead_letters(&self) -> Vec<(u32, DeadLetter)> {
        let homes = self.homes();
        let mut letters = Vec::new();
        for index in self.agenda.take_dead_letters() {
            let Some(home) = homes.get(index as usize) else {
                continue;
            };
            // One that was removed or is unusable after a bug has none any more.
            let _ = home.state.lock().run(|share_partition| {
                share_partition.unlist_dead_letters();
                while let Some(letter) =
                    each!(&mut share_partition.engine, sp => sp.poll_dead_letter())
                {
                    letters.push((index, letter));
                }
            });
        }
        letters
    }
}

const fn number_of(cause: DeadLetterCause) -> i8 {
    match cause {
        DeadLetterCause::ClientReject => 0,
        DeadLetterCause::DeliveryCountExceeded => 1,
    }
}
