//! The disk of the operating system.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

#[cfg(target_os = "linux")]
use super::ahead::AheadFile;
use super::{Disk, DiskFile, Entry, Held, LockFailure, Room, Source};

/// [`Disk`] on [`std::fs`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealDisk;

/// A file in append mode.
#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        // The length is part of what this makes durable; on macOS the standard library asks for a full sync.
        self.0.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
}

impl Source for File {
    fn length(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}

/// The open lock file, until it is released.
#[derive(Debug)]
struct RealLock(Mutex<Option<File>>);

impl Held for RealLock {
    fn release(&self) {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(file) = file {
            // A lock belongs to the open file, which a forked child shares: closing it here would not free it. Nothing
            // can be done about an error, and the end of the process frees the lock in any case.
            let _ = file.unlock();
        }
    }
}

impl Disk for RealDisk {
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            entries.push(Entry {
                name: entry.file_name().to_string_lossy().into_owned(),
                // Follows links, so that a linked partition directory is read like any other.
                is_dir: entry.path().is_dir(),
            });
        }
        entries.sort();
        Ok(entries)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    #[cfg(unix)]
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        // `Path::parent` of a bare name is empty and means the current directory.
        let dir = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        };
        File::open(dir)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        // Windows cannot open a directory for this and keeps its names in its own journal.
        Ok(())
    }

    fn create(&self, path: &Path, room: Room) -> io::Result<Box<dyn DiskFile>> {
        // Append mode cannot be had together with truncation.
        File::create(path)?;
        self.open_append(path, room)
    }

    fn open_append(&self, path: &Path, room: Room) -> io::Result<Box<dyn DiskFile>> {
        #[cfg(target_os = "linux")]
        if room == Room::Ahead {
            let file = OpenOptions::new().read(true).write(true).open(path)?;
            return Ok(Box::new(AheadFile::new(file)?));
        }
        // Elsewhere a file has its room as it is appended to.
        let _ = room;
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Box::new(RealFile(file)))
    }

    fn write_again(&self, path: &Path, from: u64) -> io::Result<()> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let mut chunk = vec![0; 1 << 16];
        let mut at = file.seek(SeekFrom::Start(from))?;
        loop {
            let read = file.read(&mut chunk)?;
            if read == 0 {
                return Ok(());
            }
            file.seek(SeekFrom::Start(at))?;
            file.write_all(chunk.get(..read).unwrap_or_default())?;
            at += read as u64;
        }
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        File::open(path).map(|file| Box::new(file) as Box<dyn Source>)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn new_mark(&self) -> i32 {
        use std::hash::BuildHasher as _;
        // Its keys are random.
        let drawn = std::hash::RandomState::new().hash_one(std::process::id());
        i32::try_from(drawn >> 33).unwrap_or(1).max(1)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Held>, LockFailure> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(LockFailure::Io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockFailure::Held {
                    pid: read_pid(&mut file),
                });
            }
            Err(TryLockError::Error(error)) => return Err(LockFailure::Io(error)),
        }
        // The id only tells a human who holds the lock; it need not be durable.
        file.set_len(0).map_err(LockFailure::Io)?;
        file.rewind().map_err(LockFailure::Io)?;
        writeln!(file, "{}", std::process::id()).map_err(LockFailure::Io)?;
        Ok(Box::new(RealLock(Mutex::new(Some(file)))))
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    // Enough for any number; on Windows the lock also forbids reading, and then nothing is known.
    file.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
