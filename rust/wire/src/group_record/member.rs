//! `ShareGroupMemberMetadataValue`: `RackId nullable · ClientId · ClientHost · SubscribedTopicNames[]`.

use std::sync::Arc;

use share_state_core::share_group::MemberMetadata;

use super::begin;
use crate::cursor::Reader;
use crate::error::WireError;
use crate::primitives::{
    array_len_size, read_array, read_nullable_string, read_string, skip_tags, string_size,
    write_array_len, write_string,
};
use crate::varint::write_unsigned;

pub(super) fn encode(value: &MemberMetadata) -> Result<Vec<u8>, WireError> {
    let mut out = begin();
    let texts = [
        value.rack_id.as_deref(),
        Some(&*value.client_id),
        Some(&*value.client_host),
    ];
    for text in texts {
        string_size(text)?;
        write_string(&mut out, text);
    }
    array_len_size(value.subscribed_topics.len())?;
    write_array_len(&mut out, value.subscribed_topics.len());
    for topic in &value.subscribed_topics {
        string_size(Some(topic))?;
        write_string(&mut out, Some(topic));
    }
    write_unsigned(&mut out, 0);
    Ok(out)
}

pub(super) fn read(r: &mut Reader<'_>) -> Result<MemberMetadata, WireError> {
    let mut value = MemberMetadata {
        rack_id: read_nullable_string(r)?.map(Arc::from),
        client_id: read_string(r)?.into(),
        client_host: read_string(r)?.into(),
        subscribed_topics: read_array(r, 1, |r| read_string(r).map(Arc::from))?,
    };
    value.subscribed_topics.sort_unstable();
    value.subscribed_topics.dedup();
    skip_tags(r)?;
    Ok(value)
}
