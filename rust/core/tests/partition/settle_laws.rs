//! Settling inside the call, after it, and polling are the same: whatever the persister answers, all leave the same state.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests may fail loudly"
)]

use proptest::collection::vec;
use proptest::prelude::*;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{
    InlinePersister, LentWrite, NoOpStatePersister, ReadStateResult, WritePersister, WriteState,
    WriteStateRef, WriteToken,
};
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, FetchedBatch, Settlement, SharePartition,
    Status, member_code,
};
use share_state_core::time::LockTime;

const MEMBERS: [&str; 2] = ["alice", "bob"];

/// Answers as it is told, in turn, and keeps what it is given.
#[derive(Clone, Default)]
struct Scripted {
    answers: Vec<KafkaCode>,
    kept: Vec<WriteState>,
}

impl Scripted {
    fn answer(&self) -> KafkaCode {
        let turn = self.kept.len() % self.answers.len().max(1);
        self.answers.get(turn).copied().unwrap_or(KafkaCode::None)
    }
}

impl InlinePersister for Scripted {
    fn write_state(&mut self, key: &SharePartitionKey, state: WriteStateRef<'_>) -> KafkaCode {
        assert_eq!(key.partition, 7, "the key of the share partition");
        let answer = self.answer();
        self.kept.push(state.to_write_state());
        answer
    }
}

/// Answers some writes later: those whose turn has a bit in `turns`.
struct AtTimes {
    persister: Scripted,
    turns: u8,
    /// Token, whether a member waits, and the answer.
    later: Vec<(WriteToken, bool, KafkaCode)>,
}

impl WritePersister for AtTimes {
    fn take(&mut self, write: LentWrite<'_>) -> Option<KafkaCode> {
        let turn = self.persister.kept.len() % 8;
        let code = self.persister.write_state(write.key, write.state);
        // Answers come in the order of the writes.
        if self.turns >> turn & 1 == 0 && self.later.is_empty() {
            return Some(code);
        }
        self.later.push((write.token, write.is_awaited, code));
        None
    }
}

