//! Reads of the log upstream, as the control plane hands them in.

use share_state_core::limits::IsolationLevel;
use share_state_gateway::node::{Limits, Need, SourceKey};
use share_state_gateway::{AppendError, Appended, Buffer, Read};
use share_state_wire::record_batch::Checksums;

use crate::client::{Fetch, place};
use crate::scene::{A, bytes};
use crate::world::World;

/// A read from the beginning of the one log.
fn read(bytes: Vec<u8>) -> Read<'static> {
    let end = bytes.len();
    Read {
        asked_offset: 0,
        buffer: Buffer::new(bytes),
        start: 0,
        end,
        aborted: &[],
        checksums: Checksums::Checked,
    }
}

const SOURCE: SourceKey = SourceKey {
    id: place(1, 0),
    isolation: IsolationLevel::ReadUncommitted,
};

#[test]
fn bytes_without_a_whole_batch_are_an_error_and_stay_wanted() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), place(1, 0));
    let fetch = Fetch::of("m", 0).adding(&[id]).waiting(500);
    world.feed(A, &fetch.frame(1));
    // One life, which is the first.
    let batch = bytes(0, 5);
    let torn = read(batch[..batch.len() - 1].to_vec());
    let refused = world.node.records_read(SOURCE, 1, torn, world.now);
    let expected = AppendError::NoWholeBatch { asked_offset: 0 };
    assert_eq!(refused, Err(expected));
    assert_eq!(expected.to_string(), "no whole batch from offset 0 on");
    assert_eq!(world.node.poll_need(), None);
    // A read without bytes is no error: the log ends there.
    let empty = world
        .node
        .records_read(SOURCE, 1, read(Vec::new()), world.now);
    let nothing = Appended {
        next_offset: 0,
        bytes: 0,
    };
    assert_eq!(empty, Ok(Some(nothing)));
    let whole = world.node.records_read(SOURCE, 1, read(batch), world.now);
    assert_eq!(whole.unwrap().unwrap().next_offset, 2);
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().offsets().len(), 2);
}

#[test]
fn a_read_that_brings_nothing_is_asked_for_again_while_somebody_cares() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), place(1, 0));
    let fetch = Fetch::of("m", 0).adding(&[id]).waiting(500);
    world.feed(A, &fetch.frame(1));
    // The fetch waits, and then another may come soon.
    for (after_ms, is_wanted) in [(0, true), (0, true), (500, true), (5_000, true), (1, false)] {
        world.pass(after_ms);
        let empty = world
            .node
            .records_read(SOURCE, 1, read(Vec::new()), world.now);
        assert_eq!(empty.unwrap().unwrap().bytes, 0);
        let wanted = world.node.poll_need();
        let expected = is_wanted.then_some(Need::Records {
            source: SOURCE,
            life: 1,
            offset: 0,
        });
        assert_eq!(wanted, expected);
    }
}
