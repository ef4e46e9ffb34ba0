use super::{StateBatch, StateBatches};

fn b(first: i64, last: i64, count: i16) -> StateBatch {
    StateBatch {
        first_offset: first,
        last_offset: last,
        delivery_state: 0,
        delivery_count: count,
    }
}

/// The next of a sequence of numbers that look random (xorshift).
fn drawn(seed: &mut u64, below: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed % below
}

fn drawn_batches(seed: &mut u64, most: u64, widest: u64) -> Vec<StateBatch> {
    let number = drawn(seed, most + 1);
    (0..number)
        .map(|_| {
            let first = drawn(seed, 60) as i64;
            // Some are inverted.
            let last = first - 1 + drawn(seed, widest + 1) as i64;
            b(first, last, drawn(seed, 3) as i16)
        })
        .collect()
}

#[test]
fn what_fits_is_what_the_merge_comes_to() {
    let mut seed = 0x5eed;
    let (mut fitting, mut not) = (0, 0);
    for _ in 0..20_000 {
        let state = StateBatches::from_batches(&drawn_batches(&mut seed, 20, 3));
        let batches = drawn_batches(&mut seed, 2, 60);
        let start_offset = drawn(&mut seed, 40) as i64 - 1;
        let allowed = drawn(&mut seed, 24) as usize;

        let mut merged = state.clone();
        merged.clip(start_offset);
        merged.merge(&batches, start_offset);
        let expected = if merged.len() <= allowed {
            fitting += 1;
            Ok(())
        } else {
            not += 1;
            Err(merged.len())
        };
        let told = state.fits(&batches, start_offset, allowed);
        assert_eq!(told, expected, "{state:?} {batches:?} {start_offset}");
    }
    assert!(fitting > 1_000 && not > 1_000, "{fitting} {not}");
}

#[test]
fn a_batch_makes_as_many_runs_as_it_fills_gaps() {
    let apart = StateBatches::from_batches(&[b(0, 0, 1), b(2, 2, 1), b(4, 4, 1)]);
    let over_all = [b(-1, 5, 0)];
    assert_eq!(apart.fits(&over_all, -1, 7), Ok(()));
    assert_eq!(apart.fits(&over_all, -1, 6), Err(7));
    // What the start offset passes takes no room, and no write makes the state smaller otherwise.
    assert_eq!(apart.fits(&over_all, 4, 2), Ok(()));
    assert_eq!(apart.fits(&[], -1, 3), Ok(()));
    assert_eq!(apart.fits(&[], -1, 2), Err(3));
}

#[test]
fn each_of_many_batches_makes_two_runs_more() {
    let nested: Vec<_> = (0..10)
        .map(|i| b(i, 20 - i, i16::try_from(i).unwrap()))
        .collect();
    let none = StateBatches::from_batches(&[]);
    assert_eq!(none.fits(&nested, -1, 19), Ok(()));
    for allowed in 0..19 {
        assert_eq!(none.fits(&nested, -1, allowed), Err(19), "{allowed}");
    }
}
