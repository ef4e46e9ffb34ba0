//! A file that is written through memory. Room is reserved after its end, as a broker does with `log.preallocate`, so that an append
//! is a copy and no call of the system.
//!
//! Copied bytes are the operating system's at once, as written ones are: they survive the process, and a sync of the file makes them
//! durable. Until the room is cut off, zeros follow them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::retry_on_intr;

use super::DiskFile;

/// Bytes that are reserved and mapped at a time.
const ROOM: usize = 1 << 17;

/// The longest append that is a copy. A longer one is written: one call costs little beside its bytes.
const LONGEST_COPY: usize = 1 << 14;

/// See the module.
#[derive(Debug)]
pub(super) struct AheadFile {
    file: File,
    /// The end of what was appended.
    end: u64,
    room: Room,
}

#[derive(Debug)]
enum Room {
    /// Not asked for yet, or used up.
    None,
    /// Mapped from this byte of the file on.
    From(u64, MmapMut),
    /// The file system reserves or maps nothing, or has no room left for as much: every append is written.
    Refused,
}

impl AheadFile {
    /// A file that is open for reading and writing, to be appended to.
    pub fn new(file: File) -> io::Result<Self> {
        let end = file.metadata()?.len();
        let room = Room::None;
        Ok(Self { file, end, room })
    }

    /// The place of the next `length` bytes.
    fn place(&mut self, length: usize) -> Option<&mut [u8]> {
        if length > LONGEST_COPY {
            return None;
        }
        let is_left = |start: &u64, mapped: &MmapMut| {
            let at = usize::try_from(self.end - start).unwrap_or(usize::MAX);
            at.saturating_add(length) <= mapped.len()
        };
        match &self.room {
            Room::From(start, mapped) if is_left(start, mapped) => {}
            Room::Refused => return None,
            Room::None | Room::From(..) => {
                self.room = Room::None;
                self.room = reserve(&self.file, self.end)
                    .map_or(Room::Refused, |mapped| Room::From(self.end, mapped));
            }
        }
        let Room::From(start, mapped) = &mut self.room else {
            return None;
        };
        let at = usize::try_from(self.end - *start).ok()?;
        mapped.get_mut(at..at + length)
    }
}

/// Reserves room from `end` on, so that no copy can meet a full disk, and maps it.
fn reserve(file: &File, end: u64) -> io::Result<MmapMut> {
    retry_on_intr(|| fallocate(file, FallocateFlags::empty(), end, ROOM as u64))?;
    let mut options = MmapOptions::new();
    options.offset(end).len(ROOM);
    // SAFETY: the bytes are ours alone to change: the lock of the store keeps other writers out, and its readers read the file. The
    // process ends by SIGBUS if somebody cuts the file while it is mapped, or if the disk fails to give back a page of it.
    #[expect(
        unsafe_code,
        reason = "a mapped file can be changed from outside; decision 0020 has what it saves"
    )]
    unsafe {
        options.map_mut(file)
    }
}

impl DiskFile for AheadFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.place(bytes.len()) {
            Some(place) => place.copy_from_slice(bytes),
            None => self.file.write_all_at(bytes, self.end)?,
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        // The bytes of a shared mapping are those of the file, here too.
        self.file.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.room = Room::None;
        self.file.set_len(length)?;
        self.end = length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &std::path::Path) -> AheadFile {
        let mut options = File::options();
        AheadFile::new(options.read(true).write(true).open(path).unwrap()).unwrap()
    }

    /// Appends of all lengths, over the ends of many rooms, with cuts and new openings between them.
    #[test]
    fn what_is_appended_stands_in_the_file_and_zeros_after_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, b"before").unwrap();
        let mut file = open(&path);
        let mut expected = b"before".to_vec();
        let lengths = [1, 144, 4_096, LONGEST_COPY, LONGEST_COPY + 1, ROOM + 7];
        for (turn, length) in lengths.iter().cycle().take(90).enumerate() {
            let bytes: Vec<u8> = (0..*length).map(|i| (i * 7 + turn) as u8 | 1).collect();
            file.append(&bytes).unwrap();
            expected.extend(bytes);
            if turn % 17 == 16 {
                expected.truncate(expected.len() - 100);
                file.truncate(expected.len() as u64).unwrap();
                assert_eq!(std::fs::read(&path).unwrap(), expected, "{turn}");
            }
            if turn % 23 == 22 {
                file.truncate(expected.len() as u64).unwrap();
                file = open(&path);
            }
            if turn % 10 == 9 {
                file.sync().unwrap();
            }
            let found = std::fs::read(&path).unwrap();
            let (there, room) = found.split_at(expected.len());
            assert!(there == expected && room.len() <= ROOM, "{turn}");
            assert!(room.iter().all(|byte| *byte == 0), "{turn}");
        }
    }

    /// A file that can be written and not mapped, as on a file system without mappings.
    #[test]
    fn where_nothing_is_mapped_every_append_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, b"").unwrap();
        let mut file = AheadFile::new(File::options().write(true).open(&path).unwrap()).unwrap();
        for _ in 0..3 {
            file.append(b"a record").unwrap();
        }
        assert!(matches!(file.room, Room::Refused));
        let found = std::fs::read(&path).unwrap();
        assert!(found.starts_with(b"a recorda recorda record\0"));
        file.truncate(24).unwrap();
        assert_eq!(std::fs::read(&path).unwrap().len(), 24);
        assert!(matches!(file.room, Room::None));
    }
}
