//! C: share sessions.

use share_state_core::ids::TopicId;
use share_state_core::share_session::{
    ShareFetchContext, ShareFetchRequest, ShareSessions, TopicIdPartition,
};

fn partition(partition: i32) -> TopicIdPartition {
    TopicIdPartition {
        topic_id: TopicId([1; 16]),
        partition,
    }
}

fn fetch(
    sessions: &mut ShareSessions,
    group: &str,
    epoch: i32,
    added: &[TopicIdPartition],
) -> ShareFetchContext {
    let request = ShareFetchRequest {
        group,
        member: "m",
        epoch,
        connection: 1,
        added,
        forgotten: &[],
        acknowledges: false,
    };
    sessions.fetch(&request).unwrap()
}

fn c1_the_answer_of_a_session_that_is_gone_is_void() {
    let mut sessions = ShareSessions::new(2);
    fetch(&mut sessions, "g", 0, &[partition(0)]);
    let waiting = fetch(&mut sessions, "g", 1, &[]);
    fetch(&mut sessions, "g", 0, &[partition(0)]);
    fetch(&mut sessions, "g", 1, &[]);
    assert_eq!(sessions.answer(&waiting, &[]), None);
    sessions.close("g", "m");
    assert_eq!(sessions.answer(&waiting, &[]), None);
}

fn c2_a_connection_may_open_several_sessions() {
    let mut sessions = ShareSessions::new(3);
    for group in ["g", "h", "i"] {
        fetch(&mut sessions, group, 0, &[]);
    }
    sessions.close("g", "m");
    assert_eq!(sessions.connection_closed(1).len(), 2);
    assert!(sessions.is_empty());
}

fn c3_a_partition_named_twice_counts_once() {
    let mut sessions = ShareSessions::new(1);
    let named = [partition(0), partition(1), partition(0)];
    let context = fetch(&mut sessions, "g", 0, &named);
    assert!(context.partitions().eq([partition(0), partition(1)]));
    let context = fetch(&mut sessions, "g", 1, &[partition(2), partition(2)]);
    assert_eq!(context.partitions().len(), 3);
}

crate::differences!(once:
    C1 c1_the_answer_of_a_session_that_is_gone_is_void,
    C2 c2_a_connection_may_open_several_sessions,
    C3 c3_a_partition_named_twice_counts_once,
);
