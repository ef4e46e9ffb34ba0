//! The gateway's cache between the log and the leaders: batches as bytes, read, kept, let go of and given out.

use share_state_core::in_flight::InFlightStore;
use share_state_core::record_state::RecordState;
use share_state_core::share_partition::{AcquiredRange, ControlType, FetchedBatch};
use share_state_gateway::{BatchRing, Buffer, Delivery, Read, Wanted, deliver};
use share_state_wire::record_batch::{BatchHeaders, Checksums};

use super::World;
use crate::broken::Broken;
use crate::data_log::DataLog;
use crate::meeting::Meeting;
use crate::plan::READ_AHEAD;

/// Reads for one acquisition, at most: one of the end of the log, and one of what the share partition wants.
const READS: usize = 2;

impl<S: InFlightStore> World<S> {
    /// Gives a member what there is, out of the cache; and whether aborted records were left out.
    pub(super) fn acquire_cached(
        &mut self,
        broker: usize,
        part: usize,
        member: &str,
    ) -> Result<(Vec<AcquiredRange>, bool), String> {
        let lags = !self.is_calm && self.chance.once_in(4);
        let leaves_out = self.is(Broken::LeavesOut);
        let read_committed = self.plan.read_committed;
        let own = &mut self.brokers[broker];
        let now = own.clock.at(self.now);
        let (Some(ring), Some(Some(led)), Some(log)) = (
            own.rings.get_mut(part),
            own.led.get_mut(part),
            self.logs.get(part),
        ) else {
            return Ok((Vec::new(), false));
        };
        let tail = ring.end_offset();
        if let Some(end) = tail.filter(|_| !lags) {
            read(ring, log, end, read_committed, leaves_out)?;
        }
        let wanted = Wanted {
            member,
            mode: self.plan.mode(),
            batch_size: self.plan.max_records,
            max_records: self.plan.max_records,
            max_bytes: usize::MAX,
            first_bytes: None,
        };
        let archived = |counts: &[u64]| counts.get(RecordState::Archived as usize).copied();
        let before = archived(&led.part.state_counts());
        let mut given = None;
        let mut reads_back = false;
        for _ in 0..READS {
            let next = led.part.next_fetch_offset();
            given =
                deliver(ring, &mut led.part, &wanted, now).map_err(|error| error.to_string())?;
            if given.is_some() {
                break;
            }
            reads_back |= tail.is_some_and(|end| next < end);
            if !read(ring, log, next, read_committed, leaves_out)? {
                break;
            }
        }
        let more = archived(&led.part.state_counts()) > before;
        if let Some(given) = &given {
            check(given, log)?;
        }
        if self.chance.once_in(8) {
            let kept = ring.nbytes() as i64;
            ring.evict(usize::try_from(self.chance.within(0, kept)).unwrap_or(0));
            ring.compact();
        }
        let aborted = more && read_committed;
        if reads_back {
            self.meet(Meeting::ReadBack);
        }
        if aborted {
            self.meet(Meeting::AbortedInCache);
        }
        Ok((given.map_or_else(Vec::new, |given| given.acquired), aborted))
    }
}

/// Reads the log from an offset on; whether there was anything.
fn read(
    ring: &mut BatchRing,
    log: &DataLog,
    offset: i64,
    read_committed: bool,
    leaves_out: bool,
) -> Result<bool, String> {
    let batches = log.read(offset, READ_AHEAD, read_committed);
    let (Some(first), Some(last)) = (batches.first(), batches.last()) else {
        return Ok(false);
    };
    let aborted = if read_committed {
        log.aborted(first.base_offset, last.last_offset)
    } else {
        Vec::new()
    };
    let skipped = usize::from(leaves_out && batches.len() > 1);
    let bytes: Vec<u8> = batches.iter().skip(skipped).flat_map(bytes_of).collect();
    let end = bytes.len();
    let read = Read {
        asked_offset: offset.max(log.start),
        buffer: Buffer::new(bytes),
        start: 0,
        end,
        aborted: &aborted,
        checksums: Checksums::Trusted,
    };
    ring.append(read)
        .map(|appended| appended.bytes > 0)
        .map_err(|error| error.to_string())
}

/// Checks that the batches given out are those of the log that hold what was acquired, and no others.
fn check(given: &Delivery, log: &DataLog) -> Result<(), String> {
    let bytes: Vec<u8> = given.pieces().flatten().copied().collect();
    let headers = BatchHeaders::new(&bytes, 0, bytes.len(), Checksums::Trusted);
    let found: Vec<FetchedBatch> = headers
        .map(|header| header.map(|header| header.batch))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let (Some(first), Some(last)) = (given.acquired.first(), given.acquired.last()) else {
        return if found.is_empty() {
            Ok(())
        } else {
            Err("batches are given of which nothing was acquired".to_owned())
        };
    };
    let batches = log.read(first.range.first, usize::MAX / 2, false);
    let wanted: Vec<FetchedBatch> = batches
        .iter()
        .copied()
        .take_while(|batch| batch.base_offset <= last.range.last)
        .collect();
    if found == wanted && given.batches == found.len() {
        Ok(())
    } else {
        Err(format!("{found:?} is given, and {wanted:?} was acquired"))
    }
}

/// A batch as a broker sends it; what follows its header is filler, but for a marker.
fn bytes_of(batch: &FetchedBatch) -> Vec<u8> {
    let records = batch.last_offset - batch.base_offset + 1;
    let section = match batch.control {
        // Length, attributes, time, offset, a key of four bytes, no value, no headers.
        Some(control) => {
            let kind = u8::from(control == ControlType::Commit);
            vec![20, 0, 0, 0, 8, 0, 0, 0, kind, 1, 0]
        }
        None => vec![0; usize::try_from(records).unwrap_or(0)],
    };
    let attributes =
        i16::from(batch.is_transactional) * 0x10 + i16::from(batch.control.is_some()) * 0x20;
    let count = i32::try_from(records).unwrap_or(i32::MAX);
    let length = i32::try_from(section.len()).unwrap_or(0) + 49;
    let mut out = batch.base_offset.to_be_bytes().to_vec();
    out.extend(length.to_be_bytes());
    out.extend(1i32.to_be_bytes()); // leader epoch
    out.extend([2, 0, 0, 0, 0]); // format, checksum
    out.extend(attributes.to_be_bytes());
    out.extend((count - 1).to_be_bytes());
    out.extend([0; 16]); // timestamps
    out.extend(batch.producer_id.to_be_bytes());
    out.extend([0; 6]); // producer epoch, sequence
    out.extend(count.to_be_bytes());
    out.extend(section);
    out
}
