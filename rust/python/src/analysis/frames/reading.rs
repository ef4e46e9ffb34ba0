//! A log that is being read for columns, or straight into a pump.

use std::collections::VecDeque;

use share_state_analysis::columns::{Batch, Columns};
use share_state_analysis::input::Input;
use share_state_analysis::pump::Pump;
use share_state_analysis::row_error::RowError;
use share_state_analysis::table::Row;
use share_state_log::read::{self, ScanError};
use share_state_wire::record_batch::RecordView;

/// A batch is complete when its keys and values take so many bytes, however few rows it has.
const BYTES: usize = 8 << 20;
/// Records between two looks at signals, about.
const RECORDS_A_STEP: usize = 4096;

/// The scan, and the rows that wait.
pub struct Reading {
    pub scan: read::Scan,
    columns: Columns,
    full: VecDeque<Batch>,
    ended: bool,
}

/// Outcome of a step.
pub enum Step<T> {
    /// There is more.
    More,
    /// This came of it.
    Done(T),
}

impl Reading {
    pub fn new(scan: read::Scan) -> Self {
        Self {
            scan,
            columns: Columns::new(Input::COLUMNS),
            full: VecDeque::new(),
            ended: false,
        }
    }

    /// Returns true if records were read that nobody has been given yet.
    pub fn has_waiting(&self) -> bool {
        self.columns.rows() > 0 || !self.full.is_empty()
    }

    /// Reads on until a batch of so many rows is complete or the log ends, or for a step.
    pub fn batch(&mut self, rows: usize) -> Result<Step<Batch>, ScanError> {
        if self.full.is_empty() && !self.ended {
            let (columns, full) = (&mut self.columns, &mut self.full);
            self.ended = step(&mut self.scan, |partition, record| {
                columns.push(&input(partition, &record));
                if columns.rows() >= rows || columns.bytes() >= BYTES {
                    full.push_back(columns.take());
                }
                true
            })
            .inspect_err(|_| self.ended = true)?;
        }
        Ok(match self.full.pop_front() {
            Some(batch) => Step::Done(batch),
            None if self.ended => Step::Done(self.columns.take()),
            None => Step::More,
        })
    }

    /// Reads a step into a pump; done when the log ends. A row that ends the reading is an error of its own.
    pub fn pump(&mut self, pump: &mut Pump) -> Result<Result<Step<()>, Box<RowError>>, ScanError> {
        if self.ended {
            return Ok(Ok(Step::Done(())));
        }
        let mut refused = None;
        self.ended = step(&mut self.scan, |partition, record| {
            if refused.is_none() {
                refused = pump.push(&input(partition, &record)).err();
            }
            refused.is_none()
        })
        .inspect_err(|_| self.ended = true)?;
        Ok(match refused {
            Some(error) => {
                self.ended = true;
                Err(error)
            }
            None if self.ended => Ok(Step::Done(())),
            None => Ok(Step::More),
        })
    }
}

/// Shows some records; whether the log has ended. It goes on for as long as the visitor wants more.
fn step(
    scan: &mut read::Scan,
    mut visit: impl FnMut(u32, RecordView<'_>) -> bool,
) -> Result<bool, ScanError> {
    let (mut records, mut goes_on) = (0, true);
    while goes_on && records < RECORDS_A_STEP {
        let more = scan.visit(|partition, record| {
            records += 1;
            goes_on = visit(partition, record);
        })?;
        if !more {
            return Ok(true);
        }
        // Also a batch without records costs something.
        records += 1;
    }
    Ok(false)
}

fn input<'a>(partition: u32, record: &RecordView<'a>) -> Input<'a> {
    Input {
        topic: None,
        partition: i32::try_from(partition).ok(),
        offset: Some(record.offset),
        timestamp: Some(record.timestamp),
        key: record.key,
        value: record.value,
    }
}
