//! Session time-outs and the configuration of groups.

use share_state_core::limits::ConfigError;
use share_state_core::share_group::{GroupSettings, ShareGroups};
use share_state_core::time::LockTime;

use super::support::{Owner, SESSION_MS, numbers};

#[test]
fn a_member_that_is_not_heard_is_taken_out_like_one_that_leaves() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    assert_eq!(owner.groups.poll_timeout(), None);
    owner.join("a", &["orders"]);
    owner.wait(10_000);
    owner.join("b", &["orders"]);
    assert_eq!(owner.groups.poll_timeout(), Some(LockTime(SESSION_MS)));
    owner.wait(SESSION_MS - 10_001);
    assert!(owner.expire().is_empty());
    owner.wait(1);
    assert_eq!(owner.expire(), ["a"]);
    assert_eq!(owner.last_types(), [14, 13, 10, 11]);
    owner.beat("b", 2);
    assert_eq!(
        owner.groups.poll_timeout(),
        Some(owner.now.plus(SESSION_MS))
    );
    owner.wait(SESSION_MS);
    assert_eq!(owner.expire(), ["b"]);
    assert_eq!(
        (owner.groups.poll_timeout(), owner.epochs("g")),
        (None, (4, 4))
    );
}

#[test]
fn a_member_that_left_is_not_waited_for() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    owner.leave("a").unwrap();
    assert_eq!(owner.groups.poll_timeout(), None);
    // A heartbeat that was refused times nothing.
    owner.groups.heard("g", "a", owner.now);
    owner.groups.heard("nothing", "a", owner.now);
    assert_eq!(owner.groups.poll_timeout(), None);
}

#[test]
fn after_a_replay_everybody_has_a_full_session() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    owner.wait(SESSION_MS - 1);
    owner.join("b", &["orders"]);
    for mut groups in owner.reloaded() {
        let now = LockTime(7);
        assert!(
            groups.poll_timeout() <= Some(now),
            "the caller is to tell the time"
        );
        assert!(groups.handle_timeout(now).is_empty());
        assert_eq!(groups.poll_timeout(), Some(now.plus(SESSION_MS)));
        groups.heard("g", "b", now.plus(10));
        let due = groups.handle_timeout(now.plus(SESSION_MS));
        assert_eq!(due, [("g".into(), "a".into())]);
        assert_eq!(groups.check(), Ok(()));
    }
}

#[test]
fn a_clock_that_goes_back_ends_no_session_early_or_late() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.wait(100_000);
    owner.join("a", &["orders"]);
    owner.now = LockTime(0);
    owner.beat("a", 1);
    assert_eq!(
        owner.groups.poll_timeout(),
        Some(LockTime(100_000 + SESSION_MS))
    );
}

#[test]
fn a_group_sets_its_own_times_within_what_the_broker_allows() {
    let mut owner = Owner::with_broker(&[("group.share.min.heartbeat.interval.ms", 1_000)]);
    owner.topics(&[("orders", 2)]);
    let own = numbers(&[
        ("share.session.timeout.ms", 50_000),
        ("share.heartbeat.interval.ms", 10),
        ("share.assignment.interval.ms", 99_999),
        ("share.record.lock.duration.ms", -5),
    ]);
    assert_eq!(owner.groups.set_group_config("g", &own), Ok(()));
    let settings = GroupSettings {
        session_timeout_ms: 50_000,
        heartbeat_interval_ms: 1_000,
        assignment_interval_ms: 15_000,
    };
    assert_eq!(owner.groups.settings("g"), &settings);
    assert_eq!(
        owner.groups.settings("other").session_timeout_ms,
        SESSION_MS
    );
    assert_eq!(owner.join("a", &["orders"]).heartbeat_interval_ms, 1_000);
    assert_eq!(owner.groups.poll_timeout(), Some(LockTime(50_000)));

    let wrong = numbers(&[("share.session.timeout.ms", 0)]);
    let error = owner.groups.set_group_config("g", &wrong).unwrap_err();
    assert_eq!((error.name, error.value), ("share.session.timeout.ms", 0));
    assert_eq!(owner.groups.settings("g"), &settings);
    assert_eq!(owner.groups.set_group_config("g", &numbers(&[])), Ok(()));
    assert_eq!(owner.groups.settings("g").session_timeout_ms, SESSION_MS);
}

#[test]
fn a_broker_that_contradicts_itself_is_refused() {
    let wrong = |name: &str, value| ShareGroups::new(numbers(&[(name, value)])).unwrap_err();
    let named = |error: ConfigError| (error.name, error.value);
    let (size, least) = ("group.share.max.size", "group.share.min.session.timeout.ms");
    assert_eq!(named(wrong(size, 0)), (size, 0));
    assert_eq!(named(wrong(size, 1_001)), (size, 1_001));
    assert_eq!(named(wrong(least, 60_001)), (least, 60_001));
    assert!(ShareGroups::new(numbers(&[("group.share.unknown", -1)])).is_ok());
}
