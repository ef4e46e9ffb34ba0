//! The share coordinator: the scenarios behind Kafka's fixed bugs, requests that must be refused, and the laws that hold
//! over any sequence of requests.

#[cfg(test)]
mod bad_requests;
mod full_states;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod pruning;
mod questions;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod support;
#[cfg(test)]
mod truncation;
