//! What the log cleaner may take of the control records: those below the Earliest Share Offset.
//!
//! A group that writes no checkpoint holds the offset back for all groups of the partition, and with it every control record
//! after. That is a weakness of this form: control records outlive the records that they are about.

use super::{ControlRecord, ControlRecovery};

/// A control record with its offset in the log of the data partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedControl {
    /// Its offset.
    pub offset: i64,
    /// The record.
    pub record: ControlRecord,
}

/// Takes from `log`, which is in the order of the offsets, what no group needs. Returns the number of records taken.
///
/// Only records below the Earliest Share Offset go. Within what stays, older checkpoints and deltas of other groups remain.
pub fn clean(log: &mut Vec<LoggedControl>) -> usize {
    let mut recovery = ControlRecovery::new();
    for LoggedControl { offset, record } in &*log {
        recovery.replay(*offset, record);
    }
    let before = log.len();
    if let Some(earliest) = recovery.earliest_share_offset() {
        log.retain(|logged| logged.offset >= earliest);
    }
    before - log.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ControlBody;

    fn checkpoint(offset: i64, group: &str, checkpoint_epoch: u32) -> LoggedControl {
        let body = ControlBody::Checkpoint {
            start_offset: 7,
            end_offset: 7,
            states: Vec::new(),
        };
        let group = group.to_owned();
        let record = ControlRecord {
            group,
            checkpoint_epoch,
            body,
        };
        LoggedControl { offset, record }
    }

    #[test]
    fn the_group_with_the_oldest_checkpoint_holds_the_cleaner_back() {
        let mut log = vec![
            checkpoint(10, "a", 0),
            checkpoint(11, "b", 0),
            checkpoint(12, "a", 1),
        ];
        assert_eq!(clean(&mut log), 1);
        assert_eq!(clean(&mut log), 0, "b needs offset 11");
        log.push(checkpoint(20, "b", 1));
        assert_eq!(clean(&mut log), 1);
        let kept: Vec<i64> = log.iter().map(|logged| logged.offset).collect();
        assert_eq!(kept, [12, 20]);
    }

    #[test]
    fn nothing_goes_while_there_is_no_checkpoint() {
        let delta = ControlRecord {
            group: "a".to_owned(),
            checkpoint_epoch: 0,
            body: ControlBody::Delta { states: Vec::new() },
        };
        let mut log = vec![LoggedControl {
            offset: 3,
            record: delta,
        }];
        assert_eq!(clean(&mut log), 0);
        assert_eq!(clean(&mut Vec::new()), 0);
    }
}
