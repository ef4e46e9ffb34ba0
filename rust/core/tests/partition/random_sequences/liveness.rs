//! No record is left behind: with fair consumers and no faults every offset ends terminal.

use share_state_core::record_state::Phase;
use share_state_core::share_partition::AcquireMode;

use super::op::{Answer, MEMBERS, Op};
use super::world::World;
use crate::common::lab::Fetch;

/// Returns `true` if nothing is left to do: all in flight is done, and so is every record of the log.
fn is_done(world: &World) -> bool {
    let seen = world.seen();
    world.tokens().is_empty()
        && world.dead_letters() == 0
        && world.open().is_empty()
        && seen
            .records
            .values()
            .all(|record| record.state.is_terminal() && record.phase == Phase::Stable)
}

/// Consumes the log to its end. Members that were there before have gone, and their locks run out.
pub fn consume_everything(world: &mut World) {
    world.follow_state_epoch();
    for round in 0..1_000 {
        for token in world.tokens() {
            // A fenced write brings a new leader, which knows nothing of the other writes.
            if world.tokens().contains(&token) {
                world.answer(token, Answer::Written);
            }
        }
        while world.dead_letters() > 0 {
            world.apply(&Op::DeadLetterDone(0));
        }
        if is_done(world) {
            return;
        }
        world.move_log_start(0);
        let before = world.seen();
        // A fetch brings one batch, so one that gives nothing must have told what to read next.
        let mode = [AcquireMode::BatchOptimized, AcquireMode::RecordLimit][round % 2];
        let fetch = Fetch {
            mode,
            batch_size: 4,
            max_records: 10,
            fetch_offset: before.next_fetch_offset,
            log: world.read_log(before.next_fetch_offset, 1),
            aborted: None,
        };
        let member = MEMBERS[round % MEMBERS.len()];
        let acquired = world.acquire(member, &fetch, &before);
        if acquired.is_empty() {
            world.pass_time(1_000);
        } else {
            let picks = vec![(true, 0, 0); 100];
            let member = round % MEMBERS.len();
            world.apply(&Op::Acknowledge {
                member,
                picks,
                types: vec![1],
            });
        }
    }
    panic!("left behind: {:?}, with {:?}", world.open(), world.seen());
}
