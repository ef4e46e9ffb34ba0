//! Crash of the disk: it leaves a part of what was not synced, in one way of several, or any subset.

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::{Inode, Names, SimDisk, State};

/// Loss of the names and bytes that were not synced, by a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// All of them are gone.
    Everything,
    /// None of them is gone: the process was killed, the machine went on.
    Nothing,
    /// Names are kept; half of the new bytes are.
    HalfOfBytes,
    /// Names are kept; the file has its new length, and zeros.
    ZeroFilled,
    /// Names are kept; the first page of the new bytes is zeros and the rest is there.
    FirstPageZero,
    /// Names are gone as far as they can be, bytes are kept.
    Names,
}

impl Loss {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Everything,
        Self::Nothing,
        Self::HalfOfBytes,
        Self::ZeroFilled,
        Self::FirstPageZero,
        Self::Names,
    ];
}

/// Bytes that a disk writes as a whole.
const PAGE: usize = 512;

impl SimDisk {
    /// The disk as it is found after the power came back.
    #[must_use]
    pub fn after_crash(&self, loss: Loss) -> Self {
        let mut state = self.state().clone();
        if matches!(loss, Loss::Everything | Loss::Names) {
            state.live = state.durable.clone();
        }
        for inode in &mut state.inodes {
            let durable = std::mem::take(&mut inode.durable);
            let grown = inode.live.get(durable.len()..).unwrap_or_default().to_vec();
            inode.live = match loss {
                Loss::Nothing | Loss::Names => std::mem::take(&mut inode.live),
                Loss::Everything => durable,
                Loss::HalfOfBytes => [durable, grown[..grown.len() / 2].to_vec()].concat(),
                Loss::ZeroFilled => [durable, vec![0; grown.len()]].concat(),
                Loss::FirstPageZero => {
                    let page = grown.len().min(PAGE);
                    [durable, vec![0; page], grown[page..].to_vec()].concat()
                }
            };
        }
        found_again(state)
    }

    /// The disk as the next process finds it: this one was killed, and the machine goes on. What was not synced is there, and may
    /// still be lost.
    #[cfg(feature = "sim")]
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let mut state = self.state().clone();
        state.fault = None;
        state.operations = 0;
        state.asked = 0;
        state.locked.clear();
        Self(Arc::new(Mutex::new(state)))
    }

    /// The disk as it is found after a power cut that kept any subset of the pages and of the names that were not synced. The
    /// same seed keeps the same.
    #[must_use]
    pub fn after_power_cut(&self, seed: u64) -> Self {
        let mut state = self.state().clone();
        let mut coin = Coin(seed);
        state.live = any_of(&state.live, &state.durable, &mut coin);
        for inode in &mut state.inodes {
            inode.live = any_pages(inode, &mut coin);
        }
        found_again(state)
    }
}

/// Returns a disk that has what is there now, and nothing else.
fn found_again(mut state: State) -> SimDisk {
    state.fault = None;
    state.operations = 0;
    state.asked = 0;
    state.locked.clear();
    let names = state.live.clone();
    // Whatever hangs below a lost directory is lost with it.
    let is_there = |path: &Path| {
        path.ancestors()
            .all(|above| above.parent().is_none() || names.contains_key(above))
    };
    state.live.retain(|path, _| is_there(path));
    state.durable = state.live.clone();
    for inode in &mut state.inodes {
        inode.durable = inode.live.clone();
        inode.dropped.clear();
    }
    SimDisk(Arc::new(Mutex::new(state)))
}

/// Each name as it is, or as it was synced.
fn any_of(live: &Names, durable: &Names, coin: &mut Coin) -> Names {
    let mut names = Names::new();
    for path in live.keys().chain(durable.keys()) {
        let (now, synced) = (live.get(path), durable.get(path));
        let kept = if now == synced || coin.toss() {
            now
        } else {
            synced
        };
        names.extend(kept.map(|node| (path.clone(), *node)));
    }
    names
}

/// The length as it is, as it was synced, or between; and each page as it is, or as it was synced: of zeros, if it was not.
fn any_pages(inode: &Inode, coin: &mut Coin) -> Vec<u8> {
    let Inode { live, durable, .. } = inode;
    if live == durable {
        return live.clone();
    }
    let (short, long) = (live.len().min(durable.len()), live.len().max(durable.len()));
    let length = match coin.below(4) {
        0 => durable.len(),
        1 => short + coin.below(long - short + 1),
        _ => live.len(),
    };
    let mut kept = vec![0; length];
    for (number, page) in kept.chunks_mut(PAGE).enumerate() {
        let from = if coin.toss() { live } else { durable };
        let bytes = from.get(number * PAGE..).unwrap_or_default();
        let there = bytes.len().min(page.len());
        page[..there].copy_from_slice(&bytes[..there]);
    }
    kept
}

/// A generator of choices (splitmix64).
struct Coin(u64);

impl Coin {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn toss(&mut self) -> bool {
        self.next().is_multiple_of(2)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % (limit as u64)).unwrap_or(0)
    }
}
