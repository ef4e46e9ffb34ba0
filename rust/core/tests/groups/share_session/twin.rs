//! The obvious share sessions: one list of everything, looked through from the start each time.

use share_state_core::share_session::{Outcome, TopicIdPartition};

/// A session: a list of partitions, each with its mark.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TwinSession {
    pub group: String,
    pub member: String,
    pub connection: u64,
    pub next_epoch: i32,
    pub partitions: Vec<(TopicIdPartition, bool)>,
    /// Number of the opening.
    pub opening: usize,
}

/// Context that a request is admitted to.
#[derive(Clone, Debug)]
pub struct TwinContext {
    pub epoch: i32,
    pub group: String,
    pub member: String,
    pub opening: usize,
    pub partitions: Vec<TopicIdPartition>,
}

#[derive(Debug, Default)]
pub struct Twin {
    pub max_sessions: usize,
    pub sessions: Vec<TwinSession>,
    pub openings: usize,
}

impl Twin {
    fn at(&self, group: &str, member: &str) -> Option<usize> {
        let mut sessions = self.sessions.iter();
        sessions.position(|s| s.group == group && s.member == member)
    }

    /// The context, or Kafka's code.
    pub fn fetch(
        &mut self,
        (group, member): (&str, &str),
        epoch: i32,
        connection: u64,
        added: &[TopicIdPartition],
        forgotten: &[TopicIdPartition],
        acknowledges: bool,
    ) -> Result<TwinContext, i16> {
        let mut context = TwinContext {
            epoch,
            group: group.to_owned(),
            member: member.to_owned(),
            opening: 0,
            partitions: Vec::new(),
        };
        let at = self.at(group, member);
        if epoch == 0 {
            if acknowledges {
                return Err(42);
            }
            if at.is_none() && self.sessions.len() == self.max_sessions {
                return Err(133);
            }
            if let Some(at) = at {
                self.sessions.remove(at);
            }
            for id in added {
                if !context.partitions.contains(id) {
                    context.partitions.push(*id);
                }
            }
            self.openings += 1;
            self.sessions.push(TwinSession {
                group: group.to_owned(),
                member: member.to_owned(),
                connection,
                next_epoch: 1,
                partitions: context.partitions.iter().map(|id| (*id, false)).collect(),
                opening: self.openings,
            });
            return Ok(context);
        }
        let session = &mut self.sessions[at.ok_or(122_i16)?];
        context.opening = session.opening;
        if epoch == -1 {
            return Ok(context);
        }
        if epoch != session.next_epoch {
            return Err(123);
        }
        session.next_epoch = if epoch == i32::MAX { 1 } else { epoch + 1 };
        for id in added {
            if !session.partitions.iter().any(|(held, _)| held == id) {
                session.partitions.push((*id, true));
            }
        }
        session.partitions.retain(|(id, _)| !forgotten.contains(id));
        context.partitions = session.partitions.iter().map(|(id, _)| *id).collect();
        for _ in 0..epoch as usize % session.partitions.len().max(1) {
            let first = context.partitions.remove(0);
            context.partitions.push(first);
        }
        Ok(context)
    }

    pub fn answer(&mut self, context: &TwinContext, outcomes: &[Outcome]) -> Option<Vec<bool>> {
        if context.epoch == 0 {
            return Some(vec![true; outcomes.len()]);
        }
        if context.epoch == -1 {
            return Some(outcomes.iter().map(|o| o.acknowledged).collect());
        }
        let at = self.at(&context.group, &context.member)?;
        let session = &mut self.sessions[at];
        let expected = if context.epoch == i32::MAX {
            1
        } else {
            context.epoch + 1
        };
        if session.opening != context.opening || session.next_epoch != expected {
            return None;
        }
        let mut listed = Vec::new();
        for outcome in outcomes {
            let place = session.partitions.iter().position(|p| p.0 == outcome.id);
            let marked = place.is_some_and(|place| session.partitions[place].1);
            if let Some(place) = place {
                session.partitions[place].1 = outcome.has_error;
                if outcome.has_records {
                    let moved = session.partitions.remove(place);
                    session.partitions.push(moved);
                }
            }
            listed.push(outcome.has_records || outcome.has_error || outcome.acknowledged || marked);
        }
        Some(listed)
    }

    pub fn acknowledge(&mut self, group: &str, member: &str, epoch: i32) -> i16 {
        if epoch == 0 {
            return 123;
        }
        let Some(at) = self.at(group, member) else {
            return 122;
        };
        let session = &mut self.sessions[at];
        if epoch == -1 {
            return 0;
        }
        if epoch != session.next_epoch {
            return 123;
        }
        session.next_epoch = if epoch == i32::MAX { 1 } else { epoch + 1 };
        0
    }

    pub fn close(&mut self, group: &str, member: &str) -> bool {
        self.at(group, member)
            .map(|at| self.sessions.remove(at))
            .is_some()
    }

    pub fn connection_closed(&mut self, connection: u64) -> Vec<(String, String)> {
        let (gone, stay) = std::mem::take(&mut self.sessions)
            .into_iter()
            .partition(|s| s.connection == connection);
        self.sessions = stay;
        let gone: Vec<TwinSession> = gone;
        gone.into_iter().map(|s| (s.group, s.member)).collect()
    }
}
