//! Any bytes as request or answer of any RPC and version: refused, or written again so that they read the same.

use share_state_wire::messages::{AnyRequest, AnyResponse};

/// Runs one input; tells whether it was a message.
pub fn run(data: &[u8]) -> bool {
    let [key, version, kind, message @ ..] = data else {
        return false;
    };
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
