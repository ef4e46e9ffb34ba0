//! Errors of a store: reasons for which it was not opened, or a verb was not answered.

use core::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use share_state_core::coordinator::CoordinatorError;
use share_state_core::kafka_code::KafkaCode;
use share_state_wire::WireError;

use crate::config::ConfigError;
use crate::corrupt::{CorruptKind, CorruptLog};
use crate::damage::Damage;
use crate::disk::IoFailure;
use crate::meta::MetaError;
use crate::progress::Progress;

/// Reason for which a store was not opened. Nothing in its directory but the lock file was changed, unless the disk
/// failed; then a part of the repair or of the making may have been done, and the next opening does the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// A setting is out of its range.
    Config(ConfigError),
    /// Another writer has the store open, in this process or another.
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Id of the process that took the lock, if the file tells. A child that it forked may hold the lock after its
        /// death.
        pid: Option<u32>,
    },
    /// There is no store, and none was to be made; or the directory holds something else, such as a broker's logs.
    NotAStore {
        /// The directory.
        path: PathBuf,
    },
    /// The meta file of the store cannot be used.
    Meta {
        /// The file.
        path: PathBuf,
        /// Fault of the file.
        error: MetaError,
    },
    /// The store has another number of state partitions. To change it, read the states with [`crate::read::fold`] and
    /// write them into a new store.
    PartitionCount {
        /// Number that the store has.
        recorded: u32,
        /// Number that was asked for.
        asked: u32,
    },
    /// The log is damaged in a way that no crash explains, and no cut mends it.
    Corrupt(CorruptLog),
    /// Logs are damaged in a way that no crash explains, one a state partition. `repair` of the settings cuts them where the
    /// damage begins; each says what that costs.
    Damaged(Vec<Damage>),
    /// The progress callback asked to stop.
    Interrupted(Progress),
    /// The disk failed.
    Io(IoFailure),
}

impl OpenError {
    /// A log, or a file beside it, that is not as it was written.
    pub(crate) fn corrupt(segment: &Path, position: u64, kind: CorruptKind) -> Self {
        Self::Corrupt(CorruptLog {
            segment: segment.to_owned(),
            position,
            kind,
        })
    }

    /// The code by which a broker would say it.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        match self {
            Self::Corrupt(_) | Self::Damaged(_) => KafkaCode::CorruptMessage,
            Self::Meta {
                error: MetaError::Format { .. },
                ..
            } => KafkaCode::UnsupportedVersion,
            Self::Interrupted(_) => KafkaCode::CoordinatorLoadInProgress,
            Self::Config(_) => KafkaCode::InvalidRequest,
            Self::Locked { .. }
            | Self::NotAStore { .. }
            | Self::Meta { .. }
            | Self::PartitionCount { .. }
            | Self::Io(_) => KafkaCode::KafkaStorageError,
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Locked {
                path,
                pid: Some(pid),
            } => {
                write!(f, "{} is held by process {pid}", path.display())
            }
            Self::Locked { path, pid: None } => {
                write!(f, "{} is held by another writer", path.display())
            }
            Self::NotAStore { path } => write!(f, "{} is not a share_state store", path.display()),
            Self::Meta { path, error } => write!(f, "{}: {error}", path.display()),
            Self::PartitionCount { recorded, asked } => write!(
                f,
                "the store has {recorded} state partitions, not {asked}: to change the number, fold its states and \
                 write them into a new store"
            ),
            Self::Corrupt(corrupt) => corrupt.fmt(f),
            Self::Damaged(damages) => {
                for (i, damage) in damages.iter().enumerate() {
                    write!(f, "{}{damage}", if i == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
            Self::Interrupted(progress) => write!(
                f,
                "interrupted after {} of {} bytes",
                progress.bytes_done, progress.bytes_total
            ),
            Self::Io(failure) => failure.fmt(f),
        }
    }
}

impl core::error::Error for OpenError {}

impl From<IoFailure> for OpenError {
    fn from(failure: IoFailure) -> Self {
        Self::Io(failure)
    }
}

/// Cause that made a store unusable for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoisonCause {
    /// An append or a sync failed. What the disk holds is unknown then, and a sync that succeeds later proves nothing.
    Io(IoFailure),
    /// A batch could not be made of records that were already replayed.
    Encode(WireError),
    /// A thread panicked inside the store: a bug.
    Panic,
}

impl fmt::Display for PoisonCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(failure) => failure.fmt(f),
            Self::Encode(error) => error.fmt(f),
            Self::Panic => f.write_str("a thread panicked inside the store"),
        }
    }
}

/// Reason for which a verb was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The coordinator refuses the request; nothing has changed.
    Refused(CoordinatorError),
    /// The timestamp is negative; nothing has changed.
    Timestamp {
        /// Milliseconds since the epoch.
        wall_ms: i64,
    },
    /// The records of this one request are larger than a group commit may be; nothing has changed.
    TooLarge {
        /// Bytes of their keys and values.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The records cannot be written; nothing has changed.
    Unwritable(WireError),
    /// The log reaches the end of the offsets; nothing has changed.
    OffsetEnd,
    /// The store was closed; nothing has changed.
    Closed,
    /// The process is a fork of the one that opened the store; nothing has changed.
    Forked {
        /// The process that opened it.
        opened_by: u32,
    },
    /// The store has failed for good and must be opened again. Whether this request is in the log is not known.
    Poisoned {
        /// Cause of it.
        cause: Arc<PoisonCause>,
    },
    /// Pruning failed; the state is not concerned, and the store goes on.
    Prune(IoFailure),
}

impl StoreError {
    /// The operating system's number for what failed, if it was at fault.
    #[must_use]
    pub fn os_error(&self) -> Option<i32> {
        match self {
            Self::Poisoned { cause } => match &**cause {
                PoisonCause::Io(failure) => failure.os_error,
                PoisonCause::Encode(_) | PoisonCause::Panic => None,
            },
            Self::Prune(failure) => failure.os_error,
            _ => None,
        }
    }

    /// The code by which a broker would say it.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        match self {
            Self::Refused(error) => error.kafka_code(),
            Self::Timestamp { .. } => KafkaCode::InvalidRequest,
            Self::TooLarge { .. } | Self::Unwritable(_) | Self::OffsetEnd => {
                KafkaCode::UnknownServerError
            }
            Self::Closed | Self::Forked { .. } => KafkaCode::NotCoordinator,
            Self::Poisoned { .. } | Self::Prune(_) => KafkaCode::KafkaStorageError,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Timestamp { wall_ms } => write!(f, "timestamp {wall_ms} is negative"),
            Self::TooLarge { bytes, limit } => {
                write!(f, "the request has {bytes} bytes; expected at most {limit}")
            }
            Self::Unwritable(error) => write!(f, "records that cannot be written: {error}"),
            Self::OffsetEnd => f.write_str("no offsets are left"),
            Self::Closed => f.write_str("the store is closed"),
            Self::Forked { opened_by } => {
                write!(
                    f,
                    "the store belongs to process {opened_by}, of which this one is a fork"
                )
            }
            Self::Poisoned { cause } => {
                write!(f, "the store has failed and must be opened again: {cause}")
            }
            Self::Prune(failure) => failure.fmt(f),
        }
    }
}

impl core::error::Error for StoreError {}

impl From<CoordinatorError> for StoreError {
    fn from(error: CoordinatorError) -> Self {
        Self::Refused(error)
    }
}
