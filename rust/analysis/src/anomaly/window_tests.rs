//! A window is a map from offsets to states.

use std::collections::BTreeMap;

use proptest::prelude::*;
use share_state_core::history::Delivery;
use share_state_core::offset::OffsetRange;

use super::Mark;
use super::window::{Known, Window};

fn known(state: i8) -> Known {
    Known {
        delivery: Delivery { state, count: 1 },
        first_told: Mark::default(),
        changed_ms: 0,
        longest_ms: Some(0),
        loops: 0,
        loop_since: Mark::default(),
    }
}

const START: i64 = -3;

fn is_terminal(state: i8) -> bool {
    matches!(state, 2 | 4)
}

proptest! {
    #[test]
    fn a_window_is_a_map_from_offsets_to_states(
        changes in prop::collection::vec((-3..40i64, 0..9i64, prop::option::of(0..5i8)), 1..40),
    ) {
        let mut window = Window::default();
        let mut model: BTreeMap<i64, i8> = BTreeMap::new();
        for (first, length, state) in changes {
            let range = OffsetRange { first, last: first + length };
            let mut taken = Vec::new();
            window.take(range, &mut taken);
            let were: Vec<_> = model.range(first..=range.last).map(|(o, s)| (*o, *s)).collect();
            model.retain(|offset, _| !range.contains(*offset));
            let told: Vec<_> = taken
                .iter()
                .flat_map(|run| (run.range.first..=run.range.last).map(|o| (o, run.value.delivery.state)))
                .collect();
            prop_assert_eq!(told, were);
            if let Some(state) = state {
                window.put(range, known(state));
                model.extend((first..=range.last).map(|offset| (offset, state)));
            }
            let terminal = model.values().filter(|state| is_terminal(**state)).count();
            prop_assert_eq!(window.terminal(), terminal as u128);
            let end = model.keys().next_back().copied();
            let holes: Vec<_> = window
                .holes(START)
                .flat_map(|(hole, _)| hole.first..=hole.last)
                .collect();
            let missing: Vec<_> = (START..end.unwrap_or(START))
                .filter(|offset| !model.contains_key(offset))
                .collect();
            prop_assert_eq!(holes, missing);
            let expected = end.and_then(|end| {
                (START..=end).find(|offset| !model.get(offset).is_some_and(|state| is_terminal(*state)))
            });
            let holder = window.holder(START);
            prop_assert_eq!(holder.map(|(offset, _)| offset), expected);
            if let Some((offset, batch)) = holder {
                let state = model.get(&offset).copied();
                prop_assert_eq!(batch.map(|batch| batch.delivery_state), state);
            }
        }
    }
}
