//! Search for the segments under a path.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::noted::NotedLog;
use super::{Finding, ScanError};
use crate::disk::{At, Disk, IoFailure};
use crate::end_note::LogEnd;
use crate::layout::{looks_like_segment, parse_partition_dir, parse_segment_name};
use crate::segment_log::ends_elsewhere;

/// A segment to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub partition: u32,
    pub path: PathBuf,
    pub name: Arc<str>,
    /// Bytes when the names were read.
    pub length: u64,
    /// Set if it is the first of its partition.
    pub is_first: bool,
    /// Set if it is the last of its partition.
    pub is_last: bool,
    /// Facts about the log from the meta file.
    pub noted: NotedLog,
}

/// The segments under `path` in the order of reading, and the number of state partitions. A log without any segment is a
/// finding, where there was one.
pub(super) fn locate(
    disk: &dyn Disk,
    path: &Path,
    findings: &mut Vec<Finding>,
) -> Result<(Vec<Target>, u32), ScanError> {
    let no_state_log = || ScanError::NoStateLog {
        path: path.to_owned(),
    };
    let entries = match disk.list(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return match path.file_name().and_then(OsStr::to_str) {
                Some(name) if looks_like_segment(name) => {
                    let partition = path.parent().and_then(named_partition).unwrap_or(0);
                    let names = [name.to_owned()];
                    let dir = path.parent().unwrap_or(Path::new(""));
                    let noted =
                        NotedLog::of(disk, dir, partition).for_segment(parse_segment_name(name));
                    Ok((segments(disk, dir, partition, &names, &noted)?, 1))
                }
                _ => Err(no_state_log()),
            };
        }
        Err(error) => return Err(IoFailure::new("list", path, &error).into()),
    };
    if let Some(partition) = named_partition(path) {
        return Ok((folder(disk, path, partition, findings)?, 1));
    }
    let mut partitions: Vec<_> = entries
        .iter()
        .filter(|entry| entry.is_dir)
        .filter_map(|entry| Some((parse_partition_dir(&entry.name)?, path.join(&entry.name))))
        .collect();
    partitions.sort_unstable();
    if partitions.is_empty() {
        return Err(no_state_log());
    }
    let mut targets = Vec::new();
    for (partition, dir) in &partitions {
        targets.extend(folder(disk, dir, *partition, findings)?);
    }
    Ok((targets, u32::try_from(partitions.len()).unwrap_or(u32::MAX)))
}

/// The state partition that a folder's name names, also when the path to it ends otherwise, as `.` does.
fn named_partition(dir: &Path) -> Option<u32> {
    let parse = |dir: &Path| parse_partition_dir(dir.file_name()?.to_str()?);
    parse(dir).or_else(|| {
        let here = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        };
        parse(&std::path::absolute(here).ok()?).or_else(|| parse(&here.canonicalize().ok()?))
    })
}

/// The segments of one folder. A broker's other files, and segments that wait for their deletion, are skipped.
fn folder(
    disk: &dyn Disk,
    dir: &Path,
    partition: u32,
    findings: &mut Vec<Finding>,
) -> Result<Vec<Target>, ScanError> {
    // Before the names are read: a log only grows beyond what was noted of it.
    let noted = NotedLog::of(disk, dir, partition);
    let entries = disk.list(dir).at("list", dir)?;
    // Twenty digits sort like the numbers.
    let names: Vec<_> = entries
        .iter()
        .filter(|entry| !entry.is_dir && parse_segment_name(&entry.name).is_some())
        .map(|entry| entry.name.clone())
        .collect();
    if names.is_empty()
        && let Some(end) = noted.missed(disk, NOTHING)
    {
        findings.push(Finding::Damage {
            partition,
            corrupt: ends_elsewhere(dir, end, NOTHING),
        });
    }
    segments(disk, dir, partition, &names, &noted)
}

/// End of a log without records.
const NOTHING: LogEnd = LogEnd {
    segment: 0,
    bytes: 0,
    next_offset: 0,
};

fn segments(
    disk: &dyn Disk,
    dir: &Path,
    partition: u32,
    names: &[String],
    noted: &NotedLog,
) -> Result<Vec<Target>, ScanError> {
    let mut targets = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        let path = dir.join(name);
        let length = match disk.open_read(&path).and_then(|source| source.length()) {
            Ok(length) => length,
            // Pruned since the names were read.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && names.len() > 1 => 0,
            Err(error) => return Err(IoFailure::new("open", &path, &error).into()),
        };
        targets.push(Target {
            partition,
            path,
            name: Arc::from(name.as_str()),
            length,
            is_first: i == 0,
            is_last: i + 1 == names.len(),
            noted: noted.clone(),
        });
    }
    Ok(targets)
}
