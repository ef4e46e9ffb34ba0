//! Operations on a share partition, drawn at random.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::share_partition::{ControlType, FetchedBatch};

/// Members that take part.
pub const MEMBERS: [&str; 3] = ["m0", "m1", "m2"];

/// Answer of the persister to a write.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Written and confirmed, unless the writer is fenced.
    Written,
    /// Not written, and refused.
    Refused,
    /// Written, but the answer says that it was not.
    Lost,
}

/// A change of the configuration.
#[derive(Clone, Copy, Debug)]
pub enum Setting {
    Limit(i16),
    LockDuration(i64),
    MaxRecordLocks(u32),
    Renew(bool),
    DeadLetterQueue(bool),
}

/// Numbers pick one of what there is then (modulo), so every sequence can be played and shortened.
#[derive(Clone, Debug)]
pub enum Op {
    Acquire {
        member: usize,
        record_limit: bool,
        batch_size: i32,
        max_records: i32,
        /// A fetch that comes late: so far before the next offset to fetch did it read.
        behind: i64,
        batches: usize,
        aborted: Option<i64>,
    },
    /// Acknowledges runs that the member holds: which, how much is cut off on both sides, and the types.
    Acknowledge {
        member: usize,
        picks: Vec<(bool, i64, i64)>,
        types: Vec<i8>,
    },
    /// Ranges that need not make sense.
    AcknowledgeAnything {
        member: usize,
        ranges: Vec<(i64, i64)>,
        types: Vec<i8>,
    },
    Release(usize),
    /// Time passes, and the due locks run out.
    Time(i64),
    /// Time passes; whatever comes next notices.
    Clock(i64),
    LogStart(i64),
    Compact(usize),
    Configure(Setting),
    Answer(usize, Answer),
    DeadLetterDone(usize),
    /// A write sent before reaches the coordinator once more, or late.
    Repeat(usize),
    /// Another leader reads the state: writes of this one are fenced.
    OtherLeader,
    /// The state is initialised again, in the next state epoch.
    AlterOffsets(i64),
    /// The leader is gone; of its writes under way these are written. A new leader reads the state.
    Crash(u64),
}

/// A log: batches with holes between them, some in transactions of producer 7, some its markers.
pub fn log() -> impl Strategy<Value = Vec<FetchedBatch>> {
    let hole = prop_oneof![4 => Just(0i64), 1 => 1i64..4];
    let kind = prop_oneof![8 => Just(0u8), 1 => Just(1), 1 => Just(2), 1 => Just(3)];
    vec((hole, 1i64..7, kind), 4..14).prop_map(|parts| {
        let mut next = 0;
        let mut batches = Vec::new();
        for (hole, length, kind) in parts {
            let base = next + hole;
            let length = if kind > 1 { 1 } else { length };
            let plain = FetchedBatch::plain(base, base + length - 1);
            batches.push(FetchedBatch {
                producer_id: if kind > 0 { 7 } else { -1 },
                is_transactional: kind > 0,
                control: match kind {
                    2 => Some(ControlType::Abort),
                    3 => Some(ControlType::Commit),
                    _ => None,
                },
                ..plain
            });
            next = base + length;
        }
        batches
    })
}

fn acquire() -> impl Strategy<Value = Op> {
    let max_records = prop_oneof![1 => -1i32..2, 4 => 1i32..40];
    let behind = prop_oneof![5 => Just(0i64), 1 => 1i64..40];
    let aborted = option::weighted(0.15, 0i64..60);
    let size = prop_oneof![Just(1i32), Just(4), Just(500)];
    (
        0..3usize,
        any::<bool>(),
        size,
        max_records,
        behind,
        1..6usize,
        aborted,
    )
        .prop_map(
            |(member, record_limit, batch_size, max_records, behind, batches, aborted)| {
                Op::Acquire {
                    member,
                    record_limit,
                    batch_size,
                    max_records,
                    behind,
                    batches,
                    aborted,
                }
            },
        )
}

/// The configuration to begin with.
pub fn config() -> impl Strategy<Value = ShareGroupConfig> {
    let locks = prop_oneof![Just(6u32), Just(15), Just(200)];
    (1i16..6, locks, any::<bool>()).prop_map(|(limit, locks, dead_letter_queue)| ShareGroupConfig {
        record_lock_duration_ms: 100,
        delivery_count_limit: limit,
        partition_max_record_locks: locks,
        dead_letter_queue,
        ..ShareGroupConfig::default()
    })
}

fn setting() -> impl Strategy<Value = Setting> {
    prop_oneof![
        (1i16..6).prop_map(Setting::Limit),
        prop_oneof![Just(50i64), Just(100), Just(1_000)].prop_map(Setting::LockDuration),
        prop_oneof![Just(1u32), Just(6), Just(15), Just(200)].prop_map(Setting::MaxRecordLocks),
        any::<bool>().prop_map(Setting::Renew),
        any::<bool>().prop_map(Setting::DeadLetterQueue),
    ]
}

pub fn op() -> impl Strategy<Value = Op> {
    let member = 0..3usize;
    let picks = vec((prop::bool::weighted(0.7), 0i64..3, 0i64..3), 1..6);
    let ranges = vec((-1i64..70, -1i64..9), 0..4);
    let types = || vec(0i8..5, 1..8);
    let any_type = vec(-1i8..6, 0..8);
    let answer = prop_oneof![
        6 => Just(Answer::Written),
        2 => Just(Answer::Refused),
        1 => Just(Answer::Lost)
    ];
    prop_oneof![
        24 => acquire(),
        24 => (member.clone(), picks, types())
            .prop_map(|(member, picks, types)| Op::Acknowledge { member, picks, types }),
        4 => (member.clone(), ranges, any_type)
            .prop_map(|(member, ranges, types)| Op::AcknowledgeAnything { member, ranges, types }),
        4 => member.prop_map(Op::Release),
        6 => (0i64..120).prop_map(Op::Time),
        3 => (0i64..120).prop_map(Op::Clock),
        4 => (0i64..70).prop_map(Op::LogStart),
        4 => (0..16usize).prop_map(Op::Compact),
        3 => setting().prop_map(Op::Configure),
        24 => ((0..8usize), answer).prop_map(|(i, how)| Op::Answer(i, how)),
        5 => (0..8usize).prop_map(Op::DeadLetterDone),
        3 => (0..30usize).prop_map(Op::Repeat),
        1 => Just(Op::OtherLeader),
        1 => (0i64..40).prop_map(Op::AlterOffsets),
        2 => any::<u64>().prop_map(Op::Crash),
    ]
}
