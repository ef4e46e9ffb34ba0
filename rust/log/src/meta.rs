//! Meta file of a store, `share-state.meta`: lines of `key=value`, the last of them a checksum of the rest. After them
//! stands the note of where the logs end ([`crate::end_note`]).

use core::fmt;

use crate::end_note::{self, LogEnd};
use crate::mark::{Mark, Marks};

/// The format written and read here: Kafka's segments in Kafka's layout, this file beside them.
pub const FORMAT_VERSION: u32 = 1;

/// No meta file is longer, whatever it says: the note of the most state partitions takes less.
pub(crate) const META_LIMIT: u64 = 1 << 20;

/// Part of a log that may be torn after the noted ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Torn {
    /// The logs were closed: nothing.
    Nothing,
    /// Every group commit is synced before the next: the last one.
    LastBatch,
    /// The operating system is left to write in any order: everything.
    Unsynced,
}

/// Noted ends of the logs when the file was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// By state partition.
    Ends(Vec<LogEnd>),
    /// The note cannot be read.
    Damaged,
    /// There is none: the file is older than the note.
    Nothing,
}

/// Facts about one log before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// Part that may be torn.
    pub torn: Torn,
    /// End up to which it is whole, if that is known.
    pub end: Option<LogEnd>,
    /// Mark of its batches, if that is known.
    pub mark: Option<Mark>,
}

impl Expected {
    /// Facts about a log of which nothing is known.
    pub const ANYTHING: Self = Self {
        torn: Torn::LastBatch,
        end: None,
        mark: None,
    };

    /// Returns `true` if bad bytes at this offset may be what a crash left.
    pub fn may_be_torn(&self, next_offset: i64) -> bool {
        self.torn != Torn::Nothing && self.end.is_none_or(|end| next_offset >= end.next_offset)
    }

    /// First byte of the last segment that may not be durable although it can be read: a sync may have failed.
    pub fn unsure_from(&self, segment: i64, last_batch: u64) -> Option<u64> {
        let noted = self.end.filter(|end| end.segment == segment);
        match self.torn {
            Torn::Nothing => None,
            Torn::LastBatch => Some(last_batch),
            Torn::Unsynced => Some(noted.map_or(0, |end| end.bytes)),
        }
    }

    /// Returns `true` if a log that ends here, and can be read up to there, is whole.
    pub fn is_met(&self, found: LogEnd) -> bool {
        self.end.is_none_or(|end| match self.torn {
            Torn::Nothing => found == end,
            Torn::LastBatch | Torn::Unsynced => found.next_offset >= end.next_offset,
        })
    }
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Number of state partitions; the partition of a key depends on it, so it is fixed for good.
    pub partitions: u32,
    /// Part of the logs that may be torn.
    pub torn: Torn,
    /// Marks of the batches; none in a store that is older than marks.
    pub marks: Option<Marks>,
    /// Noted ends of the logs.
    pub noted: Noted,
}

/// Reason for which a meta file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaError {
    /// It is of another format.
    Format {
        /// The format it names.
        found: u32,
    },
    /// It is not what any release wrote.
    Malformed {
        /// Fault of the file.
        reason: &'static str,
    },
}

impl fmt::Display for MetaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { found } => {
                write!(f, "format {found}, this release knows {FORMAT_VERSION}")
            }
            Self::Malformed { reason } => f.write_str(reason),
        }
    }
}

impl core::error::Error for MetaError {}

impl Meta {
    /// Returns what is to be expected of a state partition's log.
    pub(crate) fn expected(&self, partition: u32) -> Expected {
        let end = match &self.noted {
            Noted::Ends(ends) => ends.get(partition as usize).copied(),
            Noted::Damaged | Noted::Nothing => None,
        };
        Expected {
            torn: self.torn,
            end,
            mark: Marks::of(self.marks.as_ref(), partition),
        }
    }

    /// The same with another end of one log.
    pub(crate) fn with_end(&self, partition: u32, end: LogEnd) -> Self {
        let mut meta = self.clone();
        if let Noted::Ends(ends) = &mut meta.noted {
            let noted = ends.get_mut(partition as usize);
            noted.into_iter().for_each(|noted| *noted = end);
        }
        meta
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let torn = match self.torn {
            Torn::Nothing => "nothing",
            Torn::LastBatch => "last-batch",
            Torn::Unsynced => "unsynced",
        };
        let body = format!(
            "format={FORMAT_VERSION}\npartitions={}\ntorn={torn}\n{}",
            self.partitions,
            self.marks.as_ref().map(Marks::lines).unwrap_or_default()
        );
        let mut text = format!("{body}{CHECKSUM}{:08x}\n", crc32c::crc32c(body.as_bytes()));
        if let Noted::Ends(ends) = &self.noted {
            end_note::append(&mut text, ends);
        }
        text.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, MetaError> {
        let malformed = |reason| MetaError::Malformed { reason };
        let (body, rest) = split_head(bytes).ok_or(malformed("no checksum line"))?;
        let (checksum, note) = rest.split_at_checked(CHECKSUM_LINE).unwrap_or((rest, &[]));
        if checksum != format!("{CHECKSUM}{:08x}\n", crc32c::crc32c(body)).as_bytes() {
            return Err(malformed("checksum does not match"));
        }
        let text = str::from_utf8(body).map_err(|_| malformed("not UTF-8"))?;
        let mut lines = text.split_terminator('\n');
        let mut value = |key: &str| {
            lines
                .next()
                .and_then(|line| line.strip_prefix(key)?.strip_prefix('='))
        };
        let format: u32 = value("format")
            .and_then(|text| text.parse().ok())
            .ok_or(malformed("no format line"))?;
        if format != FORMAT_VERSION {
            return Err(MetaError::Format { found: format });
        }
        let partitions = value("partitions")
            .and_then(|text| text.parse().ok())
            .filter(|n| *n >= 1)
            .ok_or(malformed("no number of state partitions"))?;
        let torn = match value("torn") {
            Some("nothing") => Torn::Nothing,
            Some("last-batch") => Torn::LastBatch,
            Some("unsynced") => Torn::Unsynced,
            _ => return Err(malformed("no word on what may be torn")),
        };
        let marks = match lines.next() {
            None => None,
            Some(line) => {
                let number = line.strip_prefix("mark=");
                let since = lines
                    .next()
                    .and_then(|line| line.strip_prefix("marked-since="));
                let marks = number
                    .zip(since)
                    .and_then(|(number, since)| Marks::read(number, since, partitions));
                Some(marks.ok_or(malformed("no mark"))?)
            }
        };
        if lines.next().is_some() {
            return Err(malformed("lines left over"));
        }
        let noted = match end_note::read(bytes, bytes.len() - note.len(), partitions) {
            Some(ends) => Noted::Ends(ends),
            // Logs that were closed have a note.
            None if note.is_empty() && torn != Torn::Nothing => Noted::Nothing,
            None => Noted::Damaged,
        };
        Ok(Self {
            partitions,
            torn,
            marks,
            noted,
        })
    }
}

const CHECKSUM: &str = "crc32c=";
/// With eight digits and the end of the line.
const CHECKSUM_LINE: usize = CHECKSUM.len() + 9;

/// The lines before the first checksum line, and what follows.
fn split_head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(CHECKSUM.as_bytes()) {
            return bytes.split_at_checked(at);
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests;
