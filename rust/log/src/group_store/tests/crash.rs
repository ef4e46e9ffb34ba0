//! The log is cut at every byte, as a crash may leave it.

use super::*;

#[test]
fn a_log_cut_at_any_byte_keeps_every_whole_verb() {
    let config = GroupStoreConfig::default();
    let (disk, history) = history(&config, &script());
    let bytes = disk.bytes(&segment(0));
    let mut reached = 0;
    // The first batch was durable before the segment had its name.
    let first = share_state_wire::record_batch::peek_size(&bytes).unwrap();
    for cut in first.unwrap()..bytes.len() {
        let image = disk.copy();
        image.put(&segment(0), &bytes[..cut]);
        let store = open(&image, &config).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
        let found = state(&store);
        let later = history[reached..].iter().position(|known| *known == found);
        reached += later.unwrap_or_else(|| panic!("cut at {cut}: half a verb"));
    }
    assert_eq!(
        reached,
        history.len() - 2,
        "all but the last verb, cut by a byte"
    );
}
