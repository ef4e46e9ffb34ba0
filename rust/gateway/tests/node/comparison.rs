//! A node beside its slow model, over random requests of three members.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::answers::Answer;
use crate::client::{Acknowledge, Fetch};
use crate::model::{Model, PLACES};

/// An answer whose rows stand as those of another node would: by topic, in any order of topics, and without the batches.
fn plain(mut answer: Answer) -> Answer {
    for row in &mut answer.rows {
        row.batches.clear();
    }
    let mut topics: Vec<_> = answer.rows.iter().map(|row| row.id.topic_id).collect();
    topics.dedup();
    // A topic stands in an answer once, where it is first named.
    answer
        .rows
        .sort_by_key(|row| topics.iter().position(|id| *id == row.id.topic_id));
    answer
}

#[derive(Clone, Debug)]
enum Step {
    Fetch(Fetch, bool),
    Acknowledge(Acknowledge, bool),
    Pass(i64),
    Close(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let places = || vec(prop::sample::select(PLACES.to_vec()), 0..3);
    let batches = || {
        let batch = (
            prop::sample::select(PLACES.to_vec()),
            0i64..8,
            0i64..4,
            0u8..5,
        );
        vec(
            batch.prop_map(|(id, first, more, kind)| (id, first, first + more, kind)),
            0..4,
        )
    };
    // The right epoch as a rule, else one of these.
    let epochs = || prop_oneof![8 => Just(None), 1 => (-1i32..4).prop_map(Some)];
    let fetch = (0u8..3, epochs(), places(), places(), batches(), 0i32..6).prop_map(
        |(member, epoch, added, forgotten, acknowledged, max_records)| {
            let mut fetch = Fetch::of(&format!("m{member}"), epoch.unwrap_or(0));
            (fetch.added, fetch.forgotten) = (added, forgotten);
            (fetch.acknowledged, fetch.max_records) = (acknowledged, max_records.max(1));
            Step::Fetch(fetch, epoch.is_none())
        },
    );
    let acknowledge = (0u8..3, epochs(), batches()).prop_map(|(member, epoch, batches)| {
        let member = format!("m{member}");
        Step::Acknowledge(
            Acknowledge::of(&member, epoch.unwrap_or(0), &batches),
            epoch.is_none(),
        )
    });
    let step = prop_oneof![
        6 => fetch,
        4 => acknowledge,
        1 => (0i64..1_200).prop_map(Step::Pass),
        1 => (0u64..2).prop_map(Step::Close),
    ];
    vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_node_answers_as_the_machines_do_one_after_the_other(steps in steps()) {
        let mut model = Model::new();
        let mut epochs: BTreeMap<String, i32> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Fetch(mut fetch, is_right) => {
                    let epoch = epochs.entry(fetch.member.clone()).or_default();
                    if is_right {
                        fetch.epoch = *epoch;
                    }
                    if fetch.epoch == 0 {
                        fetch.acknowledged.clear();
                    }
                    // Members share two connections.
                    let connection = u64::from(fetch.member.ends_with('1'));
                    let expected = model.fetch(connection, &fetch);
                    let told = model.world.fetch(connection, &fetch);
                    if told.error == 0 {
                        *epoch = fetch.epoch + 1;
                    }
                    prop_assert_eq!(plain(told), plain(expected), "{:?}", fetch);
                }
                Step::Acknowledge(mut acknowledge, is_right) => {
                    let epoch = epochs.entry(acknowledge.member.clone()).or_default();
                    if is_right {
                        acknowledge.epoch = *epoch;
                    }
                    let connection = u64::from(acknowledge.member.ends_with('2'));
                    let expected = model.acknowledge(&acknowledge);
                    let told = model.world.acknowledge(connection, &acknowledge);
                    if told.error == 0 {
                        *epoch = acknowledge.epoch + 1;
                    }
                    prop_assert_eq!(plain(told), plain(expected), "{:?}", acknowledge);
                }
                Step::Pass(ms) => model.pass(ms),
                Step::Close(connection) => {
                    for member in model.close(connection) {
                        epochs.insert(member, 0);
                    }
                }
            }
        }
    }
}
