//! The decoder that keeps its room says the same as `decode`.

use super::*;

#[test]
fn a_decoder_says_what_decode_says_whatever_came_before() {
    let mut decoder = RecordDecoder::default();
    let mut numbers = Vec::new();
    let mut compared = 0;
    let mut compare = |decoder: &mut RecordDecoder, key: &[u8], value: Option<&[u8]>| {
        compared += 1;
        match (decoder.decode(key, value), decode(key, value)) {
            (Ok(Seen::Record { number, key, value }), Ok(Decoded::Record(record))) => {
                assert_eq!((key, value), (&record.key, &record.value));
                if number == numbers.len() {
                    numbers.push(record.key);
                } else {
                    assert_eq!(numbers[number], record.key);
                }
            }
            (Ok(Seen::UnknownType(a)), Ok(Decoded::UnknownType(b))) => assert_eq!(a, b),
            (a, b) => assert_eq!(a.unwrap_err(), b.unwrap_err()),
        }
    };
    for (key, value, _) in golden() {
        let value = value.unwrap_or_default();
        compare(&mut decoder, &key, None);
        // Each byte is damaged in turn, and what is right comes between.
        for at in 0..key.len() + value.len() {
            for damage in [0x01, 0x80] {
                let mut bytes = [key.clone(), value.clone()].concat();
                bytes[at] ^= damage;
                let (k, v) = bytes.split_at(key.len());
                compare(&mut decoder, k, Some(v));
                compare(&mut decoder, k, Some(&v[..v.len() / 2]));
                compare(&mut decoder, &key, Some(&value));
            }
        }
    }
    assert_eq!(compared, 4 + 6 * (4 * 26 + 40 + 86 + 46));
}

#[test]
fn a_forgotten_key_is_met_anew_and_its_number_comes_again() {
    let key = |partition| {
        key::encode(
            SHARE_SNAPSHOT,
            &SharePartitionKey::new("g", TopicId([7; 16]), partition),
        )
        .unwrap()
    };
    let number_of =
        |decoder: &mut RecordDecoder, partition| match decoder.decode(&key(partition), None) {
            Ok(Seen::Record { number, key, .. }) => {
                assert_eq!(key.partition, partition);
                number
            }
            other => panic!("{other:?}"),
        };
    let mut decoder = RecordDecoder::default();
    assert_eq!([0, 1, 2].map(|p| number_of(&mut decoder, p)), [0, 1, 2]);
    decoder.forget(1);
    // Forgetting what is not known changes nothing.
    decoder.forget(1);
    decoder.forget(9);
    assert_eq!(
        [2, 3, 1, 0].map(|p| number_of(&mut decoder, p)),
        [2, 1, 3, 0]
    );
}
