//! The error type of this crate: a position and a kind.

use core::fmt;

use share_state_core::kafka_code::KafkaCode;

/// Bytes that cannot be read, or a value that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError {
    /// Index of the byte where the fault begins. Within the records of a compressed batch it counts from the
    /// start of the decompressed bytes; it is 0 for a value that cannot be written.
    pub position: usize,
    /// Fault that begins there.
    pub kind: WireErrorKind,
}

/// Fault of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireErrorKind {
    /// The input ends too early.
    Truncated {
        /// Bytes that the next item needs.
        needed: usize,
        /// Bytes that are left.
        remaining: usize,
    },
    /// An array or a tag section announces more elements than the rest of the input can hold.
    Count {
        /// Elements announced.
        count: u64,
        /// Elements that fit at most.
        possible: usize,
    },
    /// A variable-length integer is too long or too large.
    Varint,
    /// Null where null is not allowed.
    Null,
    /// A length that no string, byte array or frame may have.
    Length {
        /// The length.
        length: i64,
        /// The greatest length allowed.
        max: i64,
    },
    /// A string is not UTF-8.
    Utf8,
    /// A tag is written twice, or not in ascending order.
    TagOrder {
        /// The tag that is out of order.
        tag: u32,
    },
    /// A known tagged field does not have the size of its type.
    TagSize {
        /// The tag.
        tag: u32,
        /// The size it claims.
        size: usize,
    },
    /// Bytes are left over after the end.
    TrailingBytes {
        /// Number of these bytes.
        count: usize,
    },
    /// The version of a request, answer or record value is unknown.
    UnsupportedVersion {
        /// The version.
        version: i16,
    },
    /// The RPC is unknown.
    UnsupportedApi {
        /// Its key.
        api_key: i16,
    },
    /// A null value under an update key; state is deleted by a null value under the snapshot key only.
    NullUpdate,
    /// A record batch is not of format 2.
    Magic {
        /// The format it claims.
        magic: i8,
    },
    /// A record batch has an impossible size.
    BatchLength {
        /// The length field.
        length: i32,
    },
    /// A record batch does not match its checksum.
    Crc {
        /// The checksum written in the batch.
        stored: u32,
        /// The checksum of its bytes.
        computed: u32,
    },
    /// A compression codec that does not exist.
    UnknownCompression {
        /// Its number.
        codec: u8,
    },
    /// The compressed bytes are damaged, or could not be made.
    Compression,
    /// The input exceeds the limit of the caller.
    Limit {
        /// The most that is allowed, bytes.
        allowed: usize,
    },
    /// A record lies outside the offsets of its batch, or not after the record before it.
    RecordOffset {
        /// Its distance from the base offset.
        delta: i32,
    },
    /// Base and distance of an offset or a timestamp add up to a number that does not exist.
    Overflow,
    /// A record does not end where its length says.
    RecordLength {
        /// The length field.
        length: i32,
    },
    /// A batch without records, which is never valid.
    EmptyBatch,
    /// A required field is missing.
    Missing,
    /// A value is of another type than its field.
    WrongType,
    /// An integer does not fit its field.
    Range {
        /// The integer.
        value: i64,
        /// The width of the field, bits.
        bits: u32,
    },
    /// A batch of an answer begins before the end of the batch before it, or before offset 0.
    BatchOrder {
        /// Its base offset.
        base_offset: i64,
        /// The minimum.
        least: i64,
    },
    /// A control batch whose record or key cannot be read.
    ControlRecord,
}

impl WireError {
    pub(crate) const fn new(position: usize, kind: WireErrorKind) -> Self {
        Self { position, kind }
    }

    /// For a value that cannot be written.
    pub(crate) const fn unwritable(kind: WireErrorKind) -> Self {
        Self { position: 0, kind }
    }

    /// The code by which a broker would refuse a request with these bytes.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        match self.kind {
            WireErrorKind::UnsupportedVersion { .. } | WireErrorKind::UnsupportedApi { .. } => {
                KafkaCode::UnsupportedVersion
            }
            _ => KafkaCode::InvalidRequest,
        }
    }
}

impl fmt::Display for WireErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { needed, remaining } => {
                write!(f, "{needed} bytes needed, {remaining} left")
            }
            Self::Count { count, possible } => {
                write!(f, "expected at most {possible} elements, got {count}")
            }
            Self::Varint => f.write_str("variable-length integer too long or too large"),
            Self::Null => f.write_str("null where null is not allowed"),
            Self::Length { length, max } => {
                write!(f, "length is {length}; expected 0 to {max}")
            }
            Self::Utf8 => f.write_str("string is not UTF-8"),
            Self::TagOrder { tag } => write!(f, "tag {tag} is repeated or out of order"),
            Self::TagSize { tag, size } => write!(f, "tag {tag} has the wrong size {size}"),
            Self::TrailingBytes { count } => write!(f, "{count} bytes left over"),
            Self::UnsupportedVersion { version } => write!(f, "unsupported version {version}"),
            Self::UnsupportedApi { api_key } => write!(f, "unsupported API key {api_key}"),
            Self::NullUpdate => f.write_str("null value under an update key"),
            Self::Magic { magic } => write!(f, "record batch has format {magic}; expected 2"),
            Self::BatchLength { length } => write!(f, "record batch cannot have length {length}"),
            Self::Crc { stored, computed } => {
                write!(f, "checksum is {stored:#010x}; expected {computed:#010x}")
            }
            Self::UnknownCompression { codec } => write!(f, "unknown compression codec {codec}"),
            Self::Compression => f.write_str("compressed bytes are damaged"),
            Self::Limit { allowed } => write!(f, "more than the {allowed} bytes allowed"),
            Self::RecordOffset { delta } => {
                write!(
                    f,
                    "record at distance {delta} is out of order or outside its batch"
                )
            }
            Self::Overflow => f.write_str("offset or timestamp does not exist"),
            Self::RecordLength { length } => {
                write!(f, "record does not end at its length {length}")
            }
            Self::EmptyBatch => f.write_str("record batch without records"),
            Self::Missing => f.write_str("missing"),
            Self::WrongType => f.write_str("wrong type for the field"),
            Self::Range { value, bits } => write!(f, "{value} does not fit {bits} bits"),
            Self::BatchOrder { base_offset, least } => {
                write!(
                    f,
                    "record batch begins at offset {base_offset}, expected {least} or later"
                )
            }
            Self::ControlRecord => f.write_str("control batch without a readable control record"),
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.position, self.kind)
    }
}

impl core::error::Error for WireError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unknown_version_has_a_code_of_its_own() {
        let version = WireError::new(0, WireErrorKind::UnsupportedVersion { version: 9 });
        assert_eq!(version.kafka_code(), KafkaCode::UnsupportedVersion);
        assert_eq!(
            WireError::new(0, WireErrorKind::Utf8).kafka_code(),
            KafkaCode::InvalidRequest
        );
    }

    #[test]
    fn the_text_says_where_and_what() {
        let kind = WireErrorKind::Truncated {
            needed: 4,
            remaining: 1,
        };
        assert_eq!(
            WireError::new(17, kind).to_string(),
            "byte 17: 4 bytes needed, 1 left"
        );
    }
}
