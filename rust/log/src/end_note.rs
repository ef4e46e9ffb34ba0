//! The note of the meta file about each log: where it ended when the file was written, at opening or at a clean close.
//!
//! Up to there a log is whole and durable, so anything missing or bad before it is damage, and not caused by a crash. The note
//! follows the lines that describe the directory, and has its own checksum. One rename replaces the whole file, so the note always
//! matches the logs.
//!
//! The position of the end is sufficient. Every byte before it is in a batch with a checksum, and the offsets connect the batches.

/// End of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogEnd {
    /// Base offset of the last segment; without a segment, that of the first one to come.
    pub segment: i64,
    /// Bytes of that segment.
    pub bytes: u64,
    /// Offset of the next record.
    pub next_offset: i64,
}

const CHECKSUM: &str = "crc32c=";

/// Adds the lines of a note to the text of a meta file.
pub(crate) fn append(text: &mut String, ends: &[LogEnd]) {
    for (partition, end) in ends.iter().enumerate() {
        let LogEnd {
            segment,
            bytes,
            next_offset,
        } = end;
        text.push_str(&format!(
            "end={partition} {segment} {bytes} {next_offset}\n"
        ));
    }
    let checksum = crc32c::crc32c(text.as_bytes());
    text.push_str(&format!("{CHECKSUM}{checksum:08x}\n"));
}

/// Reads the note that follows the first `head` bytes of a meta file; `None` if it is damaged.
pub(crate) fn read(file: &[u8], head: usize, partitions: u32) -> Option<Vec<LogEnd>> {
    let text = str::from_utf8(file.get(head..)?).ok()?;
    let at = text.rfind(CHECKSUM)?;
    let (lines, checksum) = text.split_at_checked(at)?;
    let computed = crc32c::crc32c(file.get(..head.checked_add(at)?)?);
    if checksum != format!("{CHECKSUM}{computed:08x}\n") {
        return None;
    }
    let ends = lines
        .split_terminator('\n')
        .zip(0..)
        .map(|(line, partition)| read_end(line, partition))
        .collect::<Option<Vec<_>>>()?;
    (u32::try_from(ends.len()) == Ok(partitions)).then_some(ends)
}

fn read_end(line: &str, partition: u32) -> Option<LogEnd> {
    let mut words = line.strip_prefix("end=")?.split(' ');
    if words.next()?.parse() != Ok(partition) {
        return None;
    }
    let end = LogEnd {
        segment: words.next()?.parse().ok()?,
        bytes: words.next()?.parse().ok()?,
        next_offset: words.next()?.parse().ok()?,
    };
    words.next().is_none().then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "anything\n";
    const ENDS: [LogEnd; 2] = [
        LogEnd {
            segment: 0,
            bytes: 0,
            next_offset: 0,
        },
        LogEnd {
            segment: 4711,
            bytes: 1 << 40,
            next_offset: i64::MAX,
        },
    ];

    fn note(ends: &[LogEnd]) -> Vec<u8> {
        let mut text = HEAD.to_owned();
        append(&mut text, ends);
        text.into_bytes()
    }

    #[test]
    fn it_is_read_as_it_is_written() {
        assert_eq!(read(&note(&ENDS), HEAD.len(), 2), Some(ENDS.to_vec()));
        for partitions in [0, 1, 3] {
            assert_eq!(read(&note(&ENDS), HEAD.len(), partitions), None);
        }
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let whole = note(&ENDS);
        for cut in 0..whole.len() {
            assert_eq!(read(&whole[..cut], HEAD.len(), 2), None, "cut at {cut}");
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                assert_eq!(
                    read(&flipped, HEAD.len(), 2),
                    None,
                    "bit {bit} of byte {at}"
                );
            }
        }
    }

    #[test]
    fn partitions_out_of_order_are_noticed() {
        let mut text = format!("{HEAD}end=1 0 0 0\nend=0 0 0 0\n");
        let checksum = crc32c::crc32c(text.as_bytes());
        text.push_str(&format!("{CHECKSUM}{checksum:08x}\n"));
        assert_eq!(read(text.as_bytes(), HEAD.len(), 2), None);
    }
}
