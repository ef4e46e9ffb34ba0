//! Damage in a log that a crash has torn as well: the torn batch is no excuse for what stands before it.

use super::*;
use crate::trials::changes::{Change, flips};

/// A log of seven batches that were confirmed and one that was not, with the states of the seven.
fn confirmed_and_one_more() -> (SimDisk, Vec<u8>, Vec<u8>, States) {
    let config = config();
    let (disk, history) = history(&config, &script()[..8]);
    let bytes = disk.bytes(&segment(0, 0));
    let boundaries = boundaries(&bytes);
    let last = boundaries[boundaries.len() - 2];
    assert_eq!(boundaries.len(), 9);
    (
        disk,
        bytes[..last].to_vec(),
        bytes[last..].to_vec(),
        history[7].clone(),
    )
}

/// Remains of a batch that a crash may leave.
fn torn(batch: &[u8]) -> Vec<Vec<u8>> {
    let mut torn: Vec<Vec<u8>> = [1, 8, 9, 11, 12, 13, 16, 17, 21, 61, batch.len() - 1]
        .into_iter()
        .map(|cut| batch[..cut].to_vec())
        .collect();
    torn.push(vec![0; batch.len()]);
    torn.push([&vec![0; batch.len() / 2], &batch[batch.len() / 2..]].concat());
    torn
}

/// A length that was changed before a torn batch made the two look like one torn batch, and the confirmed one was cut off.
#[test]
fn a_flipped_length_before_a_torn_batch_loses_no_confirmed_write() {
    let (disk, confirmed, batch, _) = confirmed_and_one_more();
    let boundaries = boundaries(&confirmed);
    let mut refusals = 0;
    for torn in torn(&batch) {
        for begin in &boundaries[..boundaries.len() - 1] {
            for at in begin + 8..begin + 12 {
                for bit in 0..8 {
                    let mut bytes = [&confirmed[..], &torn].concat();
                    bytes[at] ^= 1 << bit;
                    let image = disk.copy();
                    image.put(&segment(0, 0), &bytes);
                    let refused = damages(&image, &config());
                    assert_eq!(
                        (&refused[0].corrupt.segment, refused[0].corrupt.position),
                        (&segment(0, 0), *begin as u64),
                        "bit {bit} of byte {at}, {} bytes of a torn batch",
                        torn.len()
                    );
                    refusals += 1;
                }
            }
        }
    }
    assert_eq!(refusals, 13 * 7 * 32);
}

#[test]
fn any_changed_byte_before_a_torn_batch_loses_no_confirmed_write() {
    let (disk, confirmed, batch, states) = confirmed_and_one_more();
    let (mut refused, mut cut) = (0, 0);
    for torn in torn(&batch) {
        let bytes = [&confirmed[..], &torn].concat();
        for change in flips(&bytes) {
            let image = disk.copy();
            let path = segment(0, 0);
            image.put(&path, &change.applied(&bytes));
            let what = || format!("{change:?}, {} bytes of a torn batch", torn.len());
            match open(&image, &config()) {
                Ok(store) => {
                    assert!(change.begins() >= confirmed.len(), "{}", what());
                    assert_eq!(store.states().unwrap(), states, "{}", what());
                    let told = &store.recovery().torn;
                    assert_eq!(told.len(), 1, "{}", what());
                    assert_eq!(
                        (&told[0].segment, told[0].position),
                        (&path, confirmed.len() as u64)
                    );
                    cut += 1;
                }
                Err(OpenError::Damaged(damages)) => {
                    let corrupt = &damages[0].corrupt;
                    assert_eq!(corrupt.segment, path);
                    assert!(
                        corrupt.position <= change.begins() as u64,
                        "{}: {corrupt}",
                        what()
                    );
                    refused += 1;
                }
                Err(other) => panic!("{}: {other}", what()),
            }
        }
    }
    assert!(refused >= 13 * confirmed.len(), "{refused} refused");
    assert!(cut > 200, "{cut} torn batches cut");
}

/// The last batch of all may be what a crash left; its length alone may not be wrong.
#[test]
fn a_last_batch_that_is_whole_but_for_its_length_is_damage() {
    let (disk, confirmed, batch, _) = confirmed_and_one_more();
    let bytes = [confirmed.clone(), batch].concat();
    let mut refusals = 0;
    for at in confirmed.len() + 8..confirmed.len() + 12 {
        for byte in (0..=u8::MAX).filter(|byte| *byte != bytes[at]) {
            let image = disk.copy();
            image.put(&segment(0, 0), &Change::Byte(at, byte).applied(&bytes));
            let refused = damages(&image, &config());
            assert_eq!(refused[0].corrupt.position, confirmed.len() as u64);
            refusals += 1;
        }
    }
    assert_eq!(refusals, 4 * 255);
}
