//! Records that are cut, damaged, of another version or type, or that claim more than there is.

use super::*;

#[test]
fn a_key_or_value_cut_anywhere_is_refused() {
    for (key, value) in recorded() {
        for end in 0..key.len() {
            let cut = decode(&key[..end], value.as_deref());
            assert!(cut.is_err(), "key of {end} bytes: {cut:?}");
        }
        for end in 0..value.as_ref().map_or(0, Vec::len) {
            let cut = decode(&key, value.as_deref().map(|v| &v[..end]));
            assert!(cut.is_err(), "value of {end} bytes: {cut:?}");
        }
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_another_record_that_can_be_written() {
    let mut flips = 0;
    for (key, value) in recorded() {
        let joined = [key.clone(), value.clone().unwrap_or_default()].concat();
        for bit in 0..joined.len() * 8 {
            let mut bytes = joined.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let (k, v) = bytes.split_at(key.len());
            if let Ok(Decoded::Record(record)) = decode(k, value.as_ref().map(|_| v)) {
                assert_eq!(encode_key(&record).unwrap(), k);
                let written = encode_value(&record.value).unwrap();
                let again = decode(k, written.as_deref());
                assert_eq!(again, Ok(Decoded::Record(record)));
            }
            flips += 1;
        }
    }
    assert_eq!(flips, 8 * 964);
}

#[test]
fn bytes_after_the_end_are_refused() {
    for (mut key, value) in recorded() {
        if let Some(mut value) = value {
            let count = value.len();
            value.push(0);
            let error = decode(&key, Some(&value)).unwrap_err();
            let kind = WireErrorKind::TrailingBytes { count: 1 };
            assert_eq!(error, WireError::new(count, kind));
        }
        key.push(0);
        let error = decode(&key, None).unwrap_err();
        assert_eq!(error.kind, WireErrorKind::TrailingBytes { count: 1 });
    }
}

#[test]
fn records_of_other_groups_are_left_unread() {
    for other in (0..10).chain(16..20).chain([-1, i16::MIN, i16::MAX]) {
        let key = [&other.to_be_bytes()[..], &[9, 9]].concat();
        assert_eq!(
            decode(&key, Some(&[1, 2, 3])),
            Ok(Decoded::OtherType(other))
        );
        assert_eq!(decode(&key, None), Ok(Decoded::OtherType(other)));
    }
}

#[test]
fn damage_is_named() {
    let (member, group) = ("000a 0001 67 0001 6d", "000b 0001 67");
    let version = WireErrorKind::UnsupportedVersion { version: 1 };
    assert_eq!(kind(group, "0001 00000000 0000000000000000 00"), version);
    assert_eq!(kind("000b ffff", ""), WireErrorKind::Null);
    let empty = WireErrorKind::Length {
        length: 0,
        max: 32_767,
    };
    assert_eq!(kind("000b 0000", ""), empty);
    assert_eq!(kind("000a 0001 67 ffff", ""), WireErrorKind::Null);
    // A client id of null, topics of null, and a name that is no UTF-8.
    assert_eq!(kind(member, "0000 00 00"), WireErrorKind::Null);
    assert_eq!(kind(member, "0000 00 01 01 00 00"), WireErrorKind::Null);
    assert_eq!(kind(member, "0000 00 02ff 01 01 00"), WireErrorKind::Utf8);
    let tag = WireErrorKind::TagSize { tag: 0, size: 4 };
    assert_eq!(kind("000c 0001 67", "0000 00000001 01 00 04 00000001"), tag);
}

/// CVE-2022-34917: no number in a record makes memory.
#[test]
fn counts_are_held_to_the_bytes_there_are() {
    let billion = "8094ebdc03";
    let id = "01".repeat(16);
    let of = |possible| WireErrorKind::Count {
        count: 999_999_999,
        possible,
    };
    assert_eq!(
        kind(
            "000a 0001 67 0001 6d",
            &format!("0000 00 01 01 {billion} 00")
        ),
        of(1)
    );
    assert_eq!(
        kind(
            "000d 0001 67 0001 6d",
            &format!("0000 {billion} {id} 01 00")
        ),
        of(1)
    );
    assert_eq!(
        kind(
            "000d 0001 67 0001 6d",
            &format!("0000 02 {id} {billion} 00000000 00 00")
        ),
        of(1)
    );
    assert_eq!(kind("000f 0001 67", &format!("0000 {billion}")), of(0));
    assert_eq!(kind("000f 0001 67", &format!("0000 01 {billion}")), of(0));
    assert_eq!(
        kind("000f 0001 67", &format!("0000 01 01 {billion}")),
        of(0)
    );
}

#[test]
fn tags_of_later_releases_are_dropped() {
    let record = read(
        &hex("000c 0001 67"),
        Some(&hex("0000 00000001 02 05 02 abcd 09 00")),
    );
    let GroupValue::TargetAssignment(Some(target)) = record.value else {
        panic!("{record:?}")
    };
    assert_eq!(
        (target.assignment_epoch, target.assignment_timestamp),
        (1, 0)
    );
}
