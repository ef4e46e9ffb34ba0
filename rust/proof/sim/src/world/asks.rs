//! Handling of a member's request at a broker.

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::WriteToken;
use share_state_core::share_partition::{AcknowledgeBatch, AcknowledgeError, RecordStateReason};
use share_state_core::share_session::{ShareFetchRequest, TopicIdPartition};

use super::events::{Asked, Request, Told, What};
use super::types::{Parked, Waiter};
use super::{GROUP, TOPIC, World};
use crate::broken::Broken;
use crate::meeting::Meeting;
use crate::recorder::Said;

/// A partition of the topic, as sessions name it.
pub fn partition(part: usize) -> TopicIdPartition {
    TopicIdPartition {
        topic_id: TOPIC,
        partition: i32::try_from(part).unwrap_or(i32::MAX),
    }
}

/// Outcome of an acknowledgement that is not refused.
enum Acknowledged {
    /// It waits for a write.
    Waits(WriteToken),
    Done,
    /// Its write failed.
    Failed,
}

impl<S: InFlightStore> World<S> {
    pub(super) fn at_broker(&mut self, broker: usize, request: Request) {
        if !self.brokers[broker].is_up {
            return;
        }
        match &request.asked {
            Asked::Fetch { wait_us, parts } => {
                self.fetch_arrives(broker, &request, *wait_us, parts);
            }
            Asked::Acknowledge { part, said } => {
                self.acknowledgement_arrives(broker, &request, *part, said);
            }
            Asked::Close => self.close_arrives(broker, request.member),
        }
        self.serve(broker);
    }

    fn id_of(&self, member: usize) -> std::sync::Arc<str> {
        self.members.get(member).map_or_else(
            || std::sync::Arc::from(""),
            |own| std::sync::Arc::clone(&own.id),
        )
    }

    fn fetch_arrives(&mut self, broker: usize, request: &Request, wait_us: i64, parts: &[usize]) {
        let id = self.id_of(request.member);
        let partitions: Vec<_> = parts.iter().copied().map(partition).collect();
        let opens = request.epoch == 0;
        if opens {
            let replaces = self.brokers[broker]
                .sessions
                .sessions()
                .any(|view| view.member == &*id && view.connection() != request.connection);
            let twins = self
                .members
                .iter()
                .filter(|own| own.is_alive && own.id == id)
                .count();
            if replaces && twins > 1 {
                self.meet(Meeting::TwinTakesSession);
            }
        }
        let own = &mut self.brokers[broker];
        let admitted = own.sessions.fetch(&ShareFetchRequest {
            group: GROUP,
            member: &id,
            epoch: request.epoch,
            connection: request.connection,
            added: if opens { &partitions } else { &[] },
            forgotten: &[],
            acknowledges: false,
        });
        let (member, connection) = (request.member, request.connection);
        let told = match admitted {
            Err(_) => Told::Session,
            Ok(_) if !own.leads => Told::NotLeader,
            Ok(context) => {
                own.parked.push(Parked {
                    member,
                    connection,
                    request: request.request,
                    context,
                    parts: parts.to_vec(),
                });
                let (life, request) = (own.life, request.request);
                self.later(
                    wait_us,
                    What::FetchEnds {
                        broker,
                        life,
                        request,
                    },
                );
                return;
            }
        };
        self.answer(member, connection, request.request, told);
    }

    fn acknowledgement_arrives(
        &mut self,
        broker: usize,
        request: &Request,
        part: usize,
        said: &[Said],
    ) {
        let id = self.id_of(request.member);
        let is_overtaken = self.is_overtaken(broker, part);
        if is_overtaken {
            self.meet(Meeting::OvertakenTakes);
        }
        let own = &mut self.brokers[broker];
        let told = if own.sessions.acknowledge(GROUP, &id, request.epoch).is_err() {
            Told::Session
        } else if let Some(Some(led)) = own.led.get(part) {
            let under_way = led.part.writes_under_way() > 0;
            match self.acknowledges(broker, part, &id, said) {
                Some(Ok(Acknowledged::Waits(token))) => {
                    if let Some(Some(led)) = self.brokers[broker].led.get_mut(part) {
                        led.waiting.push(Waiter {
                            token,
                            member: request.member,
                            connection: request.connection,
                            request: request.request,
                        });
                    }
                    self.pump(broker, part);
                    return;
                }
                Some(Ok(Acknowledged::Done)) => Told::Done {
                    counts: !is_overtaken,
                },
                Some(Ok(Acknowledged::Failed)) => Told::Failed { counts: true },
                Some(Err(error)) => self.refused(&error, said, under_way),
                None => Told::NotLeader,
            }
        } else {
            Told::NotLeader
        };
        let is_repeat = self.members.get(request.member).is_some_and(|own| {
            own.held.is_empty() && own.before.as_ref().is_some_and(|before| before.1 == said)
        });
        if is_repeat && matches!(told, Told::Refused) {
            self.meet(Meeting::RepeatRefused);
        }
        self.answer(request.member, request.connection, request.request, told);
        self.pump(broker, part);
    }

