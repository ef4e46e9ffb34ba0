//! The history that a log tells.

use std::collections::VecDeque;
use std::path::Path;

use share_state_core::history::{At, History, HistoryRow};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_wire::WireError;
use share_state_wire::state_record::Decoded;

use super::fold::unreadable;
use super::{AsOf, Finding, LogRecord, Scan, ScanError, scan};
use crate::progress::Progress;

/// Filter of share partitions and of offsets of theirs to tell of; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    /// Only this group.
    pub group: Option<String>,
    /// Only this topic.
    pub topic_id: Option<TopicId>,
    /// Only this partition of the topic.
    pub partition: Option<i32>,
    /// Only rows of this offset, and those of the share partition as a whole.
    pub offset: Option<i64>,
}

impl HistoryFilter {
    /// Returns `true` if rows of `key` are wanted.
    #[must_use]
    pub fn takes_key(&self, key: &SharePartitionKey) -> bool {
        self.group
            .as_deref()
            .is_none_or(|group| *key.group == *group)
            && self
                .topic_id
                .is_none_or(|topic_id| key.topic_id == topic_id)
            && self
                .partition
                .is_none_or(|partition| key.partition == partition)
    }

    /// Returns `true` if `row`, of a key that is wanted, is wanted.
    #[must_use]
    pub fn takes_row(&self, row: &HistoryRow) -> bool {
        match (self.offset, row.range) {
            (Some(offset), Some(range)) => range.contains(offset),
            _ => true,
        }
    }
}

/// A row and the state partition that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRow {
    /// State partition.
    pub partition: u32,
    /// The row.
    pub row: HistoryRow,
}

/// The rows that a log tells, ordered by state partition and offset of their records.
///
/// All records on the disk are told, those below the log start offset too, as in [`super::fold`]. Memory is that of the live
/// states of one state partition, one batch of the log, and the rows of one record. After the last row [`Self::findings`]
/// tells what could not be read. An item that is an error ends the iteration.
#[derive(Debug)]
pub struct HistoryScan {
    scan: Scan,
    filter: HistoryFilter,
    history: History,
    /// State partition of `history`.
    partition: Option<u32>,
    told: Vec<HistoryRow>,
    rows: VecDeque<LoggedRow>,
    damage: Vec<Finding>,
}

/// Begins to tell the history of the log at `path`.
///
/// # Errors
/// There is no such path, or nothing of the state topic under it.
pub fn history(path: impl AsRef<Path>, filter: HistoryFilter) -> Result<HistoryScan, ScanError> {
    history_as_of(path, AsOf::default(), filter)
}

/// Begins to tell the history of a prefix of every state partition under `path`.
///
/// # Errors
/// See [`history`].
pub fn history_as_of(
    path: impl AsRef<Path>,
    as_of: AsOf,
    filter: HistoryFilter,
) -> Result<HistoryScan, ScanError> {
    Ok(HistoryScan::on(scan(path)?.as_of(as_of), filter))
}

impl HistoryScan {
    pub(super) fn on(scan: Scan, filter: HistoryFilter) -> Self {
        Self {
            scan,
            filter,
            history: History::new(),
            partition: None,
            told: Vec::new(),
            rows: VecDeque::new(),
            damage: Vec::new(),
        }
    }

    /// Findings so far: what could not be read. The rows of those state partitions may be wrong from there on.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        [self.scan.findings(), &self.damage].concat()
    }

    /// Progress of the reading; see [`Scan::progress`].
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.scan.progress()
    }

    /// Applies the next record of the log; `false` at its end.
    fn advance(&mut self) -> Result<bool, ScanError> {
        let Some(record) = self.scan.next().transpose()? else {
            return Ok(false);
        };
        if self.partition != Some(record.partition) {
            // Another state partition has other keys: what was known is of no use to it.
            self.partition = Some(record.partition);
            self.history = History::new();
        }
        match record.decode() {
            Ok(Some(Decoded::Record(decoded))) => {
                if self.filter.takes_key(&decoded.key) {
                    let at = At {
                        offset: record.offset,
                        timestamp: record.timestamp,
                    };
                    self.history.apply(at, &decoded, &mut self.told);
                }
            }
            Ok(Some(Decoded::UnknownType(_))) => {}
            Ok(None) => self.unreadable(&record, None),
            Err(error) => self.unreadable(&record, Some(error)),
        }
        let (filter, partition) = (&self.filter, record.partition);
        let wanted = self.told.drain(..).filter(|row| filter.takes_row(row));
        self.rows
            .extend(wanted.map(|row| LoggedRow { partition, row }));
        Ok(true)
    }

    fn unreadable(&mut self, record: &LogRecord, error: Option<WireError>) {
        let path = self.scan.path().unwrap_or(Path::new(&*record.segment));
        let (path, offset) = (path.to_owned(), record.offset);
        let finding = unreadable(record.partition, path, record.position, offset, error);
        self.damage.push(finding);
    }

    /// Applies the next record of the log and gives its rows that are wanted, none perhaps; `None` at the end of the log.
    ///
    /// For readers that want to look up now and then, however few rows they want.
    ///
    /// # Errors
    /// The disk failed.
    pub fn next_record(
        &mut self,
    ) -> Result<Option<impl Iterator<Item = LoggedRow> + '_>, ScanError> {
        Ok(self.advance()?.then(|| self.rows.drain(..)))
    }
}

impl Iterator for HistoryScan {
    type Item = Result<LoggedRow, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.pop_front() {
                return Some(Ok(row));
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
