//! Cuts: bytes that come in any pieces are answered as whole requests are.

use proptest::collection::vec;
use proptest::prelude::*;
use share_state_gateway::node::Limits;

use crate::client::{Acknowledge, Fetch, framed, place};
use crate::scene::A;
use crate::world::World;

/// A request of the one connection; the epochs of its members are right as a rule.
#[derive(Clone, Debug)]
enum Ask {
    Fetch {
        member: u8,
        partition: i32,
        acknowledges: bool,
    },
    Acknowledge {
        member: u8,
        first: i64,
        kind: u8,
    },
    Other,
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let ask = prop_oneof![
        3 => (0u8..2, 0..3, any::<bool>()).prop_map(|(member, partition, acknowledges)| Ask::Fetch {
            member, partition, acknowledges,
        }),
        2 => (0u8..2, 0i64..8, 0u8..5).prop_map(|(member, first, kind)| Ask::Acknowledge {
            member, first, kind,
        }),
        1 => Just(Ask::Other),
    ];
    vec(ask, 1..30)
}

fn frames(asks: &[Ask]) -> Vec<Vec<u8>> {
    let mut epochs = [0; 2];
    let id = place(1, 0);
    let mut next = |member: u8| {
        let epoch = &mut epochs[usize::from(member)];
        *epoch += 1;
        *epoch - 1
    };
    let frame = |(index, ask): (usize, &Ask)| {
        let correlation_id = index as i32;
        match ask {
            Ask::Fetch {
                member,
                partition,
                acknowledges,
            } => {
                let mut fetch = Fetch::of(&format!("m{member}"), next(*member));
                fetch.added.push(place(1, *partition));
                if *acknowledges {
                    fetch.acknowledged.push((id, 0, 0, 1));
                }
                fetch.frame(correlation_id)
            }
            Ask::Acknowledge {
                member,
                first,
                kind,
            } => {
                let batch = (id, *first, *first + 1, *kind);
                let member_id = format!("m{member}");
                Acknowledge::of(&member_id, next(*member), &[batch]).frame(correlation_id)
            }
            Ask::Other => framed(3, 9, correlation_id, b"metadata"),
        }
    };
    asks.iter().enumerate().map(frame).collect()
}

fn world() -> World {
    let mut world = World::with(Limits::default(), &[A]);
    for partition in 0..3 {
        world.produce(place(1, partition), 4);
        world.warm(place(1, partition));
    }
    world
}

/// Takes everything that the connection was sent; requests of others are answered with themselves.
fn taken(world: &mut World) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    loop {
        frames.extend(std::iter::from_fn(|| world.frame(A)));
        let Some((connection, frame)) = world.opaque.pop_front() else {
            return frames;
        };
        world.node.answered(connection, Some(frame), world.now);
        world.drive();
    }
}

proptest! {
    #[test]
    fn requests_in_pieces_are_answered_as_whole_ones(asks in asks(), sizes in vec(1usize..200, 1..40)) {
        let frames = frames(&asks);
        let mut whole = world();
        let expected: Vec<_> = frames
            .iter()
            .flat_map(|frame| {
                whole.feed(A, frame);
                taken(&mut whole)
            })
            .collect();
        prop_assert_eq!(expected.len(), asks.len());

        let mut cut = world();
        let mut rest = &frames.concat()[..];
        let mut got = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(rest.len().min(*size));
            rest = after;
            // Every other piece comes before anything else has happened.
            if size % 2 == 0 {
                cut.node.feed(A, piece, cut.now);
            } else {
                cut.feed(A, piece);
                got.extend(taken(&mut cut));
            }
        }
        cut.drive();
        got.extend(taken(&mut cut));
        prop_assert_eq!(got, expected);
    }
}
