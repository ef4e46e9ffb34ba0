//! `share_state._core`: the engine as a Python module.
//!
//! This crate registers, detaches, converts and maps errors. No rule of share groups lives here.

mod analysis;
mod args;
mod columns;
mod convert;
mod errors;
mod gateway;
mod groups;
mod locked;
mod named_tuples;
mod partition;
mod state;
mod tuples;
mod wire;
mod words;

use pyo3::prelude::*;

/// The compiled part of `share_state`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::analysis::anomalies::{AnomalyFinder, StateReplay};
    #[pymodule_export]
    use crate::analysis::as_of::Prefix;
    #[pymodule_export]
    use crate::analysis::frames::{FramePump, FrameScan, frame_tables};
    #[pymodule_export]
    use crate::analysis::history::{History, HistoryScan, history_path};
    #[pymodule_export]
    use crate::analysis::history_check::HistoryChecker;
    #[pymodule_export]
    use crate::analysis::live::StateTopicFollower;
    #[pymodule_export]
    use crate::analysis::scan::{Scan, fold_path, log_ends, scan_path};
    #[pymodule_export]
    use crate::gateway::{Node, WriteRound, decode_fetch_answer};
    #[pymodule_export]
    use crate::groups::assignor::simple_assignment;
    #[pymodule_export]
    use crate::groups::config::{GroupConfig, offset_reset_duration_ms};
    #[pymodule_export]
    use crate::groups::properties::{
        alter_group_config, broker_config_entries, check_broker_config, check_group_config,
        effective_group_config, group_config_entries,
    };
    #[pymodule_export]
    use crate::groups::share_groups::ShareGroupStore;
    #[pymodule_export]
    use crate::groups::share_sessions::{ShareFetchContext, ShareSessions};
    #[pymodule_export]
    use crate::partition::acquired_range::AcquiredRange;
    #[pymodule_export]
    use crate::partition::persisters::{NoOpStatePersister, RecordingPersister};
    #[pymodule_export]
    use crate::partition::share_partition::SharePartition;
    #[pymodule_export]
    use crate::partition::share_partitions::{Acquired, PendingWrites, SharePartitions};
    #[pymodule_export]
    use crate::state::coordinator::ShareCoordinator;
    #[pymodule_export]
    use crate::state::data::{ReadStateResult, StateSummary, WriteState};
    #[pymodule_export]
    use crate::state::folded::{combine_state_batches, coordinator_key, parse_coordinator_key};
    #[pymodule_export]
    use crate::state::state_room::StateRoom;
    #[pymodule_export]
    use crate::state::store::StateStore;
    #[pymodule_export]
    use crate::wire::batches::{decode_batch, encode_batch};
    #[pymodule_export]
    use crate::wire::codec::{api_table, decode_message, encode_message, header_end};
    #[pymodule_export]
    use crate::wire::records::{decode_record, encode_record, encode_state, state_partition};
    #[pymodule_export]
    use crate::wire::write_codec::{check_write_state, decode_write_results, encode_write_states};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::analysis::anomalies::add_names(module)?;
        module.add("ERROR_CODES", crate::wire::codec::error_codes())?;
        module.add(
            "HISTORY_CAUSES",
            crate::analysis::history_rows::cause_names(),
        )?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
