//! The writes that a call on many share partitions leads to, where these have persisters of their own.

use pyo3::prelude::*;
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;

use super::Home;
use crate::agenda::News;
use crate::engine::each;
use crate::inline::{Begun, Settling};
use crate::shared::{Watched, say_refused};

/// What came of the writes of one call.
#[derive(Default)]
pub struct Settlings {
    /// What a store has taken in and not answered: share partition, request, write.
    begun: Vec<(u32, usize, Begun)>,
    /// Requests of members whose write was refused.
    refused: Vec<(usize, KafkaCode)>,
    /// Refusals, to be told to the log of the package.
    said: Vec<(SharePartitionKey, KafkaCode, Option<String>)>,
    at_hand: Settling,
}

impl Settlings {
    /// Where a request settles what it can by itself.
    pub const fn at_hand(&mut self) -> &mut Settling {
        &mut self.at_hand
    }

    /// Has the other writes made that a request led to.
    pub fn settle(&mut self, watched: &mut Watched, index: u32, request: usize) {
        watched.settle(&mut self.at_hand);
        if !self.at_hand.is_confirmed() {
            self.sort(watched, index, request);
        }
    }

    /// Takes up what `at_hand` has of a request.
    #[cold]
    fn sort(&mut self, watched: &Watched, index: u32, request: usize) {
        let settlement = self.at_hand.take_settlement();
        if settlement.refused != KafkaCode::None {
            let key = each!(&watched.engine, sp => sp.key().clone());
            self.said
                .push((key, settlement.refused, self.at_hand.why.take()));
        }
        if settlement.member_code != KafkaCode::None {
            self.refused.push((request, settlement.member_code));
        }
        let begun = self.at_hand.begun.drain(..);
        self.begun
            .extend(begun.map(|begun| (index, request, begun)));
    }

    /// Waits for the stores, and tells the share partitions what they have answered.
    pub fn end(&mut self, homes: &[Home], all_news: &mut Vec<(u32, News)>) {
        while !self.begun.is_empty() {
            let begun = std::mem::take(&mut self.begun);
            // All are waited for before the first is told, so that no lock is held meanwhile.
            let ended: Vec<_> = begun
                .into_iter()
                .map(|(index, request, begun)| (index, request, begun.end()))
                .collect();
            for (index, request, ended) in ended {
                let Some(home) = homes.get(index as usize) else {
                    continue;
                };
                let told = home.shared.for_set(|watched| {
                    ended.tell(&mut watched.engine, &mut self.at_hand);
                    watched.settle(&mut self.at_hand);
                    self.sort(watched, index, request);
                    watched.news()
                });
                match told {
                    Ok(news) => all_news.push((index, news)),
                    Err(_) => self.refused.push((request, KafkaCode::UnknownServerError)),
                }
            }
        }
    }

    /// The requests of members whose write was refused, and the code for each.
    pub fn for_members(&self) -> &[(usize, KafkaCode)] {
        &self.refused
    }

    /// Tells the log of the package of what was refused; the caller holds no lock.
    pub fn say(&self) {
        if self.said.is_empty() {
            return;
        }
        Python::attach(|py| {
            for (key, code, why) in &self.said {
                if let Err(error) = say_refused(py, key, *code, why.as_deref()) {
                    error.write_unraisable(py, None);
                }
            }
        });
    }
}
