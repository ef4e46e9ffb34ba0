//! Frames: their lengths, their order, and those that are for somebody else.

use std::sync::Arc;

use share_state_gateway::node::{Closing, Limits};
use share_state_wire::messages::RequestHeader;

use crate::client::{Fetch, framed};
use crate::scene::A;
use crate::world::World;

fn world() -> World {
    World::with(Limits::default(), &[A])
}

#[test]
fn requests_of_others_go_out_one_at_a_time_and_answers_keep_their_order() {
    let mut world = world();
    let other = framed(3, 9, 1, b"metadata");
    let bytes = [other.clone(), Fetch::of("m", 0).frame(2), other.clone()].concat();
    world.feed(A, &bytes);
    let (connection, frame) = world.opaque.pop_front().unwrap();
    assert_eq!((connection, &frame[..]), (A, &other[4..]));
    assert_eq!(RequestHeader::decode(&frame).unwrap().0.api_key, 3);
    assert_eq!((world.frame(A), world.opaque.len()), (None, 0));
    world.node.answered(A, Some(b"first".to_vec()), world.now);
    world.drive();
    assert_eq!(world.frame(A).as_deref(), Some(&b"first"[..]));
    assert_eq!(world.answer(A, 78).unwrap().correlation_id, 2);
    assert_eq!(world.opaque.len(), 1);
    // A request without an answer, and then the end.
    world.node.answered(A, Some(Vec::new()), world.now);
    world.feed(A, &other);
    assert_eq!(world.opaque.len(), 2);
    world.node.answered(A, None, world.now);
    world.drive();
    assert_eq!(world.closings, [(A, Closing::Asked)]);
}

#[test]
fn a_stranger_speaks_with_the_control_plane_alone_and_in_short_requests() {
    let mut world = World::new(Limits::default());
    world.node.opened(A, None);
    world.feed(A, &Fetch::of("m", 0).frame(1));
    assert_eq!(world.opaque.len(), 1);
    world.node.answered(A, Some(b"refused".to_vec()), world.now);
    world.node.let_in(A, Arc::from("User:alice"));
    world.drive();
    world.frame(A);
    world.feed(A, &Fetch::of("m", 0).frame(2));
    assert_eq!(world.answer(A, 78).unwrap().error, 0);
    for (api_key, length, is_taken) in [(36, 60_000, true), (78, 4_096, true), (78, 4_097, false)] {
        let mut world = World::new(Limits::default());
        world.node.opened(A, None);
        world.feed(A, &head(length, api_key));
        assert_eq!(world.closings.is_empty(), is_taken, "{api_key} {length}");
    }
}

/// The length of a frame and its API key.
fn head(length: i32, api_key: i16) -> Vec<u8> {
    [&length.to_be_bytes()[..], &api_key.to_be_bytes()].concat()
}

#[test]
fn a_length_that_is_none_ends_the_connection() {
    let limits = Limits::default();
    let (frame, other) = (limits.frame as i32, limits.other_frame as i32);
    for (bytes, is_taken) in [
        (head(frame, 78), true),
        (head(frame, 79), true),
        (head(frame + 1, 78), false),
        (head(other, 3), true),
        (head(other + 1, 3), false),
        (head(3, 3), false),
        (head(-1, 3), false),
        (head(i32::MIN, 3), false),
        // No key yet, so any request may come.
        (frame.to_be_bytes().to_vec(), true),
        ((frame + 1).to_be_bytes().to_vec(), false),
        (vec![0x16, 3, 1, 0], false),
    ] {
        let mut world = world();
        world.feed(A, &bytes);
        assert_eq!(world.closings.is_empty(), is_taken, "{bytes:?}");
        assert_eq!(world.node.may_read(A), is_taken);
        if let [(_, Closing::Frame(error))] = world.closings[..] {
            assert_eq!(error.looks_like_tls, bytes[0] == 0x16);
            assert!(error.to_string().contains("bytes, not 4 to"));
        }
        // Whatever follows is not looked at.
        world.feed(A, &Fetch::of("m", 0).frame(2));
        assert_eq!(world.frame(A), None);
    }
}

#[test]
fn versions_that_are_not_served_and_malformed_requests_end_the_connection() {
    for (version, body) in [(0, &b""[..]), (3, b""), (2, b"\x02g"), (1, b"")] {
        let mut world = world();
        world.feed(A, &framed(78, version, 1, body));
        let [(_, cause)] = &world.closings[..] else {
            panic!("version {version} is taken")
        };
        match cause {
            Closing::Version { version: told, .. } => assert_eq!(*told, version),
            Closing::Malformed {
                api_key,
                version: told,
                ..
            } => assert_eq!((*api_key, *told, version > 0), (78, version, true)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_client_that_sends_on_while_it_waits_is_read_up_to_a_limit() {
    let limits = Limits {
        waiting: 1_000,
        ..Limits::default()
    };
    let mut world = World::with(limits, &[A]);
    let other = framed(3, 9, 1, &[0; 600]);
    world.feed(A, &other);
    world.feed(A, &other);
    assert!(world.node.may_read(A));
    world.feed(A, &other);
    assert!(!world.node.may_read(A));
    world.node.answered(A, Some(Vec::new()), world.now);
    world.drive();
    assert!(world.node.may_read(A));
    assert!(!world.node.may_read(2), "there is no such connection");
}

#[test]
fn of_too_many_bytes_that_wait_those_go_of_the_client_with_most() {
    let limits = Limits {
        queued: 1_000,
        ..Limits::default()
    };
    let mut world = World::new(limits);
    for connection in 1..=3 {
        world.open(connection);
        // The first request is begun, and the others wait for its answer.
        world.feed(connection, &framed(3, 9, 1, b""));
    }
    let other = framed(3, 9, 1, &[0; 383]);
    assert_eq!(other.len(), 400);
    world.feed(1, &other);
    world.feed(2, &other[..200]);
    world.feed(3, &other);
    assert_eq!(world.closings, []);
    world.feed(2, &other[200..201]);
    assert_eq!(
        world.closings,
        [(
            3,
            Closing::Queued {
                bytes: 400,
                limit: 1_000
            }
        )]
    );
    // Those that are left are served.
    world.node.answered(1, Some(Vec::new()), world.now);
    world.drive();
    assert_eq!(world.opaque.len(), 4);
}

#[test]
fn what_a_closed_connection_waited_for_reaches_nobody() {
    let mut world = world();
    world.feed(A, &framed(3, 9, 1, b""));
    world.close(A);
    world.node.answered(A, Some(b"late".to_vec()), world.now);
    world.node.sent(A, 5, world.now);
    world.feed(A, b"late");
    world.drive();
    assert_eq!(world.frame(A), None);
}

#[test]
fn a_long_request_leaves_no_room_behind_on_its_connection() {
    let mut world = world();
    // The check of the node looks at the memory after each call.
    world.feed(A, &framed(3, 9, 1, &vec![0; 512 << 10]));
    assert_eq!(world.opaque.len(), 1);
    world.node.answered(A, Some(b"first".to_vec()), world.now);
    world.drive();
    assert_eq!(world.frame(A).as_deref(), Some(&b"first"[..]));
}
