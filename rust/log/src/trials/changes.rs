//! Disks that lie, at rest: every byte of a file is changed.
//!
//! Each byte is changed in one way. With `SHARE_STATE_ALL_BYTES=1` it is changed in ten: each of its bits, all of them, and to
//! zero.

/// One change of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// This byte is another one.
    Byte(usize, u8),
}

impl Change {
    /// The first byte that is not as it was.
    pub fn begins(self) -> usize {
        match self {
            Self::Byte(at, _) => at,
        }
    }

    pub fn applied(self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        match self {
            Self::Byte(at, byte) => changed[at] = byte,
        }
        changed
    }
}

pub(crate) fn asks_for_all() -> bool {
    std::env::var_os("SHARE_STATE_ALL_BYTES").is_some_and(|value| value == "1")
}

/// The changes of the bytes of a file.
pub(crate) fn flips(bytes: &[u8]) -> Vec<Change> {
    let all = asks_for_all();
    let mut changes = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        let mut others: Vec<u8> = if all {
            let bits = (0..8).map(|bit| byte ^ (1 << bit));
            bits.chain([!byte, 0]).collect()
        } else {
            // One bit each, all of them, or none.
            let ways = [byte ^ 1, byte ^ 0x80, !byte, 0];
            vec![ways[at % ways.len()]]
        };
        // A byte that is zero already is changed nevertheless.
        others.iter_mut().for_each(|other| {
            if other == byte {
                *other ^= 0x20;
            }
        });
        others.sort_unstable();
        others.dedup();
        changes.extend(others.into_iter().map(|other| Change::Byte(at, other)));
    }
    changes
}
