//! Bytes that no honest peer sends, and values that no message can hold.

use super::*;

#[test]
fn a_message_cut_anywhere_or_prolonged_is_refused() {
    for written in written() {
        for end in 0..written.bytes.len() {
            let error = written.decode(&written.bytes[..end]).unwrap_err();
            assert!(error.error.position <= end);
        }
        let long = [&written.bytes[..], &[0]].concat();
        let error = written.decode(&long).unwrap_err().error;
        assert_eq!(error.kind, WireErrorKind::TrailingBytes { count: 1 });
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_another_message() {
    let (mut valid, mut refused) = (0, 0);
    for written in written() {
        for bit in 0..written.bytes.len() * 8 {
            let mut flipped = written.bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match written.decode(&flipped) {
                Ok(message) => {
                    let again = written.encode(&message).unwrap();
                    assert_eq!(written.decode(&again), Ok(message));
                    valid += 1;
                }
                Err(error) => {
                    assert!(error.error.position <= written.bytes.len());
                    refused += 1;
                }
            }
        }
    }
    assert!(valid > 3_000 && refused > 500, "{valid} {refused}");
}
