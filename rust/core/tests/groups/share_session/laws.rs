//! Random requests of a few members, each step beside the twin.

use proptest::prelude::*;
use share_state_core::ids::TopicId;
use share_state_core::share_session::{
    Outcome, ShareFetchContext, ShareFetchRequest, ShareSessions, TopicIdPartition,
};

use super::twin::{Twin, TwinContext};

/// The epoch of a request, by what the session expects.
#[derive(Clone, Copy, Debug)]
enum Epoch {
    Opening,
    Final,
    Expected,
    Other(i32),
}

#[derive(Clone, Debug)]
enum Op {
    Fetch {
        member: usize,
        epoch: Epoch,
        connection: u64,
        added: Vec<TopicIdPartition>,
        forgotten: Vec<TopicIdPartition>,
        acknowledges: bool,
    },
    /// Answers the fetch that was admitted so many before the last.
    Answer {
        back: usize,
        news: Vec<(bool, bool, bool)>,
        besides: Vec<TopicIdPartition>,
    },
    Acknowledge {
        member: usize,
        epoch: Epoch,
    },
    Close {
        member: usize,
    },
    ConnectionClosed {
        connection: u64,
    },
    RemoveTopic {
        topic: u8,
    },
}

/// Two groups, and one member id that is in both.
const MEMBERS: [(&str, &str); 4] = [("g", "a"), ("g", "b"), ("h", "a"), ("h", "c")];

fn topic(number: u8) -> TopicId {
    TopicId([number; 16])
}

fn partition() -> impl Strategy<Value = TopicIdPartition> {
    (0..3u8, -1..4i32).prop_map(|(number, partition)| TopicIdPartition {
        topic_id: topic(number),
        partition,
    })
}

fn partitions() -> impl Strategy<Value = Vec<TopicIdPartition>> {
    prop_oneof![3 => Just(Vec::new()), 2 => prop::collection::vec(partition(), 1..6)]
}

