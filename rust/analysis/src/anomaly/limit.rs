//! Delivery limit of a group, as configured or as far as the log tells.

use std::collections::HashMap;

use share_state_core::history::HistoryRow;
use share_state_core::record_state::RecordState;

use super::config::AnomalyConfig;

/// Kafka's least delivery limit (`GroupConfig`: `share.delivery.count.limit`).
const LEAST_LIMIT: i64 = 2;

/// The highest counts with which records of the groups were released.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    released: HashMap<String, i64>,
}

impl Limits {
    /// Takes a row.
    pub fn see(&mut self, row: &HistoryRow) {
        let Some(to) = row
            .to
            .filter(|to| row.range.is_some() && to.state == RecordState::Available.id())
        else {
            return;
        };
        let count = i64::from(to.count);
        match self.released.get_mut(&*row.key.group) {
            Some(highest) => *highest = count.max(*highest),
            None => {
                self.released.insert(row.key.group.to_string(), count);
            }
        }
    }

    /// The limit of a group. One that is not configured only rises while a log is read.
    pub fn of(&self, config: &AnomalyConfig, group: &str) -> i64 {
        config.limit(group).unwrap_or_else(|| {
            let here = self.released.get(group).copied().unwrap_or(0);
            let elsewhere = config.highest_released.get(group).copied().unwrap_or(0);
            here.max(elsewhere).saturating_add(1).max(LEAST_LIMIT)
        })
    }
}
