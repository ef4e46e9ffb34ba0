//! Operations that the store asks of the simulated disk. Each counts, and may fail.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::{Disk, DiskFile, Entry, Held, LockFailure, Room, Source};
use super::{Failed, Kind, Node, SimDisk, not_found};

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: usize,
    /// Begin of the next append, in a file that gets its room ahead.
    end: Option<usize>,
}

/// Room is reserved up to the next multiple of this many bytes: two pages, so that either may be lost alone.
const ROOM: usize = 1_024;

impl SimDisk {
    fn appending(&self, inode: usize, length: usize, room: Room) -> Box<dyn DiskFile> {
        let disk = self.clone();
        let end = (room == Room::Ahead).then_some(length);
        Box::new(SimFile { disk, inode, end })
    }
}

impl DiskFile for SimFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        let (written, result) = match state.step(Kind::Grow) {
            Ok(()) => (bytes.len(), Ok(())),
            Err(Failed { sixths, error }) => (bytes.len() * sixths / 6, Err(error)),
        };
        let live = &mut state.inodes[self.inode].live;
        let at = self.end.unwrap_or(live.len());
        if self.end.is_some() {
            live.resize((at + bytes.len()).next_multiple_of(ROOM), 0);
            live[at..at + written].copy_from_slice(&bytes[..written]);
            self.end = Some(at + written);
        } else {
            live.extend_from_slice(&bytes[..written]);
        }
        result
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        let result = state.step(Kind::Change);
        let inode = &mut state.inodes[self.inode];
        if let Err(failed) = result {
            inode.dropped.push((inode.synced(), inode.live.len()));
            return Err(failed.into());
        }
        inode.durable = inode.live.clone();
        for (from, to) in &inode.dropped {
            if let Some(lost) = inode.durable.get_mut(*from..*to) {
                lost.fill(0);
            }
        }
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        state.step(Kind::Change)?;
        let length = usize::try_from(length).expect("a small file");
        let inode = &mut state.inodes[self.inode];
        inode.live.resize(length, 0);
        self.end = self.end.map(|_| length);
        for (from, to) in &mut inode.dropped {
            (*from, *to) = ((*from).min(length), (*to).min(length));
        }
        Ok(())
    }
}

/// A file that is read while others may change it.
#[derive(Debug)]
struct SimSource {
    disk: SimDisk,
    inode: usize,
    position: u64,
}

impl Read for SimSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        state.step(Kind::Read)?;
        let few = if state.short_reads {
            1 + usize::try_from(state.asked % 61).unwrap_or(0)
        } else {
            buffer.len()
        };
        let wanted = few.min(buffer.len());
        let mut bytes = Cursor::new(&state.inodes[self.inode].live);
        bytes.set_position(self.position);
        let read = bytes.read(&mut buffer[..wanted])?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for SimSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let state = self.disk.state();
        let mut bytes = Cursor::new(&state.inodes[self.inode].live);
        bytes.set_position(self.position);
        self.position = bytes.seek(to)?;
        Ok(self.position)
    }
}

impl Source for SimSource {
    fn length(&self) -> io::Result<u64> {
        let mut state = self.disk.state();
        state.step(Kind::Read)?;
        Ok(state.inodes[self.inode].live.len() as u64)
    }
}

#[derive(Debug)]
struct SimLock {
    disk: SimDisk,
    path: PathBuf,
    released: AtomicBool,
}

impl Held for SimLock {
    fn release(&self) {
        if !self.released.swap(true, Ordering::SeqCst) {
            self.disk.state().locked.remove(&self.path);
        }
    }
}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.release();
    }
}

impl Disk for SimDisk {
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let mut state = self.state();
        state.step(Kind::Read)?;
        match state.live.get(dir) {
            Some(Node::Dir) => {}
            Some(Node::File(_)) => return Err(io::Error::from(io::ErrorKind::NotADirectory)),
            None => return Err(not_found()),
        }
        let mut entries = Vec::new();
        for (path, node) in &state.live {
            if path.parent() == Some(dir) {
                entries.push(Entry {
                    name: path
                        .file_name()
                        .expect("a name")
                        .to_string_lossy()
                        .into_owned(),
                    is_dir: *node == Node::Dir,
                });
            }
        }
        Ok(entries)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        let (done, result) = state.step_name(Kind::Grow);
        if done {
            for path in dir.ancestors() {
                state.live.insert(path.to_owned(), Node::Dir);
            }
        }
        result
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step(Kind::Change)?;
        let inside = |path: &PathBuf| path.parent() == Some(dir);
        state.durable.retain(|path, _| !inside(path));
        let kept: Vec<_> = state
            .live
            .iter()
            .filter(|(path, _)| inside(path))
            .map(|(path, node)| (path.clone(), *node))
            .collect();
        state.durable.extend(kept);
        Ok(())
    }

    fn create(&self, path: &Path, room: Room) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        let (done, result) = state.step_name(Kind::Grow);
        let inode = if done { state.new_file(path) } else { 0 };
        result?;
        Ok(self.appending(inode, 0, room))
    }

    fn open_append(&self, path: &Path, room: Room) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.step(Kind::Read)?;
        let inode = state.file(path)?;
        let length = state.inodes[inode].live.len();
        Ok(self.appending(inode, length, room))
    }

    fn write_again(&self, path: &Path, from: u64) -> io::Result<()> {
        let mut state = self.state();
        // It has its room.
        state.step(Kind::Change)?;
        let inode = state.file(path)?;
        let from = usize::try_from(from).expect("a small file");
        for (_, to) in &mut state.inodes[inode].dropped {
            *to = from.min(*to);
        }
        Ok(())
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        let mut state = self.state();
        state.step(Kind::Read)?;
        let inode = state.file(path)?;
        Ok(Box::new(SimSource {
            disk: self.clone(),
            inode,
            position: 0,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let (done, result) = state.step_name(Kind::Change);
        if done {
            let node = state.live.remove(from).ok_or_else(not_found)?;
            state.live.insert(to.to_owned(), node);
        }
        result
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let (done, result) = state.step_name(Kind::Change);
        if done {
            state.live.remove(path).ok_or_else(not_found)?;
        }
        result
    }

    fn new_mark(&self) -> i32 {
        let mut state = self.state();
        state.marks += 1;
        state.marks
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Held>, LockFailure> {
        let mut state = self.state();
        state
            .step(Kind::Read)
            .map_err(|failed| LockFailure::Io(failed.into()))?;
        if !state.locked.insert(path.to_owned()) {
            return Err(LockFailure::Held {
                pid: Some(std::process::id()),
            });
        }
        Ok(Box::new(SimLock {
            disk: self.clone(),
            path: path.to_owned(),
            released: AtomicBool::new(false),
        }))
    }
}