fn epoch() -> impl Strategy<Value = Epoch> {
    prop_oneof![
        2 => Just(Epoch::Opening),
        1 => Just(Epoch::Final),
        8 => Just(Epoch::Expected),
        1 => prop_oneof![Just(i32::MIN), Just(-2), Just(1), Just(2), Just(i32::MAX)].prop_map(Epoch::Other),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let member = 0..MEMBERS.len();
    let fetch = (
        member.clone(),
        epoch(),
        0..3u64,
        partitions(),
        partitions(),
        prop::bool::weighted(0.2),
    )
        .prop_map(
            |(member, epoch, connection, added, forgotten, acknowledges)| Op::Fetch {
                member,
                epoch,
                connection,
                added,
                forgotten,
                acknowledges,
            },
        );
    let news = prop::collection::vec(any::<(bool, bool, bool)>(), 1..9);
    prop_oneof![
        8 => fetch,
        6 => (0..3usize, news, partitions()).prop_map(|(back, news, besides)| Op::Answer { back, news, besides }),
        2 => (member.clone(), epoch()).prop_map(|(member, epoch)| Op::Acknowledge { member, epoch }),
        1 => member.prop_map(|member| Op::Close { member }),
        1 => (0..3u64).prop_map(|connection| Op::ConnectionClosed { connection }),
        1 => (0..3u8).prop_map(|topic| Op::RemoveTopic { topic }),
    ]
}

struct Both {
    real: ShareSessions,
    twin: Twin,
    admitted: Vec<(ShareFetchContext, TwinContext)>,
}

impl Both {
    fn new(max_sessions: usize) -> Self {
        Self {
            real: ShareSessions::new(max_sessions),
            twin: Twin {
                max_sessions,
                ..Twin::default()
            },
            admitted: Vec::new(),
        }
    }

    fn epoch(&self, member: usize, epoch: Epoch) -> i32 {
        match epoch {
            Epoch::Opening => 0,
            Epoch::Final => -1,
            Epoch::Other(epoch) => epoch,
            Epoch::Expected => {
                let mut sessions = self.twin.sessions.iter();
                sessions
                    .find(|s| (s.group.as_str(), s.member.as_str()) == MEMBERS[member])
                    .map_or(1, |s| s.next_epoch)
            }
        }
    }

    fn step(&mut self, op: &Op) {
        match op {
            Op::Fetch {
                member,
                epoch,
                connection,
                added,
                forgotten,
                acknowledges,
            } => {
                let epoch = self.epoch(*member, *epoch);
                let (group, member) = MEMBERS[*member];
                let request = ShareFetchRequest {
                    group,
                    member,
                    epoch,
                    connection: *connection,
                    added,
                    forgotten,
                    acknowledges: *acknowledges,
                };
                let real = self.real.fetch(&request);
                let twin = self.twin.fetch(
                    (group, member),
                    epoch,
                    *connection,
                    added,
                    forgotten,
                    *acknowledges,
                );
                match (real, twin) {
                    (Ok(real), Ok(twin)) => {
                        assert_eq!(real.partitions().collect::<Vec<_>>(), twin.partitions);
                        assert_eq!(real.partitions().len(), twin.partitions.len());
                        assert_eq!(real.is_full(), epoch == 0);
                        assert_eq!(real.is_final(), epoch == -1);
                        assert_eq!((&*real.key().group, &*real.key().member), (group, member));
                        self.admitted.push((real, twin));
                    }
                    (real, twin) => assert_eq!(
                        real.map(|_| ()).map_err(|e| e.kafka_code().code()),
                        twin.map(|_| ())
                    ),
                }
            }
            Op::Answer {
                back,
                news,
                besides,
            } => {
                let Some(at) = self.admitted.len().checked_sub(back + 1) else {
                    return;
                };
                let (real, twin) = &self.admitted[at];
                let outcomes: Vec<_> = (twin.partitions.iter().chain(besides))
                    .zip(news.iter().cycle())
                    .map(|(id, (has_records, has_error, acknowledged))| Outcome {
                        id: *id,
                        has_records: *has_records,
                        has_error: *has_error,
                        acknowledged: *acknowledged,
                    })
                    .collect();
                let listed = self.twin.answer(twin, &outcomes);
                assert_eq!(self.real.answer(real, &outcomes), listed);
            }
            Op::Acknowledge { member, epoch } => {
                let epoch = self.epoch(*member, *epoch);
                let (group, member) = MEMBERS[*member];
                let real = self.real.acknowledge(group, member, epoch);
                let code = real.map_or_else(|e| e.kafka_code().code(), |()| 0);
                assert_eq!(code, self.twin.acknowledge(group, member, epoch));
            }
            Op::Close { member } => {
                let (group, member) = MEMBERS[*member];
                assert_eq!(
                    self.real.close(group, member),
                    self.twin.close(group, member)
                );
            }
            Op::ConnectionClosed { connection } => {
                let mut real: Vec<_> = (self.real.connection_closed(*connection).into_iter())
                    .map(|key| (key.group.to_string(), key.member.to_string()))
                    .collect();
                let mut twin = self.twin.connection_closed(*connection);
                real.sort();
                twin.sort();
                assert_eq!(real, twin);
            }
            Op::RemoveTopic { topic: number } => {
                let gone = topic(*number);
                let mut count = 0;
                for session in &mut self.twin.sessions {
                    let before = session.partitions.len();
                    session.partitions.retain(|(id, _)| id.topic_id != gone);
                    count += before - session.partitions.len();
                }
                assert_eq!(self.real.remove_topic(gone), count);
            }
        }
    }

    fn agree(&self) {
        self.real.check();
        assert_eq!(self.real.len(), self.twin.sessions.len());
        assert_eq!(self.real.is_empty(), self.twin.sessions.is_empty());
        let partitions: usize = self.twin.sessions.iter().map(|s| s.partitions.len()).sum();
        assert_eq!(self.real.partition_count(), partitions);
        for view in self.real.sessions() {
            let mut sessions = self.twin.sessions.iter();
            let twin = sessions.find(|s| s.group == view.group && s.member == view.member);
            let twin = twin.expect("the twin has the session too");
            assert_eq!(view.next_epoch(), twin.next_epoch);
            assert_eq!(view.connection(), twin.connection);
            assert_eq!(view.partitions().collect::<Vec<_>>(), twin.partitions);
        }
    }
}

proptest! {
    #[test]
    fn the_sessions_are_those_of_the_twin(
        max_sessions in 0..5usize,
        ops in prop::collection::vec(op(), 1..80),
    ) {
        let mut both = Both::new(max_sessions);
        for op in &ops {
            both.step(op);
            both.agree();
        }
    }

    #[test]
    fn a_refused_request_changes_nothing(ops in prop::collection::vec(op(), 1..60)) {
        let mut both = Both::new(2);
        for op in &ops {
            let before = shown(&both.real);
            let admitted = both.admitted.len();
            both.step(op);
            if matches!(op, Op::Fetch { .. }) && both.admitted.len() == admitted {
                prop_assert_eq!(shown(&both.real), before);
            }
        }
    }
}

fn shown(sessions: &ShareSessions) -> Vec<String> {
    let mut shown: Vec<_> = sessions
        .sessions()
        .map(|view| {
            let partitions: Vec<_> = view.partitions().collect();
            let (epoch, connection) = (view.next_epoch(), view.connection());
            format!(
                "{} {} {epoch} {connection} {partitions:?}",
                view.group, view.member
            )
        })
        .collect();
    shown.sort();
    shown
}
