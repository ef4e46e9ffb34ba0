//! Meta file of a store, for a reader of one of its logs. A broker's directory has none, and then nothing is known.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::Disk;
use crate::end_note::LogEnd;
use crate::home::read_meta;
use crate::meta::{Expected, Meta};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotedLog {
    /// Facts to be expected of the log.
    pub expected: Expected,
    source: Option<(PathBuf, Arc<Meta>)>,
}

impl NotedLog {
    const NOTHING: Self = Self {
        expected: Expected::ANYTHING,
        source: None,
    };

    /// Reads the meta file for the log in a state partition's directory.
    pub fn of(disk: &dyn Disk, dir: &Path, partition: u32) -> Self {
        let above = dir.join("..");
        let home = match dir.parent() {
            Some(home) if dir.file_name().is_some() => home,
            // A path such as `.`.
            _ => &above,
        };
        // A reader shows the records whatever the meta file is like; the writer refuses one that is damaged.
        match read_meta(disk, home) {
            Ok(Some(meta)) => Self {
                expected: meta.expected(partition),
                source: Some((home.to_owned(), Arc::new(meta))),
            },
            Ok(None) | Err(_) => Self::NOTHING,
        }
    }

    /// Narrows the facts to one segment of that log that is read by itself.
    pub fn for_segment(self, base_offset: Option<i64>) -> Self {
        match (self.expected.end, base_offset) {
            (Some(end), Some(base_offset)) if base_offset >= end.segment => self,
            // Others follow it.
            _ => Self {
                expected: Expected {
                    mark: self.expected.mark,
                    ..Expected::ANYTHING
                },
                ..self
            },
        }
    }

    /// Returns `true` if the meta file is as it was. A writer that has come since may have done anything to the log.
    pub fn is_current(&self, disk: &dyn Disk) -> bool {
        match &self.source {
            None => true,
            Some((home, meta)) => {
                matches!(read_meta(disk, home), Ok(Some(now)) if now == **meta)
            }
        }
    }

    /// The noted end, where a log that ends here ends elsewhere.
    pub fn missed(&self, disk: &dyn Disk, found: LogEnd) -> Option<LogEnd> {
        self.expected
            .end
            .filter(|_| !self.expected.is_met(found) && self.is_current(disk))
    }
}
