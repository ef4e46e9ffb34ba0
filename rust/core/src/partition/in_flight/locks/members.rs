//! The leases of each member, listed as soon as there are too many to look at each.
//!
//! A member's list is a chain of blocks of 64 bytes, the newest first. A walk along the chain of single leases would wait
//! for memory once a lease; here the next leases are known before the first has arrived. A place that was left stays empty
//! until its block is: a block is given back when the last of its leases leaves.

use super::{NONE, make_room};

/// Leases of a block.
const PLACES: usize = 13;
/// A place is the block's number and, in so many bits, the number inside.
const PLACE_BITS: u32 = 4;

#[derive(Clone, Copy, Debug)]
struct Block {
    /// Towards newer ones.
    prev: u32,
    /// Towards older ones; of a free block the next free one.
    next: u32,
    /// Places given away, from the front.
    given: u16,
    /// Places that hold a lease.
    live: u16,
    leases: [u32; PLACES],
}

const _: () = assert!(size_of::<Block>() == 64, "a block takes 64 bytes");

/// The leases of the members, by number.
#[derive(Clone, Debug)]
pub(super) struct Members {
    /// The newest block of each member.
    newest: Vec<u32>,
    blocks: Vec<Block>,
    free: u32,
}

impl Default for Members {
    fn default() -> Self {
        Self {
            newest: Vec::new(),
            blocks: Vec::new(),
            free: NONE,
        }
    }
}

impl Members {
    /// Lists a lease and says where.
    pub fn add(&mut self, member: u32, lease: u32) -> u32 {
        let newest = self.newest.get(member as usize).copied().unwrap_or(NONE);
        if let Some(block) = self.blocks.get_mut(newest as usize)
            && let Some(place) = block.leases.get_mut(usize::from(block.given))
        {
            debug_assert!(*place == NONE, "a place is given away once: {place}");
            *place = lease;
            let at = newest << PLACE_BITS | u32::from(block.given);
            block.given += 1;
            block.live += 1;
            return at;
        }
        self.open(member, newest, lease)
    }

    fn open(&mut self, member: u32, newest: u32, lease: u32) -> u32 {
        let mut block = Block {
            prev: NONE,
            next: newest,
            given: 1,
            live: 1,
            leases: [NONE; PLACES],
        };
        block.leases[0] = lease;
        let number = match self.blocks.get_mut(self.free as usize) {
            Some(free) => {
                let number = self.free;
                self.free = free.next;
                *free = block;
                number
            }
            None => {
                make_room(&mut self.blocks);
                self.blocks.push(block);
                (self.blocks.len() - 1) as u32
            }
        };
        if let Some(older) = self.blocks.get_mut(newest as usize) {
            older.prev = number;
        }
        let member = member as usize;
        if member >= self.newest.len() {
            self.newest.resize(member + 1, NONE);
        }
        self.newest[member] = number;
        number << PLACE_BITS
    }

    /// Takes the lease at `place` off the list of `member`.
    #[inline]
    pub fn remove(&mut self, member: u32, place: u32) {
        let number = place >> PLACE_BITS;
        let Some(block) = self.blocks.get_mut(number as usize) else {
            return;
        };
        let inside = place & ((1 << PLACE_BITS) - 1);
        debug_assert!(
            block.leases[inside as usize] != NONE,
            "a lease leaves its place once: {block:?}"
        );
        block.leases[inside as usize] = NONE;
        block.live -= 1;
        if block.live > 0 {
            return;
        }
        let Block { prev, next, .. } = *block;
        block.next = self.free;
        self.free = number;
        if let Some(older) = self.blocks.get_mut(next as usize) {
            older.prev = prev;
        }
        match self.blocks.get_mut(prev as usize) {
            Some(newer) => newer.next = next,
            None => self.newest[member as usize] = next,
        }
    }

    /// The leases of a member, the newest first.
    pub fn leases(&self, member: u32) -> impl Iterator<Item = u32> + '_ {
        let block = |number: u32| self.blocks.get(number as usize);
        let newest = self.newest.get(member as usize).copied().unwrap_or(NONE);
        let chain = core::iter::successors(block(newest), move |at| block(at.next));
        let places = chain.flat_map(|at| at.leases[..usize::from(at.given)].iter().rev());
        places.copied().filter(|lease| *lease != NONE)
    }

    pub fn heap_bytes(&self) -> usize {
        self.newest.capacity() * size_of::<u32>() + self.blocks.capacity() * size_of::<Block>()
    }

    /// Checks the blocks, and returns each listed lease with its member and its place.
    pub fn check(&self) -> Result<Vec<(u32, u32, u32)>, String> {
        let mut listed = Vec::new();
        let mut blocks = 0;
        for (member, &newest) in (0..).zip(&self.newest) {
            let (mut prev, mut at) = (NONE, newest);
            while let Some(block) = self.blocks.get(at as usize) {
                let places = (0..).zip(&block.leases);
                let held = places.filter(|(_, lease)| **lease != NONE);
                let before = listed.len();
                listed.extend(held.map(|(n, lease)| (*lease, member, at << PLACE_BITS | n)));
                let live = listed.len() - before;
                if block.prev != prev || live != usize::from(block.live) || live == 0 {
                    return Err(format!("block {at} after {prev} of {member}: {block:?}"));
                }
                (prev, at) = (at, block.next);
                blocks += 1;
            }
        }
        let mut free = self.free;
        while let Some(block) = self.blocks.get(free as usize) {
            free = block.next;
            blocks += 1;
        }
        if blocks != self.blocks.len() {
            return Err(format!("{blocks} blocks of {}", self.blocks.len()));
        }
        Ok(listed)
    }
}
