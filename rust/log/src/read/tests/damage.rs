//! Torn tails, damage, reserved space, gaps.

use super::*;

#[test]
fn a_log_cut_at_any_byte_is_shown_as_far_as_it_goes() {
    let bytes = three_batches();
    let first = peek_size(&bytes).unwrap().unwrap();
    let second = first + peek_size(&bytes[first..]).unwrap().unwrap();
    for cut in 0..=bytes.len() {
        let disk = broker(&[(0, bytes[..cut].to_vec())]);
        let (offsets, findings) = read(&disk);
        let (shown, whole) = match cut {
            n if n == bytes.len() => (6, n),
            n if n >= second => (5, second),
            n if n >= first => (2, first),
            _ => (0, 0),
        };
        assert_eq!(offsets, (0..shown).collect::<Vec<_>>(), "cut at {cut}");
        if cut == whole {
            assert_eq!(findings, [], "cut at {cut}");
        } else if let [Finding::TornTail(torn)] = &findings[..] {
            assert_eq!(
                (torn.partition, torn.position, torn.bytes),
                (7, whole as u64, (cut - whole) as u64)
            );
        } else {
            panic!("cut at {cut}: {findings:?}");
        }
        assert_eq!(disk.bytes(&segment(0)), &bytes[..cut], "nothing is changed");
    }
}

#[test]
fn a_flipped_bit_never_goes_unnoticed_where_the_format_can_tell() {
    let bytes = three_batches();
    let whole = read(&broker(&[(0, bytes.clone())])).0;
    let mut unnoticed = Vec::new();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            let (offsets, findings) = read(&broker(&[(0, flipped)]));
            if findings.is_empty() {
                assert_eq!(offsets, whole, "bit {bit} of byte {at}");
                unnoticed.push(at);
            }
        }
    }
    // The leader epochs of the three batches: any number may stand there, and it is outside the checksum.
    unnoticed.dedup();
    assert_eq!(unnoticed.len(), 12, "{unnoticed:?}");
}

#[test]
fn reading_goes_on_after_damage() {
    let (a, b, c) = (batch(0, 2), batch(2, 3), batch(5, 1));
    let mut bad = b.clone();
    bad[30] ^= 1;
    let disk = broker(&[(0, [a.clone(), bad.clone(), c.clone()].concat())]);
    let (offsets, findings) = read(&disk);
    assert_eq!(offsets, [0, 1, 5]);
    assert!(
        matches!(kinds(&findings)[..], [CorruptKind::Batch(_)]),
        "told once: {findings:?}"
    );

    // Also where the length leads nowhere, and into the next segment.
    for length in [0, -1, 5, i32::MAX] {
        let mut bad = b.clone();
        bad[8..12].copy_from_slice(&i32::to_be_bytes(length));
        let disk = broker(&[(0, [a.clone(), bad, c.clone()].concat()), (6, batch(6, 1))]);
        let (offsets, findings) = read(&disk);
        assert_eq!(offsets, [0, 1, 5, 6], "length {length}");
        assert_eq!(kinds(&findings).len(), 1, "length {length}: {findings:?}");
    }
    // A torn tail is one of the last segment only.
    let disk = broker(&[(0, [a, b[..50].to_vec()].concat()), (5, c)]);
    let (offsets, findings) = read(&disk);
    assert_eq!(offsets, [0, 1, 5]);
    assert!(
        matches!(
            kinds(&findings)[..],
            [CorruptKind::CutOff { remaining: 50 }]
        ),
        "{findings:?}"
    );
}

#[test]
fn missing_doubled_and_empty_segments_are_told() {
    let disk = broker(&[(0, batch(0, 2)), (5, batch(5, 1))]);
    let (offsets, findings) = read(&disk);
    assert_eq!(offsets, [0, 1, 5]);
    assert_eq!(
        kinds(&findings),
        [&CorruptKind::OffsetGap {
            expected: 2,
            found: 5
        }]
    );

    let disk = broker(&[(0, batch(0, 2)), (1, batch(1, 3))]);
    let (offsets, findings) = read(&disk);
    assert_eq!(offsets, [0, 1, 1, 2, 3]);
    assert_eq!(
        kinds(&findings),
        [&CorruptKind::OffsetBack {
            expected: 2,
            found: 1
        }]
    );

    let disk = broker(&[(0, batch(0, 2)), (2, Vec::new()), (3, batch(3, 1))]);
    let (offsets, findings) = read(&disk);
    assert_eq!(offsets, [0, 1, 3]);
    assert_eq!(
        kinds(&findings),
        [
            &CorruptKind::EmptySegment,
            &CorruptKind::OffsetGap {
                expected: 2,
                found: 3
            }
        ]
    );

    // A log whose beginning was pruned is whole, and so is a last segment that a broker has just begun.
    let disk = broker(&[(90, batch(90, 2)), (92, Vec::new())]);
    assert_eq!(read(&disk), (vec![90, 91], vec![]));
}

#[test]
fn reserved_space_is_no_finding_but_a_file_of_zeros_is() {
    for zeros in [12, 61, 100_000] {
        let disk = broker(&[
            (0, [three_batches(), vec![0; zeros]].concat()),
            (6, batch(6, 1)),
        ]);
        assert_eq!(read(&disk), ((0..7).collect(), vec![]), "{zeros} zeros");
    }
    let disk = broker(&[(0, [three_batches(), vec![0; 11]].concat())]);
    assert!(
        matches!(read(&disk).1[..], [Finding::TornTail(_)]),
        "rather the beginning of a batch"
    );
    for segments in [
        &[(0, vec![0; 500])][..],
        &[(0, vec![0; 500]), (6, batch(6, 1))],
    ] {
        let (_, findings) = read(&broker(segments));
        assert_eq!(kinds(&findings).len(), 1, "{findings:?}");
    }
}

#[test]
fn control_batches_are_passed_over() {
    let mut marker = batch(2, 1);
    marker[22] |= 0x20;
    let crc = crc32c::crc32c(&marker[21..]);
    marker[17..21].copy_from_slice(&crc.to_be_bytes());
    let disk = broker(&[(0, [batch(0, 2), marker, batch(3, 1)].concat())]);
    assert_eq!(read(&disk), (vec![0, 1, 3], vec![]));
}
