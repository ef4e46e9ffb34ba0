//! Tests of the meta file: written as read, and every change of it noticed.

use super::*;

const META: Meta = Meta {
    partitions: 3,
    torn: Torn::LastBatch,
    marks: None,
    noted: Noted::Nothing,
};

fn noted(torn: Torn) -> Meta {
    let end = |segment| LogEnd {
        segment,
        bytes: 100,
        next_offset: segment + 5,
    };
    Meta {
        partitions: 3,
        torn,
        marks: Some(Marks {
            number: 0x1234_5678,
            since: vec![0, 8, i64::MAX],
        }),
        noted: Noted::Ends([0, 7, 12].map(end).to_vec()),
    }
}

#[test]
fn it_is_read_as_it_is_written() {
    for torn in [Torn::LastBatch, Torn::Unsynced] {
        let meta = Meta {
            partitions: 50,
            torn,
            marks: None,
            noted: Noted::Nothing,
        };
        assert_eq!(Meta::decode(&meta.encode()), Ok(meta));
    }
    let text = String::from_utf8(META.encode()).unwrap();
    assert!(
        text.starts_with("format=1\npartitions=3\ntorn=last-batch\ncrc32c="),
        "{text}"
    );
    for torn in [Torn::Nothing, Torn::LastBatch, Torn::Unsynced] {
        assert_eq!(Meta::decode(&noted(torn).encode()), Ok(noted(torn)));
    }
    let text = String::from_utf8(noted(Torn::Nothing).encode()).unwrap();
    assert!(
        text.contains("torn=nothing\nmark=12345678\nmarked-since=0 8 9223372036854775807\ncrc32c="),
        "{text}"
    );
    assert!(
        text.contains("\nend=0 0 100 5\nend=1 7 100 12\nend=2 12 100 17\ncrc32c="),
        "{text}"
    );
}

#[test]
fn a_damaged_note_is_told_from_a_damaged_head() {
    for torn in [Torn::Nothing, Torn::Unsynced] {
        let whole = noted(torn).encode();
        let body = split_head(&whole).unwrap().0.len();
        let head = body + CHECKSUM_LINE;
        let judge = |bytes: &[u8], at: usize, what: &str| {
            let decoded = Meta::decode(bytes).map(|meta| meta.noted);
            if at < head {
                assert!(decoded.is_err(), "{what}");
            } else if bytes.len() == head && torn != Torn::Nothing {
                assert_eq!(decoded, Ok(Noted::Nothing), "{what}");
            } else {
                assert_eq!(decoded, Ok(Noted::Damaged), "{what}");
            }
        };
        for cut in 0..whole.len() {
            judge(&whole[..cut], cut, &format!("cut at {cut}"));
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                judge(&flipped, at, &format!("bit {bit} of byte {at}"));
            }
        }
    }
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
