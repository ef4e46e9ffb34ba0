//! Any record of the earlier drafts: refused, or written again with the same bytes.

use share_state_drafts::control;
use share_state_drafts::state_topic::{
    CheckpointEpochWidth, StateRecord, decode, encode_key, encode_value,
};

/// Runs one input: the form (0 for a control record, else the width of the epoch by its lowest bit), the length of the key, 0 for
/// a null value, key, value. Tells whether it was a record.
pub fn run(data: &[u8]) -> bool {
    let [form, key_size, value_tag, rest @ ..] = data else {
        return false;
    };
    let (key, value) = rest.split_at(rest.len().min(usize::from(*key_size)));
    let width = match form {
        0 => return run_control(key, value),
        form if form & 1 == 0 => CheckpointEpochWidth::U16,
        _ => CheckpointEpochWidth::U32,
    };
    let value = (*value_tag != 0).then_some(value);
    let Ok(StateRecord {
        key: read,
        value: told,
    }) = decode(key, value, width)
    else {
        return false;
    };
    assert_eq!(encode_key(&read).as_deref(), Ok(key));
    let written = told.map(|told| encode_value(&told, width));
    let Ok(written) = written.transpose() else {
        unreachable!("what was read can be written")
    };
    assert_eq!(written.as_deref(), value);
    true
}

fn run_control(key: &[u8], value: &[u8]) -> bool {
    let Ok(Some(record)) = control::decode(key, value) else {
        return false;
    };
    assert_eq!(control::encode_key(&record), key);
    assert_eq!(control::encode_value(&record).as_deref(), Ok(value));
    true
}
