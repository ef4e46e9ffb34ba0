//! Walks the batches of one segment. Memory is bounded by one batch, and a batch by what is left of the file.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use share_state_wire::record_batch::{DecodedBatch, Limits, decode_batch, peek_size};
use share_state_wire::{WireError, WireErrorKind};

use crate::disk::Source;

/// Bytes of base offset and length: enough to know how long a batch is.
const OVERHEAD: usize = 12;
const CRC_POSITION: usize = 17;
const CHECKED_FROM: usize = 21;

/// Contents of the place of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The file ends here.
    End,
    /// Bytes, as many as the header claims; [`BatchReader::decode`] tells whether they are a batch.
    Whole,
    /// Something that is not a whole batch.
    Bad(Bad),
}

/// Bytes that are not a whole batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    /// Position at which they begin.
    pub position: u64,
    /// Bytes from there to the end of the file.
    pub remaining: u64,
    /// The size that the header claims, if that is a possible one.
    pub claimed: Option<u64>,
    /// Reason for which they are not a batch.
    pub cause: BadCause,
}

/// Reason for which bytes are not a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadCause {
    /// The file ends before the batch does.
    CutOff,
    /// The batch cannot be read.
    Wire(WireError),
    /// The batch can be read, and is not at its place in the log.
    Order {
        /// The offset that should come here.
        expected: i64,
        /// The offset that does.
        found: i64,
    },
}

impl Bad {
    /// Returns `true` if the bytes may be what a crash leaves of a batch. A batch with a right checksum was written
    /// whole, so what is wrong after the checksum was wrong from the start, a record that reaches beyond its batch
    /// included (`Truncated`: a file that ends too early is [`BadCause::CutOff`]); and no crash makes up a format.
    pub fn may_be_unwritten(&self) -> bool {
        match self.cause {
            BadCause::CutOff | BadCause::Order { .. } => true,
            BadCause::Wire(error) => matches!(
                error.kind,
                WireErrorKind::Crc { .. }
                    | WireErrorKind::BatchLength { .. }
                    | WireErrorKind::Magic { magic: 0 }
            ),
        }
    }
}

/// See the module.
pub(crate) struct BatchReader {
    source: BufReader<Box<dyn Source>>,
    position: u64,
    length: u64,
    limits: Limits,
    buffer: Vec<u8>,
}

impl BatchReader {
    pub fn new(source: Box<dyn Source>, limits: Limits) -> io::Result<Self> {
        let length = source.length()?;
        Ok(Self {
            source: BufReader::with_capacity(1 << 16, source),
            position: 0,
            length,
            limits,
            buffer: Vec::new(),
        })
    }

    /// Position at which the next batch begins.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Looks again at the length and at the bytes that the last step saw; `true` when a writer has added to the file or written there
    /// since.
    pub fn has_changed(&mut self) -> io::Result<bool> {
        let length = self.source.get_ref().length()?;
        let has_grown = length > self.length;
        self.length = self.length.max(length);
        // Seeking drops what was read ahead.
        self.source.seek(SeekFrom::Start(self.position))?;
        let mut now = Vec::with_capacity(self.buffer.len());
        (&mut self.source)
            .take(self.buffer.len() as u64)
            .read_to_end(&mut now)?;
        Ok(has_grown || now != self.buffer)
    }

    /// Goes on at `position`.
    pub fn resume_at(&mut self, position: u64) -> io::Result<()> {
        self.source.seek(SeekFrom::Start(position))?;
        self.position = position;
        Ok(())
    }

    /// The bytes after a place, for a closer look; afterwards [`Self::resume_at`] is due.
    pub fn raw(&mut self) -> &mut (impl Read + Seek) {
        &mut self.source
    }

    /// Looks at what stands here, without going on.
    pub fn step(&mut self) -> io::Result<Step> {
        let remaining = self.length.saturating_sub(self.position);
        if remaining == 0 {
            return Ok(Step::End);
        }
        self.buffer.clear();
        let mut bad = self.bad(BadCause::CutOff, None);
        if !self.fill(OVERHEAD as u64)? {
            return self.cut_off(bad);
        }
        let size = match peek_size(&self.buffer) {
            Ok(Some(size)) => size as u64,
            Ok(None) => return Ok(Step::Bad(bad)),
            Err(error) => {
                return Ok(Step::Bad(Bad {
                    cause: BadCause::Wire(error),
                    ..bad
                }));
            }
        };
        bad.claimed = Some(size);
        if size > remaining {
            return Ok(Step::Bad(bad));
        }
        if !self.fill(size)? {
            return self.cut_off(bad);
        }
        Ok(Step::Whole)
    }

