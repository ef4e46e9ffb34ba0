//! Ids of the group, the topic and the partition that a share-partition state belongs to.

use core::fmt;
use core::str::FromStr;
use std::sync::Arc;

pub use crate::util::quick_hash::QuickHash;

/// Id of a topic: 16 bytes, written either as hyphenated UUID or as Kafka's unpadded URL-safe base64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TopicId(pub [u8; 16]);

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl TopicId {
    /// The id that stands for "no topic"; no share partition has it (Kafka: `Uuid.ZERO_UUID`).
    pub const ZERO: Self = Self([0; 16]);

    /// Parses a hyphenated UUID or 22 characters of URL-safe base64 (as `Uuid.fromString`).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.len() {
            36 => Self::parse_hyphenated(text),
            22 => Self::parse_base64(text),
            _ => None,
        }
    }

    fn parse_hyphenated(text: &str) -> Option<Self> {
        let mut id = [0u8; 16];
        let mut digits = 0;
        for (i, c) in text.bytes().enumerate() {
            if matches!(i, 8 | 13 | 18 | 23) {
                if c != b'-' {
                    return None;
                }
                continue;
            }
            let value = u8::try_from(char::from(c).to_digit(16)?).ok()?;
            id[digits / 2] = id[digits / 2] << 4 | value;
            digits += 1;
        }
        Some(Self(id))
    }

    fn parse_base64(text: &str) -> Option<Self> {
        let mut bits: u128 = 0;
        let mut last = 0;
        for (i, c) in text.bytes().enumerate() {
            let value = BASE64.iter().position(|b| *b == c)?;
            last = value;
            bits = if i < 21 {
                bits << 6 | value as u128
            } else {
                bits << 2 | (value >> 4) as u128
            };
        }
        // 22 characters carry 132 bits: the last four must be zero, or two texts would mean one id.
        (last & 0xf == 0).then(|| Self(bits.to_be_bytes()))
    }

    /// Kafka's own form: 22 characters of unpadded URL-safe base64.
    #[must_use]
    pub fn to_base64(self) -> String {
        let bits = u128::from_be_bytes(self.0);
        (0..22)
            .map(|i| {
                let six = if i < 21 {
                    bits >> (122 - 6 * i)
                } else {
                    bits << 4
                };
                char::from(BASE64[(six & 0x3f) as usize])
            })
            .collect()
    }
}

impl TopicId {
    /// The hyphenated form, 36 characters of ASCII.
    #[must_use]
    pub fn hyphenated(self) -> [u8; 36] {
        let mut text = [b'-'; 36];
        let digits = (0..36).filter(|at| !matches!(at, 8 | 13 | 18 | 23));
        let halves = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        for (at, half) in digits.zip(halves) {
            text[at] = b"0123456789abcdef"[usize::from(half)];
        }
        text
    }
}

/// Text that is no [`TopicId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicIdError;

impl fmt::Display for TopicIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a topic id is a hyphenated UUID, or 22 characters of URL-safe base64")
    }
}

impl core::error::Error for TopicIdError {}

impl FromStr for TopicId {
    type Err = TopicIdError;

    /// Reads either form, as [`TopicId::parse`] does.
    fn from_str(text: &str) -> Result<Self, TopicIdError> {
        Self::parse(text).ok_or(TopicIdError)
    }
}

impl fmt::Display for TopicId {
    /// The hyphenated form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.hyphenated()).unwrap_or_default())
    }
}

impl fmt::Debug for TopicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Names one share partition: a group's view of one partition of one topic (Kafka: `SharePartitionKey`).
///
/// Ordered by group, topic id, partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharePartitionKey {
    /// Id of the share group.
    pub group: Arc<str>,
    /// Id of the topic.
    pub topic_id: TopicId,
    /// Partition of the topic.
    pub partition: i32,
}

/// Longest group id, in bytes of UTF-8: a record's key spells its length in 16 bits.
pub const MAX_GROUP_ID_BYTES: usize = i16::MAX as usize;

/// Reason for which a key names no share partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The group id is empty, or longer than [`MAX_GROUP_ID_BYTES`].
    Group {
        /// Bytes of its UTF-8.
        bytes: usize,
    },
    /// The topic id is [`TopicId::ZERO`].
    TopicId,
    /// The partition is negative.
    Partition {
        /// The partition.
        partition: i32,
    },
}

impl SharePartitionKey {
    /// Names a share partition; nothing is checked here.
    #[must_use]
    pub fn new(group: &str, topic_id: TopicId, partition: i32) -> Self {
        Self {
            group: Arc::from(group),
            topic_id,
            partition,
        }
    }

