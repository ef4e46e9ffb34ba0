//! Begin and end of the logs of state partitions, for a reader that comes again and reads on.

use std::path::Path;

use super::locate::locate;
use super::segment::{OpenSegment, Outcome};
use super::{Finding, ScanError};
use crate::disk::{Disk, RealDisk};
use crate::layout::parse_segment_name;

/// Begin and end of the log of one state partition under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEnds {
    /// State partition.
    pub partition: u32,
    /// The offset at which the first segment begins.
    pub first_offset: i64,
    /// The offset after the last batch that is whole.
    pub next_offset: i64,
}

/// Finds where the logs under `path` begin and end, in order of state partition. Reads the last segment of each; what
/// is torn or damaged there ends no log before its last whole batch, and is reported by [`super::scan`].
///
/// # Errors
/// There is no such path, or nothing of the state topic under it, or the disk fails.
pub fn log_ends(path: impl AsRef<Path>) -> Result<Vec<LogEnds>, ScanError> {
    ends_on(&RealDisk, path.as_ref())
}

pub(super) fn ends_on(disk: &dyn Disk, path: &Path) -> Result<Vec<LogEnds>, ScanError> {
    let (targets, _) = locate(disk, path, &mut Vec::new())?;
    let mut ends = Vec::new();
    let mut first_offset = None;
    for target in targets {
        // A segment by itself may have its own name.
        let base_offset = parse_segment_name(&target.name).unwrap_or(0);
        if target.is_first {
            first_offset = Some(base_offset);
        }
        if !target.is_last {
            continue;
        }
        let partition = target.partition;
        let mut next_offset = base_offset;
        let mut findings: Vec<Finding> = Vec::new();
        if let Some(mut open) = OpenSegment::open(disk, target, &mut findings)? {
            let mut expected = None;
            while !matches!(
                open.next_batch(disk, &mut expected, &mut findings, |_, _, _| {})?,
                Outcome::End
            ) {
                next_offset = next_offset.max(expected.unwrap_or(next_offset));
            }
        }
        ends.push(LogEnds {
            partition,
            first_offset: first_offset.take().unwrap_or(base_offset),
            next_offset,
        });
    }
    Ok(ends)
}
