//! The state of our share partition in the form that is compared.

use share_state_core::in_flight::InFlightStore;
use share_state_core::record_state::Phase;
use share_state_core::share_partition::SharePartition;

use crate::outcome::{ACQUIRED, Run, State, push};

pub(super) fn state_of<S: InFlightStore>(partition: &SharePartition<S>) -> State {
    let mut runs = Vec::new();
    for shown in partition.in_flight() {
        let state = shown.state as u8;
        let pending = shown.phase != Phase::Stable;
        let held = state == ACQUIRED;
        let (member, deadline) =
            shown
                .holder
                .filter(|_| held)
                .map_or((0, -1), |(name, _, deadline)| {
                    (
                        name.trim_start_matches('m').parse().unwrap_or(0),
                        deadline.0,
                    )
                });
        push(
            &mut runs,
            Run {
                first: shown.range.first,
                last: shown.range.last,
                state,
                delivery_count: shown.delivery_count,
                member,
                pending,
                deadline: if pending { -1 } else { deadline },
            },
        );
    }
    State {
        status: partition.status().name().to_owned(),
        start: partition.start_offset(),
        end: partition.end_offset(),
        epoch: partition.state_epoch(),
        delivery_complete: i64::try_from(partition.delivery_complete_count()).unwrap_or(i64::MAX),
        looks: true,
        gap: partition.gap_window().map(|gap| gap.gap_start_offset),
        runs,
    }
}
