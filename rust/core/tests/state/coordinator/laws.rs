//! Laws that hold after every step of any sequence of requests, refused ones included.

use std::collections::BTreeMap;

use proptest::prelude::*;
use share_state_core::coordinator::ShareCoordinator;
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::WriteState;
use share_state_core::state_batch::StateBatch;

use super::support::{Owner, TOPIC, b};

#[derive(Clone, Debug)]
enum Step {
    Initialize(usize, i32, i64),
    Read(usize, i32),
    Write(usize, WriteState),
    Delete(usize),
    ColdSnapshots,
    TopicDeleted,
    LogTruncated(i64),
    Wait(i64),
}

const GROUPS: [&str; 3] = ["a", "b", "c:d"];

fn batch() -> impl Strategy<Value = StateBatch> {
    let state = prop_oneof![Just(0i8), Just(2), Just(3), Just(4)];
    let well_formed = (0..30i64, 0..8i64, state, 0..4i16)
        .prop_map(|(first, length, state, count)| b(first, first + length, state, count));
    prop_oneof![30 => well_formed, 1 => Just(b(5, 4, 2, 1)), 1 => Just(b(0, 0, 1, 1))]
}

fn write() -> impl Strategy<Value = WriteState> {
    let batches = prop::collection::vec(batch(), 0..4);
    (0..3i32, 0..3i32, -1..20i64, -1..9i32, batches).prop_map(
        |(state_epoch, leader_epoch, start_offset, delivery_complete_count, state_batches)| {
            WriteState {
                state_epoch,
                leader_epoch,
                start_offset,
                delivery_complete_count,
                state_batches,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let group = 0..GROUPS.len();
    prop_oneof![
        3 => (group.clone(), 0..3i32, -1..12i64).prop_map(|(g, e, s)| Step::Initialize(g, e, s)),
        2 => (group.clone(), -1..3i32).prop_map(|(g, e)| Step::Read(g, e)),
        8 => (group.clone(), write()).prop_map(|(g, w)| Step::Write(g, w)),
        1 => group.prop_map(Step::Delete),
        1 => Just(Step::ColdSnapshots),
        1 => Just(Step::TopicDeleted),
        1 => (-1..25i64).prop_map(Step::LogTruncated),
        1 => (0..20_000i64).prop_map(Step::Wait),
    ]
}

fn take(owner: &mut Owner, step: &Step) {
    match step {
        Step::Initialize(group, epoch, start) => {
            let _ = owner.initialize(GROUPS[*group], *epoch, *start);
        }
        Step::Read(group, epoch) => {
            let _ = owner.read(GROUPS[*group], *epoch);
        }
        Step::Write(group, request) => {
            let _ = owner.write(GROUPS[*group], request);
        }
        Step::Delete(group) => {
            let _ = owner.delete(GROUPS[*group]);
        }
        Step::ColdSnapshots => {
            owner.cold_snapshots();
        }
        Step::TopicDeleted => {
            let records = owner.coordinator.decide_topics_deleted(&[TOPIC]);
            owner.append(&records);
        }
        Step::LogTruncated(offset) => {
            let now = owner.now;
            let records = owner
                .coordinator
                .decide_log_truncated(TOPIC, 0, *offset, now);
            owner.append(&records);
        }
        Step::Wait(ms) => owner.now.0 += ms,
    }
}

type Seen = Vec<(SharePartitionKey, ShareGroupOffset)>;

fn states(coordinator: &ShareCoordinator) -> Seen {
    let seen = coordinator.states();
    seen.map(|(key, state)| (key.clone(), state.clone()))
        .collect()
}

/// Leader epoch and state epoch that fence, and the updates since the last snapshot.
type Counters = (Option<i32>, Option<i32>, u32);

/// Everything that can be asked of a coordinator.
fn everything(coordinator: &ShareCoordinator) -> (Seen, Vec<Counters>, Option<i64>) {
    let counters = coordinator.states().map(|(key, _)| {
        (
            coordinator.highest_leader_epoch(key),
            coordinator.highest_state_epoch(key),
            coordinator.updates_since_snapshot(key),
        )
    });
    (
        states(coordinator),
        counters.collect(),
        coordinator.last_redundant_offset(),
    )
}

/// The obvious twin of one key within one state epoch: one entry an offset, nothing ever goes back.
#[derive(Default)]
struct Model {
    start_offset: i64,
    delivery_complete_count: i32,
    offsets: BTreeMap<i64, (i16, i8)>,
}

impl Model {
    fn write(&mut self, request: &WriteState) {
        for batch in &request.state_batches {
            for offset in batch.first_offset..=batch.last_offset {
                let delivery = (batch.delivery_count, batch.delivery_state);
                let held = self.offsets.entry(offset).or_insert(delivery);
                *held = delivery.max(*held);
            }
        }
        if request.start_offset > self.start_offset {
            self.start_offset = request.start_offset;
            self.delivery_complete_count = request.delivery_complete_count;
        } else if request.start_offset == self.start_offset {
            self.delivery_complete_count = self
                .delivery_complete_count
                .max(request.delivery_complete_count);
        }
        let start_offset = self.start_offset;
        self.offsets.retain(|offset, _| *offset >= start_offset);
    }
}

fn per_offset(state: &ShareGroupOffset) -> BTreeMap<i64, (i16, i8)> {
    let batches = state.state_batches.iter();
    batches
        .flat_map(|batch| {
            let delivery = (batch.delivery_count, batch.delivery_state);
            (batch.first_offset..=batch.last_offset).map(move |offset| (offset, delivery))
        })
        .collect()
}

proptest! {
    /// AKCORE-167, row 69: what is in memory is what a load of the log gives, after every step.
    #[test]
    fn the_state_is_the_replay_of_the_log(
        steps in prop::collection::vec(step(), 1..40), updates in 0..4u32,
    ) {
        let mut owner = Owner::new(updates);
        for step in &steps {
            take(&mut owner, step);
            prop_assert_eq!(everything(&owner.coordinator), everything(&owner.loaded_from(0)), "after {:?}", step);
        }
    }

    #[test]
    fn a_pruned_log_loads_to_the_same_states(
        steps in prop::collection::vec(step(), 1..40), updates in 0..4u32,
    ) {
        let mut owner = Owner::new(updates);
        for step in &steps {
            take(&mut owner, step);
            let kept = owner.coordinator.last_redundant_offset().unwrap_or(0);
            let loaded = owner.loaded_from(usize::try_from(kept).unwrap());
            prop_assert_eq!(states(&owner.coordinator), states(&loaded));
        }
    }

    #[test]
    fn replaying_the_log_twice_gives_the_same_states(steps in prop::collection::vec(step(), 1..40)) {
        let mut owner = Owner::new(3);
        for step in &steps {
            take(&mut owner, step);
        }
        let mut twice = owner.loaded_from(0);
        for (offset, record) in owner.log.iter().enumerate() {
            twice.replay(i64::try_from(offset).unwrap(), record);
        }
        prop_assert_eq!(states(&owner.coordinator), states(&twice));
    }

    /// Within a state epoch neither the start offset nor the leader epoch goes back.
    #[test]
    fn nothing_goes_back_within_a_state_epoch(steps in prop::collection::vec(step(), 1..60)) {
        let mut owner = Owner::new(2);
        for step in &steps {
            let before = states(&owner.coordinator);
            take(&mut owner, step);
            if matches!(step, Step::Initialize(..)) {
                continue;
            }
            for (key, old) in before {
                if let Some(new) = owner.coordinator.state(&key) {
                    if let Step::LogTruncated(offset) = step {
                        let kept: BTreeMap<_, _> = per_offset(&old).into_iter().filter(|(at, _)| at < offset).collect();
                        prop_assert_eq!(per_offset(new), kept);
                        prop_assert_eq!(new.start_offset, old.start_offset.min((*offset).max(0)));
                        if new.state_epoch > old.state_epoch {
                            continue;
                        }
                    }
                    prop_assert!(new.start_offset >= old.start_offset);
                    prop_assert!(new.leader_epoch >= old.leader_epoch);
                    prop_assert!(new.snapshot_epoch >= old.snapshot_epoch);
                    prop_assert_eq!(new.state_epoch, old.state_epoch);
                }
            }
        }
    }

    /// Whatever of its writes become snapshots, a key is the maximum of what was written to it.
    #[test]
    fn writes_fold_like_one_entry_an_offset(
        writes in prop::collection::vec(write(), 0..20), start in 0..10i64, updates in 0..4u32,
    ) {
        let mut owner = Owner::new(updates);
        owner.initialize("g", 0, start).unwrap();
        let mut model = Model { start_offset: start, ..Model::default() };
        for request in &writes {
            if owner.write("g", request).is_ok() {
                model.write(request);
            }
            let state = owner.state("g");
            prop_assert_eq!(state.start_offset, model.start_offset);
            prop_assert_eq!(state.delivery_complete_count, model.delivery_complete_count);
            prop_assert_eq!(&per_offset(state), &model.offsets);
        }
    }

    /// There is no sequence number on writes: late, doubled and reordered ones must converge.
    #[test]
    fn writes_converge_in_any_order_and_number(
        (writes, other) in prop::collection::vec(write(), 1..10).prop_flat_map(|writes| {
            let doubled = [writes.clone(), writes.clone()].concat();
            (Just(writes), Just(doubled).prop_shuffle())
        }),
    ) {
        let mut seen = Vec::new();
        for sequence in [&writes, &other] {
            let mut owner = Owner::new(3);
            owner.initialize("g", 0, 0).unwrap();
            for request in sequence {
                let _ = owner.write("g", request);
            }
            let state = owner.state("g");
            seen.push((
                state.start_offset,
                state.delivery_complete_count,
                state.state_batches.clone(),
            ));
        }
        prop_assert_eq!(&seen[0], &seen[1]);
    }
}
