//! Everything the log asks of a disk, behind one trait, so that tests can put a disk beneath it that loses power.
//!
//! The promises a caller relies on are those of POSIX and no more: bytes are durable after [`DiskFile::sync`], and a
//! name (created, renamed or removed) is durable after [`Disk::sync_dir`] of the directory that holds it.

#[cfg(target_os = "linux")]
mod ahead;
mod real;
#[cfg(any(test, feature = "sim"))]
pub(crate) mod sim;

use core::fmt;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

pub(crate) use real::RealDisk;

/// Name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// The name; bytes that are not UTF-8 are replaced, so such a name matches none of ours.
    pub name: String,
    /// Set if it names a directory.
    pub is_dir: bool,
}

/// A file open for reading.
pub(crate) trait Source: Read + Seek + Send {
    /// Its length at this moment, bytes; it may grow while it is read.
    fn length(&self) -> io::Result<u64>;
}

/// The way a file that is appended to gets its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// By each append.
    AsAppended,
    /// Ahead, where the system can: zeros may follow what was appended, until [`DiskFile::truncate`] cuts them off. For files that are
    /// not synced after each append: of a file that is, a torn append must end where the file ends.
    Ahead,
}

/// A file open for appending.
pub(crate) trait DiskFile: Send + fmt::Debug {
    /// Writes all of `bytes` after the end. After an error any part of them may have been written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Returns when everything written so far is durable. An error means that it may never be: the operating system
    /// may have dropped the bytes and forgotten that it did, so a second try proves nothing.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the file.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// Keeps a directory to one writer for as long as it lives.
pub(crate) trait Held: Send + Sync + fmt::Debug {
    /// Gives the directory up, also where a forked child still holds the file open.
    fn release(&self);
}

/// Reason for which a lock was not taken.
#[derive(Debug)]
pub(crate) enum LockFailure {
    /// Somebody else has it; the process id is what the lock file says.
    Held {
        /// Id of the process, if it could be read.
        pid: Option<u32>,
    },
    /// The file could not be opened or locked.
    Io(io::Error),
}

/// A file system.
pub(crate) trait Disk: Send + Sync + fmt::Debug {
    /// The names in a directory, in ascending order.
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>>;
    /// Makes a directory and what is missing above it; fine if it is there.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;
    /// Returns when the names in a directory are durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Makes an empty file, in place of one that is there.
    fn create(&self, path: &Path, room: Room) -> io::Result<Box<dyn DiskFile>>;
    /// Opens a file that is there for appending.
    fn open_append(&self, path: &Path, room: Room) -> io::Result<Box<dyn DiskFile>>;
    /// Writes the bytes of a file from `from` on once more where they are, so that the next sync writes them. After a sync that
    /// failed the operating system shows bytes that it takes for written, and they may not be.
    fn write_again(&self, path: &Path, from: u64) -> io::Result<()>;
    /// Opens a file for reading.
    fn open_read(&self, path: &Path) -> io::Result<Box<dyn Source>>;
    /// Gives a file another name in the same directory, in place of one that has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// A number above 0 that no store has been given, but for chance.
    fn new_mark(&self) -> i32;
    /// Takes the lock file at `path` without waiting.
    fn lock(&self, path: &Path) -> Result<Box<dyn Held>, LockFailure>;
}

/// An operation on the disk that failed, as plain data that every waiter can be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoFailure {
    /// Operation that was tried, such as `sync`.
    pub operation: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// The kind of error.
    pub kind: io::ErrorKind,
    /// The operating system's number for it, if it has one.
    pub os_error: Option<i32>,
    /// The operating system's words.
    pub message: String,
}

impl IoFailure {
    /// Adds what was tried and where to an error of the operating system.
    pub(crate) fn new(operation: &'static str, path: &Path, error: &io::Error) -> Self {
        Self {
            operation,
            path: path.to_owned(),
            kind: error.kind(),
            os_error: error.raw_os_error(),
            message: error.to_string(),
        }
    }
}

impl fmt::Display for IoFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {}",
            self.operation,
            self.path.display(),
            self.message
        )
    }
}

impl core::error::Error for IoFailure {}

/// Puts the operation and the path to an error.
pub(crate) trait At<T> {
    fn at(self, operation: &'static str, path: &Path) -> Result<T, IoFailure>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, operation: &'static str, path: &Path) -> Result<T, IoFailure> {
        self.map_err(|error| IoFailure::new(operation, path, &error))
    }
}

/// Writes a small file so that after a crash either the old or the new content is there, never a mixture.
pub(crate) fn write_atomically(
    disk: &dyn Disk,
    dir: &Path,
    name: &str,
    bytes: &[u8],
) -> Result<(), IoFailure> {
    let path = dir.join(name);
    let draft = dir.join(format!("{name}{DRAFT_SUFFIX}"));
    let mut file = disk.create(&draft, Room::AsAppended).at("create", &draft)?;
    file.append(bytes).at("write", &draft)?;
    file.sync().at("sync", &draft)?;
    drop(file);
    disk.rename(&draft, &path).at("rename", &path)?;
    disk.sync_dir(dir).at("sync directory", dir)
}

/// Ends the name of a file that is not yet what its name without the ending says.
pub(crate) const DRAFT_SUFFIX: &str = ".new";

/// Reads a small file whole; `None` if it is not there. A file above `limit` bytes is cut there.
pub(crate) fn read_small(
    disk: &dyn Disk,
    path: &Path,
    limit: u64,
) -> Result<Option<Vec<u8>>, IoFailure> {
    let file = match disk.open_read(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(IoFailure::new("open", path, &error)),
    };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).at("read", path)?;
    Ok(Some(bytes))
}
