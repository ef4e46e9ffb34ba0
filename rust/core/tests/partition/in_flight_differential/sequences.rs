//! Random sequences of changes.

use proptest::prelude::*;
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::RecordState;

use super::side::{MEMBERS, Op};

pub fn ranges(base: i64, width: i64) -> impl Strategy<Value = OffsetRange> {
    let short = (0..width, 0..6i64);
    let long = (0..width, 0..width);
    prop_oneof![3 => short, 2 => long].prop_map(move |(first, extra)| OffsetRange {
        first: base + first,
        last: base + (first + extra).min(width - 1),
    })
}

pub fn op(base: i64, width: i64) -> impl Strategy<Value = Op> {
    let range = move || ranges(base, width);
    let member = || 0..MEMBERS;
    let state = prop_oneof![
        5 => Just(RecordState::Available),
        2 => Just(RecordState::Acquired),
        1 => Just(RecordState::Acknowledged),
        1 => Just(RecordState::Archived),
    ];
    let target = prop::sample::select(vec![
        RecordState::Available,
        RecordState::Acknowledged,
        RecordState::Archiving,
        RecordState::Archived,
    ]);
    prop_oneof![
        4 => (range(), 0u8..8, state, member())
            .prop_map(|(range, length, state, locked_by)| Op::Insert { range, length, state, locked_by }),
        4 => (range(), member(), 0..3usize)
            .prop_map(|(range, member, duration)| Op::Acquire { range, member, duration }),
        2 => (range(), member(), 0..3usize)
            .prop_map(|(range, member, duration)| Op::AcquireEach { range, member, duration }),
        6 => (range(), member(), target.clone())
            .prop_map(|(range, member, target)| Op::Acknowledge { range, member, target }),
        4 => (range(), member(), target)
            .prop_map(|(range, member, target)| Op::AcknowledgeAtOnce { range, member, target }),
        2 => (range(), member()).prop_map(|(range, member)| Op::Renew { range, member }),
        3 => range().prop_map(|range| Op::Written { range }),
        3 => (range(), 1..4i64, 0..3i64)
            .prop_map(|(range, len, gap)| Op::WrittenInPieces { range, len, step: len + gap }),
        3 => range().prop_map(|range| Op::Refused { range }),
        1 => range().prop_map(|range| Op::LogStart { range }),
        1 => range().prop_map(|range| Op::Abort { range }),
        1 => member().prop_map(|member| Op::Release { member }),
        3 => (-5i64..120, prop_oneof![Just(u32::MAX), 0u32..4]).prop_map(|(after_ms, most)| Op::Expire { after_ms, most }),
        1 => (0..width).prop_map(move |last| Op::RemoveThrough { last: base + last / 2 }),
    ]
}

pub fn ops(base: i64, width: i64, max: usize) -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(base, width), 1..max)
}
