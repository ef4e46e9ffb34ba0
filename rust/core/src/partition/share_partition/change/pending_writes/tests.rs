//! Pending writes: order, answers, and memory that does not grow.

use super::*;

fn queue(writes: &mut PendingWrites) -> WriteToken {
    writes.queue(UnderWay {
        token: WriteToken(0),
        batches: OneOrMany::default(),
        start_offset: 0,
        delivery_complete_count: 0,
        delivery_limit: 5,
        kind: WriteKind::Confirmed,
        is_answered: false,
    })
}

fn answer(writes: &mut PendingWrites, token: WriteToken) -> bool {
    let place = writes.place(token);
    place.and_then(|place| writes.answer(place)).is_some()
}

fn room(writes: &PendingWrites) -> usize {
    let queue = writes.queue.get();
    queue.map_or(0, |queue| queue.list.capacity())
}

#[test]
fn a_write_that_is_never_answered_makes_nothing_grow() {
    let mut writes = PendingWrites::default();
    let lost = queue(&mut writes);
    assert!(writes.hand_out().is_some_and(|write| write.token == lost));
    for _ in 0..10_000 {
        let token = queue(&mut writes);
        assert!(writes.hand_out().is_some_and(|write| write.token == token));
        assert!(answer(&mut writes, token));
        assert!(!answer(&mut writes, token), "answered twice");
    }
    assert!(room(&writes) <= 4 * SMALL, "{}", room(&writes));
    assert_eq!((writes.under_way(), writes.made()), (1, 10_001));
    assert!(answer(&mut writes, lost));
    assert_eq!((writes.under_way(), writes.place(lost)), (0, None));
}

#[test]
fn a_write_answered_before_it_is_handed_out_is_handed_out_in_its_turn() {
    let mut writes = PendingWrites::default();
    let tokens: Vec<WriteToken> = (0..200).map(|_| queue(&mut writes)).collect();
    for token in tokens.iter().skip(1).step_by(2) {
        assert!(answer(&mut writes, *token));
    }
    assert_eq!(writes.under_way(), 100);
    for token in &tokens {
        let handed = writes.hand_out().map(|write| write.token);
        assert_eq!(handed, Some(*token));
    }
    assert!(writes.hand_out().is_none());
    for token in tokens.iter().step_by(2).rev() {
        assert!(answer(&mut writes, *token));
    }
    assert_eq!(writes.under_way(), 0);
    assert!(room(&writes) <= SMALL);
}

/// Makes so many writes, of which the first are handed out.
fn handed_out(made: usize, handed_out: usize) -> (PendingWrites, Vec<WriteToken>) {
    let mut writes = PendingWrites::default();
    let tokens: Vec<WriteToken> = (0..made).map(|_| queue(&mut writes)).collect();
    for token in &tokens[..handed_out] {
        assert!(writes.hand_out().is_some_and(|write| write.token == *token));
    }
    (writes, tokens)
}

fn answer_all(writes: &mut PendingWrites, tokens: &[WriteToken]) {
    for token in tokens {
        assert!(answer(writes, *token));
    }
}

fn listed(writes: &PendingWrites) -> usize {
    writes.queue.get().map_or(0, |queue| queue.list.len())
}

#[test]
fn the_room_grows_by_an_eighth() {
    let (mut writes, mut expected) = (PendingWrites::default(), 0);
    for made in 0..1_000 {
        if made == expected {
            expected += (made / 8).max(1);
        }
        queue(&mut writes);
        assert_eq!(room(&writes), expected, "{made}");
    }
}

#[test]
fn a_list_of_more_than_32_is_packed_when_more_than_half_is_done() {
    for (made, until_packed) in [(31, 31), (32, 32), (33, 17), (34, 18), (40, 21)] {
        let (mut writes, tokens) = handed_out(made, made);
        answer_all(&mut writes, &tokens[..until_packed - 1]);
        assert_eq!(listed(&writes), made);
        answer_all(&mut writes, &tokens[until_packed - 1..until_packed]);
        assert_eq!(listed(&writes), made - until_packed);
        assert_eq!(writes.under_way(), made - until_packed);
    }
}

#[test]
fn a_packed_list_keeps_room_for_an_eighth_and_an_empty_one_for_32_writes() {
    let (mut writes, tokens) = handed_out(59, 59);
    answer_all(&mut writes, &tokens[..30]);
    assert_eq!((listed(&writes), room(&writes)), (29, 32));
    answer_all(&mut writes, &tokens[30..]);
    assert_eq!((listed(&writes), room(&writes)), (0, 32));

    for (made, room_then) in [(3, 3), (30, 30), (31, 0), (32, 0)] {
        let (mut writes, tokens) = handed_out(made, made);
        answer_all(&mut writes, &tokens);
        assert_eq!((listed(&writes), room(&writes)), (0, room_then));
    }
}

#[test]
fn an_answered_write_that_waits_to_be_handed_out_survives_the_packing() {
    let (mut writes, tokens) = handed_out(40, 30);
    answer_all(&mut writes, &tokens[35..36]);
    answer_all(&mut writes, &tokens[..21]);
    assert_eq!((listed(&writes), writes.to_hand_out()), (19, 10));
    for token in &tokens[30..] {
        let handed = writes.hand_out().map(|write| write.token);
        assert_eq!(handed, Some(*token));
    }
}

#[test]
fn the_next_write_to_hand_out_keeps_its_batches_when_it_is_answered() {
    let batch = StateBatch {
        first_offset: 3,
        last_offset: 5,
        delivery_state: 2,
        delivery_count: 1,
    };
    let mut writes = PendingWrites::default();
    let token = queue(&mut writes);
    let queued = &mut writes.queue.make().list[0];
    queued.batches = OneOrMany::One(batch);
    let place = writes.place(token).expect("under way");
    let (_, _, batches) = writes.answer(place).expect("under way");
    assert_eq!(batches.as_slice(), [batch]);
    let handed = writes.hand_out().expect("still to be handed out");
    assert_eq!(
        (handed.token, handed.batches.as_slice()),
        (token, &[batch][..])
    );
}
