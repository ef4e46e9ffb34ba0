//! Bytes of both drafts: golden, wrong in some field, and wrong or cut anywhere. The other tests write and read every record that they
//! make.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, and `Option` has no other short way here"
)]

use proptest::prelude::*;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::state_batch::StateBatch;
use share_state_drafts::control::{self, ControlBody, ControlRecord};
use share_state_drafts::state_topic::{
    self, CheckpointEpochWidth, StateKey, StateRecord, StateValue,
};
use share_state_drafts::{DraftError, as_written};

const fn state(
    first_offset: i64,
    last_offset: i64,
    delivery_state: i8,
    delivery_count: i16,
) -> StateBatch {
    StateBatch {
        first_offset,
        last_offset,
        delivery_state,
        delivery_count,
    }
}

fn states() -> impl Strategy<Value = Vec<StateBatch>> {
    let one = (any::<i64>(), any::<i64>(), any::<i8>(), any::<i16>())
        .prop_map(|(first, last, id, count)| state(first, last, id, count));
    prop::collection::vec(one, 0..5)
}

fn control_record() -> impl Strategy<Value = ControlRecord> {
    let delta = states().prop_map(|states| ControlBody::Delta { states });
    let checkpoint =
        (any::<i64>(), any::<i64>(), states()).prop_map(|(start_offset, end_offset, states)| {
            ControlBody::Checkpoint {
                start_offset,
                end_offset,
                states,
            }
        });
    ("[a-zß]{1,9}", any::<u32>(), prop_oneof![delta, checkpoint]).prop_map(
        |(group, checkpoint_epoch, body)| ControlRecord {
            group,
            checkpoint_epoch,
            body,
        },
    )
}

fn state_record() -> impl Strategy<Value = StateRecord> {
    let key = (
        "[a-zß]{1,9}",
        any::<[u8; 16]>(),
        any::<i32>(),
        any::<Option<u8>>(),
    )
        .prop_map(|(group, topic, partition, delta_index)| StateKey {
            share_partition: SharePartitionKey::new(&group, TopicId(topic), partition),
            delta_index,
        });
    let value = (any::<u32>(), any::<u16>(), any::<i64>(), states()).prop_map(
        |(state_epoch, checkpoint_epoch, start_offset, states)| StateValue {
            state_epoch,
            checkpoint_epoch: checkpoint_epoch.into(),
            start_offset,
            states,
        },
    );
    (key, prop::option::of(value)).prop_map(|(key, value)| StateRecord { key, value })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Changes one byte, so that most of the record is still in form; some records are cut there.
    #[test]
    fn any_bytes_are_refused_or_written_again(
        control in control_record(),
        state in state_record(),
        at in any::<prop::sample::Index>(),
        by in prop_oneof![Just(1_u8), Just(u8::MAX), any::<u8>()],
        is_cut in prop::bool::weighted(0.2),
    ) {
        let mutated = |mut bytes: Vec<u8>| {
            let at = at.index(bytes.len());
            bytes[at] = bytes[at].wrapping_add(by);
            if is_cut {
                bytes.truncate(at);
            }
            bytes
        };
        let key = control::encode_key(&control);
        let value = mutated(control::encode_value(&control).unwrap());
        if let Ok(Some(read)) = control::decode(&key, &value) {
            prop_assert_eq!(control::encode_value(&read), Ok(value));
        }
        let key = mutated(state_topic::encode_key(&state.key).unwrap());
        if let Ok(read) = state_topic::decode_key(&key) {
            prop_assert_eq!(state_topic::encode_key(&read), Ok(key));
        }
        for width in [CheckpointEpochWidth::U16, CheckpointEpochWidth::U32] {
            let key = state_topic::encode_key(&state.key).unwrap();
            let value = state.value.as_ref().map(|value| mutated(state_topic::encode_value(value, width).unwrap()));
            if let Ok(StateRecord { value: Some(read), .. }) = state_topic::decode(&key, value.as_deref(), width) {
                prop_assert_eq!(state_topic::encode_value(&read, width).ok(), value);
            }
        }
    }
}

