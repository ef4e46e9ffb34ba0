//! Header of a request (`RequestHeader`, versions 1 and 2).

use std::borrow::Cow;

use super::protocol;
use crate::cursor::Reader;
use crate::error::WireError;
use crate::primitives::{read_legacy_len, read_text, skip_tags};

/// The header of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader<'a> {
    /// Key of the RPC.
    pub api_key: i16,
    /// Version of the request.
    pub version: i16,
    /// Number that the answer repeats.
    pub correlation_id: i32,
    /// Name that the client gives itself, as Java reads it.
    pub client_id: Option<Cow<'a, str>>,
}

impl<'a> RequestHeader<'a> {
    /// Reads the header of the request in `frame`, which is without its length, and returns the message after it. A header has
    /// tagged fields where the message is flexible; a request that has no table is taken to be.
    ///
    /// # Errors
    /// The frame ends within the header, or the header is malformed.
    pub fn decode(frame: &'a [u8]) -> Result<(Self, &'a [u8]), WireError> {
        let mut r = Reader::new(frame);
        let (api_key, version, correlation_id) = (r.i16()?, r.i16()?, r.i32()?);
        // In every version of the header the client id has an `i16` length.
        let length = read_legacy_len(&mut r)?;
        let client_id = length.map(|length| read_text(&mut r, length)).transpose()?;
        let flexible_since = protocol::api(api_key).map_or(0, |api| api.flexible_since);
        if version >= flexible_since {
            skip_tags(&mut r)?;
        }
        let header = Self {
            api_key,
            version,
            correlation_id,
            client_id,
        };
        Ok((header, r.rest()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::WireErrorKind;

    fn head(api_key: i16, version: i16) -> Vec<u8> {
        let [a, b] = api_key.to_be_bytes();
        let [c, d] = version.to_be_bytes();
        vec![a, b, c, d, 0, 0, 0, 9]
    }

    #[test]
    fn a_flexible_request_has_tagged_fields_in_its_header_and_others_have_none() {
        // ShareFetch is always flexible, Metadata from 9 on, SaslHandshake never, and 999 is unknown.
        for (api_key, version, flexible) in [
            (78, 1, true),
            (3, 8, false),
            (3, 9, true),
            (17, 1, false),
            (999, 0, true),
        ] {
            let tags: &[u8] = if flexible { &[1, 5, 2, 7, 7] } else { &[] };
            let frame = [&head(api_key, version)[..], &[0, 2], b"me", tags, b"body"].concat();
            let (header, body) = RequestHeader::decode(&frame).unwrap();
            let expected = RequestHeader {
                api_key,
                version,
                correlation_id: 9,
                client_id: Some("me".into()),
            };
            assert_eq!((header, body), (expected, &b"body"[..]));
        }
    }

    #[test]
    fn a_client_may_have_no_name_or_one_that_is_no_text() {
        let frame = [&head(17, 0)[..], &[0xff, 0xff]].concat();
        let (header, body) = RequestHeader::decode(&frame).unwrap();
        assert_eq!((header.client_id, body.len()), (None, 0));
        let frame = [&head(17, 0)[..], &[0, 1, 0xff]].concat();
        let (header, _) = RequestHeader::decode(&frame).unwrap();
        assert_eq!(header.client_id.as_deref(), Some("\u{fffd}"));
    }

    #[test]
    fn a_header_that_ends_too_early_or_lies_about_its_client_is_refused() {
        let whole = [&head(78, 2)[..], &[0, 2], b"me", &[1, 5, 2, 7, 7]].concat();
        for end in 0..whole.len() {
            assert!(
                RequestHeader::decode(&whole[..end]).is_err(),
                "cut at {end}"
            );
        }
        let negative = [&head(17, 0)[..], &[0xff, 0xfe]].concat();
        let refused = RequestHeader::decode(&negative).unwrap_err();
        let kind = WireErrorKind::Length {
            length: -2,
            max: 32_767,
        };
        assert_eq!(refused, WireError::new(8, kind));
    }
}
