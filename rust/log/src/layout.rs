//! Names inside a directory of logs, as a Kafka broker gives them (`LogFileUtils`, `TopicPartition`).

/// Name of the state topic (`Topic.SHARE_GROUP_STATE_TOPIC_NAME`).
pub const STATE_TOPIC: &str = "__share_group_state";

/// Name of the group coordinator's topic (`Topic.GROUP_METADATA_TOPIC_NAME`).
pub const GROUP_TOPIC: &str = "__consumer_offsets";

/// Name of the file with the format and the number of state partitions of a store.
pub(crate) const META_FILE: &str = "share-state.meta";

/// Held by the one writer.
pub(crate) const LOCK_FILE: &str = ".lock";

/// Name of the file with the offsets at which the logs begin, in the broker's own format
/// (`LogManager.LogStartOffsetCheckpointFile`).
pub(crate) const CHECKPOINT_FILE: &str = "log-start-offset-checkpoint";

const SEGMENT_SUFFIX: &str = ".log";
const SEGMENT_DIGITS: usize = 20;

/// Name of the directory of one state partition, such as `__share_group_state-7`.
pub(crate) fn partition_dir(partition: u32) -> String {
    format!("{STATE_TOPIC}-{partition}")
}

/// Name of the directory of the share groups' log.
pub(crate) fn group_dir() -> String {
    format!("{GROUP_TOPIC}-0")
}

/// The state partition that a directory's name names. Names that a broker gives to partitions on their way out
/// (`…-7.<id>-delete`) or in (`…-future`) name none.
pub(crate) fn parse_partition_dir(name: &str) -> Option<u32> {
    let digits = name.strip_prefix(STATE_TOPIC)?.strip_prefix('-')?;
    let partition = parse_digits(digits)?;
    // Kafka counts partitions in i32, and a leading zero would give one partition two names.
    (partition <= i32::MAX.unsigned_abs().into() && digits == partition.to_string())
        .then_some(partition)
        .and_then(|p| u32::try_from(p).ok())
}

/// Name of the segment that begins at an offset: the offset in 20 digits.
pub(crate) fn segment_name(base_offset: i64) -> String {
    format!("{base_offset:0SEGMENT_DIGITS$}{SEGMENT_SUFFIX}")
}

/// The base offset that a segment's name names; other files of a broker (indexes, snapshots, segments that wait for
/// their deletion) name none.
pub(crate) fn parse_segment_name(name: &str) -> Option<i64> {
    let digits = name.strip_suffix(SEGMENT_SUFFIX)?;
    (digits.len() == SEGMENT_DIGITS)
        .then(|| parse_digits(digits))
        .flatten()
        .and_then(|offset| i64::try_from(offset).ok())
}

/// Returns `true` if a file claims to be a segment, be its name right or wrong.
pub(crate) fn looks_like_segment(name: &str) -> bool {
    name.ends_with(SEGMENT_SUFFIX)
}

/// A number without sign.
fn parse_digits(text: &str) -> Option<u64> {
    text.bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        assert_eq!(segment_name(0), "00000000000000000000.log");
        assert_eq!(segment_name(1588), "00000000000000001588.log");
        for offset in [0, 1588, i64::MAX] {
            assert_eq!(parse_segment_name(&segment_name(offset)), Some(offset));
        }
        for partition in [0, 7, 49] {
            assert_eq!(
                parse_partition_dir(&partition_dir(partition)),
                Some(partition)
            );
        }
    }

    #[test]
    fn foreign_names_name_nothing() {
        for name in [
            "00000000000000000000.index",
            "00000000000000000000.log.deleted",
            "0.log",
            "+0000000000000000001.log",
            "99999999999999999999.log",
            "leader-epoch-checkpoint",
            "",
            ".log",
        ] {
            assert_eq!(parse_segment_name(name), None, "{name}");
        }
        for name in [
            "__share_group_state",
            "__share_group_state-",
            "__share_group_state-01",
            "__share_group_state--1",
            "__share_group_state-+1",
            "__share_group_state-2147483648",
            "__share_group_state-0.3f6c9b4e-delete",
            "orders-0",
        ] {
            assert_eq!(parse_partition_dir(name), None, "{name}");
        }
    }
}
