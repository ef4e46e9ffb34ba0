//! Any key and value: refused, or written again so that it reads the same.

use share_state_wire::state_record::{Decoded, decode, encode_key, encode_value};

/// Runs one input; tells whether it was a record.
pub fn run(data: &[u8]) -> bool {
    let [key_size, value_tag, rest @ ..] = data else {
        return false;
    };
    let (key, value) = rest.split_at(rest.len().min(usize::from(*key_size)));
    let value = (*value_tag != 0).then_some(value);
    let Ok(Decoded::Record(record)) = decode(key, value) else {
        return false;
    };
    assert_eq!(
        encode_key(&record).as_deref(),
        Ok(key),
        "a key has one form only"
    );
    let written = encode_value(&record.value);
    let Ok(written) = written else {
        unreachable!("what was read can be written")
    };
    assert!(
        written.as_ref().map(Vec::len) <= value.map(<[u8]>::len),
        "the shortest form"
    );
    assert_eq!(decode(key, written.as_deref()), Ok(Decoded::Record(record)));
    true
}
