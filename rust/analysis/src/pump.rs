//! Pump from rows of the input to rows of a table: checks places, puts bad rows aside, and hands out columns when there
//! are enough.

mod machine;

use share_state_core::history::AsOf;

use crate::anomaly::{Anomaly, AnomalyConfig, Beside};
use crate::columns::{Batch, Columns};
use crate::decoded::DecodedRow;
use crate::history::Told;
use crate::input::{Input, STATE_TOPIC};
use crate::reader::Reader;
use crate::row_error::{Reason, RowError};
use crate::state::StateRow;
use crate::table::{Column, Row};
use machine::Machine;

/// Rows are handed out when there are so many ...
const ROWS: usize = 16_384;
/// ... or their cells of varying size take so many bytes.
const BYTES: usize = 8 << 20;

/// Kind of rows made of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// [`DecodedRow`].
    Decoded,
    /// [`StateRow`].
    State,
    /// [`Told`].
    History,
    /// [`Anomaly`].
    Anomalies,
}

impl Table {
    /// Its columns.
    #[must_use]
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Decoded => DecodedRow::COLUMNS,
            Self::State => StateRow::COLUMNS,
            Self::History => Told::COLUMNS,
            Self::Anomalies => Anomaly::COLUMNS,
        }
    }
}

/// Treatment of a row of the input that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// It ends the reading.
    Fail,
    /// It is kept, with the reason, and reading continues after it.
    Quarantine,
}

/// Options of the reading of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Treatment of bad ones.
    pub on_error: OnError,
    /// The topic that they are of, where they name one.
    pub topic: String,
    /// Prefix of the log that is looked at.
    pub as_of: AsOf,
    /// Thresholds, for anomalies.
    pub config: AnomalyConfig,
    /// Facts that the log does not hold, for anomalies.
    pub beside: Beside,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            on_error: OnError::Fail,
            topic: STATE_TOPIC.to_owned(),
            as_of: AsOf::default(),
            config: AnomalyConfig::default(),
            beside: Beside::default(),
        }
    }
}

/// Rows that wait, and batches of rows that are complete.
#[derive(Clone, Debug)]
struct Sink {
    columns: Columns,
    full: Vec<Batch>,
}

impl Sink {
    fn new(columns: &'static [Column]) -> Self {
        Self {
            columns: Columns::new(columns),
            full: Vec::new(),
        }
    }

    fn push(&mut self, row: &impl Row) {
        self.columns.push(row);
        self.close_if_full();
    }

    fn push_all(&mut self, rows: &mut Vec<impl Row>) {
        for row in rows.drain(..) {
            self.push(&row);
        }
    }

    fn close_if_full(&mut self) {
        if self.columns.rows() >= ROWS || self.columns.bytes() >= BYTES {
            self.full.push(self.columns.take());
        }
    }

    /// The rows that wait are a batch, however few they are.
    fn flush(&mut self) {
        if self.columns.rows() > 0 {
            self.full.push(self.columns.take());
        }
    }
}

/// Turns rows of the input into rows of a table.
#[derive(Clone, Debug)]
pub struct Pump {
    on_error: OnError,
    reader: Reader,
    machine: Machine,
    rows: u64,
    out: Sink,
    quarantine: Sink,
}

impl Pump {
    /// No row has been read.
    #[must_use]
    pub fn new(table: Table, options: Options) -> Self {
        Self {
            on_error: options.on_error,
            reader: Reader::new(options.topic, options.as_of),
            machine: Machine::new(table, options.config, options.beside),
            rows: 0,
            out: Sink::new(table.columns()),
            quarantine: Sink::new(RowError::COLUMNS),
        }
    }

    /// Takes the next row of the input.
    ///
    /// # Errors
    /// The row cannot be used, and that ends the reading. What was made of the rows before it is still to be had.
    pub fn push(&mut self, input: &Input<'_>) -> Result<(), Box<RowError>> {
        let row = self.rows;
        self.rows += 1;
        match self.read(input) {
            Ok(()) => Ok(()),
            Err(reason) => self.refuse(Box::new(RowError::new(row, input, reason))),
        }
    }

    /// Refuses the next row of the input for what the caller found wrong with it.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn push_bad(&mut self, input: &Input<'_>, reason: Reason) -> Result<(), Box<RowError>> {
        let row = self.rows;
        self.rows += 1;
        self.refuse(Box::new(RowError::new(row, input, reason)))
    }

    fn refuse(&mut self, error: Box<RowError>) -> Result<(), Box<RowError>> {
        match self.on_error {
            OnError::Fail => Err(error),
            OnError::Quarantine => {
                self.quarantine.push(&*error);
                Ok(())
            }
        }
    }

    fn read(&mut self, input: &Input<'_>) -> Result<(), Reason> {
        let next = self.reader.check(input)?;
        let read = match next.placed {
            Some(placed) => {
                let begins = self.reader.partition() != Some(placed.partition);
                self.machine.read(placed, begins)?
            }
            None => None,
        };
        // Nothing fails any more: a row that cannot be used has changed nothing.
        if let Some(before) = self.reader.go_on(&next) {
            self.machine.end_partition(before, &mut self.out);
        }
        if let Some(read) = read {
            self.machine.take(read, &mut self.out);
        }
        Ok(())
    }

    /// The input is over.
    pub fn finish(&mut self) {
        if let Some(partition) = self.reader.partition() {
            self.machine.end_partition(partition, &mut self.out);
        }
        self.machine.end(&mut self.out);
        self.out.flush();
    }

    /// Takes out the batches that are complete; after [`Self::finish`] those are all that are left.
    pub fn batches(&mut self) -> Vec<Batch> {
        std::mem::take(&mut self.out.full)
    }

    /// Takes out the bad rows that were put aside so far, as rows of [`RowError`].
    pub fn quarantined(&mut self) -> Vec<Batch> {
        self.quarantine.flush();
        std::mem::take(&mut self.quarantine.full)
    }
}
