//! Who the client is: SaslHandshake names the mechanism, SaslAuthenticate carries its bytes (KIP-152, KIP-368).

use super::super::field::{Field, message_struct};
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::{
    check_string, read_compact_len, read_legacy_string, skip_tags, write_legacy_string,
};
use crate::varint::{unsigned_len, write_unsigned};

/// The longest bytes field; nothing of SASL comes near it.
const MAX_BYTES: usize = i32::MAX as usize - 1;

/// Bytes of a message, which may hold a secret: they are not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl core::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Field for Bytes {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        let start = *r;
        let length = read_compact_len(r)?.ok_or(start.error(WireErrorKind::Null))?;
        r.take(length).map(|bytes| Self(bytes.to_vec()))
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        let length = self.0.len();
        if length > MAX_BYTES {
            return Err(WireError::unwritable(WireErrorKind::Length {
                length: i64::try_from(length).unwrap_or(i64::MAX),
                max: MAX_BYTES as i64,
            }));
        }
        Ok(unsigned_len(length as u32 + 1) + length)
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        write_unsigned(out, self.0.len() as u32 + 1);
        out.extend_from_slice(&self.0);
    }
}

/// SaslHandshake (RPC 17). Not flexible in any version, so that it could stay as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaslHandshakeRequest {
    /// The mechanism that the client would use.
    pub mechanism: String,
}

/// Answer of SaslHandshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaslHandshakeResponse {
    /// Kafka's error code; 0 for none.
    pub error_code: i16,
    /// The mechanisms that the broker takes.
    pub mechanisms: Vec<String>,
}

fn read_text(r: &mut Reader<'_>) -> Result<String, WireError> {
    let start = *r;
    let text = read_legacy_string(r)?.ok_or(start.error(WireErrorKind::Null))?;
    Ok(text.to_owned())
}

fn text_size(text: &str) -> Result<usize, WireError> {
    check_string(text.len())?;
    Ok(2 + text.len())
}

impl Field for SaslHandshakeRequest {
    const MIN_SIZE: usize = 2;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        read_text(r).map(|mechanism| Self { mechanism })
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        text_size(&self.mechanism)
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        write_legacy_string(out, Some(&self.mechanism));
    }
}

impl Field for SaslHandshakeResponse {
    const MIN_SIZE: usize = 6;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        let error_code = r.i16()?;
        let start = *r;
        let count = r.u32()?;
        // Each name takes the two bytes of its length at least; a negative count is far above any that fits.
        let possible = r.remaining() / 2;
        if count as usize > possible {
            return Err(start.error(WireErrorKind::Count {
                count: u64::from(count),
                possible,
            }));
        }
        let mut mechanisms = Vec::new();
        for _ in 0..count {
            mechanisms.push(read_text(r)?);
        }
        Ok(Self {
            error_code,
            mechanisms,
        })
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        let count = self.mechanisms.len();
        if i32::try_from(count).is_err() {
            return Err(WireError::unwritable(WireErrorKind::Count {
                count: count as u64,
                possible: i32::MAX as usize,
            }));
        }
        let sizes = self.mechanisms.iter().map(|text| text_size(text));
        sizes.sum::<Result<usize, _>>().map(|texts| 6 + texts)
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        out.extend_from_slice(&self.error_code.to_be_bytes());
        out.extend_from_slice(&(self.mechanisms.len() as i32).to_be_bytes());
        for mechanism in &self.mechanisms {
            write_legacy_string(out, Some(mechanism));
        }
    }
}

message_struct! {
    /// SaslAuthenticate (RPC 36): one step of the mechanism.
    SaslAuthenticateRequest {
        /// The client's bytes.
        auth_bytes: Bytes,
    }
}

message_struct! {
    /// Answer of SaslAuthenticate.
    SaslAuthenticateResponse {
        /// Kafka's error code; 0 for none.
        error_code: i16,
        /// Text with the error, if any.
        error_message: Option<String>,
        /// The broker's bytes.
        auth_bytes: Bytes,
        /// How long the connection may be used before the client must say again who it is, ms; 0 for ever.
        session_lifetime_ms: i64,
    }
}
