//! Tests of one share partition: its verbs and its stores, by scenarios with exact results and by random sequences.

#[cfg(test)]
#[path = "../common/mod.rs"]
mod common;

#[cfg(test)]
mod answers;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod flat_memory;
#[cfg(test)]
mod given_up;
#[cfg(test)]
mod holes;
#[cfg(test)]
mod in_flight_differential;
#[cfg(test)]
mod many_locks;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod random_sequences;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod settle_laws;
#[cfg(test)]
mod settled;
#[cfg(test)]
mod transition_table;
#[cfg(test)]
mod two_phase;
