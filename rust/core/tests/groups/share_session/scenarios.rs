//! Sessions as a member and a broker see them, step by step.

use share_state_core::ids::TopicId;
use share_state_core::share_session::{
    Outcome, ShareFetchContext, ShareFetchRequest, ShareSessionError, ShareSessions,
    TopicIdPartition,
};

const GROUP: &str = "g";

fn id(partition: i32) -> TopicIdPartition {
    TopicIdPartition {
        topic_id: TopicId([1; 16]),
        partition,
    }
}

fn ids(partitions: &[i32]) -> Vec<TopicIdPartition> {
    partitions.iter().map(|partition| id(*partition)).collect()
}

/// Broker with room for three sessions.
struct Broker(ShareSessions);

impl Broker {
    fn new() -> Self {
        Self(ShareSessions::new(3))
    }

    fn fetch(
        &mut self,
        member: &str,
        epoch: i32,
        connection: u64,
        added: &[i32],
        forgotten: &[i32],
    ) -> Result<ShareFetchContext, ShareSessionError> {
        let context = self.0.fetch(&ShareFetchRequest {
            group: GROUP,
            member,
            epoch,
            connection,
            added: &ids(added),
            forgotten: &ids(forgotten),
            acknowledges: false,
        });
        self.0.check();
        context
    }

    fn admitted(&mut self, member: &str, epoch: i32, added: &[i32]) -> ShareFetchContext {
        self.fetch(member, epoch, 1, added, &[])
            .expect("the request is in order")
    }

    /// The partitions that the answer lists, when those named have records and errors.
    fn answer(
        &mut self,
        context: &ShareFetchContext,
        records: &[i32],
        errors: &[i32],
    ) -> Option<Vec<i32>> {
        let outcomes: Vec<_> = context
            .partitions()
            .map(|id| Outcome {
                id,
                has_records: records.contains(&id.partition),
                has_error: errors.contains(&id.partition),
                acknowledged: false,
            })
            .collect();
        let listed = self.0.answer(context, &outcomes)?;
        self.0.check();
        let both = outcomes.iter().zip(listed);
        Some(
            both.filter_map(|(outcome, listed)| listed.then_some(outcome.id.partition))
                .collect(),
        )
    }
}

fn fetched(context: &ShareFetchContext) -> Vec<i32> {
    context.partitions().map(|id| id.partition).collect()
}

#[test]
fn an_opening_answer_lists_all_and_later_ones_what_is_new() {
    let mut broker = Broker::new();
    let opening = broker.admitted("a", 0, &[0, 1, 1, 0]);
    assert!(opening.is_full() && !opening.is_final());
    assert_eq!(fetched(&opening), [0, 1]);
    assert_eq!(broker.answer(&opening, &[], &[]), Some(vec![0, 1]));

    let quiet = broker.admitted("a", 1, &[]);
    assert_eq!(broker.answer(&quiet, &[], &[]), Some(vec![]));

    let more = broker.admitted("a", 2, &[2, 0]);
    assert_eq!(broker.answer(&more, &[1], &[]), Some(vec![2, 1]));

    let quiet = broker.admitted("a", 3, &[]);
    assert_eq!(broker.answer(&quiet, &[], &[]), Some(vec![]));
}

#[test]
fn a_partition_is_listed_once_more_after_its_last_error() {
    let mut broker = Broker::new();
    broker.admitted("a", 0, &[0, 1]);
    for (epoch, errors, listed) in [
        (1, &[1][..], vec![1]),
        (2, &[1], vec![1]),
        (3, &[], vec![1]),
        (4, &[], vec![]),
    ] {
        let context = broker.admitted("a", epoch, &[]);
        assert_eq!(
            broker.answer(&context, &[], errors),
            Some(listed),
            "{epoch}"
        );
    }
}

#[test]
fn acknowledgements_are_answered_whatever_else_there_is() {
    let mut broker = Broker::new();
    broker.admitted("a", 0, &[0]);
    let context = broker
        .fetch("a", 1, 1, &[], &[0])
        .expect("the request is in order");
    let acknowledged = |id| Outcome {
        id,
        has_records: false,
        has_error: false,
        acknowledged: true,
    };
    assert_eq!(fetched(&context), []);
    assert_eq!(
        broker.0.answer(&context, &[acknowledged(id(0))]),
        Some(vec![true])
    );

    let end = broker.admitted("a", -1, &[5]);
    assert!(end.is_final() && fetched(&end).is_empty());
    let silent = Outcome {
        acknowledged: false,
        ..acknowledged(id(1))
    };
    assert_eq!(
        broker.0.answer(&end, &[acknowledged(id(0)), silent]),
        Some(vec![true, false])
    );
}

#[test]
fn partitions_take_turns_and_those_with_records_go_to_the_end() {
    let mut broker = Broker::new();
    let opening = broker.admitted("a", 0, &[0, 1, 2, 3]);
    assert_eq!(fetched(&opening), [0, 1, 2, 3]);
    let context = broker.admitted("a", 1, &[]);
    assert_eq!(fetched(&context), [1, 2, 3, 0]);
    broker.answer(&context, &[1, 0], &[]);
    let context = broker.admitted("a", 2, &[]);
    assert_eq!(fetched(&context), [1, 0, 2, 3], "of 2, 3, 1, 0");
    let context = broker.admitted("a", 3, &[]);
    assert_eq!(fetched(&context), [0, 2, 3, 1]);
}