    /// Has a share partition acknowledge; `None` where it is not led.
    fn acknowledges(
        &mut self,
        broker: usize,
        part: usize,
        id: &str,
        said: &[Said],
    ) -> Option<Result<Acknowledged, AcknowledgeError>> {
        let mut batches: Vec<_> = said
            .iter()
            .map(|(first, last, kind)| AcknowledgeBatch {
                first: *first,
                last: *last,
                types: core::slice::from_ref(kind),
            })
            .collect();
        if self.is(Broken::RenewsNot) {
            batches.retain(|batch| batch.types != [4]);
        }
        if self.plan.inline {
            let done = self.acknowledge_inline((broker, part), id, &batches)?;
            return Some(done.map(|settled| match settled.member_code {
                KafkaCode::None => Acknowledged::Done,
                _ => Acknowledged::Failed,
            }));
        }
        let answers_early = self.is(Broken::AnswersEarly);
        let now = self.brokers[broker].now(self.now);
        let led = self.brokers[broker].led.get_mut(part)?.as_mut()?;
        let done = led.part.acknowledge(id, &batches, now);
        Some(done.map(|token| match token {
            Some(token) if !answers_early => Acknowledged::Waits(token),
            _ => Acknowledged::Done,
        }))
    }

    /// Answer to a member whose acknowledgement is refused.
    fn refused(&mut self, error: &AcknowledgeError, said: &[Said], under_way: bool) -> Told {
        if let AcknowledgeError::InvalidRecordState { reason, .. } = error {
            match reason {
                RecordStateReason::NotAcquired | RecordStateReason::OtherMember => {
                    self.meet(Meeting::LateAcknowledgement);
                    if said.iter().all(|said| said.2 == 4) {
                        self.meet(Meeting::LateRenewal);
                    }
                }
                RecordStateReason::WriteUnderWay if under_way => {
                    self.meet(Meeting::RepeatWhileHeld);
                }
                _ => {}
            }
        }
        if self.is(Broken::HidesRefusal) && error.kafka_code() == KafkaCode::InvalidRecordState {
            Told::Done { counts: true }
        } else {
            Told::Refused
        }
    }

    fn close_arrives(&mut self, broker: usize, member: usize) {
        let id = self.id_of(member);
        if self.brokers[broker]
            .sessions
            .acknowledge(GROUP, &id, -1)
            .is_ok()
        {
            self.brokers[broker].sessions.close(GROUP, &id);
            self.release(broker, &id);
        }
    }

    pub(super) fn disconnected(&mut self, broker: usize, connection: u64) {
        let mut keys = self.brokers[broker].sessions.connection_closed(connection);
        keys.sort();
        for key in keys {
            self.release(broker, &key.member);
        }
        self.brokers[broker]
            .parked
            .retain(|parked| parked.connection != connection);
        self.serve(broker);
    }

    /// Gives back what a member holds. From then on nobody holds it, whoever else has the member's id.
    fn release(&mut self, broker: usize, id: &str) {
        let mut all = 0;
        for part in 0..self.plan.partitions {
            let now = self.brokers[broker].now(self.now);
            if let Some(Some(led)) = self.brokers[broker].led.get_mut(part) {
                let under_way = led.part.writes_under_way();
                let released = if self.plan.inline {
                    self.release_inline(broker, part, id)
                } else {
                    led.part.release(id, now)
                };
                all += released;
                if under_way > 0 && released > 0 {
                    self.meet(Meeting::ReleaseInWrite);
                }
                self.pump(broker, part);
            }
        }
        if all > 0 {
            let ahead = self.members.iter().rev().find(|own| *own.id == *id);
            let t = self.now + ahead.map_or(0, |own| own.ahead);
            let name = self.recorder.name(id);
            self.recorder.gone(t, name);
        }
    }
}
