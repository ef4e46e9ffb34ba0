//! Torn tails and damage, to the byte.

use std::io::Cursor;
use std::path::Path;

use share_state_wire::record_batch::{Compression, Limits, NewRecord, encode_batch};

use super::*;
use crate::batch_reader::{BatchReader, Step};
use crate::disk::Disk;
use crate::disk::sim::SimDisk;

fn batch(base_offset: i64, value: &[u8]) -> Vec<u8> {
    let record = NewRecord {
        timestamp: 1,
        key: Some(b"k"),
        value: Some(value),
    };
    encode_batch(base_offset, 0, Compression::None, &[record]).unwrap()
}

/// Finds the fault of bytes that begin at `position`, where a batch with this offset should come; `None` if they are one.
fn bad(position: usize, bytes: &[u8], next_offset: i64) -> Option<(BatchReader, Bad)> {
    let disk = SimDisk::default();
    let path = Path::new("/log");
    disk.put(path, &[&vec![7; position][..], bytes].concat());
    let source = disk.open_read(path).unwrap();
    let mut reader = BatchReader::new(source, Limits::default()).unwrap();
    reader.resume_at(position as u64).unwrap();
    let bad = match reader.step().unwrap() {
        Step::End => return None,
        Step::Bad(bad) => bad,
        Step::Whole => match reader.decode() {
            Err(bad) => bad,
            Ok(batch) if batch.header.base_offset == next_offset => return None,
            Ok(batch) => reader.out_of_order(next_offset, batch.header.base_offset),
        },
    };
    Some((reader, bad))
}

/// And what is said of them.
fn verdict(position: usize, bytes: &[u8], next_offset: i64, torn: Torn) -> Option<Verdict> {
    let (mut reader, bad) = bad(position, bytes, next_offset)?;
    let expected = Expected {
        torn,
        ..Expected::ANYTHING
    };
    Some(judge(reader.raw(), &bad, next_offset, expected).unwrap())
}

