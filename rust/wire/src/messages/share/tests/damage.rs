//! Damaged messages: both readers refuse the same, at the same byte, and neither panics.

use super::*;

/// Bytes of a message, of which one is another and some at the end are gone or too many.
fn damaged(mut bytes: Vec<u8>, at: usize, byte: u8, keep: usize) -> Vec<u8> {
    if !bytes.is_empty() {
        let at = at % bytes.len();
        bytes[at] = byte;
        let keep = keep % (2 * bytes.len());
        bytes.resize(keep.clamp(1, bytes.len() + 3), 0);
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_damaged_fetch_is_refused_or_read_as_by_its_table(
        message in fetches(), version in 1i16..=2, at: usize, byte: u8, keep: usize, elements in 0usize..40,
    ) {
        let bytes = damaged(encode(&message, version, 0).unwrap(), at, byte, keep);
        agree::<ShareFetchRequest<'_>>(&bytes, version, elements);
        agree::<ShareFetchRequest<'_>>(&bytes, version, usize::MAX);
    }

    #[test]
    fn damaged_acknowledgements_are_refused_or_read_as_by_their_table(
        message in requests(), version in 1i16..=2, at: usize, byte: u8, keep: usize, elements in 0usize..40,
    ) {
        let bytes = damaged(encode(&message, version, 0).unwrap(), at, byte, keep);
        agree::<ShareAcknowledgeRequest<'_>>(&bytes, version, elements);
    }

    #[test]
    fn a_damaged_answer_is_refused_or_read_as_by_its_table(
        message in answers(), version in 1i16..=2, at: usize, byte: u8, keep: usize,
    ) {
        let bytes = damaged(encode(&message, version, 0).unwrap(), at, byte, keep);
        agree::<ShareAcknowledgeAnswer<'_>>(&bytes, version, usize::MAX);
    }
}

#[test]
fn a_count_is_checked_against_the_rest_and_against_the_limit_before_anything_is_reserved() {
    // Null group and member, epoch, six numbers less one, no topics but a claim of very many.
    let head = [&[0u8, 0][..], &[0; 24]].concat();
    let many = [0xff, 0xff, 0xff, 0xff, 0x07];
    let bytes = [&head[..], &many, &[0; 40]].concat();
    let claimed = WireErrorKind::Count {
        count: i32::MAX as u64 - 1,
        possible: 2,
    };
    let read = ShareFetchRequest::decode(&bytes, 1, usize::MAX);
    assert_eq!(read, Err(WireError::new(26, claimed)));
    let topics = [&head[..], &[3], &[0; 40]].concat();
    let over = WireErrorKind::Count {
        count: 2,
        possible: 1,
    };
    let read = ShareFetchRequest::decode(&topics, 1, 1);
    assert_eq!(read, Err(WireError::new(26, over)));
}
