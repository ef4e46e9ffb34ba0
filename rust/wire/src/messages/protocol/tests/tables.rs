//! Rules that hold of every table, and proof that its messages come out as Kafka writes them.

use super::super::schema::{Absent, Field, Kind, NEVER};
use super::*;

fn every_field(fields: Fields, check: &mut impl FnMut(Fields, &Field)) {
    for field in fields {
        check(fields, field);
        if let Kind::Struct(inner) | Kind::Structs(inner) = field.kind {
            every_field(inner, check);
        }
    }
}

#[test]
fn tables_are_in_the_order_of_their_keys() {
    assert!(apis::APIS.is_sorted_by(|a, b| a.key < b.key));
    for api in apis::APIS {
        assert!(core::ptr::eq(super::api(api.key).unwrap(), api));
        assert!(!api.versions.is_empty() && *api.versions.end() < NEVER);
    }
    assert!(super::api(83).is_none());
}

#[test]
fn a_field_is_named_once_in_a_version_and_tags_ascend() {
    let mut seen = 0;
    for api in apis::APIS {
        for fields in [api.request, api.response] {
            every_field(fields, &mut |fields, field| {
                seen += 1;
                let same = fields.iter().filter(|other| other.name == field.name);
                assert_eq!(same.count(), 1, "{} {}", api.name, field.name);
                let tags: Vec<u32> = fields.iter().filter_map(|field| field.tag).collect();
                assert!(tags.is_sorted_by(|a, b| a < b), "{} {tags:?}", api.name);
                // A tagged field needs a tag section.
                assert!(field.tag.is_none() || !field.is_in(api.flexible_since - 1));
            });
        }
    }
    assert!(seen > 400, "{seen}");
}

#[test]
fn every_version_of_every_table_was_written_by_kafka() {
    let all = written();
    for api in apis::APIS {
        for version in api.versions.clone() {
            for direction in [Direction::Request, Direction::Response] {
                let same = |w: &&Written| {
                    (w.api.key, w.version, w.direction) == (api.key, version, direction)
                };
                assert_eq!(all.iter().filter(same).count(), 1, "{} {version}", api.name);
            }
        }
    }
}

#[test]
fn the_bytes_of_kafka_are_read_and_written_back() {
    for written in written() {
        let message = written.decode(&written.bytes).unwrap();
        assert_eq!(written.encode(&message).unwrap(), written.bytes);
    }
}

#[test]
fn what_must_be_given_is_what_the_writer_refuses_to_do_without() {
    let (mut refused, mut written) = (0, 0);
    for api in apis::APIS {
        for direction in [Direction::Request, Direction::Response] {
            let fields = api.fields(direction);
            every_field(fields, &mut |_, field| {
                assert!(field.tag.is_none() || !field.must_be_given());
            });
            for version in api.versions.clone() {
                let missing = fields
                    .iter()
                    .find(|field| field.is_in(version) && field.must_be_given());
                match api.encode(direction, version, &Borrowed::Struct(vec![])) {
                    Ok(_) => {
                        assert!(missing.is_none(), "{} {missing:?}", api.name);
                        written += 1;
                    }
                    Err(error) => {
                        assert_eq!(error.error.kind, WireErrorKind::Missing);
                        assert_eq!(error.field, missing.map(|field| field.name), "{}", api.name);
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 200 && written > 5, "{refused} {written}");
}

#[test]
fn a_number_that_is_not_given_is_unknown_but_for_these() {
    let (mut unknown, mut others) = (0, Vec::new());
    for api in apis::APIS {
        for fields in [api.request, api.response] {
            every_field(fields, &mut |_, field| match field.absent() {
                Absent::Int(-1) => unknown += 1,
                Absent::Int(number) => others.push((api.name, field.name, number)),
                _ => (),
            });
        }
    }
    let not_asked = i64::from(i32::MIN);
    assert_eq!(
        others,
        [
            ("Fetch", "maxBytes", 0x7fff_ffff),
            ("Metadata", "topicAuthorizedOperations", not_asked),
            ("Metadata", "clusterAuthorizedOperations", not_asked),
            ("DescribeGroups", "authorizedOperations", not_asked),
            ("CreateTopics", "timeoutMs", 60_000),
            ("DescribeCluster", "endpointType", 1),
            ("DescribeCluster", "endpointType", 1),
            ("DescribeCluster", "clusterAuthorizedOperations", not_asked),
            ("ListConfigResources", "resourceType", 16),
            ("ShareGroupDescribe", "authorizedOperations", not_asked),
            ("ShareFetch", "maxBytes", 0x7fff_ffff),
        ]
    );
    assert!(unknown > 40, "{unknown}");
}
