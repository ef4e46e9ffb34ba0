//! A state as one record.

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::SharePartitionKey;
use share_state_core::records::{ShareRecord, ShareUpdate, ShareValue};

/// The one record that folds to a state: a snapshot. Of a state whose snapshot is missing it is an update, so that the state
/// stays known as incomplete.
#[must_use]
pub fn compacted(key: SharePartitionKey, state: &ShareGroupOffset) -> ShareRecord {
    let snapshot = state.to_snapshot();
    let value = if state.incomplete {
        ShareValue::Update(ShareUpdate {
            snapshot_epoch: snapshot.snapshot_epoch,
            leader_epoch: snapshot.leader_epoch,
            start_offset: snapshot.start_offset,
            delivery_complete_count: snapshot.delivery_complete_count,
            state_batches: snapshot.state_batches,
            unknown_tagged_fields: snapshot.unknown_tagged_fields,
        })
    } else {
        ShareValue::Snapshot(snapshot)
    };
    ShareRecord { key, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use share_state_core::ids::TopicId;
    use share_state_core::records::TaggedField;
    use share_state_core::state_batch::{StateBatch, StateBatches};

    #[test]
    fn the_record_of_a_state_folds_to_it() {
        let key = SharePartitionKey::new("g", TopicId([7; 16]), 3);
        let snapshot = ShareGroupOffset {
            snapshot_epoch: 4,
            state_epoch: 2,
            leader_epoch: 5,
            start_offset: 10,
            delivery_complete_count: 3,
            state_batches: StateBatches::from_batches(&[StateBatch {
                first_offset: 12,
                last_offset: 14,
                delivery_state: 2,
                delivery_count: 1,
            }]),
            create_timestamp: 100,
            write_timestamp: 200,
            unknown_tagged_fields: vec![TaggedField {
                tag: 9,
                data: vec![1, 2],
            }],
            incomplete: false,
        };
        // An update tells no state epoch and no times.
        let update = ShareGroupOffset {
            state_epoch: 0,
            create_timestamp: 0,
            write_timestamp: 0,
            incomplete: true,
            ..snapshot.clone()
        };
        for state in [snapshot, update] {
            let record = compacted(key.clone(), &state);
            assert_eq!(record.key, key);
            let mut folded = None;
            ShareGroupOffset::fold(&mut folded, &record.value);
            assert_eq!(folded, Some(state));
        }
    }
}
