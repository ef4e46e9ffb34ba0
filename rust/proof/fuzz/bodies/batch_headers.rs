//! Any bytes as the records of an answer: the walk over the headers tells what a reader of each batch would see, and nothing
//! outside the bytes.

use share_state_wire::Limits;
use share_state_wire::record_batch::{
    BatchHeader, BatchHeaders, Checksums, RecordBatchHeader, decode_batch,
};

const LIMITS: Limits = Limits {
    max_decompressed_bytes: 1 << 20,
};

/// Runs one input; tells whether it began with a whole batch.
pub fn run(data: &[u8]) -> bool {
    let walk = |checksums| BatchHeaders::new(data, 0, data.len(), checksums);
    let told: Vec<BatchHeader> = walk(Checksums::Trusted).map_while(Result::ok).collect();
    let checked: Vec<BatchHeader> = walk(Checksums::Checked).map_while(Result::ok).collect();
    assert!(told.starts_with(&checked));
    let (mut end, mut least, mut sound) = (0, 0, true);
    for (index, header) in told.iter().enumerate() {
        let Some(bytes) = data.get(header.start..header.end) else {
            unreachable!("it lies inside the bytes")
        };
        assert_eq!(header.start, end);
        end = header.end;
        let batch = header.batch;
        assert!(least <= batch.base_offset && batch.base_offset <= batch.last_offset);
        least = batch.last_offset + 1;
        let Ok(read) = RecordBatchHeader::read(bytes) else {
            unreachable!("it was read before")
        };
        assert_eq!(
            (read.base_offset, read.last_offset()),
            (batch.base_offset, Some(batch.last_offset))
        );
        assert_eq!(read.is_control(), batch.control.is_some());
        sound &= decode_batch(bytes, &LIMITS).is_ok();
        assert!(!sound || index < checked.len());
    }
    !told.is_empty()
}
