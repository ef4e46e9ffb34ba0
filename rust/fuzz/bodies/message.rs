//! Any bytes as request or answer of any RPC and version: refused, or written again so that they read the same.

use share_state_wire::messages::cluster::{
    ApiVersionsRequest, ApiVersionsResponse, ClusterMessage, FindCoordinatorRequest,
    FindCoordinatorResponse, MetadataRequest, MetadataResponse, SaslAuthenticateRequest,
    SaslAuthenticateResponse, SaslHandshakeRequest, SaslHandshakeResponse,
};
use share_state_wire::messages::header::{RequestHeader, ResponseHeader};
use share_state_wire::messages::{AnyRequest, AnyResponse};

/// Runs one input; tells whether it was a message.
pub fn run(data: &[u8]) -> bool {
    let [key, version, kind, message @ ..] = data else {
        return false;
    };
    headers(message);
    // Kinds 2 and 3 are request and answer of the messages by which a coordinator is found.
    if let 2 | 3 = kind {
        return cluster(*key, i16::from(*version), *kind == 2, message);
    }
    let (key, version) = (82 + i16::from(*key), i16::from(*version));
    let written = if *kind == 0 {
        let Ok(request) = AnyRequest::decode(key, version, message) else {
            return false;
        };
        let Ok(written) = request.encode(version) else {
            unreachable!("it can be written")
        };
        assert_eq!(AnyRequest::decode(key, version, &written), Ok(request));
        written
    } else {
        let Ok(response) = AnyResponse::decode(key, version, message) else {
            return false;
        };
        let Ok(written) = response.encode(version) else {
            unreachable!("it can be written")
        };
        assert_eq!(AnyResponse::decode(key, version, &written), Ok(response));
        written
    };
    assert!(written.len() <= message.len(), "the shortest form");
    true
}

fn cluster(key: u8, version: i16, request: bool, bytes: &[u8]) -> bool {
    match (key, request) {
        (3, true) => again::<MetadataRequest>(version, bytes),
        (3, false) => again::<MetadataResponse>(version, bytes),
        (10, true) => again::<FindCoordinatorRequest>(version, bytes),
        (10, false) => again::<FindCoordinatorResponse>(version, bytes),
        (17, true) => again::<SaslHandshakeRequest>(version, bytes),
        (17, false) => again::<SaslHandshakeResponse>(version, bytes),
        (18, true) => again::<ApiVersionsRequest>(version, bytes),
        (18, false) => again::<ApiVersionsResponse>(version, bytes),
        (36, true) => again::<SaslAuthenticateRequest>(version, bytes),
        (36, false) => again::<SaslAuthenticateResponse>(version, bytes),
        _ => false,
    }
}

fn again<M: ClusterMessage + PartialEq + core::fmt::Debug>(version: i16, bytes: &[u8]) -> bool {
    let Ok(message) = M::decode(bytes, version) else {
        return false;
    };
    let Ok(written) = message.encode(version) else {
        unreachable!("it can be written")
    };
    assert!(written.len() <= bytes.len(), "the shortest form");
    assert_eq!(M::decode(&written, version), Ok(message));
    true
}

fn headers(bytes: &[u8]) {
    if let Ok((header, rest)) = RequestHeader::decode(bytes) {
        let written = header.encode().unwrap_or_default();
        assert!(written.len() + rest.len() <= bytes.len());
        assert_eq!(RequestHeader::decode(&written), Ok((header, &[][..])));
    }
    if let Ok((header, _)) = ResponseHeader::decode(bytes) {
        assert_eq!(
            ResponseHeader::decode(&header.encode()),
            Ok((header, &[][..]))
        );
    }
}
