//! Partitioner: finds the partition of the state topic that keeps a share partition's state.

use share_state_core::ids::SharePartitionKey;

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
