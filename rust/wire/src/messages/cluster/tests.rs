//! Tests of the messages of a cluster: an independent codec's bytes, and damage.

use super::*;

/// Bytes written by kio.
const WRITTEN: &str = include_str!("../../../tests/fixtures/cluster.txt");

/// A message of each kind: key, version, whether it is a request, bytes.
fn written() -> Vec<(i16, i16, bool, Vec<u8>)> {
    let lines = WRITTEN.lines().filter(|line| !line.starts_with('#'));
    let all: Vec<_> = lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [key, version, kind, hex] = words[..] else {
                panic!("{line}")
            };
            let byte =
                |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
            let bytes = hex.as_bytes().chunks(2).map(byte).collect();
            (
                key.parse().unwrap(),
                version.parse().unwrap(),
                kind == "request",
                bytes,
            )
        })
        .collect();
    assert_eq!(all.len(), 20);
    all
}

/// Decodes and encodes again.
fn again(key: i16, version: i16, request: bool, buf: &[u8]) -> Result<Vec<u8>, WireError> {
    fn of<M: ClusterMessage>(version: i16, buf: &[u8]) -> Result<Vec<u8>, WireError> {
        M::decode(buf, version)?.encode(version)
    }
    match (key, request) {
        (3, true) => of::<MetadataRequest>(version, buf),
        (3, false) => of::<MetadataResponse>(version, buf),
        (10, true) => of::<FindCoordinatorRequest>(version, buf),
        (10, false) => of::<FindCoordinatorResponse>(version, buf),
        (17, true) => of::<SaslHandshakeRequest>(version, buf),
        (17, false) => of::<SaslHandshakeResponse>(version, buf),
        (18, true) => of::<ApiVersionsRequest>(version, buf),
        (18, false) => of::<ApiVersionsResponse>(version, buf),
        (36, true) => of::<SaslAuthenticateRequest>(version, buf),
        (36, false) => of::<SaslAuthenticateResponse>(version, buf),
        _ => panic!("{key}"),
    }
}

#[test]
fn the_bytes_of_another_codec_are_read_and_written_back() {
    for (key, version, request, bytes) in written() {
        let ours = again(key, version, request, &bytes).unwrap();
        // ApiVersions alone has tagged fields, which are skipped.
        if (key, version, request) == (18, 3, false) {
            assert!(ours.len() < bytes.len());
            assert_eq!(again(key, version, request, &ours).unwrap(), ours);
        } else {
            assert_eq!(ours, bytes, "{key} {version} {request}");
        }
    }
}

#[test]
fn a_message_cut_anywhere_or_prolonged_is_refused() {
    for (key, version, request, mut bytes) in written() {
        for end in 0..bytes.len() {
            let cut = again(key, version, request, &bytes[..end]);
            assert!(cut.is_err(), "{key} {version} {request} {end}");
        }
        bytes.push(0);
        assert!(again(key, version, request, &bytes).is_err());
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_another_message() {
    let (mut valid, mut refused) = (0, 0);
    for (key, version, request, bytes) in written() {
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match again(key, version, request, &flipped) {
                Ok(ours) => {
                    assert_eq!(again(key, version, request, &ours), Ok(ours));
                    valid += 1;
                }
                Err(error) => {
                    assert!(error.position <= bytes.len());
                    refused += 1;
                }
            }
        }
    }
    assert!(valid > 3_000 && refused > 500, "{valid} {refused}");
}

#[test]
fn counts_beyond_the_input_are_refused_before_anything_is_reserved() {
    let count = [0xff, 0xff, 0xff, 0xff, 0x07];
    let handshake = [0, 0, 0x7f, 0xff, 0xff, 0xff];
    let negative = [0, 0, 0xff, 0xff, 0xff, 0xff];
    let announced = |error: WireError| matches!(error.kind, WireErrorKind::Count { .. });
    assert!(announced(MetadataRequest::decode(&count, 12).unwrap_err()));
    let keys = [&[2][..], &count].concat();
    assert!(announced(
        FindCoordinatorRequest::decode(&keys, 6).unwrap_err()
    ));
    for bomb in [handshake, negative] {
        assert!(announced(
            SaslHandshakeResponse::decode(&bomb, 1).unwrap_err()
        ));
    }
    let error = SaslAuthenticateRequest::decode(&count, 2).unwrap_err();
    assert!(matches!(error.kind, WireErrorKind::Truncated { .. }));
}

#[test]
fn only_the_known_versions_are_taken() {
    let unknown = |result: Result<(), WireError>| {
        matches!(
            result.unwrap_err().kind,
            WireErrorKind::UnsupportedVersion { .. }
        )
    };
    for version in [2, 5] {
        assert!(unknown(
            ApiVersionsRequest::decode(&[1, 1, 0], version).map(drop)
        ));
    }
    let request = FindCoordinatorRequest {
        key_type: 2,
        coordinator_keys: vec![],
    };
    assert!(unknown(request.encode(3).map(drop)));
    assert!(unknown(request.encode(7).map(drop)));
}

#[test]
fn a_secret_is_not_shown() {
    let request = SaslAuthenticateRequest {
        auth_bytes: Bytes(b"secret".to_vec()),
    };
    let shown = format!("{request:?}");
    assert!(
        shown.contains("6 bytes") && !shown.contains("115"),
        "{shown}"
    );
}