impl AtTimes {
    /// Tells the answers that are left, and what they lead to.
    fn tell<S: InFlightStore>(&mut self, sp: &mut SharePartition<S>, settlement: &mut Settlement) {
        while !self.later.is_empty() {
            for (token, is_awaited, code) in core::mem::take(&mut self.later) {
                sp.settle_one(token, is_awaited, code, settlement);
            }
            settlement.join(sp.settle(self));
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Acquire {
        member: usize,
        max_records: i32,
    },
    Acknowledge {
        member: usize,
        first: i64,
        len: i64,
        id: i8,
    },
    /// Ranges after each other: how far apart, how long, and a type for all or one for each record.
    AcknowledgeMany {
        member: usize,
        first: i64,
        ranges: Vec<(i64, i64, Vec<i8>)>,
    },
    Release {
        member: usize,
    },
    Timeout {
        after_ms: i64,
    },
    LogStart {
        ahead: i64,
    },
}

/// Mostly accepted, so that many requests are of one type.
fn one_range() -> impl Strategy<Value = (i64, i64, Vec<i8>)> {
    let id = || prop_oneof![4 => Just(1_i8), 1 => 0..5_i8];
    let gap = prop_oneof![9 => 1..4_i64, 1 => Just(0_i64)];
    let types = (1..5_i64).prop_flat_map(move |len| {
        let each = vec(id(), len as usize);
        prop_oneof![3 => id().prop_map(|id| vec![id]), 1 => each]
            .prop_map(move |types| (len, types))
    });
    (gap, types).prop_map(|(gap, (len, types))| (gap, len, types))
}

fn op() -> impl Strategy<Value = Op> {
    let member = 0..MEMBERS.len();
    prop_oneof![
        4 => (member.clone(), 1..30).prop_map(|(member, max_records)| Op::Acquire { member, max_records }),
        6 => (member.clone(), -3..40_i64, 1..12_i64, 0..5_i8)
            .prop_map(|(member, first, len, id)| Op::Acknowledge { member, first, len, id }),
        6 => (member.clone(), -3..10_i64, vec(one_range(), 1..9))
            .prop_map(|(member, first, ranges)| Op::AcknowledgeMany { member, first, ranges }),
        1 => member.prop_map(|member| Op::Release { member }),
        1 => (1..150_i64).prop_map(|after_ms| Op::Timeout { after_ms }),
        1 => (0..6_i64).prop_map(|ahead| Op::LogStart { ahead }),
    ]
}

fn answers() -> impl Strategy<Value = Vec<KafkaCode>> {
    let answer = prop_oneof![
        // What fences ends the sequence for the most part.
        30 => Just(KafkaCode::None),
        10 => Just(KafkaCode::CoordinatorNotAvailable),
        1 => Just(KafkaCode::FencedLeaderEpoch),
    ];
    vec(answer, 1..7)
}

fn active<S: InFlightStore>() -> SharePartition<S> {
    with_dead_letters::<S>(false)
}

fn with_dead_letters<S: InFlightStore>(dead_letter_queue: bool) -> SharePartition<S> {
    let config = ShareGroupConfig {
        dead_letter_queue,
        record_lock_duration_ms: 100,
        delivery_count_limit: 3,
        ..ShareGroupConfig::default()
    };
    let key = SharePartitionKey::new(
        "group",
        TopicId::parse("07070707-0707-0707-0707-070707070707").unwrap(),
        7,
    );
    let mut sp = SharePartition::new(key, 3, config).unwrap();
    sp.initialize(ReadStateResult {
        state_epoch: 2,
        start_offset: 0,
        state_batches: Vec::new(),
    })
    .unwrap();
    sp
}

/// Member and batches of an acknowledgement, if that is what the operation is; its offsets count from the start offset.
fn request(op: &Op, start_offset: i64) -> Option<(&'static str, Vec<AcknowledgeBatch<'_>>)> {
    let batch = |first, len, types| AcknowledgeBatch {
        first,
        last: first + len - 1,
        types,
    };
    match op {
        Op::Acknowledge {
            member,
            first,
            len,
            id,
        } => {
            let one = batch(start_offset + first, len, core::slice::from_ref(id));
            Some((MEMBERS[*member], vec![one]))
        }
        Op::AcknowledgeMany {
            member,
            first,
            ranges,
        } => {
            let mut last = start_offset + first;
            let batches = ranges.iter().map(|(gap, len, types)| {
                let next = batch(last + gap, len, types);
                last = next.last;
                next
            });
            Some((MEMBERS[*member], batches.collect()))
        }
        _ => None,
    }
}

/// Makes the call and returns its answer as text: the same calls must answer the same.
fn call<S: InFlightStore>(sp: &mut SharePartition<S>, op: &Op, now: &mut i64) -> String {
    match *op {
        Op::Acquire {
            member,
            max_records,
        } => {
            let base = sp.next_fetch_offset();
            let fetched = [
                FetchedBatch::plain(base, base + 9),
                FetchedBatch::plain(base + 10, base + 19),
            ];
            let request = AcquireRequest {
                member: MEMBERS[member],
                mode: AcquireMode::RecordLimit,
                batch_size: 5,
                max_records,
                fetch_offset: base,
                fetched: &fetched,
                aborted: None,
            };
            format!("{:?}", sp.acquire(&request, LockTime(*now)))
        }
        Op::Acknowledge { .. } | Op::AcknowledgeMany { .. } => {
            let (member, batches) = request(op, sp.start_offset()).unwrap();
            // The token is the same too: each made the same writes.
            format!("{:?}", sp.acknowledge(member, &batches, LockTime(*now)))
        }
        Op::Release { member } => format!("{:?}", sp.release(MEMBERS[member], LockTime(*now))),
        Op::Timeout { after_ms } => {
            *now += after_ms;
            format!("{:?}", sp.handle_timeout(LockTime(*now)))
        }
        Op::LogStart { ahead } => {
            format!("{:?}", sp.move_log_start_offset(sp.start_offset() + ahead))
        }
    }
}

/// The same by hand.
fn polled<S: InFlightStore>(
    sp: &mut SharePartition<S>,
    persister: &mut Scripted,
    now: i64,
) -> Settlement {
    let mut settlement = Settlement::default();
    let mut member = KafkaCode::None;
    while let Some(write) = sp.poll_write() {
        let code = persister.answer();
        persister.kept.push(write.state);
        let answer = sp
            .handle_write_result(write.token, code, LockTime(now))
            .unwrap();
        assert_eq!(answer.member_code, member_code(code));
        settlement.add(false, code, answer);
        if member == KafkaCode::None {
            member = answer.member_code;
        }
    }
    // Whom a write is for it cannot know.
    settlement.member_code = member;
    settlement
}

fn view<S: InFlightStore>(sp: &SharePartition<S>) -> String {
    sp.check().unwrap();
    format!(
        "{:?} {:?} {:?}",
        sp.in_flight().collect::<Vec<_>>(),
        sp.counters(),
        (
            sp.start_offset(),
            sp.end_offset(),
            sp.delivery_complete_count(),
            sp.writes_under_way(),
        )
    )
}

/// The call with the settling inside it, where there is one that does.
fn settled_within<S: InFlightStore>(
    sp: &mut SharePartition<S>,
    op: &Op,
    now: &mut i64,
    persister: &mut impl WritePersister,
) -> Settlement {
    if let Op::Release { member } = *op {
        let released = sp.release_and_settle(MEMBERS[member], LockTime(*now), persister);
        return released.1;
    }
    let Some((member, batches)) = request(op, sp.start_offset()) else {
        call(sp, op, now);
        return sp.settle(persister);
    };
    sp.acknowledge_and_settle(member, &batches, LockTime(*now), persister)
        .unwrap_or_else(|_| sp.settle(persister))
}

fn same<S: InFlightStore>(ops: &[Op], answers: &[KafkaCode], turns: u8, dead_letters: bool) {
    let new = || with_dead_letters::<S>(dead_letters);
    let (mut inline, mut by_hand, mut within, mut beside) = (new(), new(), new(), new());
    let mut persister = Scripted {
        answers: answers.to_vec(),
        kept: Vec::new(),
    };
    let (mut other, mut third) = (persister.clone(), persister.clone());
    let mut at_times = AtTimes {
        persister: persister.clone(),
        turns,
        later: Vec::new(),
    };
    let mut times = (0, 0);
    for op in ops {
        let mut now = times.0;
        let mut fourth = settled_within(&mut beside, op, &mut now, &mut at_times);
        at_times.tell(&mut beside, &mut fourth);
        let mut now = times.0;
        let first = settled_within(&mut within, op, &mut now, &mut third);
        assert_eq!(
            call(&mut inline, op, &mut times.0),
            call(&mut by_hand, op, &mut times.1)
        );
        let settlement = inline.settle(&mut persister);
        assert_eq!(first, settlement, "{op:?}");
        assert_eq!(view(&within), view(&inline), "{op:?}");
        assert_eq!(first, fourth, "{op:?}");
        assert_eq!(view(&beside), view(&inline), "{op:?}");
        let expected = polled(&mut by_hand, &mut other, times.1);
        assert_eq!(
            (settlement.writes, settlement.refused, settlement.fences),
            (expected.writes, expected.refused, expected.fences),
            "{op:?}"
        );
        // A time-out and a move of the log start are nobody's request.
        let nobody_waits = matches!(
            op,
            Op::Timeout { .. } | Op::LogStart { .. } | Op::Acquire { .. }
        );
        if nobody_waits {
            assert_eq!(settlement.member_code, KafkaCode::None, "{op:?}");
        } else if settlement.writes == 1 {
            assert_eq!(settlement.member_code, expected.member_code, "{op:?}");
        }
        assert_eq!(view(&inline), view(&by_hand), "{op:?}");
        assert_eq!(inline.writes_to_poll(), 0);
    }
    assert_eq!(persister.kept, other.kept);
    assert_eq!(persister.kept, third.kept);
    assert_eq!(persister.kept, at_times.persister.kept);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn settling_and_polling_leave_the_same_behind(
        ops in vec(op(), 1..60),
        answers in answers(),
        turns in any::<u8>(),
        dead_letters in any::<bool>(),
    ) {
        same::<IntervalStore>(&ops, &answers, turns, dead_letters);
        same::<TwinStore>(&ops, &answers, turns, dead_letters);
    }
}

const ACCEPT_FIVE: Op = Op::Acknowledge {
    member: 0,
    first: 0,
    len: 5,
    id: 1,
};

/// Ten records in the hands of the first member, and the time.
fn acquired() -> (SharePartition<IntervalStore>, i64) {
    let (mut sp, mut now) = (active(), 0);
    let ten = Op::Acquire {
        member: 0,
        max_records: 10,
    };
    call(&mut sp, &ten, &mut now);
    (sp, now)
}

#[test]
fn a_refusal_undoes_the_change_and_names_the_code_for_the_member() {
    let (mut sp, mut now) = acquired();
    let before = format!("{:?}", sp.in_flight().collect::<Vec<_>>());
    call(&mut sp, &ACCEPT_FIVE, &mut now);
    let mut refusing = Scripted {
        answers: vec![KafkaCode::FencedStateEpoch],
        kept: Vec::new(),
    };
    let expected = Settlement {
        writes: 1,
        member_code: KafkaCode::NotLeaderOrFollower,
        persister_code: KafkaCode::FencedStateEpoch,
        refused: KafkaCode::FencedStateEpoch,
        fences: true,
    };
    assert_eq!(sp.settle(&mut refusing), expected);
    assert_eq!(format!("{:?}", sp.in_flight().collect::<Vec<_>>()), before);
    assert_eq!(
        sp.settle(&mut refusing),
        Settlement::default(),
        "there is nothing more"
    );
    assert_eq!(sp.status(), Status::Fenced);

    let (mut sp, mut now) = acquired();
    call(&mut sp, &ACCEPT_FIVE, &mut now);
    assert_eq!(
        sp.settle(&mut NoOpStatePersister),
        Settlement {
            writes: 1,
            ..Settlement::default()
        }
    );
    assert_eq!(sp.start_offset(), 5);
}

#[test]
fn nobody_waits_for_the_write_of_a_time_out() {
    let (mut sp, mut now) = acquired();
    call(&mut sp, &Op::Timeout { after_ms: 100 }, &mut now);
    let mut refusing = Scripted {
        answers: vec![KafkaCode::NotCoordinator],
        kept: Vec::new(),
    };
    let settlement = sp.settle(&mut refusing);
    assert_eq!(
        (settlement.writes, settlement.member_code),
        (1, KafkaCode::None)
    );
    assert_eq!(
        (settlement.refused, settlement.fences),
        (KafkaCode::NotCoordinator, false)
    );
    assert!(sp.can_acquire(), "memory keeps the change");
}
