//! What a store says of itself in `share-state.meta`: lines of `key=value`, the last of them a checksum of the rest.

use core::fmt;

/// The format written and read here: Kafka's segments in Kafka's layout, this file beside them.
pub const FORMAT_VERSION: u32 = 1;

/// No meta file is longer, whatever it says.
pub(crate) const META_LIMIT: u64 = 4096;

/// Since the last clean close, how much may be torn behind a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Torn {
    /// Every group commit was synced before the next: the last one.
    LastBatch,
    /// The operating system was left to write in any order: everything since the last sync.
    Unsynced,
}

/// The content of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Number of state partitions; the partition of a key depends on it, so it is fixed for good.
    pub partitions: u32,
    /// What a crash may have torn.
    pub torn: Torn,
}

/// Why a meta file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaError {
    /// It is of another format.
    Format {
        /// The format it names.
        found: u32,
    },
    /// It is not what any release wrote.
    Malformed {
        /// What is wrong.
        reason: &'static str,
    },
}

impl fmt::Display for MetaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { found } => {
                write!(f, "format {found}, this release knows {FORMAT_VERSION}")
            }
            Self::Malformed { reason } => f.write_str(reason),
        }
    }
}

impl core::error::Error for MetaError {}

impl Meta {
    pub(crate) fn encode(self) -> Vec<u8> {
        let torn = match self.torn {
            Torn::LastBatch => "last-batch",
            Torn::Unsynced => "unsynced",
        };
        let body = format!(
            "format={FORMAT_VERSION}\npartitions={}\ntorn={torn}\n",
            self.partitions
        );
        format!("{body}crc32c={:08x}\n", crc32c::crc32c(body.as_bytes())).into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, MetaError> {
        let malformed = |reason| MetaError::Malformed { reason };
        let text = str::from_utf8(bytes).map_err(|_| malformed("not UTF-8"))?;
        let (body, checksum) = text
            .rfind("crc32c=")
            .and_then(|at| text.split_at_checked(at))
            .ok_or(malformed("no checksum line"))?;
        if checksum != format!("crc32c={:08x}\n", crc32c::crc32c(body.as_bytes())) {
            return Err(malformed("checksum does not match"));
        }
        let mut lines = body.split_terminator('\n');
        let mut value = |key: &str| {
            lines
                .next()
                .and_then(|line| line.strip_prefix(key)?.strip_prefix('='))
        };
        let format: u32 = value("format")
            .and_then(|text| text.parse().ok())
            .ok_or(malformed("no format line"))?;
        if format != FORMAT_VERSION {
            return Err(MetaError::Format { found: format });
        }
        let partitions = value("partitions")
            .and_then(|text| text.parse().ok())
            .filter(|n| *n >= 1)
            .ok_or(malformed("no number of state partitions"))?;
        let torn = match value("torn") {
            Some("last-batch") => Torn::LastBatch,
            Some("unsynced") => Torn::Unsynced,
            _ => return Err(malformed("no word on what may be torn")),
        };
        if lines.next().is_some() {
            return Err(malformed("lines left over"));
        }
        Ok(Self { partitions, torn })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: Meta = Meta {
        partitions: 3,
        torn: Torn::LastBatch,
    };

    #[test]
    fn it_is_read_as_it_is_written() {
        for torn in [Torn::LastBatch, Torn::Unsynced] {
            let meta = Meta {
                partitions: 50,
                torn,
            };
            assert_eq!(Meta::decode(&meta.encode()), Ok(meta));
        }
        let text = String::from_utf8(META.encode()).unwrap();
        assert!(
            text.starts_with("format=1\npartitions=3\ntorn=last-batch\ncrc32c="),
            "{text}"
        );
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_refused() {
        let bytes = META.encode();
        for cut in 0..bytes.len() {
            assert!(Meta::decode(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert!(Meta::decode(&flipped).is_err(), "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn a_newer_format_is_named() {
        let body = "format=2\nanything=else\n";
        let text = format!("{body}crc32c={:08x}\n", crc32c::crc32c(body.as_bytes()));
        assert_eq!(
            Meta::decode(text.as_bytes()),
            Err(MetaError::Format { found: 2 })
        );
    }

    #[test]
    fn a_store_without_partitions_is_refused() {
        let body = "format=1\npartitions=0\ntorn=last-batch\n";
        let text = format!("{body}crc32c={:08x}\n", crc32c::crc32c(body.as_bytes()));
        assert!(matches!(
            Meta::decode(text.as_bytes()),
            Err(MetaError::Malformed { .. })
        ));
    }
}