    /// Checks that there can be such a share partition.
    ///
    /// # Errors
    /// What is wrong with the first part of the key that is.
    pub fn check(&self) -> Result<(), KeyError> {
        let bytes = self.group.len();
        if bytes == 0 || bytes > MAX_GROUP_ID_BYTES {
            return Err(KeyError::Group { bytes });
        }
        if self.topic_id == TopicId::ZERO {
            return Err(KeyError::TopicId);
        }
        if self.partition < 0 {
            return Err(KeyError::Partition {
                partition: self.partition,
            });
        }
        Ok(())
    }

    /// The text by which a share partition finds its coordinator: `group:topicIdBase64:partition`
    /// (`SharePartitionKey.asCoordinatorKey`).
    #[must_use]
    pub fn coordinator_key(&self) -> String {
        format!(
            "{}:{}:{}",
            self.group,
            self.topic_id.to_base64(),
            self.partition
        )
    }

    /// Reads a coordinator key. It is split from the right, for a group id may itself hold colons
    /// (KAFKA-20183).
    ///
    /// # Errors
    /// Says which part is missing or malformed.
    pub fn parse_coordinator_key(text: &str) -> Result<Self, CoordinatorKeyError> {
        let (rest, partition) = text.rsplit_once(':').ok_or(CoordinatorKeyError::Segments)?;
        let (group, topic_id) = rest.rsplit_once(':').ok_or(CoordinatorKeyError::Segments)?;
        if group.is_empty() {
            return Err(CoordinatorKeyError::GroupId);
        }
        Ok(Self {
            topic_id: TopicId::parse_base64_checked(topic_id)?,
            partition: partition
                .parse()
                .ok()
                .filter(|p| *p >= 0)
                .ok_or(CoordinatorKeyError::Partition)?,
            group: Arc::from(group),
        })
    }
}

impl TopicId {
    fn parse_base64_checked(text: &str) -> Result<Self, CoordinatorKeyError> {
        (text.len() == 22)
            .then(|| Self::parse_base64(text))
            .flatten()
            .ok_or(CoordinatorKeyError::TopicId)
    }
}

/// Part of a coordinator key that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinatorKeyError {
    /// Fewer than three segments.
    Segments,
    /// The group id is empty.
    GroupId,
    /// The topic id is not 22 characters of URL-safe base64.
    TopicId,
    /// The partition is not a number of at least 0.
    Partition,
}

impl fmt::Display for CoordinatorKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Segments => "a coordinator key is group:topicId:partition",
            Self::GroupId => "the group id is empty",
            Self::TopicId => "the topic id is not 22 characters of URL-safe base64",
            Self::Partition => "the partition is not a number of at least 0",
        })
    }
}

impl core::error::Error for CoordinatorKeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_id_reads_back_from_both_its_forms() {
        let id = TopicId([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(id.to_base64(), "AAECAwQFBgcICQoLDA0ODw");
        assert_eq!(id.to_string(), "00010203-0405-0607-0809-0a0b0c0d0e0f");
        let ones = TopicId([0xff; 16]);
        for id in [id, ones, TopicId::ZERO] {
            assert_eq!(TopicId::parse(&id.to_base64()), Some(id));
            assert_eq!(TopicId::parse(&id.to_string()), Some(id));
        }
        for wrong in [
            "",
            "AAECAwQFBgcICQoLDA0OD",
            "AAECAwQFBgcICQoLDA0ODx",
            "00010203-0405-0607-0809_0a0b0c0d0e0f",
        ] {
            assert_eq!(TopicId::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_coordinator_key_is_split_from_the_right() {
        let topic = TopicId([7; 16]);
        for group in ["g", "a:b:c:d", ":mygroup", "mygroup:"] {
            let key = SharePartitionKey::new(group, topic, 5);
            assert_eq!(
                SharePartitionKey::parse_coordinator_key(&key.coordinator_key()),
                Ok(key)
            );
        }
        let parse = SharePartitionKey::parse_coordinator_key;
        let id = topic.to_base64();
        assert_eq!(parse("onlytwo:parts"), Err(CoordinatorKeyError::Segments));
        assert_eq!(
            parse(&format!(":{id}:0")),
            Err(CoordinatorKeyError::GroupId)
        );
        assert_eq!(
            parse("group:not-a-uuid:0"),
            Err(CoordinatorKeyError::TopicId)
        );
        assert_eq!(
            parse(&format!("group:{id}:abc")),
            Err(CoordinatorKeyError::Partition)
        );
        assert_eq!(
            parse(&format!("group:{id}:-1")),
            Err(CoordinatorKeyError::Partition)
        );
    }
}
