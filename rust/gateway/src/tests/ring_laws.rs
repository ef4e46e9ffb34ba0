//! Any reads in any order, evictions between them: a ring never gives out anything but what the log has there.

use proptest::collection::vec;
use proptest::prelude::*;
use share_state_core::offset::OffsetRange;
use share_state_core::share_partition::aborted_ranges;

use super::log::any_log;
use super::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A read from this part of the log on, of this many bytes.
    Read(f64, usize),
    /// A read where the last one ended.
    Next(usize),
    Evict(usize),
    Compact,
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0.0..1.0, 0usize..900).prop_map(|(from, size)| Step::Read(from, size)),
        4 => (0usize..900).prop_map(Step::Next),
        2 => (0usize..3_000).prop_map(Step::Evict),
        1 => Just(Step::Compact),
        1 => Just(Step::Clear),
    ]
}

/// Reads so far, as far as they must still be known.
#[derive(Default)]
struct Twin {
    reads: Vec<(i64, i64)>,
}

impl Twin {
    fn holds(&self, offset: i64) -> bool {
        self.reads
            .iter()
            .any(|(asked, end)| (*asked..*end).contains(&offset))
    }
}

fn read(ring: &mut BatchRing, log: &Log, asked: i64, max_bytes: usize) -> i64 {
    let (bytes, aborted) = log.read(asked, max_bytes);
    let whole = log.slice(asked, i64::MAX, max_bytes);
    let read = Read {
        aborted: &aborted,
        ..plain(asked, bytes)
    };
    let before = ring.nbytes();
    let appended = ring.append(read).unwrap();
    let next = whole.last().map_or(asked, |b| b.fetched.last_offset + 1);
    assert_eq!(appended.next_offset, next);
    assert_eq!(ring.nbytes() - before, appended.bytes);
    next
}

/// Compares everything that can be asked with the log. Returns the offsets that the ring holds.
fn compare(ring: &mut BatchRing, log: &Log, extent: Extent) -> Vec<bool> {
    let mut held = Vec::new();
    for offset in 0..log.end() + 3 {
        let Some(slice) = ring.slice(offset, extent) else {
            assert!(!ring.holds(offset));
            assert_eq!(ring.bytes_from(offset, usize::MAX), 0);
            held.push(false);
            continue;
        };
        assert!(ring.holds(offset));
        held.push(true);
        let from = log.reaching(offset);
        let expected = &log.batches[from..from + slice.fetched.len()];
        let fetched: Vec<_> = expected.iter().map(|b| b.fetched).collect();
        assert_eq!(slice.fetched, fetched, "from {offset} on");
        let gone = expected.iter().filter(|batch| batch.aborted);
        let gone: Vec<_> = gone
            .map(|b| OffsetRange {
                first: b.fetched.base_offset,
                last: b.fetched.last_offset,
            })
            .collect();
        assert_eq!(
            aborted_ranges(&fetched, &slice.aborted),
            gone,
            "from {offset} on"
        );
        let all: usize = expected.iter().map(LogBatch::size).sum();
        assert!(slice.fetched.len() == 1 || all <= extent.max_bytes);
        for skip in 0..slice.fetched.len().min(3) {
            let count = slice.fetched.len() - skip;
            let pieces = ring.pieces(&slice, skip, count);
            let bytes: Vec<u8> = pieces.iter().flat_map(|p| p.bytes().to_vec()).collect();
            let expected: Vec<u8> = expected[skip..].iter().flat_map(LogBatch::bytes).collect();
            assert!(bytes == expected, "bytes from {offset} on");
        }
        assert!(ring.bytes_from(offset, usize::MAX) >= all);
    }
    held
}

proptest! {
    #[test]
    fn a_ring_gives_what_the_log_has_and_holds_what_was_read(
        log in any_log(20), steps in vec(step(), 1..10), max_bytes in 1usize..2_000,
    ) {
        let (mut ring, mut twin, mut next) = (BatchRing::new(), Twin::default(), 0);
        let mut before = compare(&mut ring, &log, ALL);
        for step in steps {
            match step {
                Step::Read(from, size) => {
                    let asked = (from * log.end() as f64) as i64;
                    next = read(&mut ring, &log, asked, size);
                    twin.reads.push((asked, next));
                }
                Step::Next(size) => {
                    let asked = next;
                    next = read(&mut ring, &log, asked, size);
                    twin.reads.push((asked, next));
                }
                Step::Evict(keep) => {
                    let bytes = ring.nbytes();
                    prop_assert_eq!(ring.evict(keep), bytes - ring.nbytes());
                    prop_assert!(ring.nbytes() <= keep);
                }
                Step::Compact => {
                    ring.compact();
                    ring.compact();
                    prop_assert!(ring.held_bytes() <= ring.nbytes().saturating_mul(2));
                }
                Step::Clear => ring.clear(),
            }
            let extent = Extent { max_bytes, ..ALL };
            compare(&mut ring, &log, extent);
            let held = compare(&mut ring, &log, ALL);
            match step {
                Step::Evict(_) | Step::Clear => {
                    prop_assert!(held.iter().zip(&before).all(|(now, before)| *before || !*now));
                    twin.reads.clear();
                }
                _ => prop_assert!(before.iter().zip(&held).all(|(before, now)| *now || !*before)),
            }
            for (offset, held) in held.iter().enumerate() {
                prop_assert!(*held || !twin.holds(offset as i64), "offset {}", offset);
            }
            let sum = ring.runs.iter().flat_map(|run| &run.chunks).flat_map(|c| &c.batches);
            let sum: usize = sum.map(|batch| batch.end - batch.start).sum();
            prop_assert_eq!(ring.nbytes(), sum);
            prop_assert_eq!(ring.end_offset().is_none(), sum == 0);
            before = held;
        }
    }
}
