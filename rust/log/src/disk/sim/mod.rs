//! A disk in memory that can lose power or fail at any operation.
//!
//! Every file has what the operating system shows and what would survive; every directory likewise. A crash image is
//! made from the two by one of several ways in which real disks lose what was not synced ([`crash`]).

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "for tests alone: what cannot be is to fail loudly"
)]

mod crash;
mod operations;

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

pub use crash::Loss;

#[derive(Clone, Debug, Default)]
struct Inode {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// Stretches whose sync failed: dropped by the operating system, so a later sync makes zeros of them.
    dropped: Vec<(usize, usize)>,
}

impl Inode {
    /// Bytes at the beginning that a sync need not write.
    fn synced(&self) -> usize {
        let same = |(live, durable): &(&u8, &u8)| live == durable;
        self.live.iter().zip(&self.durable).take_while(same).count()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Dir,
    File(usize),
}

type Names = BTreeMap<PathBuf, Node>;

#[derive(Clone, Debug, Default)]
struct State {
    inodes: Vec<Inode>,
    live: Names,
    durable: Names,
    /// Operations that change something.
    operations: u64,
    /// These and all others.
    asked: u64,
    fault: Option<Fault>,
    short_reads: bool,
    locked: BTreeSet<PathBuf>,
    /// The mark given last.
    marks: i32,
    /// Bytes that a file has from an operation on, reads counted.
    later: Option<(u64, usize, Vec<u8>)>,
}

/// Fault of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Power is lost at this operation: it happens by half, and every later one fails.
    PowerAt(u64),
    /// This operation fails, later ones work (the sync that fails once). Reads do not count.
    FailOnce(u64),
    /// This operation fails, and reads count too; later ones work. Of a write any part may be done, and a name may be changed
    /// although the operation is said to have failed.
    AnyFailsOnce(u64),
    /// At this operation, reads count too, the disk is full and stays so: what needs room fails.
    FullFrom(u64),
}

/// Shared by all its handles.
#[derive(Clone, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

impl fmt::Debug for SimDisk {
    /// Without the bytes, which are no help in a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimDisk")
    }
}

fn not_found() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

/// Effect of an operation, which decides if a full disk refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Changes nothing.
    Read,
    /// Needs room.
    Grow,
    /// Needs none.
    Change,
}

/// An operation that fails.
#[derive(Debug)]
struct Failed {
    /// Part of it that is done nevertheless, in sixths.
    sixths: usize,
    error: io::Error,
}

impl From<Failed> for io::Error {
    fn from(failed: Failed) -> Self {
        failed.error
    }
}

/// `EIO` and `ENOSPC`, by the numbers of Linux and of others.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

impl SimDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0
            .lock()
            .expect("no test panics inside the simulated disk")
    }

    /// Operations that changed something, or could have failed to, so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// All operations so far, with those that only read.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.state().asked
    }

    /// Counts operations from 0 again, and lets this go wrong.
    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut state = self.state();
        state.operations = 0;
        state.asked = 0;
        state.fault = fault;
    }

    /// Lets every read bring a few bytes only, as it may.
    pub fn read_by_little(&self) {
        self.state().short_reads = true;
    }

    /// Gives the stores that are made from now on other marks than those of another disk.
    pub fn number_marks_from(&self, mark: i32) {
        self.state().marks = mark;
    }

    /// Lets somebody else give a file other bytes before the operation `at` from now on, reads counted.
    #[cfg(test)]
    pub fn change_at(&self, at: u64, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        let inode = state.file(path).expect("a file");
        state.later = Some((state.asked + at, inode, bytes.to_vec()));
    }

    /// A copy that shares nothing, as an administrator's copy of the directory.
    #[must_use]
    pub fn copy(&self) -> Self {
        self.after_crash(Loss::Nothing)
    }

    /// The bytes of a file.
    #[must_use]
    pub fn bytes(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        match state.live.get(path) {
            Some(Node::File(inode)) => state.inodes[*inode].live.clone(),
            other => panic!("{} is {other:?}", path.display()),
        }
    }

    /// Puts a file there, durable.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        let inode = state.inodes.len();
        state.inodes.push(Inode {
            live: bytes.to_vec(),
            durable: bytes.to_vec(),
            dropped: Vec::new(),
        });
        state.live.insert(path.to_owned(), Node::File(inode));
        state.durable.insert(path.to_owned(), Node::File(inode));
    }

    /// Takes a file away, durably.
    pub fn take(&self, path: &Path) {
        let mut state = self.state();
        state.live.remove(path);
        state.durable.remove(path);
    }

    /// Every file and its bytes.
    #[must_use]
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let state = self.state();
        let mut files = BTreeMap::new();
        for (path, node) in &state.live {
            if let Node::File(inode) = node {
                files.insert(path.clone(), state.inodes[*inode].live.clone());
            }
        }
        files
    }
}

impl State {
    /// Counts an operation.
    fn step(&mut self, kind: Kind) -> Result<(), Failed> {
        let asked = self.asked;
        self.asked += 1;
        if let Some((_, inode, bytes)) = self.later.take_if(|(at, ..)| *at == asked) {
            self.inodes[inode].live = bytes;
        }
        let now = self.operations;
        if kind != Kind::Read {
            self.operations += 1;
        }
        let fails = |sixths, number| {
            Err(Failed {
                sixths,
                error: io::Error::from_raw_os_error(number),
            })
        };
        // Different parts at different operations.
        let part = usize::try_from(asked % 7).unwrap_or(0);
        match self.fault {
            Some(Fault::PowerAt(at)) if kind != Kind::Read && now == at => fails(3, EIO),
            Some(Fault::PowerAt(at)) if kind != Kind::Read && now > at => fails(0, EIO),
            Some(Fault::FailOnce(at)) if kind != Kind::Read && now == at => fails(3, EIO),
            Some(Fault::AnyFailsOnce(at)) if asked == at => fails(part, EIO),
            Some(Fault::FullFrom(at)) if asked >= at && kind == Kind::Grow => fails(part, ENOSPC),
            _ => Ok(()),
        }
    }

    /// Counts an operation on a name, which is done or not, whatever is said.
    fn step_name(&mut self, kind: Kind) -> (bool, io::Result<()>) {
        match self.step(kind) {
            Ok(()) => (true, Ok(())),
            // A full disk has no room for the name.
            Err(Failed { sixths, error }) => {
                (sixths > 3 && error.raw_os_error() == Some(EIO), Err(error))
            }
        }
    }

    fn file(&self, path: &Path) -> io::Result<usize> {
        match self.live.get(path) {
            Some(Node::File(inode)) => Ok(*inode),
            _ => Err(not_found()),
        }
    }

    fn new_file(&mut self, path: &Path) -> usize {
        let inode = self.inodes.len();
        self.inodes.push(Inode::default());
        self.live.insert(path.to_owned(), Node::File(inode));
        inode
    }
}
