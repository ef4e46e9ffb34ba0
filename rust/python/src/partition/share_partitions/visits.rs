//! The way of a call through its share partitions.

use std::ops::Range;

use super::Home;
use crate::locked::Lock;
use crate::partition::partition_state::PartitionState;

/// Number of share partitions that are loaded at a time.
const AHEAD: usize = 16;

/// A share partition to visit, whose lock is taken.
pub struct Visit<'a> {
    pub index: u32,
    /// The rows that name it, neighbours all of them.
    pub rows: Range<usize>,
    pub lock: Lock<'a, PartitionState>,
}

/// Visits the share partitions of a column, in its order. The indexes must exist.
///
/// One that rests lies in no cache, and a visit follows pointers through a dozen of its lines. So the locks of some are taken
/// together and their memory is loaded, all of it at once, before the first of them is visited.
pub fn each_visit(homes: &[Home], partitions: &[i32], mut visit: impl FnMut(Visit<'_>)) {
    let mut next = 0;
    let mut some = Vec::new();
    while next < partitions.len() {
        lock_some(homes, partitions, next, &mut some);
        let Some(last) = some.last() else { return };
        next = last.rows.end;
        load(&some);
        some.drain(..).for_each(&mut visit);
    }
}

/// Takes the locks of those that come next. Only the first one is waited for: where another's lock is taken, by another thread or
/// because the column named it a few rows before, those that come first are visited first.
fn lock_some<'a>(
    homes: &'a [Home],
    partitions: &[i32],
    mut next: usize,
    some: &mut Vec<Visit<'a>>,
) {
    let neighbours = partitions[next..].chunk_by(|a, b| a == b);
    let mut ahead: [Option<(&Home, usize)>; AHEAD] = [None; AHEAD];
    for (place, rows) in ahead.iter_mut().zip(neighbours) {
        *place = homes.get(rows[0] as usize).map(|home| (home, rows.len()));
        if let Some((home, _)) = place {
            home.preload();
        }
    }
    for (home, rows) in ahead.into_iter().map_while(|place| place) {
        let lock = if some.is_empty() {
            Some(home.lock())
        } else {
            home.try_lock()
        };
        let Some(lock) = lock else { return };
        some.push(Visit {
            index: partitions[next] as u32,
            rows: next..next + rows,
            lock,
        });
        next += rows;
    }
}

fn load(some: &[Visit<'_>]) {
    if some.len() > 1 {
        let sound = some.iter().filter_map(|visit| visit.lock.sound());
        sound.for_each(PartitionState::preload);
    }
}
