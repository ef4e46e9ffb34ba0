//! Properties as texts: names, values as Java reads them, bounds.

use super::*;
use crate::kafka_code::KafkaCode;
use crate::settings::limits::{IsolationLevel, ShareGroupConfig};

fn properties(set: &[(&str, &str)]) -> Properties {
    let pairs = set.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn check(name: &str, value: &str) -> Result<(), String> {
    GroupProperty::find(name)
        .and_then(|known| known.check(value, &Properties::new()))
        .map_err(|error| error.to_string())
}

#[test]
fn every_default_is_a_value_and_shown_as_it_is() {
    let group = GROUP_PROPERTIES.map(|known| known.property);
    for property in group.iter().chain(&BROKER_PROPERTIES) {
        let default = property.default();
        assert_eq!(property.parse(&default), Ok(default), "{}", property.name);
        assert!(property.documentation.ends_with('.'), "{}", property.name);
    }
    assert_eq!(check_broker(&Properties::new()), Ok(vec![]));
    assert_eq!(check_group(&Properties::new(), &Properties::new()), Ok(()));
}

#[test]
fn names_are_given_once() {
    let mut names: Vec<_> = (GROUP_PROPERTIES.iter().map(|known| known.property.name))
        .chain(BROKER_PROPERTIES.iter().map(|property| property.name))
        .collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn a_value_is_read_as_java_reads_it() {
    for (name, text, shown) in [
        ("share.session.timeout.ms", " +50000\t", "50000"),
        ("share.delivery.count.limit", "007", "7"),
        ("share.renew.acknowledge.enable", " FALSE ", "false"),
        ("share.auto.offset.reset", " earliest ", "earliest"),
        ("errors.deadletterqueue.topic.name", " a b ", "a b"),
    ] {
        let property = GroupProperty::find(name).map(|known| known.property);
        assert_eq!(property.and_then(|p| p.parse(text)), Ok(shown.to_owned()));
    }
    let assignors = BROKER_PROPERTIES
        .iter()
        .find(|property| property.name == "group.share.assignors")
        .expect("it is in the table");
    assert_eq!(assignors.parse(" simple , simple"), Ok("simple".to_owned()));
}

#[test]
fn refusals_have_the_words_of_a_broker() {
    let reset = "Invalid value soon for configuration share.auto.offset.reset: Invalid value `soon` for configuration \
                 share.auto.offset.reset. The value must be either 'earliest', 'latest' or of the format \
                 'by_duration:<PnDTnHnMn.nS>'.";
    for (name, value, text) in [
        (
            "share.session.timeout.ms",
            "44999",
            "share.session.timeout.ms must be in the range 45000 to 60000 inclusive.",
        ),
        (
            "share.session.timeout.ms",
            "99999999999",
            "Invalid value 99999999999 for configuration share.session.timeout.ms: Not a number of type INT",
        ),
        (
            "share.session.timeout.ms",
            "",
            "Invalid value  for configuration share.session.timeout.ms: Not a number of type INT",
        ),
        (
            "share.delivery.count.limit",
            "1",
            "Invalid value 1 for configuration share.delivery.count.limit: Value must be at least 2",
        ),
        (
            "share.renew.acknowledge.enable",
            " yes",
            "Invalid value  yes for configuration share.renew.acknowledge.enable: Expected value to be either true or false",
        ),
        (
            "share.isolation.level",
            "READ_COMMITTED",
            "Invalid value READ_COMMITTED for configuration share.isolation.level: String must be one of: read_committed, \
             read_uncommitted",
        ),
        ("share.auto.offset.reset", "soon", reset),
        (
            "errors.deadletterqueue.topic.name",
            "__x",
            "errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'",
        ),
        (
            "group.share.session.timeout.ms",
            "50000",
            "Unknown group config name: group.share.session.timeout.ms",
        ),
    ] {
        assert_eq!(check(name, value), Err(text.to_owned()));
    }
}

#[test]
fn what_a_broker_outlaws_later_is_clamped_and_shown_as_it_was_set() {
    let group = properties(&[("share.session.timeout.ms", "50000")]);
    let broker = properties(&[
        ("group.share.max.session.timeout.ms", "46000"),
        ("group.share.session.timeout.ms", "45500"),
    ]);
    let known = GroupProperty::find("share.session.timeout.ms").expect("it is in the table");
    assert_eq!(known.effective(&group, &broker), Ok(Value::Int(46_000)));
    let none = Properties::new();
    assert_eq!(known.effective(&none, &broker), Ok(Value::Int(45_500)));
    assert_eq!(known.effective(&none, &none), Ok(Value::Int(45_000)));
    let entries = group_entries(&group, &broker, &none);
    let shown = entries
        .iter()
        .find(|entry| entry.property == known.property);
    let of_broker = "group.share.session.timeout.ms";
    let synonyms = [
        ("share.session.timeout.ms", "50000", ConfigSource::Group),
        (of_broker, "45500", ConfigSource::StaticBroker),
        (of_broker, "45000", ConfigSource::Default),
    ];
    let shown = shown.expect("it is shown");
    assert_eq!((shown.value.as_str(), shown.source.code()), ("50000", 8));
    assert!(
        shown
            .synonyms
            .iter()
            .map(|(name, value, source)| (*name, value.as_str(), *source))
            .eq(synonyms)
    );
}

#[test]
fn a_default_of_the_server_stands_for_that_of_the_broker_and_of_kafka() {
    let (reset, lock) = ("share.auto.offset.reset", "share.record.lock.duration.ms");
    let none = Properties::new();
    let broker = properties(&[("group.share.record.lock.duration.ms", "20000")]);
    let defaults = properties(&[(reset, "earliest"), (lock, "15000")]);
    let shown = |group: &Properties, name: &str| {
        let entries = group_entries(group, &broker, &defaults);
        let entry = entries.into_iter().find(|one| one.property.name == name);
        let entry = entry.expect("it is shown");
        let values = entry.synonyms.into_iter();
        values
            .map(|(name, value, source)| format!("{name}={value} {}", source.code()))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(&none, reset), ["share.auto.offset.reset=earliest 5"]);
    let set = properties(&[(reset, "latest")]);
    assert_eq!(
        shown(&set, reset),
        [
            "share.auto.offset.reset=latest 8",
            "share.auto.offset.reset=earliest 5"
        ]
    );
    assert_eq!(
        shown(&none, lock),
        [
            "group.share.record.lock.duration.ms=15000 4",
            "group.share.record.lock.duration.ms=30000 5"
        ]
    );
}

#[test]
fn what_is_internal_is_shown_where_it_is_set() {
    let offload = "share.assignor.offload.enable";
    let shows = |entries: Vec<ConfigEntry>| entries.iter().any(|e| e.property.name == offload);
    let none = Properties::new();
    assert_eq!(group_entries(&none, &none, &none).len(), 11);
    assert!(!shows(group_entries(&none, &none, &none)));
    assert!(shows(group_entries(
        &properties(&[(offload, "false")]),
        &none,
        &none
    )));
    assert_eq!(broker_entries(&none).len(), 24);
}

#[test]
fn values_in_force_are_typed() {
    let none = Properties::new();
    let of = |name: &str, group: &Properties| {
        GroupProperty::find(name).and_then(|known| known.effective(group, &none))
    };
    let set = properties(&[
        ("share.renew.acknowledge.enable", "False"),
        ("share.auto.offset.reset", " earliest"),
    ]);
    assert_eq!(
        of("share.renew.acknowledge.enable", &set),
        Ok(Value::Boolean(false))
    );
    assert_eq!(
        of("share.assignor.offload.enable", &set),
        Ok(Value::Boolean(true))
    );
    let text = |text: &str| Ok(Value::Text(text.to_owned()));
    assert_eq!(of("share.auto.offset.reset", &set), text("earliest"));
    assert_eq!(of("share.isolation.level", &set), text("read_uncommitted"));
}

#[test]
fn share_partitions_work_with_every_value_that_a_group_may_set() {
    let none = Properties::new();
    let set = properties(&[
        ("share.renew.acknowledge.enable", " FALSE\t"),
        ("share.auto.offset.reset", " earliest"),
        ("share.isolation.level", "read_committed "),
        ("share.delivery.count.limit", " +007 "),
        ("share.record.lock.duration.ms", "90000"),
        ("errors.deadletterqueue.topic.name", " dlq.a "),
        ("consumer.session.timeout.ms", "of another kind"),
    ]);
    let broker = properties(&[
        ("group.share.partition.max.record.locks", " 3000 "),
        ("group.share.persister.class.name", "org.example.Persister"),
        ("num.partitions", "3"),
    ]);
    let (config, dead_letters) = share_group_config(&set, &broker).expect("all of it is valid");
    let wanted = ShareGroupConfig {
        partition_max_record_locks: 3_000,
        delivery_count_limit: 7,
        record_lock_duration_ms: 60_000,
        renew_acknowledge_enable: false,
        auto_offset_reset: AutoOffsetReset::Earliest,
        isolation_level: IsolationLevel::ReadCommitted,
        dead_letter_queue: true,
        ..ShareGroupConfig::default()
    };
    assert_eq!((config, dead_letters.as_str()), (wanted, "dlq.a"));
    let nothing = share_group_config(&none, &none);
    assert_eq!(nothing, Ok((ShareGroupConfig::default(), String::new())));
}

#[test]
fn what_share_partitions_cannot_work_with_is_refused_by_name() {
    let at_fault = |group: &[(&str, &str)], broker: &[(&str, &str)]| {
        let refused = share_group_config(&properties(group), &properties(broker)).unwrap_err();
        (refused.name().to_owned(), refused.expected())
    };
    let reset = "latest, earliest or by_duration:PnDTnHnMn.nS";
    let limit = "share.delivery.count.limit";
    for (name, value, expected) in [
        ("share.auto.offset.reset", "earlest", reset),
        (
            "share.auto.offset.resett",
            "x",
            "a property of share groups",
        ),
        (
            "errors.deadletterqueue.topic",
            "x",
            "a property of share groups",
        ),
        (
            "group.share.delivery.count.limit",
            "5",
            "a property of share groups",
        ),
        ("share.renew.acknowledge.enable", "yes", "true or false"),
        (
            "share.session.timeout.ms",
            "soon",
            "a whole number, 1 to 2147483647",
        ),
        (
            "share.isolation.level",
            "committed",
            "read_committed or read_uncommitted",
        ),
        (limit, "soon", "a whole number, 2 to 2147483647"),
        (limit, "1", "2 to 2147483647"),
    ] {
        assert_eq!(
            at_fault(&[(name, value)], &[]),
            (name.to_owned(), expected.to_owned())
        );
    }
    for (name, value, expected) in [
        (
            "group.share.record.lock.duration.msx",
            "1",
            "a property of share groups",
        ),
        (limit, "5", "a property of share groups"),
        ("group.share.max.size", "1001", "1 to 1000"),
        ("group.share.assignors", "range", "simple"),
        (
            "group.share.max.heartbeat.interval.ms",
            "4999",
            "a value greater than or equal to group.share.min.heartbeat.interval.ms",
        ),
    ] {
        assert_eq!(
            at_fault(&[], &[(name, value)]),
            (name.to_owned(), expected.to_owned())
        );
    }
}

fn alteration(name: &str, operation: i8, value: Option<&str>) -> Alteration {
    Alteration {
        name: name.to_owned(),
        operation: operation.into(),
        value: value.map(str::to_owned),
    }
}

#[test]
fn an_alteration_is_carried_out_whole_or_not_at_all() {
    let none = Properties::new();
    let before = properties(&[("share.session.timeout.ms", "50000")]);
    let alter = |alterations: &[Alteration]| alter_group("g", &before, alterations, &none);
    let session = "share.session.timeout.ms";
    assert_eq!(alter(&[]), Ok(before.clone()));
    assert_eq!(
        alter(&[
            alteration(session, 1, None),
            alteration("share.isolation.level", 0, Some("read_committed")),
            alteration("nobody.knows", 1, None),
        ]),
        Ok(properties(&[("share.isolation.level", "read_committed")]))
    );
    for (alterations, code, text) in [
        (
            vec![
                alteration(session, 0, Some("46000")),
                alteration(session, 0, Some("47000")),
            ],
            KafkaCode::InvalidRequest,
            "Error due to duplicate config keys",
        ),
        (
            vec![alteration(session, 0, None)],
            KafkaCode::InvalidRequest,
            "Null value not supported for : share.session.timeout.ms",
        ),
        (
            vec![alteration(session, 2, Some("1"))],
            KafkaCode::InvalidConfig,
            "Can't APPEND to key share.session.timeout.ms because its type is not LIST.",
        ),
        (
            vec![alteration(session, 3, Some("1"))],
            KafkaCode::InvalidConfig,
            "Can't SUBTRACT to key share.session.timeout.ms because its type is not LIST.",
        ),
        (
            vec![alteration(session, 7, Some("1"))],
            KafkaCode::InvalidRequest,
            "There is no operation 7, asked for share.session.timeout.ms",
        ),
        (
            vec![
                alteration(session, 0, Some("46000")),
                alteration("unknown.key", 0, Some("1")),
            ],
            KafkaCode::InvalidConfig,
            "Unknown group config name: unknown.key",
        ),
    ] {
        let refused = alter(&alterations).unwrap_err();
        assert_eq!(
            (refused.kafka_code(), refused.to_string()),
            (code, text.to_owned())
        );
    }
}

#[test]
fn a_group_without_a_name_is_refused_after_the_form_of_its_alterations() {
    let none = Properties::new();
    let refused = |operation| {
        let unknown = alteration("unknown.key", operation, Some("1"));
        alter_group("", &none, &[unknown], &none).unwrap_err()
    };
    assert_eq!(refused(0), PropertyError::NoGroupName);
    assert_eq!(refused(0).kafka_code(), KafkaCode::InvalidRequest);
    assert_eq!(refused(2).kafka_code(), KafkaCode::InvalidConfig);
}

#[test]
fn an_alteration_meets_what_the_broker_has_outlawed_since() {
    let group = properties(&[("share.session.timeout.ms", "50000")]);
    let broker = properties(&[("group.share.max.session.timeout.ms", "46000")]);
    let heartbeat = alteration("share.heartbeat.interval.ms", 0, Some("6000"));
    let refused = alter_group("g", &group, std::slice::from_ref(&heartbeat), &broker).unwrap_err();
    assert_eq!(refused.name(), "share.session.timeout.ms");
    assert_eq!(refused.bounds(), (Some(45_000), Some(46_000)));
    let both = [heartbeat, alteration("share.session.timeout.ms", 1, None)];
    assert!(alter_group("g", &group, &both, &broker).is_ok());
}

#[test]
fn broker_properties_must_not_contradict_each_other() {
    let at_fault = |set: &[(&str, &str)]| {
        let broker = properties(set);
        let checked = check_broker(&broker).map(|_| ());
        checked.map_err(|error| error.to_string())
    };
    let share = |text: &str| Err(text.replace('~', "group.share."));
    for (set, refused) in [
        (
            &[("group.share.heartbeat.interval.ms", "4999")][..],
            share(
                "~heartbeat.interval.ms must be greater than or equal to ~min.heartbeat.interval.ms",
            ),
        ),
        (
            &[("group.share.session.timeout.ms", "60001")],
            share("~session.timeout.ms must be less than or equal to ~max.session.timeout.ms"),
        ),
        (
            &[("group.share.min.session.timeout.ms", "61000")],
            share(
                "~max.session.timeout.ms must be greater than or equal to ~min.session.timeout.ms",
            ),
        ),
        (
            &[
                ("group.share.delivery.count.limit", "10"),
                ("group.share.max.delivery.count.limit", "9"),
            ],
            share(
                "~max.delivery.count.limit must be greater than or equal to ~delivery.count.limit",
            ),
        ),
        (
            &[
                ("group.share.max.heartbeat.interval.ms", "100000"),
                ("group.share.heartbeat.interval.ms", "50000"),
            ],
            share("~heartbeat.interval.ms must be less than ~session.timeout.ms"),
        ),
        (
            &[("group.share.max.share.sessions", "100")],
            share("~max.share.sessions must be greater than or equal to ~max.size"),
        ),
        (
            &[("group.share.max.size", "1001")],
            share(
                "Invalid value 1001 for configuration ~max.size: Value must be no more than 1000",
            ),
        ),
        (
            &[("group.share.assignors", "simple,range")],
            share("Invalid value range for configuration ~assignors: Class cannot be found"),
        ),
        (
            &[("group.share.assignors", "")],
            share(
                "Configuration '~assignors' must not be empty. Valid values include: any non-empty value",
            ),
        ),
        (
            &[("group.share.assignors", "simple,")],
            share("Configuration '~assignors' values must not be empty."),
        ),
        (&[("group.share.max.share.sessions", "200")], Ok(())),
    ] {
        assert_eq!(at_fault(set), refused);
    }
    let unknown = properties(&[("num.partitions", "3"), ("group.share.typo", "1")]);
    assert_eq!(
        check_broker(&unknown),
        Ok(vec!["group.share.typo", "num.partitions"])
    );
}
