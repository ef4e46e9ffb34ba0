//! Events that may happen next, and their times.

use core::cmp::Ordering;
use std::sync::Arc;

use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{ReadStateResult, WriteState, WriteToken};
use share_state_core::share_group::HeartbeatAnswer;
use share_state_core::share_partition::DeadLetterToken;

use crate::recorder::Said;

/// A thing that happens, by its time; of two at one time the earlier decided comes first.
#[derive(Debug)]
pub struct Due {
    pub at: i64,
    pub order: u64,
    pub what: What,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// Kinds of events. `life` and `serial` tell apart what has the same place: an event of an earlier one is passed over.
#[derive(Clone, Debug)]
pub enum What {
    Produce,
    EndTransaction {
        part: usize,
    },
    NewMember,
    MemberWakes {
        member: usize,
        life: u32,
    },
    GivesUp {
        member: usize,
        request: u64,
    },
    AtMember {
        member: usize,
        answer: Answer,
    },
    AtBroker {
        broker: usize,
        request: Request,
    },
    Disconnected {
        broker: usize,
        connection: u64,
    },
    FetchEnds {
        broker: usize,
        life: u32,
        request: u64,
    },
    LocksDue {
        broker: usize,
        life: u32,
        part: usize,
        serial: u64,
    },
    LetterDone {
        broker: usize,
        life: u32,
        part: usize,
        serial: u64,
        token: DeadLetterToken,
    },
    ReadAgain {
        broker: usize,
        life: u32,
        part: usize,
    },
    AtStore(Call),
    CallAnswered {
        call: Call,
        answer: CallAnswer,
    },
    CallAgain {
        broker: usize,
        life: u32,
        id: u64,
    },
    Sync {
        life: u32,
    },
    StoreStarts,
    BrokerStarts {
        broker: usize,
    },
    Told {
        broker: usize,
        epoch: i32,
    },
    TakesOver,
    Observe,
    Viewed {
        view: Seen,
    },
    Maintain,
    Misfortune,
    ResetNow {
        tries: u32,
    },
    Beat {
        member: usize,
    },
    AtGroups(Beat),
    Beaten {
        member: usize,
        beaten: Beaten,
    },
    GroupsEnd,
    Calm,
    Drain,
}

impl What {
    /// Tells the kinds apart in the trace.
    pub const fn number(&self) -> u64 {
        match self {
            Self::Produce => 1,
            Self::EndTransaction { .. } => 2,
            Self::NewMember => 3,
            Self::MemberWakes { .. } => 4,
            Self::GivesUp { .. } => 5,
            Self::AtMember { .. } => 6,
            Self::AtBroker { .. } => 7,
            Self::Disconnected { .. } => 8,
            Self::FetchEnds { .. } => 9,
            Self::LocksDue { .. } => 10,
            Self::LetterDone { .. } => 11,
            Self::ReadAgain { .. } => 12,
            Self::AtStore(_) => 13,
            Self::CallAnswered { .. } => 14,
            Self::CallAgain { .. } => 15,
            Self::Sync { .. } => 16,
            Self::StoreStarts => 17,
            Self::BrokerStarts { .. } => 18,
            Self::Told { .. } => 19,
            Self::TakesOver => 20,
            Self::Observe => 21,
            Self::Viewed { .. } => 22,
            Self::Maintain => 23,
            Self::Misfortune => 24,
            Self::ResetNow { .. } => 25,
            Self::Calm => 26,
            Self::Drain => 27,
            Self::Beat { .. } => 28,
            Self::AtGroups(_) => 29,
            Self::Beaten { .. } => 30,
            Self::GroupsEnd => 31,
        }
    }
}

/// Request of a member to a broker.
#[derive(Clone, Debug)]
pub struct Request {
    pub member: usize,
    pub connection: u64,
    pub request: u64,
    pub epoch: i32,
    pub asked: Asked,
}

#[derive(Clone, Debug)]
pub enum Asked {
    Fetch { wait_us: i64, parts: Vec<usize> },
    Acknowledge { part: usize, said: Vec<Said> },
    Close,
}

/// Answer of a broker.
#[derive(Clone, Debug)]
pub struct Answer {
    pub connection: u64,
    pub request: u64,
    pub told: Told,
}

/// Records that a member is given.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    pub part: usize,
    pub first: i64,
    pub last: i64,
    pub count: i16,
    /// False for records from an overtaken leader: they count for nothing.
    pub counts: bool,
}

#[derive(Clone, Debug)]
pub enum Told {
    /// Records; `serial` names the answer, `at` is when they were taken.
    Records {
        given: Vec<Given>,
        serial: u64,
        at: i64,
    },
    /// Nothing came of the acknowledgement.
    Refused,
    /// It is confirmed; one that an overtaken leader confirms without a write counts for nothing.
    Done { counts: bool },
    /// Nobody knows what came of it.
    Failed { counts: bool },
    /// The session is another.
    Session,
    /// Somebody else leads.
    NotLeader,
}

/// Request of a broker to the store.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: u64,
    pub broker: usize,
    pub life: u32,
    pub part: usize,
    pub tries: u32,
    pub ask: Ask,
}

#[derive(Clone, Debug)]
pub enum Ask {
    Read {
        leader_epoch: i32,
    },
    Write {
        token: WriteToken,
        write: WriteState,
    },
}

#[derive(Clone, Debug)]
pub enum CallAnswer {
    State(ReadStateResult),
    Code(KafkaCode),
}

/// Figures that an observer was shown.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub sent: i64,
    pub part: usize,
    pub start_offset: i64,
    pub leader_epoch: i32,
    pub state_epoch: i32,
}

/// A heartbeat on its way.
#[derive(Clone, Debug)]
pub struct Beat {
    pub member: usize,
    pub id: Arc<str>,
    pub epoch: i32,
    pub serial: u64,
    /// It says all: what was told before may be lost.
    pub is_full: bool,
}

/// The answer to it.
#[derive(Clone, Debug)]
pub struct Beaten {
    pub serial: u64,
    /// `None` for a member that is unknown or has another epoch.
    pub told: Option<HeartbeatAnswer>,
}
