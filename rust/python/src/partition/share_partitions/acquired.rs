//! Ranges that the requests of one call were given, as columns.

use numpy::PyArray1;
use pyo3::prelude::*;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::{AcquireRequest, AcquiredRange};
use share_state_core::time::LockTime;

use super::POISONED;
use crate::columns::column_out;
use crate::partition::engine::{Engine, each};

/// Ranges that the requests of one `SharePartitions.acquire` were given.
#[pyclass(frozen, get_all, module = "share_state")]
pub struct Acquired {
    /// int16 of shape (requests,): 0, or Kafka's code for a request that was refused.
    error_code: Py<PyArray1<i16>>,
    /// int64 of shape (n,): the request that each range was given to, ascending.
    request: Py<PyArray1<i64>>,
    /// int64 of shape (n,).
    first_offset: Py<PyArray1<i64>>,
    /// int64 of shape (n,), inclusive.
    last_offset: Py<PyArray1<i64>>,
    /// int16 of shape (n,): the count of this delivery.
    delivery_count: Py<PyArray1<i16>>,
}

#[pymethods]
impl Acquired {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.request.bind(py).len()
    }
}

/// The columns while they grow.
#[derive(Default)]
pub struct Growing {
    error_code: Vec<i16>,
    request: Vec<i64>,
    first: Vec<i64>,
    last: Vec<i64>,
    count: Vec<i16>,
    /// Ranges that the request at hand was given.
    acquired: Vec<AcquiredRange>,
}

impl Growing {
    /// Columns with room for what so many requests are mostly given.
    pub fn with_room(requests: usize) -> Self {
        Self {
            error_code: Vec::with_capacity(requests),
            request: Vec::with_capacity(requests),
            first: Vec::with_capacity(requests),
            last: Vec::with_capacity(requests),
            count: Vec::with_capacity(requests),
            ..Self::default()
        }
    }

    pub fn give(
        &mut self,
        engine: &mut Engine,
        request: usize,
        wanted: &AcquireRequest<'_>,
        now: LockTime,
    ) {
        self.acquired.clear();
        match each!(engine, sp => sp.acquire_into(wanted, now, &mut self.acquired)) {
            Ok(()) => {
                for given in &self.acquired {
                    self.request.push(request as i64);
                    self.first.push(given.range.first);
                    self.last.push(given.range.last);
                    self.count.push(given.delivery_count);
                }
                self.error_code.push(KafkaCode::None.code());
            }
            Err(error) => self.error_code.push(error.kafka_code().code()),
        }
    }

    /// The share partition of the request is unusable: what it was given before does not count.
    pub fn fail(&mut self, request: usize) {
        self.error_code.truncate(request);
        self.error_code.push(POISONED);
        let kept = self
            .request
            .partition_point(|given| *given < request as i64);
        self.request.truncate(kept);
        self.first.truncate(kept);
        self.last.truncate(kept);
        self.count.truncate(kept);
    }

    /// The columns for Python.
    pub fn done(self, py: Python<'_>) -> Acquired {
        Acquired {
            error_code: column_out(py, self.error_code).unbind(),
            request: column_out(py, self.request).unbind(),
            first_offset: column_out(py, self.first).unbind(),
            last_offset: column_out(py, self.last).unbind(),
            delivery_count: column_out(py, self.count).unbind(),
        }
    }
}
