//! Made-up logs: records as brokers write them, and as they should not.

use proptest::prelude::*;
use share_state_analysis::input::Input;
use share_state_core::history::At;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::state_batch::StateBatch;
use share_state_wire::state_record::{encode_key, encode_value};

/// A record of the state topic, and where it stands.
#[derive(Clone, Debug)]
pub struct Logged {
    pub partition: u32,
    pub at: At,
    pub record: ShareRecord,
    pub key: Vec<u8>,
    pub value: Option<Vec<u8>>,
}

impl Logged {
    pub fn input(&self) -> Input<'_> {
        Input {
            topic: None,
            partition: i32::try_from(self.partition).ok(),
            offset: Some(self.at.offset),
            timestamp: Some(self.at.timestamp),
            key: Some(&self.key),
            value: self.value.as_deref(),
        }
    }
}

pub fn key(n: i32) -> SharePartitionKey {
    SharePartitionKey::new("g", TopicId([7; 16]), n)
}

fn offset() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0..40i64, 1 => i64::MAX - 20..=i64::MAX, 1 => -3..0i64]
}

fn batch() -> impl Strategy<Value = StateBatch> {
    (offset(), -2..12i64, -1..6i8, -1..5i16).prop_map(|(first, length, state, count)| StateBatch {
        first_offset: first,
        last_offset: first.saturating_add(length),
        delivery_state: state,
        delivery_count: count,
    })
}

fn start_offset() -> impl Strategy<Value = i64> {
    prop_oneof![3 => Just(-1), 6 => 0..50i64, 1 => i64::MAX - 20..=i64::MAX]
}

fn value() -> impl Strategy<Value = ShareValue> {
    let batches = || prop::collection::vec(batch(), 0..5);
    let figures = || {
        (
            0..3i32,
            0..2i32,
            -1..3i32,
            start_offset(),
            -1..9i32,
            batches(),
        )
    };
    let snapshot = figures().prop_map(
        |(snapshot_epoch, state_epoch, leader_epoch, start_offset, count, state_batches)| {
            ShareValue::Snapshot(ShareSnapshot {
                snapshot_epoch,
                state_epoch,
                leader_epoch,
                start_offset,
                delivery_complete_count: count,
                create_timestamp: 1,
                write_timestamp: 1,
                state_batches,
                unknown_tagged_fields: Vec::new(),
            })
        },
    );
    let update = figures().prop_map(
        |(snapshot_epoch, _, leader_epoch, start_offset, count, state_batches)| {
            ShareValue::Update(ShareUpdate {
                snapshot_epoch,
                leader_epoch,
                start_offset,
                delivery_complete_count: count,
                state_batches,
                unknown_tagged_fields: Vec::new(),
            })
        },
    );
    prop_oneof![3 => snapshot, 12 => update, 1 => Just(ShareValue::Tombstone)]
}

/// Records of a few share partitions in two state partitions, in order of state partition and offset, with gaps between
/// offsets and times that may go back.
pub fn log() -> impl Strategy<Value = Vec<Logged>> {
    let record = (0..2u32, 0..3i32, 1..4i64, -2..9i64, value());
    prop::collection::vec(record, 1..40).prop_map(|records| {
        let mut at = At {
            offset: 0,
            timestamp: 100,
        };
        let mut log: Vec<_> = records
            .into_iter()
            .map(|(partition, n, skipped, passed, value)| {
                at.offset += skipped;
                at.timestamp += passed;
                let record = ShareRecord { key: key(n), value };
                Logged {
                    partition,
                    at,
                    key: encode_key(&record).unwrap(),
                    value: encode_value(&record.value).unwrap(),
                    record,
                }
            })
            .collect();
        log.sort_by_key(|logged| logged.partition);
        log
    })
}