#[test]
fn a_later_request_makes_the_answer_of_the_earlier_one_void() {
    let mut broker = Broker::new();
    broker.admitted("a", 0, &[0]);
    let first = broker.admitted("a", 1, &[]);
    assert_eq!(broker.0.acknowledge(GROUP, "a", 2), Ok(()));
    assert_eq!(broker.answer(&first, &[0], &[]), None);

    // The member opens again and comes to the same epoch: it is another session all the same.
    broker.admitted("a", 0, &[0]);
    let same_epoch = broker.admitted("a", 1, &[]);
    assert_eq!(broker.answer(&first, &[0], &[]), None);
    assert_eq!(broker.answer(&same_epoch, &[0], &[]), Some(vec![0]));
    assert!(broker.0.close(GROUP, "a"));
    assert_eq!(broker.answer(&same_epoch, &[0], &[]), None);
}

#[test]
fn epochs_are_checked_by_the_table() {
    use ShareSessionError as E;
    let mut broker = Broker::new();
    let refused = |broker: &mut Broker, epoch| broker.fetch("a", epoch, 1, &[7], &[]).map(|_| ());
    assert_eq!(refused(&mut broker, -1), Err(E::NotFound));
    assert_eq!(refused(&mut broker, 1), Err(E::NotFound));
    assert_eq!(broker.0.acknowledge(GROUP, "a", -1), Err(E::NotFound));
    assert_eq!(broker.0.acknowledge(GROUP, "a", 1), Err(E::NotFound));
    let opening = Err(E::Epoch {
        expected: None,
        actual: 0,
    });
    assert_eq!(broker.0.acknowledge(GROUP, "a", 0), opening);

    broker.admitted("a", 0, &[0]);
    assert_eq!(broker.0.acknowledge(GROUP, "a", 0), opening);
    for epoch in [2, -2, i32::MAX, i32::MIN] {
        let wrong = Err(E::Epoch {
            expected: Some(1),
            actual: epoch,
        });
        assert_eq!(refused(&mut broker, epoch), wrong);
        assert_eq!(broker.0.acknowledge(GROUP, "a", epoch), wrong);
    }
    // A final request does not advance, and any session takes it.
    assert_eq!(broker.0.acknowledge(GROUP, "a", -1), Ok(()));
    broker.admitted("a", -1, &[]);
    assert_eq!(fetched(&broker.admitted("a", 1, &[])), [0]);

    let mut request = ShareFetchRequest {
        group: GROUP,
        member: "a",
        epoch: 0,
        connection: 1,
        added: &[],
        forgotten: &[],
        acknowledges: true,
    };
    let with_acknowledgements = broker.0.fetch(&request).map(|_| ());
    assert_eq!(with_acknowledgements, Err(E::AcknowledgementsAtOpening));
    request.epoch = 2;
    assert!(
        broker.0.fetch(&request).is_ok(),
        "the session is still there"
    );
}

#[test]
fn a_full_cache_evicts_nobody_and_replaces() {
    let mut broker = Broker::new();
    for member in ["a", "b", "c"] {
        broker.admitted(member, 0, &[0]);
    }
    assert_eq!(
        broker.fetch("d", 0, 1, &[0], &[]).map(|_| ()),
        Err(ShareSessionError::LimitReached { max_sessions: 3 })
    );
    broker.admitted("b", 0, &[0, 1]);
    assert_eq!((broker.0.len(), broker.0.partition_count()), (3, 4));
    assert!(broker.0.close(GROUP, "a") && !broker.0.close(GROUP, "a"));
    broker.admitted("d", 0, &[0]);
}

#[test]
fn a_session_ends_with_the_connection_that_opened_it() {
    let mut broker = Broker::new();
    let member = |key: &share_state_core::share_session::ShareSessionKey| key.member.to_string();
    for (name, connection) in [("a", 1), ("b", 1), ("c", 2)] {
        assert!(broker.fetch(name, 0, connection, &[0], &[]).is_ok());
    }
    // Another connection carries a request: it takes the session over as little as in Kafka.
    assert!(broker.fetch("a", 1, 9, &[], &[]).is_ok());
    assert_eq!(broker.0.connection_closed(9), []);
    // A reconnected member opens its session again; the end of its old connection is late.
    assert!(broker.fetch("b", 0, 3, &[0], &[]).is_ok());
    let gone = broker.0.connection_closed(1);
    assert_eq!(gone.iter().map(member).collect::<Vec<_>>(), ["a"]);
    broker.0.check();
    assert_eq!(broker.0.len(), 2);
    assert_eq!(broker.0.connection_closed(1), []);
    assert!(broker.fetch("b", 1, 3, &[], &[]).is_ok());
}

#[test]
fn a_deleted_topic_leaves_every_session() {
    let mut broker = Broker::new();
    broker.admitted("a", 0, &[0, 1]);
    let other = TopicIdPartition {
        topic_id: TopicId([2; 16]),
        partition: 0,
    };
    let request = ShareFetchRequest {
        group: "h",
        member: "b",
        epoch: 0,
        connection: 1,
        added: &[other, id(0)],
        forgotten: &[],
        acknowledges: false,
    };
    assert!(broker.0.fetch(&request).is_ok());
    let before = broker.admitted("a", 1, &[]);
    assert_eq!(broker.0.remove_topic(id(0).topic_id), 3);
    broker.0.check();
    assert_eq!(broker.0.partition_count(), 1);
    // What was fetched of it meanwhile is answered by its error.
    assert_eq!(broker.answer(&before, &[], &[0]), Some(vec![0]));
    assert_eq!(fetched(&broker.admitted("a", 2, &[])), []);
}

#[test]
fn the_epoch_after_the_greatest_is_one() {
    // 2^31 requests are too many for a test, so the law of the epoch itself is tried at its end.
    let mut epoch = i32::MAX - 1;
    for expected in [i32::MAX, 1, 2] {
        epoch = share_state_core::share_session::next_epoch(epoch);
        assert_eq!(epoch, expected);
    }
}
