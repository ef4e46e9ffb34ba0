//! Random sequences of everything that may happen to a share partition, over both in-flight stores in lock-step, with a
//! share coordinator behind it: crashes, refused, lost, late and repeated writes, other leaders, altered offsets,
//! retention, compaction and changes of the configuration. Every invariant is checked after every step.
//!
//! `PROPTEST_CASES` sets the number of sequences.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

/// Does the same to both stores; the answers must be the same.
macro_rules! both {
    ($world:expr, $lab:ident => $does:expr) => {{
        let twin = {
            let $lab = &mut $world.twin;
            $does
        };
        let tree = {
            let $lab = &mut $world.tree;
            $does
        };
        assert_eq!(twin, tree, "twin and tree answer alike");
        twin
    }};
}

#[cfg(test)]
mod consumers;
#[cfg(test)]
mod exhaustive;
#[cfg(test)]
mod leaders;
#[cfg(test)]
mod liveness;
#[cfg(test)]
mod op;
#[cfg(test)]
mod persister;
#[cfg(test)]
mod seen;
#[cfg(test)]
mod world;

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use share_state_core::limits::ShareGroupConfig;
use share_state_core::share_partition::FetchedBatch;

use op::Op;
use world::World;

/// As many new sequences as `PROPTEST_CASES` says; without it, as many as take some seconds without optimisation, the same
/// ones each time. A sequence that fails is printed whole, and belongs into a scenario of its own.
fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok();
    let asked: Option<u32> = asked.and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(cases),
        rng_seed: asked.map_or(RngSeed::Fixed(932), |_| RngSeed::Random),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    }
}

type Sequence = (Vec<FetchedBatch>, ShareGroupConfig, Vec<Op>);

fn sequence(length: usize) -> impl Strategy<Value = Sequence> {
    (op::log(), op::config(), vec(op::op(), 1..length))
}

fn play((log, config, ops): Sequence) -> World {
    let mut world = World::new(log, config);
    for op in &ops {
        world.apply(op);
    }
    world
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn every_invariant_holds_after_every_step(sequence in sequence(120)) {
        play(sequence).persister.restart();
    }

    #[test]
    fn with_fair_consumers_and_no_faults_every_record_ends_terminal(sequence in sequence(60)) {
        liveness::consume_everything(&mut play(sequence));
    }
}

#[test]
fn everything_that_may_happen_does_happen_in_the_sequences_that_are_tried() {
    let mut runner = TestRunner::deterministic();
    let mut effects: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..200 {
        let tree = sequence(120).new_tree(&mut runner).unwrap();
        for (effect, count) in play(tree.current()).effects {
            *effects.entry(effect).or_insert(0) += count;
        }
    }
    assert_eq!(effects.len(), 18, "{effects:?}");
    assert!(effects.values().all(|count| *count >= 20), "{effects:?}");
}
