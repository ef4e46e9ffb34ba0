//! Every codec there and back, and what a compressor may not make a decoder do.

use super::*;

#[test]
fn every_codec_gives_back_what_it_took() {
    let value = b"state ".repeat(20_000);
    let records: Vec<_> = (0..50)
        .map(|i| record(1000 - i, b"key", Some(&value)))
        .collect();
    for compression in Compression::ALL {
        let bytes = encode_batch(40, 3, compression, &records).unwrap();
        assert_eq!(peek_size(&bytes), Ok(Some(bytes.len())));
        let batch = decode(&bytes).unwrap();
        assert_eq!(batch.header.compression(), Ok(compression));
        assert_eq!(
            (
                batch.header.partition_leader_epoch,
                batch.header.max_timestamp
            ),
            (3, 1000)
        );
        assert_eq!(batch.records().len(), 50);
        for (i, r) in batch.records().enumerate() {
            assert_eq!((r.offset, r.timestamp), (40 + i as i64, 1000 - i as i64));
            assert_eq!((r.key, r.value), (Some(&b"key"[..]), Some(&value[..])));
        }
        let compressed = compression != Compression::None;
        assert_eq!(bytes.len() < 1_000_000, compressed, "{compression:?}");
    }
}

#[test]
fn decompression_stops_at_the_limit_exactly() {
    let value = vec![0; 100_000];
    for compression in [
        Compression::Gzip,
        Compression::Snappy,
        Compression::Lz4,
        Compression::Zstd,
    ] {
        let bytes = encode_batch(0, 0, compression, &[record(0, b"k", Some(&value))]).unwrap();
        let section = encode_batch(0, 0, Compression::None, &[record(0, b"k", Some(&value))]);
        let size = section.unwrap().len() - HEADER_SIZE;
        for (allowed, good) in [(size, true), (size - 1, false), (1, false), (0, false)] {
            let result = decode_batch(
                &bytes,
                &Limits {
                    max_decompressed_bytes: allowed,
                },
            );
            match result {
                Ok(batch) => assert!(good && batch.records().len() == 1, "{compression:?}"),
                Err(error) => {
                    assert!(!good, "{compression:?} {allowed}");
                    assert_eq!(
                        error.kind,
                        WireErrorKind::Limit { allowed },
                        "{compression:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_raw_snappy_block_is_read_too() {
    let plain = encode_batch(0, 0, Compression::None, &[record(0, b"k", Some(&[9; 500]))]).unwrap();
    let raw = snap::raw::Encoder::new()
        .compress_vec(&plain[HEADER_SIZE..])
        .unwrap();
    let bytes = framed(|header| header.attributes = 2, &raw);
    assert_eq!(
        decode(&bytes).unwrap().records().next().unwrap().value,
        Some(&[9; 500][..])
    );
}

#[test]
fn an_lz4_frame_with_every_option_is_read() {
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
    let plain = encode_batch(
        0,
        0,
        Compression::None,
        &[record(0, b"k", Some(&[9; 200_000]))],
    )
    .unwrap();
    let section = &plain[HEADER_SIZE..];
    for mode in [BlockMode::Independent, BlockMode::Linked] {
        let info = FrameInfo::new()
            .block_mode(mode)
            .block_size(BlockSize::Max256KB)
            .block_checksums(true)
            .content_checksum(true)
            .content_size(Some(section.len() as u64));
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        std::io::Write::write_all(&mut encoder, section).unwrap();
        let mut frame = encoder.finish().unwrap();
        let bytes = framed(|header| header.attributes = 3, &frame);
        assert_eq!(decode(&bytes).unwrap().records().len(), 1);
        frame.push(0);
        let bytes = framed(|header| header.attributes = 3, &frame);
        assert_eq!(kind(&bytes), WireErrorKind::Compression);
    }
}

#[test]
fn a_size_claimed_by_a_compressor_reserves_nothing() {
    // A raw snappy block of 5 bytes that claims to yield 4 GiB, alone and in a Java stream.
    let bomb = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let stream = [
        b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01\0\0\0\x05".as_slice(),
        &bomb,
    ]
    .concat();
    for section in [&bomb[..], &stream] {
        assert_eq!(
            kind(&framed(|header| header.attributes = 2, section)),
            WireErrorKind::Compression
        );
    }
    // A Java block that claims to be longer than the input, and one of negative length.
    for length in [[0x7f, 0xff, 0xff, 0xff], [0xff; 4]] {
        let stream = [b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".as_slice(), &length].concat();
        assert_eq!(
            kind(&framed(|header| header.attributes = 2, &stream)),
            WireErrorKind::Compression
        );
    }
    // A zstd frame of 8 bytes that wants a window of 3.75 TiB.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x01, 0x00];
    assert_eq!(
        kind(&framed(|header| header.attributes = 4, &frame)),
        WireErrorKind::Compression
    );
}

#[test]
fn a_zstd_window_is_at_most_twice_what_the_caller_allows_and_within_what_the_library_writes() {
    let section = [12, 0, 0, 0, 1, 1, 0];
    // A frame with a window of so many bits, and one raw block.
    let read = |window_log: u8, max_decompressed_bytes| {
        let block = (section.len() as u8) << 3 | 1;
        let head = [
            0x28,
            0xb5,
            0x2f,
            0xfd,
            0,
            (window_log - 10) << 3,
            block,
            0,
            0,
        ];
        let bytes = framed(
            |header| header.attributes = 4,
            &[&head[..], &section].concat(),
        );
        let limits = Limits {
            max_decompressed_bytes,
        };
        let batch = decode_batch(&bytes, &limits).map_err(|error| error.kind)?;
        Ok(batch.records().len())
    };
    let refused = Err(WireErrorKind::Compression);
    for (allowed, largest) in [
        (section.len(), 23),
        ((1 << 23) - 1, 23),
        (1 << 23, 24),
        ((1 << 24) - 1, 24),
        (1 << 24, 25),
        (1 << 26, 27),
        (usize::MAX, 27),
    ] {
        assert_eq!(read(largest, allowed), Ok(1), "{allowed}");
        assert_eq!(read(largest + 1, allowed), refused, "{allowed}");
    }
}

#[test]
fn a_snappy_block_lies_when_it_claims_more_than_22_bytes_for_each_of_its_own() {
    for (claim, kind) in [
        (110, WireErrorKind::Limit { allowed: 50 }),
        (111, WireErrorKind::Compression),
    ] {
        let block = [claim, 0, 0, 0, 0];
        let bytes = framed(|header| header.attributes = 2, &block);
        let limits = Limits {
            max_decompressed_bytes: 50,
        };
        assert_eq!(decode_batch(&bytes, &limits).unwrap_err().kind, kind);
    }
}

#[test]
fn a_snappy_stream_has_the_header_and_the_blocks_of_the_java_library() {
    let value = [7; 70_000];
    let bytes = encode_batch(0, 0, Compression::Snappy, &[record(0, b"k", Some(&value))]).unwrap();
    let section = &bytes[HEADER_SIZE..];
    let (header, mut rest) = section.split_at(16);
    assert_eq!(header, b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01");
    let mut sizes = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (block, after) = after.split_at(u32::from_be_bytes(*length) as usize);
        sizes.push(snap::raw::decompress_len(block).unwrap());
        rest = after;
    }
    // The record has 12 bytes besides its value.
    assert_eq!(sizes, [32_768, 32_768, 70_012 - 2 * 32_768]);
}
