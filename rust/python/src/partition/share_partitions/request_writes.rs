//! Writes that a call on many share partitions leads to, where these have persisters of their own.

use pyo3::prelude::*;
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;

use super::Home;
use crate::partition::agenda::News;
use crate::partition::engine::each;
use crate::partition::inline_writes::{CallWrites, WaitingWrite};
use crate::partition::partition_state::PartitionState;
use crate::partition::refusals;

/// Writes that a call on many share partitions has led to, request by request, and their outcome.
#[derive(Default)]
pub struct RequestWrites {
    /// Writes that a store has taken in and not answered: share partition, request, write.
    waiting: Vec<(u32, usize, WaitingWrite)>,
    /// Requests of members whose write was refused.
    refused: Vec<(usize, KafkaCode)>,
    /// Refusals, to be told to the log of the package.
    said: Vec<(SharePartitionKey, KafkaCode, Option<String>)>,
    at_hand: CallWrites,
}

impl RequestWrites {
    /// Writes of the request at hand.
    pub const fn at_hand(&mut self) -> &mut CallWrites {
        &mut self.at_hand
    }

    /// Has the other writes made that a request led to.
    pub fn settle(&mut self, share_partition: &mut PartitionState, index: u32, request: usize) {
        share_partition.settle(&mut self.at_hand);
        if !self.at_hand.is_confirmed() {
            self.sort(share_partition, index, request);
        }
    }

    /// Takes up what `at_hand` has of a request.
    #[cold]
    fn sort(&mut self, share_partition: &PartitionState, index: u32, request: usize) {
        let outcome = self.at_hand.take_outcome();
        if outcome.refused != KafkaCode::None {
            let key = each!(&share_partition.engine, sp => sp.key().clone());
            self.said
                .push((key, outcome.refused, self.at_hand.why.take()));
        }
        if outcome.member_code != KafkaCode::None {
            self.refused.push((request, outcome.member_code));
        }
        let waiting = self.at_hand.waiting.drain(..);
        self.waiting
            .extend(waiting.map(|write| (index, request, write)));
    }

    /// Waits for the stores, and tells the share partitions what they have answered.
    pub fn end(&mut self, homes: &[Home], all_news: &mut Vec<(u32, News)>) {
        while !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            // All are waited for before the first is told, so that no lock is held meanwhile.
            let answered: Vec<_> = waiting
                .into_iter()
                .map(|(index, request, write)| (index, request, write.end()))
                .collect();
            for (index, request, write) in answered {
                let Some(home) = homes.get(index as usize) else {
                    continue;
                };
                let told = home.lock().run(|share_partition| {
                    write.tell(&mut share_partition.engine, &mut self.at_hand);
                    share_partition.settle(&mut self.at_hand);
                    self.sort(share_partition, index, request);
                    share_partition.news()
                });
                match told {
                    Ok(news) => all_news.push((index, news)),
                    Err(_) => self.refused.push((request, KafkaCode::UnknownServerError)),
                }
            }
        }
    }

    /// Tells the log of the package of what was refused; the caller holds no lock.
    pub fn say(&self) {
        if self.said.is_empty() {
            return;
        }
        Python::attach(|py| {
            for (key, code, why) in &self.said {
                if let Err(error) = refusals::log_write(py, key, *code, why.as_deref()) {
                    error.write_unraisable(py, None);
                }
            }
        });
    }

    /// The requests of members whose write was refused, and the code for each.
    pub fn into_refused(self) -> Vec<(usize, KafkaCode)> {
        self.refused
    }
}
