//! Any bytes as the answer to a Fetch of any version: refused, or read with every part of it inside the frame.

use share_state_wire::messages::data::FetchAnswer;

/// Runs one input, whose first byte is the version; tells whether it was an answer.
pub fn run(data: &[u8]) -> bool {
    let [version, ..] = data else {
        return false;
    };
    let Ok(answer) = FetchAnswer::decode(data, 1, i16::from(*version)) else {
        return false;
    };
    let mut end = 1;
    let mut aborted = 0;
    for partition in &answer.partitions {
        assert!(end <= partition.records.start && partition.records.start <= partition.records.end);
        end = partition.records.end;
        aborted += partition.aborted.as_ref().map_or(0, Vec::len);
    }
    assert!(end <= data.len());
    // What was made of the answer is in proportion to it.
    assert!(
        answer.partitions.len() * 30 + aborted * 16 + answer.node_endpoints.len() * 11
            <= data.len()
    );
    true
}
