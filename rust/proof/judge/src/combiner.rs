//! Merges of state batches: Kafka's `PersisterStateBatchCombiner` beside the core's fold.

use std::io;

use serde_json::{Value, json};
use share_state_core::state_batch::{StateBatch, combine};

use crate::kafka::Kafka;
use crate::operation::Batch;
use crate::profile::{Class, Difference, Profile, Verdict, asked};
use crate::random::Random;

const M1: Class = ("M1", "an inverted batch is merged");
const M2: Class = ("M2", "the last offset there is");

/// The profile `combiner`: a sequence is a number of merges.
pub struct OnCombiners;

impl Profile for OnCombiners {
    type Operation = Merge;

    const NAME: &'static str = "combiner";
    const SUITE: &'static str = "combiner";

    fn rules() -> Vec<Class> {
        vec![M1, M2]
    }

    fn generate(random: &mut Random, length: usize, _: &[usize]) -> Vec<Merge> {
        (0..length).map(|_| Merge::generate(random)).collect()
    }

    fn smaller(merge: &Merge) -> Vec<Merge> {
        merge.smaller()
    }

    fn to_json(merge: &Merge) -> Value {
        merge.to_json()
    }

    fn name_of(_: &Merge) -> &'static str {
        "merge"
    }

    fn judge(merges: &[Merge], given: &[Value]) -> Verdict {
        let mut verdict = Verdict::default();
        for (at, (merge, given)) in merges.iter().zip(given).enumerate() {
            verdict.compared += 1;
            let (ours, kafka) = (merge.ours(), &given["expect"]);
            let merged = ours.as_array().map_or(0, Vec::len).min(6);
            verdict.reached.push(format!("merge to {merged}"));
            if ours == *kafka {
                continue;
            }
            let class = merge.class(kafka);
            let difference =
                Difference::new(at, "merge", kafka.to_string(), ours.to_string(), class);
            if class.is_none() {
                verdict.difference = Some(difference);
                return verdict;
            }
            verdict.explained.push(difference);
        }
        verdict
    }

    /// The last merge alone: each stands for itself.
    fn exported(
        kafka: &mut Kafka,
        name: &str,
        merges: &[Merge],
    ) -> io::Result<(Value, Vec<Option<usize>>)> {
        let mut given = asked::<Self>(kafka, merges)?;
        let mut places = vec![None; merges.len()];
        let (Some(last), Some(mut given), Some(place)) =
            (merges.last(), given.pop(), places.last_mut())
        else {
            return Err(io::Error::other("no merge"));
        };
        *place = Some(0);
        let mut scenario = last.to_json();
        scenario["name"] = json!(name);
        scenario["expect"] = given["expect"].take();
        Ok((scenario, places))
    }
}

/// A merge.
#[derive(Clone, Debug)]
pub struct Merge {
    so_far: Vec<Batch>,
    new: Vec<Batch>,
    start_offset: i64,
}

impl Merge {
    fn generate(random: &mut Random) -> Self {
        let width = random.pick(&[12, 40, 200]);
        let sorted = random.percent(60);
        let so_far = batches(random, width, sorted, 8);
        let new = batches(random, width, random.clone().percent(70), 5);
        let start_offset = if random.percent(30) {
            -1
        } else {
            random.between(0, width)
        };
        let mut merge = Self {
            so_far,
            new,
            start_offset,
        };
        if random.one_in(200) {
            merge.spoil(random);
        }
        merge
    }

    /// Makes batches that no leader sends: an inverted one, or one that ends at the last offset there is.
    fn spoil(&mut self, random: &mut Random) {
        if let Some(batch) = self.new.first_mut() {
            if random.percent(50) {
                (batch.0, batch.1) = (batch.1 + 1, batch.0);
            } else {
                batch.1 = i64::MAX;
            }
        }
    }

    fn to_json(&self) -> Value {
        json!({"so_far": self.so_far, "new": self.new, "start_offset": self.start_offset})
    }

    fn ours(&self) -> Value {
        let list = |batches: &[Batch]| -> Vec<StateBatch> {
            batches
                .iter()
                .map(|b| StateBatch {
                    first_offset: b.0,
                    last_offset: b.1,
                    delivery_state: b.2,
                    delivery_count: b.3,
                })
                .collect()
        };
        let merged = combine(&list(&self.so_far), &list(&self.new), self.start_offset);
        let merged: Vec<Batch> = merged
            .iter()
            .map(|b| {
                (
                    b.first_offset,
                    b.last_offset,
                    b.delivery_state,
                    b.delivery_count,
                )
            })
            .collect();
        json!(merged)
    }

    fn all(&self) -> impl Iterator<Item = &Batch> {
        self.so_far.iter().chain(&self.new)
    }

    /// The deliberate difference that explains another answer of Kafka's, if one does.
    fn class(&self, kafka: &Value) -> Option<Class> {
        if self.all().any(|b| b.1 < b.0) {
            return Some(M1);
        }
        let threw = kafka.get("error").is_some();
        (threw && self.all().any(|b| b.1 == i64::MAX)).then_some(M2)
    }

    fn smaller(&self) -> Vec<Self> {
        let without = |list: &[Batch], index: usize| {
            let mut list = list.to_vec();
            list.remove(index);
            list
        };
        let mut forms: Vec<Self> = (0..self.so_far.len())
            .map(|i| Self {
                so_far: without(&self.so_far, i),
                ..self.clone()
            })
            .collect();
        forms.extend((0..self.new.len()).map(|i| Self {
            new: without(&self.new, i),
            ..self.clone()
        }));
        if self.start_offset != -1 {
            forms.push(Self {
                start_offset: -1,
                ..self.clone()
            });
        }
        forms
    }
}

fn batches(random: &mut Random, width: i64, sorted: bool, most: u64) -> Vec<Batch> {
    let mut list: Vec<Batch> = Vec::new();
    let mut at = random.between(0, 5);
    for _ in 0..random.below(most + 1) {
        let first = if sorted { at } else { random.between(0, width) };
        let last = first + random.between(0, width / 4);
        list.push((
            first,
            last,
            random.pick(&[0, 0, 2, 3, 4]),
            random.pick(&[1, 1, 2, 3]),
        ));
        at = last + 1 + random.pick(&[0, 0, 1, 4]);
    }
    list
}
