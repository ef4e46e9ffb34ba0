//! `log-start-offset-checkpoint`: where the log of each partition begins, in the broker's own text format
//! (`OffsetCheckpointFile`): a version, a count, then a line `topic partition offset` each.
//!
//! A store writes it *before* it deletes segments, so a first segment that is missing for another reason is noticed.

use std::collections::BTreeMap;

/// A broker with very many partitions stays far below this; a larger file is refused, not read.
pub(crate) const CHECKPOINT_LIMIT: u64 = 16 << 20;

/// Log start offset by state partition; a partition that is not in it begins at 0.
pub(crate) type LogStarts = BTreeMap<u32, i64>;

pub(crate) fn encode(topic: &str, starts: &LogStarts) -> Vec<u8> {
    let mut text = format!("0\n{}\n", starts.len());
    for (partition, offset) in starts {
        text.push_str(&format!("{topic} {partition} {offset}\n"));
    }
    text.into_bytes()
}

/// Reads the file; lines of other topics are checked and left out. `None` if it is malformed.
pub(crate) fn decode(topic: &str, bytes: &[u8]) -> Option<LogStarts> {
    let text = str::from_utf8(bytes).ok()?;
    let mut lines = text.strip_suffix('\n')?.split('\n');
    if lines.next()? != "0" {
        return None;
    }
    let count: usize = lines.next()?.parse().ok()?;
    let mut starts = LogStarts::new();
    let mut seen = 0;
    for line in lines {
        let mut words = line.split(' ');
        let (of, partition, offset) = (words.next()?, words.next()?, words.next()?);
        let (partition, offset): (u32, i64) = (partition.parse().ok()?, offset.parse().ok()?);
        if words.next().is_some() || offset < 0 {
            return None;
        }
        if of == topic && starts.insert(partition, offset).is_some() {
            return None;
        }
        seen += 1;
    }
    (seen == count).then_some(starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::STATE_TOPIC;

    #[test]
    fn a_brokers_file_is_read_and_our_own_is_read_as_it_is_written() {
        let broker = b"0\n4\n__share_group_state 0 84\n__share_group_state 2 424\n__share_group_state 1 636\norders 1 250\n";
        let starts = decode(STATE_TOPIC, broker).unwrap();
        assert_eq!(starts, LogStarts::from([(0, 84), (1, 636), (2, 424)]));
        assert_eq!(
            decode(STATE_TOPIC, &encode(STATE_TOPIC, &starts)),
            Some(starts)
        );
        let none = LogStarts::new();
        assert_eq!(decode(STATE_TOPIC, &encode(STATE_TOPIC, &none)), Some(none));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "0",
            "1\n0\n",
            "0\n2\n__share_group_state 0 84\n",
            "0\n1\n__share_group_state 0\n",
            "0\n1\n__share_group_state 0 -1\n",
            "0\n1\n__share_group_state 0 84 9\n",
            "0\n1\n__share_group_state 0 84",
            "0\n2\n__share_group_state 0 84\n__share_group_state 0 85\n",
        ] {
            assert_eq!(decode(STATE_TOPIC, text.as_bytes()), None, "{text:?}");
        }
    }
}
