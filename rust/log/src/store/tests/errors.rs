//! Errors as a human reads them, and the numbers of the operating system that they carry.

use core::fmt;
use std::io;

use super::*;
use crate::config::ConfigError;
use crate::disk::IoFailure;
use crate::error::PoisonCause;
use share_state_core::coordinator::{CoordinatorError, Operation, ShareCoordinator};
use share_state_core::kafka_code::KafkaCode;
use share_state_wire::{WireError, WireErrorKind};

/// A disk that has no room.
fn full(operation: &'static str) -> IoFailure {
    IoFailure {
        operation,
        path: Path::new("/store/a").to_owned(),
        kind: io::ErrorKind::StorageFull,
        os_error: Some(28),
        message: "no room".to_owned(),
    }
}

const WIRE: WireError = WireError {
    position: 0,
    kind: WireErrorKind::Null,
};

fn poisoned(cause: PoisonCause) -> StoreError {
    StoreError::Poisoned {
        cause: Arc::new(cause),
    }
}

fn assert_says(error: &dyn fmt::Display, said: &str) {
    assert_eq!(error.to_string(), said);
}

#[test]
fn an_error_of_a_verb_says_what_happened() {
    use KafkaCode::{InvalidRequest, KafkaStorageError, NotCoordinator, UnknownServerError};
    let refusal = CoordinatorError::Uninitialized {
        operation: Operation::Write,
    };
    let wire = WIRE.to_string();
    for (error, code, said) in [
        (
            StoreError::Refused(refusal),
            InvalidRequest,
            refusal.to_string(),
        ),
        (
            StoreError::Timestamp { wall_ms: -7 },
            InvalidRequest,
            "timestamp -7 is negative".to_owned(),
        ),
        (
            StoreError::TooLarge { bytes: 9, limit: 8 },
            UnknownServerError,
            "the request has 9 bytes; expected at most 8".to_owned(),
        ),
        (
            StoreError::Unwritable(WIRE),
            UnknownServerError,
            format!("records that cannot be written: {wire}"),
        ),
        (
            StoreError::OffsetEnd,
            UnknownServerError,
            "no offsets are left".to_owned(),
        ),
        (
            StoreError::Closed,
            NotCoordinator,
            "the store is closed".to_owned(),
        ),
        (
            StoreError::Forked { opened_by: 4711 },
            NotCoordinator,
            "the store belongs to process 4711, of which this one is a fork".to_owned(),
        ),
        (
            poisoned(PoisonCause::Io(full("sync"))),
            KafkaStorageError,
            "the store has failed and must be opened again: sync /store/a: no room".to_owned(),
        ),
        (
            poisoned(PoisonCause::Encode(WIRE)),
            KafkaStorageError,
            format!("the store has failed and must be opened again: {wire}"),
        ),
        (
            poisoned(PoisonCause::Panic),
            KafkaStorageError,
            "the store has failed and must be opened again: a thread panicked inside the store"
                .to_owned(),
        ),
        (
            StoreError::Prune(full("remove")),
            KafkaStorageError,
            "remove /store/a: no room".to_owned(),
        ),
    ] {
        assert_says(&error, &said);
        assert_eq!(error.kafka_code(), code, "{error}");
    }
}

#[test]
fn only_a_disk_that_failed_has_a_number() {
    for (error, number) in [
        (poisoned(PoisonCause::Io(full("sync"))), Some(28)),
        (StoreError::Prune(full("remove")), Some(28)),
        (poisoned(PoisonCause::Encode(WIRE)), None),
        (poisoned(PoisonCause::Panic), None),
        (StoreError::Closed, None),
    ] {
        assert_eq!(error.os_error(), number, "{error}");
    }
}

#[test]
fn a_setting_out_of_its_range_is_named_with_its_bounds() {
    let config = StoreConfig {
        segment_bytes: 7,
        ..config()
    };
    assert_says(
        &open(&SimDisk::default(), &config).unwrap_err(),
        "segment_bytes is 7; expected 1024 to 18446744073709551615",
    );
    let config = CoordinatorConfig {
        snapshot_update_records_per_snapshot: 501,
        ..CoordinatorConfig::default()
    };
    let of_the_coordinator = ShareCoordinator::new(config).unwrap_err();
    let said = of_the_coordinator.to_string();
    assert!(said.contains("501"), "{said}");
    assert_says(&ConfigError::from(of_the_coordinator), &said);
}
