//! Transactions of the log batches of many requests, for `read_committed`.

use std::borrow::Cow;

use pyo3::prelude::*;
use share_state_core::share_partition::{AbortedTransaction, ControlType, FetchedBatch};

use super::requests::{check_starts, refuse, same_length};
use crate::columns::Column;
use crate::errors::Raise;

/// The columns as Python gives them.
pub struct TransactionColumns<'py> {
    producer_id: Column<'py, i64>,
    transaction: Column<'py, i8>,
    aborted_producer_id: Column<'py, i64>,
    aborted_first_offset: Column<'py, i64>,
    aborted_starts: Column<'py, i64>,
}

/// The columns, of lengths that fit.
pub struct Transactions<'a> {
    producer_id: Cow<'a, [i64]>,
    transaction: Cow<'a, [i8]>,
    aborted_producer_id: Cow<'a, [i64]>,
    aborted_first_offset: Cow<'a, [i64]>,
    aborted_starts: Cow<'a, [i64]>,
}

const NAMES: [&str; 5] = [
    "producer_id",
    "transaction",
    "aborted_producer_id",
    "aborted_first_offset",
    "aborted_starts",
];

impl<'py> TransactionColumns<'py> {
    /// All of the columns, in the order of their names, or none.
    pub fn of(py: Python<'py>, columns: [Option<&Bound<'py, PyAny>>; 5]) -> PyResult<Option<Self>> {
        if columns.iter().all(Option::is_none) {
            return Ok(None);
        }
        let [
            Some(producer),
            Some(transaction),
            Some(aborted),
            Some(first),
            Some(starts),
        ] = columns
        else {
            let missing = columns.iter().position(Option::is_none).unwrap_or_default();
            let message = format!("{} is missing: all of {NAMES:?} or none", NAMES[missing]);
            return Err(Raise::new(py, "InvalidRequestError", message)
                .fact("field", NAMES[missing])
                .done());
        };
        Ok(Some(Self {
            producer_id: Column::of(NAMES[0], producer)?,
            transaction: Column::of(NAMES[1], transaction)?,
            aborted_producer_id: Column::of(NAMES[2], aborted)?,
            aborted_first_offset: Column::of(NAMES[3], first)?,
            aborted_starts: Column::of(NAMES[4], starts)?,
        }))
    }

    /// The columns for so many requests with so many log batches; others are refused.
    pub fn get(
        &self,
        py: Python<'_>,
        requests: usize,
        batches: usize,
    ) -> PyResult<Transactions<'_>> {
        let columns = Transactions {
            producer_id: self.producer_id.get(),
            transaction: self.transaction.get(),
            aborted_producer_id: self.aborted_producer_id.get(),
            aborted_first_offset: self.aborted_first_offset.get(),
            aborted_starts: self.aborted_starts.get(),
        };
        same_length(py, NAMES[0], columns.producer_id.len(), batches)?;
        same_length(py, NAMES[1], columns.transaction.len(), batches)?;
        let aborted = columns.aborted_producer_id.len();
        same_length(py, NAMES[3], columns.aborted_first_offset.len(), aborted)?;
        check_starts(py, NAMES[4], &columns.aborted_starts, requests, aborted)?;
        refuse(py, NAMES[1], &columns.transaction, |kind| {
            (0..=3).contains(&kind)
        })?;
        Ok(columns)
    }
}

impl Transactions<'_> {
    /// A log batch with what is known of it.
    pub fn mark(&self, row: usize, batch: FetchedBatch) -> FetchedBatch {
        let kind = self.transaction[row];
        FetchedBatch {
            producer_id: self.producer_id[row],
            is_transactional: kind != 0,
            control: match kind {
                2 => Some(ControlType::Abort),
                3 => Some(ControlType::Commit),
                _ => None,
            },
            ..batch
        }
    }

    /// The aborted transactions that the log knows of in what was read for a request.
    pub fn aborted(&self, request: usize) -> impl Iterator<Item = AbortedTransaction> {
        let rows = self.aborted_starts[request] as usize..self.aborted_starts[request + 1] as usize;
        rows.map(|row| AbortedTransaction {
            producer_id: self.aborted_producer_id[row],
            first_offset: self.aborted_first_offset[row],
        })
    }
}
