//! Any bytes as a segment: walked batch by batch down to the state records, as a loader does.

use share_state_wire::Limits;
use share_state_wire::record_batch::{DecodedBatch, decode_batch, peek_size};
use share_state_wire::state_record::decode;

/// Small, so that a run reaches it.
const LIMITS: Limits = Limits {
    max_decompressed_bytes: 1 << 20,
};

/// Runs one input; tells whether at least one of its batches could be read.
pub fn run(data: &[u8]) -> bool {
    let mut rest = data;
    let mut read = false;
    while let Ok(Some(size)) = peek_size(rest) {
        let Some((batch, after)) = rest.split_at_checked(size) else {
            break;
        };
        read |= decode_batch(batch, &LIMITS)
            .map(|batch| records(&batch))
            .is_ok();
        let mut repaired = batch.to_vec();
        if let Some((front, covered)) = repaired.split_at_mut_checked(21)
            && let Some(crc) = front.get_mut(17..)
        {
            crc.copy_from_slice(&crc32c::crc32c(covered).to_be_bytes());
        }
        read |= decode_batch(&repaired, &LIMITS)
            .map(|batch| records(&batch))
            .is_ok();
        rest = after;
    }
    read
}

fn records(batch: &DecodedBatch<'_>) {
    for record in batch.records() {
        if let Some(Err(error)) = record.key.map(|key| decode(key, record.value)) {
            let longest = record
                .key
                .map(<[u8]>::len)
                .max(record.value.map(<[u8]>::len));
            assert!(Some(error.position) <= longest, "{error}");
        }
    }
}
