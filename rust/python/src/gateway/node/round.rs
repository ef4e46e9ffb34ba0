//! A round of writes on its way to a store.

use pyo3::prelude::*;
use pyo3::types::PyList;
use share_state_core::kafka_code::KafkaCode;
use share_state_gateway::node::Round;

use crate::args::one;
use crate::errors;
use crate::locked::caught;
use crate::state::store::{StateStore, wall};

/// Writes that are made durable together, from `Node.poll_round`. Its length is the number of writes.
#[pyclass(frozen, module = "share_state.gateway")]
pub struct WriteRound(pub Round);

#[pymethods]
impl WriteRound {
    /// Number of the round, for `Node.settle`.
    #[getter]
    const fn number(&self) -> u64 {
        self.0.number
    }

    const fn __len__(&self) -> usize {
        self.0.writes.len()
    }

    /// Write all of them, with one wait for the disk. The node goes on meanwhile: call it in a thread.
    ///
    /// Args:
    ///     store: takes the writes.
    ///
    /// Returns:
    ///     Kafka's code for each, for `Node.settle`, and the exceptions that `StateStore.write_state` would raise. Where the store
    ///     cannot be used there is one for all of them.
    fn write<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = one)] store: &Bound<'py, StateStore>,
    ) -> PyResult<(Vec<i16>, Bound<'py, PyList>)> {
        let (store, writes) = (store.get().shared(), &self.0.writes);
        let refused = PyList::empty(py);
        let refuse = |error: PyErr| refused.append(error.into_value(py));
        let all = |code: KafkaCode| vec![code.code(); writes.len()];
        let codes = match py.detach(|| caught(|| store.write_many(writes, wall(None)))) {
            Ok(Ok(answers)) => {
                let mut codes = Vec::with_capacity(answers.len());
                for ((key, _), answer) in writes.iter().zip(answers) {
                    codes.push(match answer {
                        Ok(()) => KafkaCode::None.code(),
                        Err(error) => {
                            refuse(errors::store(py, Some(key), &error))?;
                            error.kafka_code().code()
                        }
                    });
                }
                codes
            }
            Ok(Err(error)) => {
                refuse(errors::store(py, None, &error))?;
                all(error.kafka_code())
            }
            Err(panic) => {
                refuse(errors::poisoned(py, "this StateStore", &panic))?;
                all(KafkaCode::UnknownServerError)
            }
        };
        Ok((codes, refused))
    }
}
