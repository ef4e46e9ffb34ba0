//! Any bytes as request or answer of any RPC and version that has a table: refused, or written again so that they read the same.

use share_state_wire::WireErrorKind;
use share_state_wire::messages::protocol::{self, Direction};

/// Runs one input; tells whether it was a message.
pub fn run(data: &[u8]) -> bool {
    let [key, version, kind, bytes @ ..] = data else {
        return false;
    };
    let Some(api) = protocol::api(i16::from(*key)) else {
        return false;
    };
    let version = i16::from(*version);
    let direction = match kind {
        0 => Direction::Request,
        _ => Direction::Response,
    };
    let message = match api.decode(direction, version, bytes) {
        Ok(message) => message,
        Err(refused) => {
            assert!(refused.error.position <= bytes.len());
            match api.decode_within(direction, version, bytes, usize::MAX, true) {
                Err(again) => assert_eq!(again, refused),
                Ok(message) => {
                    let kind = &refused.error.kind;
                    assert!(matches!(kind, WireErrorKind::TrailingBytes { .. }));
                    assert!(api.encode(direction, version, &message).is_ok());
                }
            }
            return false;
        }
    };
    let Ok(written) = api.encode(direction, version, &message) else {
        unreachable!("it can be written")
    };
    // Each malformed byte of a text is read as U+FFFD, which has three.
    let has_replaced = written
        .windows(3)
        .any(|three| three == "\u{fffd}".as_bytes());
    let longest = bytes.len() * if has_replaced { 3 } else { 1 };
    assert!(written.len() <= longest, "the shortest form");
    assert_eq!(api.decode(direction, version, &written), Ok(message));
    true
}