    /// The batch at this place, after [`Step::Whole`].
    pub fn decode(&self) -> Result<DecodedBatch<'_>, Bad> {
        decode_batch(&self.buffer, &self.limits)
            .map_err(|error| self.bad(BadCause::Wire(error), Some(self.buffer.len() as u64)))
    }

    /// Fault of the batch that [`Step::Whole`] found, where another offset should come.
    pub fn out_of_order(&self, expected: i64, found: i64) -> Bad {
        let size = self.buffer.len() as u64;
        self.bad(BadCause::Order { expected, found }, Some(size))
    }

    /// Gives the bytes that [`Step::Whole`] found the checksum that fits them, to see what can still be read of a damaged batch.
    pub fn believe(&mut self) {
        let computed = crc32c::crc32c(self.buffer.get(CHECKED_FROM..).unwrap_or_default());
        if let Some(stored) = self.buffer.get_mut(CRC_POSITION..CHECKED_FROM) {
            stored.copy_from_slice(&computed.to_be_bytes());
        }
    }

    /// Goes on after the bytes that [`Step::Whole`] found.
    pub fn accept(&mut self) {
        self.position += self.buffer.len() as u64;
    }

    /// Brings the buffer to `size` bytes; `false` when the file ends before.
    fn fill(&mut self, size: u64) -> io::Result<bool> {
        let wanted = size.saturating_sub(self.buffer.len() as u64);
        let got = (&mut self.source)
            .take(wanted)
            .read_to_end(&mut self.buffer)?;
        Ok(got as u64 == wanted)
    }

    /// The file ends here, earlier than it may have seemed: a writer may have cut a torn tail off.
    fn cut_off(&mut self, bad: Bad) -> io::Result<Step> {
        let remaining = self.buffer.len() as u64;
        self.length = self.position + remaining;
        Ok(Step::Bad(Bad { remaining, ..bad }))
    }

    fn bad(&self, cause: BadCause, claimed: Option<u64>) -> Bad {
        Bad {
            position: self.position,
            remaining: self.length.saturating_sub(self.position),
            claimed,
            cause,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use share_state_wire::record_batch::{Compression, NewRecord, encode_batch};

    use super::*;

    /// A file that somebody else makes longer and shorter.
    #[derive(Clone, Default)]
    struct Shared {
        bytes: Arc<Mutex<Vec<u8>>>,
        position: u64,
    }

    impl Shared {
        fn set(&self, bytes: &[u8]) {
            *self.bytes.lock().unwrap() = bytes.to_vec();
        }
    }

    impl Read for Shared {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let bytes = self.bytes.lock().unwrap();
            let from = bytes.len().min(usize::try_from(self.position).unwrap());
            let read = (&bytes[from..]).read(buffer)?;
            self.position += read as u64;
            Ok(read)
        }
    }

    impl Seek for Shared {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            let SeekFrom::Start(position) = to else {
                panic!("{to:?}");
            };
            self.position = position;
            Ok(position)
        }
    }

    impl Source for Shared {
        fn length(&self) -> io::Result<u64> {
            Ok(self.bytes.lock().unwrap().len() as u64)
        }
    }

    fn batch() -> Vec<u8> {
        let record = NewRecord {
            timestamp: 1,
            key: Some(b"k"),
            value: Some(b"v"),
        };
        encode_batch(0, 0, Compression::None, &[record]).unwrap()
    }

    fn reader(file: &Shared) -> BatchReader {
        BatchReader::new(Box::new(file.clone()), Limits::default()).unwrap()
    }

    #[test]
    fn a_batch_that_a_writer_completes_is_whole_when_it_is_read_again() {
        let (file, whole) = (Shared::default(), batch());
        file.set(&whole[..30]);
        let mut reader = reader(&file);
        let Step::Bad(bad) = reader.step().unwrap() else {
            panic!("30 bytes are no batch");
        };
        assert_eq!((bad.cause, bad.remaining), (BadCause::CutOff, 30));
        assert!(!reader.has_changed().unwrap());
        file.set(&whole);
        assert!(reader.has_changed().unwrap());
        assert!(!reader.has_changed().unwrap(), "it is told once");
        reader.resume_at(bad.position).unwrap();
        assert_eq!(reader.step().unwrap(), Step::Whole);
        assert_eq!(reader.decode().unwrap().header.base_offset, 0);
        reader.accept();
        assert_eq!(reader.step().unwrap(), Step::End);
    }

    /// A writer fills the room that it has reserved.
    #[test]
    fn a_batch_that_a_writer_puts_into_its_room_is_whole_when_it_is_read_again() {
        let (file, whole) = (Shared::default(), batch());
        let room = vec![0; whole.len() + 100];
        let at = |written: usize| [&whole[..written], &room[written..]].concat();
        for there in [0, 30, whole.len() - 2] {
            file.set(&at(there));
            let mut reader = reader(&file);
            let first = reader.step().unwrap();
            assert!(first != Step::Whole || reader.decode().is_err(), "{there}");
            assert!(!reader.has_changed().unwrap());
            file.set(&at(whole.len()));
            assert!(reader.has_changed().unwrap(), "{there}");
            reader.resume_at(0).unwrap();
            assert!(reader.step().unwrap() == Step::Whole && reader.decode().is_ok());
        }
    }

    /// A writer that opens the log cuts a torn tail off.
    #[test]
    fn a_file_that_became_shorter_ends_where_it_ends() {
        let (file, whole) = (Shared::default(), batch());
        for left in 0..whole.len() {
            file.set(&[&whole[..], &whole].concat());
            let mut reader = reader(&file);
            assert_eq!(reader.step().unwrap(), Step::Whole);
            reader.accept();
            file.set(&[&whole[..], &whole[..left]].concat());
            // What was read ahead is gone as well.
            reader.resume_at(whole.len() as u64).unwrap();
            let Step::Bad(bad) = reader.step().unwrap() else {
                panic!("{left} bytes are no batch");
            };
            assert_eq!(bad.cause, BadCause::CutOff);
            assert_eq!(bad.position, whole.len() as u64);
            assert_eq!(bad.remaining, left as u64);
            assert!(!reader.has_changed().unwrap());
            reader.resume_at(bad.position).unwrap();
            let again = reader.step().unwrap();
            assert_eq!(again == Step::End, left == 0, "{again:?}");
        }
    }
}
