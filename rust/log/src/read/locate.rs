//! From a path to the segments under it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ScanError;
use crate::disk::{At, Disk, Entry, IoFailure};
use crate::layout::{looks_like_segment, parse_partition_dir, parse_segment_name};

/// A segment to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub partition: u32,
    pub path: PathBuf,
    pub name: Arc<str>,
    /// Bytes when the names were read.
    pub length: u64,
    /// Whether it is the first of its partition.
    pub is_first: bool,
    /// Whether it is the last of its partition.
    pub is_last: bool,
}

/// The segments under `path` in the order of reading, and the number of state partitions.
pub(super) fn locate(disk: &dyn Disk, path: &Path) -> Result<(Vec<Target>, u32), ScanError> {
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
                    Ok((segments(disk, dir, partition, &names)?, 1))
                }
                _ => Err(no_state_log()),
            };
        }
        Err(error) => return Err(IoFailure::new("list", path, &error).into()),
    };
    if let Some(partition) = named_partition(path) {
        return Ok((folder(disk, path, partition, &entries)?, 1));
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
        let entries = disk.list(dir).at("list", dir)?;
        targets.extend(folder(disk, dir, *partition, &entries)?);
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

/// The segments of one folder. A broker's other files, and segments that wait for their deletion, are passed over.
fn folder(
    disk: &dyn Disk,
    dir: &Path,
    partition: u32,
    entries: &[Entry],
) -> Result<Vec<Target>, ScanError> {
    // Twenty digits sort like the numbers.
    let names: Vec<_> = entries
        .iter()
        .filter(|entry| !entry.is_dir && parse_segment_name(&entry.name).is_some())
        .map(|entry| entry.name.clone())
        .collect();
    segments(disk, dir, partition, &names)
}

fn segments(
    disk: &dyn Disk,
    dir: &Path,
    partition: u32,
    names: &[String],
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
        });
    }
    Ok(targets)
}