/// A file that counts the bytes that are read of it.
struct Counted {
    file: Cursor<Vec<u8>>,
    read: usize,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Each bad batch of a file of bad and whole ones was read to the end: half a megabyte took half a minute.
#[test]
fn a_bad_batch_before_a_whole_one_is_not_read_to_the_end_of_the_file() {
    let mut log = [batch(7, b"v"), batch(8, b"v"), vec![9; 1 << 20]].concat();
    log[30] ^= 1;
    let (_, bad) = bad(0, &log, 7).unwrap();
    let mut counted = Counted {
        file: Cursor::new(log),
        read: 0,
    };
    let said = judge(&mut counted, &bad, 7, Expected::ANYTHING).unwrap();
    assert!(is_damage(Some(&said)), "{said:?}");
    assert!(counted.read < 2 * WINDOW, "{} bytes are read", counted.read);
}

/// Bytes that a crash may leave of these: each of the first three pages or zeros, and so all after them.
fn left_of(position: usize, bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let pages = by_page(position as u64, bytes).count().min(4);
    (0..1_usize << pages).map(move |kept| {
        let mut left = bytes.to_vec();
        for (number, (begins, page)) in by_page(position as u64, bytes).enumerate() {
            if kept >> number.min(3) & 1 == 0 {
                left[begins..begins + page.len()].fill(0);
            }
        }
        left
    })
}

/// Seed 7014462715102183 of the simulated worlds: of the length 269, the first page was lost, and 13 was left.
#[test]
fn any_pages_of_an_unfinished_batch_are_a_torn_tail() {
    let mut torn = 0;
    // The length of a batch that begins at a byte from 501 to 503 lies on two pages.
    for (length, places) in [
        (100, 490..513),
        (256, 490..513),
        (600, 490..513),
        (0x1_0203, 500..505),
    ] {
        let whole = batch(7, &vec![9; length]);
        let cuts = (1..30).chain([length / 2, length, whole.len() - 1, whole.len()]);
        let cases = places.flat_map(|place| cuts.clone().map(move |cut| (place, cut)));
        for (place, cut) in cases {
            for left in left_of(place, &whole[..cut]).filter(|left| *left != whole) {
                let said = verdict(place, &left, 7, Torn::LastBatch);
                assert_eq!(
                    said,
                    Some(Verdict::Torn),
                    "{length} bytes at {place}, cut at {cut}"
                );
                torn += 1;
            }
        }
    }
    assert!(torn > 5_000, "{torn}");
}

fn is_damage(verdict: Option<&Verdict>) -> bool {
    matches!(verdict, Some(Verdict::Damage(_)))
}

/// The header's page is lost, and the batch is whole: so it was the last one, if each is synced before the next.
#[test]
fn a_lost_page_before_another_batch_is_damage_unless_nothing_is_synced() {
    let mut log = [batch(7, b"v"), batch(8, b"v")].concat();
    log[..11].fill(0);
    let said = |torn| verdict(501, &log, 7, torn);
    assert!(is_damage(said(Torn::LastBatch).as_ref()));
    assert_eq!(said(Torn::Unsynced), Some(Verdict::Torn));
}

/// The length says that the batch ends before the file does, so it was durable.
#[test]
fn a_length_beside_a_lost_page_is_believed() {
    let (whole, half) = (batch(7, &[9; 600]), batch(8, b"v")[..40].to_vec());
    // The page after the length, and the one before it.
    for (place, lost) in [(500, 12..524), (504, 0..8)] {
        let mut log = [&whole[..], &half].concat();
        log[lost].fill(0);
        log[600] ^= 1;
        let said = verdict(place, &log, 7, Torn::LastBatch);
        assert!(is_damage(said.as_ref()), "{place}: {said:?}");
    }
    let mut header = whole[..12].to_vec();
    header[11] = 13;
    header[10] = 0;
    let said = verdict(100, &header, 7, Torn::LastBatch);
    assert!(is_damage(said.as_ref()), "{said:?}");
}

fn after(bytes: &[u8], next_offset: i64) -> After {
    let mut source = Cursor::new(bytes);
    let mut budget = Budget::for_file(&mut source).unwrap();
    next_batch(&mut source, 0, next_offset, &mut budget).unwrap()
}

#[test]
fn a_whole_batch_is_found_at_any_distance() {
    for distance in [
        1,
        16,
        WINDOW - 20,
        WINDOW - 16,
        WINDOW - 1,
        WINDOW,
        2 * WINDOW + 3,
    ] {
        let mut bytes = vec![0xff; distance];
        bytes.extend(batch(7, b"v"));
        assert_eq!(after(&bytes, 7), After::Batch(distance as u64));
        assert_eq!(
            after(&bytes, 8),
            After::Nothing,
            "an older batch does not count"
        );
        let more = [&bytes[..], &[9; 50]].concat();
        assert_eq!(after(&more, 7), After::Batch(distance as u64));
        bytes.pop();
        assert_eq!(
            after(&bytes, 7),
            After::Nothing,
            "a cut batch does not count"
        );
    }
}

#[test]
fn the_batch_in_question_does_not_speak_for_itself() {
    assert_eq!(after(&batch(7, b"v"), 0), After::Nothing);
}

#[test]
fn a_file_made_of_headers_is_given_up() {
    // Every 17 bytes a header that claims the rest of the file, with a checksum that does not fit.
    let mut bytes = Vec::new();
    for i in 0..1000_i32 {
        bytes.extend(9_i64.to_be_bytes());
        bytes.extend((17 * (1000 - i) - 12 - 17).max(49).to_be_bytes());
        bytes.extend([0, 0, 0, 0, 2]);
    }
    bytes.extend([1; 100]);
    assert_eq!(after(&bytes, 0), After::Unclear);
}

#[test]
fn zeros_are_seen_to_the_last_byte() {
    let mut bytes = vec![0; 2 * WINDOW];
    assert!(only_zeros(&mut Cursor::new(bytes.clone()), 5).unwrap());
    bytes.push(1);
    assert!(!only_zeros(&mut Cursor::new(bytes), 5).unwrap());
}
