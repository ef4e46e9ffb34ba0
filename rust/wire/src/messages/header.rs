//! What stands before a message on a connection: the frame's length, then request header version 2 or response header
//! version 1, which all five RPCs use.

use super::end_of_header;
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::{check_string, read_legacy_string, write_legacy_string};

/// The longest frame that a broker takes by default, bytes (`socket.request.max.bytes`).
pub const MAX_FRAME: i32 = 100 << 20;

/// The length of the frame with which `buf` begins, without the 4 bytes that tell it; `None` while those are not there.
///
/// # Errors
/// The length is not between 1 and `max`: whoever sends this does not speak Kafka, and nothing is reserved for it.
pub fn frame_length(buf: &[u8], max: i32) -> Result<Option<usize>, WireError> {
    let Some(bytes) = buf.first_chunk() else {
        return Ok(None);
    };
    let length = i32::from_be_bytes(*bytes);
    match usize::try_from(length) {
        Ok(size) if size > 0 && length <= max => Ok(Some(size)),
        _ => {
            let kind = WireErrorKind::Length {
                length: i64::from(length),
                max: i64::from(max),
            };
            Err(WireError::new(0, kind))
        }
    }
}

/// Request header version 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    /// Key of the RPC.
    pub api_key: i16,
    /// Its version.
    pub api_version: i16,
    /// Comes back with the answer.
    pub correlation_id: i32,
    /// Name of the client, for logs and quotas.
    pub client_id: Option<String>,
}

impl RequestHeader {
    /// The bytes of the header; the message follows them.
    ///
    /// # Errors
    /// The client id is longer than 32,767 bytes.
    pub fn encode(&self) -> Result<Vec<u8>, WireError> {
        let client_id = self.client_id.as_deref();
        check_string(client_id.map_or(0, str::len))?;
        let mut out = Vec::with_capacity(11 + client_id.map_or(0, str::len));
        out.extend_from_slice(&self.api_key.to_be_bytes());
        out.extend_from_slice(&self.api_version.to_be_bytes());
        out.extend_from_slice(&self.correlation_id.to_be_bytes());
        // The one string of a flexible header that is not compact, so that a broker can read it before it knows more.
        write_legacy_string(&mut out, client_id);
        out.push(0);
        Ok(out)
    }

    /// Reads the header at the start of `buf`, and the rest of it, which is the message.
    ///
    /// # Errors
    /// The bytes depart from the format.
    pub fn decode(buf: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let mut r = Reader::new(buf);
        let header = Self {
            api_key: r.i16()?,
            api_version: r.i16()?,
            correlation_id: r.i32()?,
            client_id: read_legacy_string(&mut r)?.map(str::to_owned),
        };
        Ok((header, end_of_header(r)?))
    }
}

/// Response header version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHeader {
    /// That of the request.
    pub correlation_id: i32,
}

impl ResponseHeader {
    /// The bytes of the header; the message follows them.
    #[must_use]
    pub fn encode(&self) -> [u8; 5] {
        let [a, b, c, d] = self.correlation_id.to_be_bytes();
        [a, b, c, d, 0]
    }

    /// Reads the header at the start of `buf`, and the rest of it, which is the message.
    ///
    /// # Errors
    /// The bytes depart from the format.
    pub fn decode(buf: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let mut r = Reader::new(buf);
        let correlation_id = r.i32()?;
        Ok((Self { correlation_id }, end_of_header(r)?))
    }
}
