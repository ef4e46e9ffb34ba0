//! A disk in memory that can lose power or fail at any operation.
//!
//! Every file has what the operating system shows and what would survive; every directory likewise. A crash image is
//! made from the two by one of several ways in which real disks lose what was not synced.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "for tests alone: what cannot be is to fail loudly"
)]

mod operations;

use core::fmt;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Clone, Debug, Default)]
struct Inode {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// Stretches whose sync failed: dropped by the operating system, so a later sync makes zeros of them.
    dropped: Vec<(usize, usize)>,
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
    operations: u64,
    fault: Option<Fault>,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Power is lost at this operation: it happens by half, and every later one fails.
    PowerAt(u64),
    /// This operation fails, later ones work (a full disk, or the sync that fails once).
    FailOnce(u64),
}

/// How names and bytes that were not synced come out of a crash.
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

/// Shared by all its handles.
#[derive(Clone, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

impl fmt::Debug for SimDisk {
    /// Without the bytes, which are no help in a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimDisk")
    }
}

fn failure() -> io::Error {
    io::Error::other("simulated fault")
}

fn not_found() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

impl SimDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0
            .lock()
            .expect("no test panics inside the simulated disk")
    }

    /// Operations that could have failed so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Counts operations anew, and lets this go wrong.
    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut state = self.state();
        state.operations = 0;
        state.fault = fault;
    }

    /// The disk as it is found after the power came back.
    #[must_use]
    pub fn after_crash(&self, loss: Loss) -> Self {
        let mut state = self.state().clone();
        state.fault = None;
        state.operations = 0;
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
                    let page = grown.len().min(512);
                    [durable, vec![0; page], grown[page..].to_vec()].concat()
                }
            };
            inode.durable = inode.live.clone();
            inode.dropped.clear();
        }
        state.durable = state.live.clone();
        Self(Arc::new(Mutex::new(state)))
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
    /// Counts an operation. `Err(true)` when it happens by half.
    fn step(&mut self) -> Result<(), bool> {
        let now = self.operations;
        self.operations += 1;
        match self.fault {
            Some(Fault::PowerAt(at)) if now == at => Err(true),
            Some(Fault::PowerAt(at)) if now > at => Err(false),
            Some(Fault::FailOnce(at)) if now == at => Err(true),
            _ => Ok(()),
        }
    }

    fn file(&self, path: &Path) -> io::Result<usize> {
        match self.live.get(path) {
            Some(Node::File(inode)) => Ok(*inode),
            _ => Err(not_found()),
        }
    }
}
