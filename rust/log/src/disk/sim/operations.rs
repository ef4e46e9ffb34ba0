//! What the store asks of the simulated disk. Each operation that changes something counts, and may fail.

use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use super::super::{Disk, DiskFile, Entry, Held, LockFailure, Source};
use super::{Inode, Node, SimDisk, failure, not_found};

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: usize,
}

impl DiskFile for SimFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        let (written, result) = match state.step() {
            Ok(()) => (bytes.len(), Ok(())),
            Err(true) => (bytes.len() / 2, Err(failure())),
            Err(false) => (0, Err(failure())),
        };
        state.inodes[self.inode]
            .live
            .extend_from_slice(&bytes[..written]);
        result
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        let result = state.step();
        let inode = &mut state.inodes[self.inode];
        if result.is_err() {
            inode.dropped.push((inode.durable.len(), inode.live.len()));
            return Err(failure());
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
        state.step().map_err(|_| failure())?;
        state.inodes[self.inode]
            .live
            .resize(usize::try_from(length).expect("a small file"), 0);
        Ok(())
    }
}

impl Source for Cursor<Vec<u8>> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.get_ref().len() as u64)
    }
}

#[derive(Debug)]
struct NoLock;

impl Held for NoLock {
    fn release(&self) {}
}

impl Disk for SimDisk {
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let state = self.state();
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
        state.step().map_err(|_| failure())?;
        for path in dir.ancestors() {
            state.live.insert(path.to_owned(), Node::Dir);
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step().map_err(|_| failure())?;
        let inside = |path: &PathBuf| path.parent() == Some(dir);
        state.durable.retain(|path, _| !inside(path));
        let kept: Vec<_> = state
            .live
            .iter()
            .filter(|(path, _)| inside(path))
            .map(|(path, node)| (path.clone(), *node))
            .collect();
        state.durable.extend(kept);
        // The tests' own root is there before the store.
        state.durable.insert(dir.to_owned(), Node::Dir);
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.step().map_err(|_| failure())?;
        let inode = state.inodes.len();
        state.inodes.push(Inode::default());
        state.live.insert(path.to_owned(), Node::File(inode));
        Ok(Box::new(SimFile {
            disk: self.clone(),
            inode,
        }))
    }

    fn open_append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let inode = self.state().file(path)?;
        Ok(Box::new(SimFile {
            disk: self.clone(),
            inode,
        }))
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        let state = self.state();
        let inode = state.file(path)?;
        Ok(Box::new(Cursor::new(state.inodes[inode].live.clone())))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step().map_err(|_| failure())?;
        let node = state.live.remove(from).ok_or_else(not_found)?;
        state.live.insert(to.to_owned(), node);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step().map_err(|_| failure())?;
        state.live.remove(path).map(|_| ()).ok_or_else(not_found)
    }

    fn lock(&self, _path: &Path) -> Result<Box<dyn Held>, LockFailure> {
        Ok(Box::new(NoLock))
    }
}