#[test]
fn golden_bytes_of_a_control_record() {
    let record = ControlRecord {
        group: "G1".to_owned(),
        checkpoint_epoch: 2,
        body: ControlBody::Checkpoint {
            start_offset: 110,
            end_offset: 111,
            states: vec![state(110, 110, 0, 1)],
        },
    };
    assert_eq!(control::encode_key(&record), [0, 0, 0, 5]);
    let value = hex(
        "0002 4731 00000002 000000000000006e 000000000000006f 00000001 \
                     000000000000006e 000000000000006e 00 0001",
    );
    assert_eq!(control::encode_value(&record), Ok(value));
    let delta = ControlRecord {
        body: ControlBody::Delta { states: vec![] },
        ..record
    };
    assert_eq!(control::encode_key(&delta), [0, 0, 0, 6]);
    let value = hex("0002 4731 00000002 00000000");
    assert_eq!(control::encode_value(&delta), Ok(value));
}

#[test]
fn golden_bytes_of_a_state_record() {
    let mut key = StateKey {
        share_partition: SharePartitionKey::new("G1", TopicId([7; 16]), 3),
        delta_index: None,
    };
    let checkpoint = hex("0000 0002 4731 07070707070707070707070707070707 00000003");
    assert_eq!(state_topic::encode_key(&key), Ok(checkpoint.clone()));
    key.delta_index = Some(255);
    let delta = [checkpoint, vec![0xff]].concat();
    assert_eq!(state_topic::encode_key(&key), Ok(delta));

    let value = StateValue {
        state_epoch: 1,
        checkpoint_epoch: 65_535,
        start_offset: -1,
        states: vec![],
    };
    let older = hex("00000001 ffff ffffffffffffffff 00000000");
    let later = hex("00000001 0000ffff ffffffffffffffff 00000000");
    let [u16, u32] = [CheckpointEpochWidth::U16, CheckpointEpochWidth::U32];
    assert_eq!(state_topic::encode_value(&value, u16), Ok(older));
    assert_eq!(state_topic::encode_value(&value, u32), Ok(later));
    let checkpoint_epoch = 65_536;
    let above = state_topic::encode_value(
        &StateValue {
            checkpoint_epoch,
            ..value
        },
        u16,
    );
    assert_eq!(above.unwrap_err().field, "CheckpointEpoch");
}

#[test]
fn bad_bytes_are_refused_with_their_field() {
    let control = |key: &str, value: &str| control::decode(&hex(key), &hex(value)).unwrap_err();
    let topic = |key: &str, value: &str| {
        let value = hex(value);
        state_topic::decode(&hex(key), Some(&value), CheckpointEpochWidth::U32).unwrap_err()
    };
    let key = "0000 0001 67 00000000000000000000000000000000 00000000";
    let cases = [
        (control("0001 0005", ""), "Version", 0),
        (control("0000", ""), "Type", 2),
        (control("0000 0005", "ffff"), "GroupId", 0),
        (control("0000 0006", "0002 c328"), "GroupId", 0),
        (control("0000 0006", "0001 67 0000"), "CheckpointEpoch", 3),
        (
            control("0000 0006", "0001 67 00000000 7fffffff"),
            "States",
            7,
        ),
        (topic("0000 0001 67 00", ""), "TopicId", 5),
        (topic(&format!("{key} 0000"), ""), "end of the record", 26),
        (topic(key, "00000000 00000000 00"), "StartOffset", 8),
    ];
    for (error, field, position) in cases {
        assert_eq!(error, DraftError { field, position });
    }
    for group in [String::new(), "g".repeat(32_768)] {
        let record = ControlRecord {
            group,
            checkpoint_epoch: 0,
            body: ControlBody::Delta { states: vec![] },
        };
        assert_eq!(control::encode_value(&record).unwrap_err().field, "GroupId");
    }
}

#[test]
fn another_control_record_is_passed_over_unread() {
    for other in [0, 1, 2, 3, 4, 7, -1] {
        let key = [[0, 0], i16::to_be_bytes(other)].concat();
        assert_eq!(control::decode(&key, b"anything"), Ok(None));
    }
}

#[test]
fn an_acquired_record_is_written_as_before_its_delivery() {
    assert_eq!(as_written(state(5, 9, 1, 1)), state(5, 9, 0, 0));
    assert_eq!(as_written(state(5, 9, 1, 3)), state(5, 9, 0, 2));
    assert_eq!(as_written(state(5, 9, 1, 0)), state(5, 9, 0, 0));
    for id in [0, 2, 3, 4, 99] {
        assert_eq!(as_written(state(5, 9, id, 3)), state(5, 9, id, 3));
    }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |c: u8| char::from(c).to_digit(16).unwrap() as u8;
    digits
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}
