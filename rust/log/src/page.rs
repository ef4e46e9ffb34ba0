//! Pages of a disk: a crash leaves any of those that were not synced, and zeros where a page was never written.

/// Bytes that a disk writes as a whole: the smallest page there is. Larger ones begin at multiples of it.
pub(crate) const PAGE: u64 = 512;

/// Bytes from `position` to the end of its page.
#[allow(clippy::cast_possible_truncation, reason = "at most a page")]
pub(crate) const fn rest_of_page(position: u64) -> usize {
    (PAGE - position % PAGE) as usize
}

/// The bytes that begin at `position` by page, each with the number of the bytes before it.
pub(crate) fn by_page(position: u64, bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let (first, rest) = bytes.split_at(rest_of_page(position).min(bytes.len()));
    let pages = core::iter::once(first).chain(rest.chunks(PAGE as usize));
    pages.scan(0, |before, page| {
        let begins = *before;
        *before += page.len();
        Some((begins, page))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_apart_by_page() {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(1200).collect();
        for position in [0, 1, 500, 511, 512, 513, 1 << 40] {
            let mut seen = Vec::new();
            for (begins, page) in by_page(position, &bytes) {
                assert_eq!(begins, seen.len());
                let first = position + begins as u64;
                assert_eq!(first / PAGE, (first + page.len() as u64 - 1) / PAGE);
                assert!(
                    begins == 0 || first.is_multiple_of(PAGE),
                    "{position}: {begins}"
                );
                seen.extend_from_slice(page);
            }
            assert_eq!(seen, bytes);
        }
    }
}
