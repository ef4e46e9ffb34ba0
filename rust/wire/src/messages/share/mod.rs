//! ShareFetch (78) and ShareAcknowledge (79) as types, for the path that every record takes: a request is read in place, and
//! nothing but its lists is allocated. The answer to ShareFetch, which carries records, is
//! [`ShareFetchAnswer`](super::data::ShareFetchAnswer).
//!
//! The tables of [`super::protocol`] say the same, field by field, and are the slow twin: the tests compare the two over random
//! messages, damaged ones too, in every version.

mod answer;
mod request;

pub use answer::{
    AcknowledgedPartition, LeaderHint, NodeEndpoint, ShareAcknowledgeAnswer, TopicAcknowledged,
};
pub use request::{
    AcknowledgementBatch, PartitionAcknowledgements, ShareAcknowledgeRequest, ShareFetchRequest,
    TopicAcknowledgements,
};

use super::field::Field;
use super::protocol::apis::SHARE_FETCH;
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};

/// Bytes of the length before a frame, which it does not count, of the correlation id, and of the tagged fields of the header,
/// of which there are none.
const FRAME_START: usize = 4 + 4 + 1;

/// Reads a message, without its header. What follows it is skipped, as Kafka's own readers do: librdkafka sends more than the
/// message in some versions. Its arrays have at most `elements` elements altogether.
fn decode<'a, M: Field<'a>>(buf: &'a [u8], version: i16, elements: usize) -> Result<M, WireError> {
    check_version(version).map_err(|kind| WireError::new(0, kind))?;
    M::read(&mut Reader::new(buf).within(elements), version)
}

/// The bytes of a message, after those that `start` bytes are left for.
fn encode<'a>(message: &impl Field<'a>, version: i16, start: usize) -> Result<Vec<u8>, WireError> {
    check_version(version).map_err(WireError::unwritable)?;
    let mut out = Vec::with_capacity(start + message.size(version)?);
    out.resize(start, 0);
    message.write(&mut out, version);
    Ok(out)
}

/// Checks a version of either message: both have the same.
pub(super) fn check_version(version: i16) -> Result<(), WireErrorKind> {
    if SHARE_FETCH.versions.contains(&version) {
        return Ok(());
    }
    Err(WireErrorKind::UnsupportedVersion { version })
}

#[cfg(test)]
mod tests;
