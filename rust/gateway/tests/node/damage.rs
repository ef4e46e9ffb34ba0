//! Damaged requests: no panic, and nothing in memory that the bytes do not pay for.

use proptest::collection::vec;
use proptest::prelude::*;
use share_state_gateway::node::Limits;

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::A;
use crate::world::World;

fn requests() -> Vec<Vec<u8>> {
    let id = place(1, 0);
    let mut fetch = Fetch::of("m", 1);
    fetch.acknowledged = vec![(id, 0, 1, 1), (place(1, 1), 0, 3, 2)];
    fetch.forgotten = vec![place(1, 2)];
    vec![
        fetch.frame(1),
        Fetch::of("m", 0)
            .adding(&[id, place(1, 1), place(2, 0)])
            .frame(2),
        Acknowledge::of("m", 1, &[(id, 0, 1, 1), (id, 2, 3, 3)]).frame(3),
        Acknowledge::of("m", -1, &[(id, 0, 0, 0)]).frame(4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_requests_are_answered_or_end_their_connection(
        chosen in vec((0usize..4, any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..12),
    ) {
        let mut world = World::new(Limits::default());
        world.produce(place(1, 0), 3);
        let mut connection = A;
        world.open(connection);
        world.fetch(connection, &Fetch::of("m", 0).adding(&[place(1, 0)]));
        for (which, at, byte, is_length_kept) in chosen {
            let mut frame = requests().swap_remove(which);
            let start = if is_length_kept { 4 } else { 0 };
            let at = start + at.index(frame.len() - start);
            frame[at] = byte;
            world.feed(connection, &frame);
            while let Some((connection, _)) = world.opaque.pop_front() {
                world.node.answered(connection, Some(Vec::new()), world.now);
                world.drive();
            }
            let (served, rings, _) = world.node.sizes();
            // As many as there are partitions, in as many groups as there were requests.
            prop_assert!(served <= 6 * 13 && rings <= 12);
            if world.closings.pop().is_some() {
                world.close(connection);
                connection += 1;
                world.open(connection);
            }
        }
        world.close(connection);
        world.pass(60_000);
    }

    #[test]
    fn any_bytes_are_taken_as_a_client_that_may_be_none(pieces in vec(vec(any::<u8>(), 0..60), 0..10)) {
        let mut world = World::with(Limits::default(), &[A]);
        for piece in pieces {
            world.feed(A, &piece);
        }
        prop_assert_eq!(world.node.sizes(), (0, 0, 0));
    }
}
