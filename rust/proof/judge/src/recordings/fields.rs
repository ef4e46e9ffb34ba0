//! Reading what was recorded, strictly.

use serde_json::{Map, Value};
use share_state_core::ids::{SharePartitionKey, TopicId};

use crate::bytes::from_hex;

/// Something that is not of the format, so it must not be guessed at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(pub String);

/// Refuses fields that nobody looks at.
pub fn known(value: &Value, allowed: &[&str], what: &str) -> Result<(), Unknown> {
    let object = object(value).map_err(|_| Unknown(format!("{what} is not an object")))?;
    let mut names = object.keys().map(String::as_str);
    match names.find(|name| !allowed.contains(name)) {
        Some(name) => Err(Unknown(format!("{what} has an unknown field {name}"))),
        None => Ok(()),
    }
}

/// The integer, if it fits.
pub fn number<T: TryFrom<i64>>(value: &Value) -> Result<T, Unknown> {
    value
        .as_i64()
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| Unknown(format!("{value} where a number is expected")))
}

/// The text.
pub fn text(value: &Value) -> Result<&str, Unknown> {
    value
        .as_str()
        .ok_or_else(|| Unknown(format!("{value} where a text is expected")))
}

/// Returns true if the text is `yes`; otherwise it must be `no`.
pub fn either(value: &Value, yes: &str, no: &str) -> Result<bool, Unknown> {
    match text(value)? {
        found if found == yes => Ok(true),
        found if found == no => Ok(false),
        found => Err(Unknown(format!("{found} where {yes} or {no} is expected"))),
    }
}

/// Yes or no.
pub fn flag(value: &Value) -> Result<bool, Unknown> {
    value
        .as_bool()
        .ok_or_else(|| Unknown(format!("{value} where true or false is expected")))
}

/// The list.
pub fn list(value: &Value) -> Result<&[Value], Unknown> {
    value
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| Unknown(format!("{value} where a list is expected")))
}

/// The arguments of an operation, which are so many.
pub fn arguments<const N: usize>(op: &Value) -> Result<&[Value; N], Unknown> {
    let args = list(&op["args"])?;
    args.try_into()
        .map_err(|_| Unknown(format!("{} arguments where {N} are expected", args.len())))
}

/// The topic id, in any of its spellings.
pub fn topic_id(value: &Value) -> Result<TopicId, Unknown> {
    let spelt = text(value)?;
    // Standard base64 occurs too, padded.
    let plain = spelt
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    TopicId::parse(&plain).ok_or_else(|| Unknown(format!("{spelt} is no topic id")))
}

/// An object.
pub fn object(value: &Value) -> Result<&Map<String, Value>, Unknown> {
    value
        .as_object()
        .ok_or_else(|| Unknown(format!("{value} where an object is expected")))
}

/// Bytes.
pub fn bytes(value: &Value) -> Result<Vec<u8>, Unknown> {
    from_hex(text(value)?).ok_or_else(|| Unknown(format!("{value} is no hexadecimal")))
}

/// A share partition.
pub fn share_partition(key: &Value) -> Result<SharePartitionKey, Unknown> {
    known(key, &["group", "topic_id", "partition"], "a key")?;
    let (group, topic_id) = (text(&key["group"])?, topic_id(&key["topic_id"])?);
    Ok(SharePartitionKey::new(
        group,
        topic_id,
        number(&key["partition"])?,
    ))
}
