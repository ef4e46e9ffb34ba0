//! Partitioners: find the partition of the state topic that keeps a share partition's state, and the slot of a partition of a
//! topic.

use share_state_core::ids::{SharePartitionKey, TopicId};

/// The state partition of `key` among `partitions` (`ShareCoordinatorService.partitionFor`): Java's hash of the
/// coordinator key, made non-negative, modulo. With 0 partitions the answer is 0.
#[must_use]
pub fn state_partition(key: &SharePartitionKey, partitions: u32) -> u32 {
    if partitions <= 1 {
        return 0;
    }
    let hash = java_hash(&key.coordinator_key());
    // Kafka's `Utils.abs`: the one number without a counterpart becomes 0.
    let positive = hash.checked_abs().unwrap_or(0).unsigned_abs();
    positive.checked_rem(partitions).unwrap_or(0)
}

/// The slot of a partition among `slots`: Kafka's hash of the topic's id, made non-negative, plus the partition, modulo. The
/// partitions of a topic go to one slot after the other. With 0 slots the answer is 0.
#[must_use]
pub fn slot(topic_id: TopicId, partition: i32, slots: u32) -> u32 {
    if slots <= 1 {
        return 0;
    }
    // As `Utils.toPositive`.
    let hash = u64::from(murmur2(&topic_id.0) & 0x7fff_ffff);
    let sum = hash + u64::from(partition.unsigned_abs());
    u32::try_from(sum % u64::from(slots)).unwrap_or(0)
}

/// Kafka's hash of bytes (`Utils.murmur2`).
fn murmur2(bytes: &[u8]) -> u32 {
    const MIX: u32 = 0x5bd1_e995;
    let mut hash = 0x9747_b28c ^ bytes.len() as u32;
    let (words, rest) = bytes.as_chunks::<4>();
    for word in words {
        let mut word = u32::from_le_bytes(*word).wrapping_mul(MIX);
        word ^= word >> 24;
        hash = hash.wrapping_mul(MIX) ^ word.wrapping_mul(MIX);
    }
    if !rest.is_empty() {
        for (place, byte) in rest.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * place);
        }
        hash = hash.wrapping_mul(MIX);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(MIX);
    hash ^ (hash >> 15)
}

/// Java's `String.hashCode`: over UTF-16 code units, 32 bits, wrapping.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    })
}

#[cfg(test)]
mod tests {
    use share_state_core::ids::TopicId;

    use super::*;

    #[test]
    fn keys_go_where_kafka_puts_them() {
        let topic = TopicId::parse("AAECAwQFBgcICQoLDA0ODw").unwrap();
        for (group, partition, hash, expected) in [
            ("G1", 0, 1_454_178_420, 20),
            ("G1", 1, 1_454_178_421, 21),
            ("orders:eu", 7, -191_725_504, 4),
            ("gé", 3, -721_234_209, 9),
        ] {
            let key = SharePartitionKey::new(group, topic, partition);
            assert_eq!(java_hash(&key.coordinator_key()), hash);
            assert_eq!(state_partition(&key, 50), expected);
            assert_eq!(state_partition(&key, 1), 0);
            assert_eq!(state_partition(&key, 0), 0);
        }
    }

    #[test]
    fn bytes_are_hashed_as_by_kafka() {
        for (text, hash) in [
            ("21", -973_932_308_i32),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            (
                "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
                -58_897_971,
            ),
            ("abc", 479_470_107),
        ] {
            assert_eq!(murmur2(text.as_bytes()).cast_signed(), hash, "{text}");
        }
    }

    #[test]
    fn the_partitions_of_a_topic_go_to_one_slot_after_the_other() {
        let topic = TopicId::parse("AAECAwQFBgcICQoLDA0ODw").unwrap();
        let first = slot(topic, 0, 64);
        for partition in 1..130_i32 {
            let expected = (first + partition.unsigned_abs()) % 64;
            assert_eq!(slot(topic, partition, 64), expected);
        }
        for partition in [-1, 0, 7, i32::MAX, i32::MIN] {
            assert_eq!(slot(topic, partition, 0), 0);
            assert_eq!(slot(topic, partition, 1), 0);
            assert!(slot(topic, partition, 5) < 5);
        }
    }

    #[test]
    fn characters_beyond_the_basic_plane_count_as_two() {
        // U+1F980 is the surrogates D83E DD80.
        assert_eq!(java_hash("🦀"), 0xd83e * 31 + 0xdd80);
    }

    #[test]
    fn the_hash_without_a_counterpart_is_zero() {
        // A well-known text whose hash is i32::MIN.
        assert_eq!(java_hash("polygenelubricants"), i32::MIN);
        assert_eq!(i32::MIN.checked_abs(), None);
    }
}
