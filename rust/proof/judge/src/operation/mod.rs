//! Operations on a share partition, in the form of the conformance files (`tests/proof/conformance`).

mod json;
pub mod smaller;

/// Configuration of a group, as far as an operation may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Width of the window.
    pub max_locks: u32,
    /// Deliveries of one record.
    pub delivery_limit: i16,
    /// Time that a lock lasts.
    pub lock_ms: i64,
    /// True if records that are given up go to a dead-letter queue.
    pub dead_letters: bool,
}

/// Time at which a persister or a dead-letter queue answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the call returns.
    AtOnce,
    /// The `persister_completes` (or `dead_letters_complete`) with this id.
    Later(u32),
    /// Never.
    Never,
}

/// Answer of a persister to every write of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Kafka's error code; [`Answer::EXCEPTION`] stands for an exception.
    pub code: i16,
    /// Time of the answer.
    pub when: When,
}

impl Answer {
    /// The persister fails without a code.
    pub const EXCEPTION: i16 = i16::MIN;
    /// The ordinary answer.
    pub const OK: Self = Self {
        code: 0,
        when: When::AtOnce,
    };
}

/// Answer of a dead-letter queue to all that an operation gives it. Kafka archives the records in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// True if it takes them.
    pub takes: bool,
    /// Time of the answer; later is at the `dead_letters_complete` with this id.
    pub when: When,
}

impl Queue {
    /// The ordinary answer.
    pub const OK: Self = Self {
        takes: true,
        when: When::AtOnce,
    };
}

/// A log batch that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBatch {
    /// First offset.
    pub base: i64,
    /// Last offset.
    pub last: i64,
    /// Producer, -1 for none.
    pub producer: i64,
    /// True if it belongs to a transaction.
    pub transactional: bool,
    /// True if it is a marker.
    pub control: bool,
}

/// A range of an acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// First offset.
    pub first: i64,
    /// Last offset.
    pub last: i64,
    /// A type for all offsets, or one for each.
    pub types: Vec<i8>,
}

/// A persisted batch: first and last offset, state, delivery count.
pub type Batch = (i64, i64, i8, i16);

/// Operation on a share partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A new leader's share partition.
    Create {
        /// Its leader epoch.
        leader_epoch: i32,
        /// The configuration it is made with.
        limits: Limits,
    },
    /// Reads the state.
    Initialize {
        /// Code of the read.
        code: i16,
        /// State epoch read.
        state_epoch: i32,
        /// Start offset read; -1 is resolved to `earliest`.
        start_offset: i64,
        /// Start of the log.
        earliest: i64,
        /// Batches read.
        batches: Vec<Batch>,
    },
    /// Records for a member.
    Acquire {
        /// Number of the member; 0 is nobody.
        member: u8,
        /// Never more records than asked for.
        record_limit: bool,
        /// Records of a new batch.
        batch_size: i32,
        /// Records at most.
        max_records: i32,
        /// Offset from which the log was read.
        fetch_offset: i64,
        /// Batches that were read.
        fetched: Vec<LogBatch>,
        /// Aborted transactions, with read_committed: producer and first offset.
        aborted: Option<Vec<(i64, i64)>>,
    },
    /// Acknowledges records.
    Acknowledge {
        /// Number of the member.
        member: u8,
        /// The ranges.
        ranges: Vec<Range>,
        /// True if the group lets members renew.
        renew: bool,
    },
    /// A member is gone.
    Release {
        /// Number of the member.
        member: u8,
    },
    /// Time passes.
    Advance {
        /// Milliseconds.
        ms: i64,
    },
    /// The persister gives the answers it has held back.
    Completes {
        /// Id under which it holds them.
        id: u32,
    },
    /// The dead-letter queue says what became of records it was given.
    LettersDone {
        /// Id under which it holds its answer.
        id: u32,
    },
    /// The log starts later.
    LogStart {
        /// New start of the log.
        offset: i64,
    },
    /// Asks for the next offset to fetch.
    NextFetchOffset,
    /// Asks if records may be fetched.
    CanAcquire,
    /// Another leader has taken over.
    Fence,
}

/// An operation with the world around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Number of the leader whose share partition it is.
    pub partition: usize,
    /// The operation itself.
    pub verb: Verb,
    /// The configuration from here on, when it changes.
    pub limits: Option<Limits>,
    /// Answer of the persister.
    pub answer: Answer,
    /// Answer of the dead-letter queue.
    pub queue: Queue,
}

impl Verb {
    /// The operation's name in the format.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Initialize { .. } => "initialize",
            Self::Acquire { .. } => "acquire",
            Self::Acknowledge { .. } => "acknowledge",
            Self::Release { .. } => "release_session",
            Self::Advance { .. } => "advance_clock",
            Self::Completes { .. } => "persister_completes",
            Self::LettersDone { .. } => "dead_letters_complete",
            Self::LogStart { .. } => "move_log_start_offset",
            Self::NextFetchOffset => "next_fetch_offset",
            Self::CanAcquire => "can_acquire_records",
            Self::Fence => "mark_fenced",
        }
    }
}

/// The member id of a number.
#[must_use]
pub fn member_id(member: u8) -> String {
    if member == 0 {
        String::new()
    } else {
        format!("m{member}")
    }
}
