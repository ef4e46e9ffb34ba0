//! `share_state._core`: the engine as a Python module.
//!
//! This crate registers, detaches, converts and maps errors. No rule of share groups lives here.

mod acquired_range;
mod agenda;
mod analysis;
mod args;
mod as_of;
mod assignor;
mod codec;
mod columns;
mod config;
mod convert;
mod coordinator;
mod data;
mod engine;
mod errors;
mod folded;
mod frames;
mod guarded;
mod history;
mod history_check;
mod history_rows;
mod hot_path;
mod inline;
mod live;
mod persisters;
mod plain;
mod properties;
mod records;
mod refusals;
mod scan;
mod seen;
mod share_groups;
mod share_partition;
mod share_partitions;
mod share_sessions;
mod shared;
mod state_room;
mod store;
mod table_codec;
mod tuples;
mod words;
mod write_codec;

use pyo3::prelude::*;

/// The compiled part of `share_state`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::acquired_range::AcquiredRange;
    #[pymodule_export]
    use crate::analysis::{AnomalyFinder, StateReplay};
    #[pymodule_export]
    use crate::as_of::Prefix;
    #[pymodule_export]
    use crate::assignor::simple_assignment;
    #[pymodule_export]
    use crate::codec::{api_table, decode_message, encode_message};
    #[pymodule_export]
    use crate::config::{GroupConfig, offset_reset_duration_ms};
    #[pymodule_export]
    use crate::coordinator::ShareCoordinator;
    #[pymodule_export]
    use crate::data::{ReadStateResult, StateSummary, WriteState};
    #[pymodule_export]
    use crate::folded::{combine_state_batches, coordinator_key, parse_coordinator_key};
    #[pymodule_export]
    use crate::frames::{FramePump, FrameScan, frame_tables};
    #[pymodule_export]
    use crate::history::{History, HistoryScan, history_path};
    #[pymodule_export]
    use crate::history_check::HistoryChecker;
    #[pymodule_export]
    use crate::hot_path::{BatchRing, Delivery, decode_fetch_answer, encode_share_fetch_answer};
    #[pymodule_export]
    use crate::live::StateTopicFollower;
    #[pymodule_export]
    use crate::persisters::{NoOpStatePersister, RecordingPersister};
    #[pymodule_export]
    use crate::properties::{
        alter_group_config, broker_config_entries, check_broker_config, check_group_config,
        effective_group_config, group_config_entries,
    };
    #[pymodule_export]
    use crate::records::{decode_record, encode_record, encode_state, state_partition};
    #[pymodule_export]
    use crate::scan::{Scan, fold_path, log_ends, scan_path};
    #[pymodule_export]
    use crate::share_groups::ShareGroupStore;
    #[pymodule_export]
    use crate::share_partition::SharePartition;
    #[pymodule_export]
    use crate::share_partitions::{Acquired, DeadLetters, PendingWrites, SharePartitions};
    #[pymodule_export]
    use crate::share_sessions::{ShareFetchContext, ShareSessions};
    #[pymodule_export]
    use crate::state_room::StateRoom;
    #[pymodule_export]
    use crate::store::StateStore;
    #[pymodule_export]
    use crate::write_codec::{check_write_state, decode_write_results, encode_write_states};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::analysis::add_names(module)?;
        module.add("ERROR_CODES", crate::codec::error_codes())?;
        module.add("HISTORY_CAUSES", crate::history_rows::cause_names())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
