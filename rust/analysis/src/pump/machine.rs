//! The machines that make the rows of the tables.

use share_state_core::history::{At, History, HistoryRow};
use share_state_core::records::ShareRecord;
use share_state_wire::state_record::{self, Decoded};

use super::{Sink, Table};
use crate::anomaly::{Anomaly, AnomalyConfig, Beside, Finder};
use crate::decoded::DecodedRow;
use crate::history::Told;
use crate::reader::Placed;
use crate::row_error::Reason;
use crate::state::StateFold;

/// The machine that makes the rows.
#[derive(Clone, Debug)]
pub(super) enum Machine {
    Decoded,
    State(Box<StateFold>),
    History(History, Vec<HistoryRow>),
    Anomalies(Box<Watched>),
}

/// A record that was read, and its place.
pub(super) enum Read {
    Row(Box<DecodedRow>),
    Record(u32, At, ShareRecord),
    /// The states of a state partition that begins with this record.
    First(Box<StateFold>),
}

/// A history, and who looks at it.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    history: History,
    rows: Vec<HistoryRow>,
    finder: Finder,
    found: Vec<Anomaly>,
}

impl Machine {
    pub fn new(table: Table, config: AnomalyConfig, beside: Beside) -> Self {
        match table {
            Table::Decoded => Self::Decoded,
            Table::State => Self::State(Box::default()),
            Table::History => Self::History(History::new(), Vec::new()),
            Table::Anomalies => Self::Anomalies(Box::new(Watched {
                history: History::new(),
                rows: Vec::new(),
                finder: Finder::new(config, beside),
                found: Vec::new(),
            })),
        }
    }

    /// Reads a record whose place is good; `None` if nothing is left to be done with it: its type is not known, which is passed
    /// over as Kafka's loader does, or it has been folded at once. What is known of the state partition before is left as it is
    /// when the record `begins` another.
    pub fn read(&mut self, placed: Placed<'_>, begins: bool) -> Result<Option<Read>, Reason> {
        let Placed {
            partition,
            at,
            key,
            value,
        } = placed;
        match self {
            Self::Decoded => {
                let row = DecodedRow::read(partition, at, key, value)?;
                return Ok(Some(Read::Row(Box::new(row))));
            }
            Self::State(_) if begins => {
                let mut first = Box::<StateFold>::default();
                first.read(at, key, value)?;
                return Ok(Some(Read::First(first)));
            }
            Self::State(fold) => {
                fold.read(at, key, value)?;
                return Ok(None);
            }
            Self::History(..) | Self::Anomalies(_) => {}
        }
        Ok(match state_record::decode(key, value)? {
            Decoded::Record(record) => Some(Read::Record(partition, at, record)),
            Decoded::UnknownType(_) => None,
        })
    }

    /// Takes a record that was read.
    pub fn take(&mut self, read: Read, out: &mut Sink) {
        let (state_partition, at, record) = match read {
            Read::Row(row) => return out.push(&*row),
            Read::First(fold) => {
                *self = Self::State(fold);
                return;
            }
            Read::Record(partition, at, record) => (partition, at, record),
        };
        match self {
            Self::Decoded | Self::State(_) => {}
            Self::History(history, rows) => {
                history.apply(at, &record, rows);
                for row in rows.drain(..) {
                    out.push(&Told {
                        state_partition,
                        row: &row,
                    });
                }
            }
            Self::Anomalies(watched) => {
                let Watched {
                    history,
                    rows,
                    finder,
                    found,
                } = &mut **watched;
                history.apply(at, &record, rows);
                finder.record(state_partition, rows, found);
                rows.clear();
                out.push_all(found);
            }
        }
    }

    /// The state partition is over: another has other keys, so what was known is of no use to it.
    pub fn end_partition(&mut self, state_partition: u32, out: &mut Sink) {
        match self {
            Self::Decoded => {}
            Self::State(fold) => {
                for row in std::mem::take(&mut **fold).rows(state_partition) {
                    out.push(&row);
                }
            }
            Self::History(history, _) => *history = History::new(),
            Self::Anomalies(watched) => {
                watched.history = History::new();
                watched.finder.end_partition(&mut watched.found);
                out.push_all(&mut watched.found);
            }
        }
    }

    /// All state partitions are over.
    pub fn end(&mut self, out: &mut Sink) {
        if let Self::Anomalies(watched) = self {
            watched.finder.end(&mut watched.found);
            out.push_all(&mut watched.found);
        }
    }
}
