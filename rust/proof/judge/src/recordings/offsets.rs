//! The suite `offsets_manager`: which beginning of a log may be dropped. Kafka keeps this in a class of its own; ours is what a
//! coordinator learns by replay, so an update of a key is a snapshot at that offset, and a deletion a tombstone.

use serde_json::Value;
use share_state_core::coordinator::{CoordinatorConfig, ShareCoordinator};
use share_state_core::ids::SharePartitionKey;
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareValue};

use super::cases::{Played, Player, Points, play_each};
use super::fields::{Unknown, arguments, flag, known, list, number, share_partition, text};

/// Kafka's "not set yet".
const UNSET: i64 = i64::MAX;

/// Plays a scenario.
///
/// # Errors
/// It has no operations.
pub fn play(scenario: &Value) -> Result<Played, Unknown> {
    play_each(scenario, &mut Offsets(None))
}

struct Offsets(Option<ShareCoordinator>);

impl Player for Offsets {
    const OPERATIONS: &'static [&'static str] = &["create", "updateState", "lastRedundantOffset"];

    fn step(&mut self, op: &Value, points: &mut Points) -> Result<(), Unknown> {
        let name = text(&op["op"])?;
        if name == "create" {
            known(op, &["op"], "create")?;
            self.0 = ShareCoordinator::new(CoordinatorConfig::default()).ok();
            return Ok(());
        }
        let coordinator = self.0.as_mut();
        let coordinator =
            coordinator.ok_or_else(|| Unknown("no coordinator was made".to_owned()))?;
        known(op, &["op", "args", "result", "state"], name)?;
        let state = &op["state"];
        known(state, &["offsets", "last_redundant"], "the state")?;
        if name == "updateState" {
            let [key, offset, is_deletion] = arguments(op)?;
            let value = if flag(is_deletion)? {
                ShareValue::Tombstone
            } else {
                ShareValue::Snapshot(SNAPSHOT)
            };
            let key = share_partition(key)?;
            coordinator.replay(number(offset)?, &ShareRecord { key, value });
        } else {
            let ours = coordinator.last_redundant_offset().into();
            points.same_json("last redundant offset", &op["result"], &ours);
        }
        // Kafka answers "nothing redundant" for offset 0 as well: there is nothing below it to drop.
        let held =
            Some(number(&state["last_redundant"])?).filter(|held| ![0, UNSET].contains(held));
        points.same(
            "last redundant offset held",
            &held,
            &coordinator.last_redundant_offset(),
        );
        let keys = match &state["offsets"] {
            Value::Object(fields) if fields.is_empty() => &[],
            offsets => list(offsets)?,
        };
        let keys: Result<Vec<SharePartitionKey>, Unknown> = keys
            .iter()
            .map(|entry| share_partition(&entry[0]))
            .collect();
        let mut keys = keys?;
        keys.sort_unstable();
        let mut ours: Vec<SharePartitionKey> =
            coordinator.states().map(|(key, _)| key.clone()).collect();
        ours.sort_unstable();
        points.same("keys with state", &keys, &ours);
        Ok(())
    }
}

const SNAPSHOT: ShareSnapshot = ShareSnapshot {
    snapshot_epoch: 0,
    state_epoch: 0,
    leader_epoch: 0,
    start_offset: 0,
    delivery_complete_count: 0,
    create_timestamp: 0,
    write_timestamp: 0,
    state_batches: Vec::new(),
    unknown_tagged_fields: Vec::new(),
};
