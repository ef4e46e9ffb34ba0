//! The corpus of a target and a fixed number of seeded mutations of it, on the stable compiler. The tests of a crate with decoders
//! include this file, so it reads no crate.

use std::path::Path;

const MUTATIONS: usize = 20_000;

/// Marsaglia's xorshift64*: enough to choose bytes, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
}

/// Bytes at which length and sign change their meaning.
const EDGES: [u8; 8] = [0x00, 0x01, 0x02, 0x7e, 0x7f, 0x80, 0x81, 0xff];

/// Changes `bytes` in one of the ways in which inputs go wrong.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(7) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, EDGES[random.below(EDGES.len())]),
        2 => {
            let end = (at + 1 + random.below(8)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        3 => {
            let from = random.below(other.len() + 1);
            let size = random.below(other.len() - from + 1).min(64);
            let end = (at + size).min(bytes.len());
            bytes.splice(at..end, other[from..from + size].iter().copied());
        }
        _ if at == bytes.len() => bytes.push(random.next() as u8),
        4 => bytes[at] = EDGES[random.below(EDGES.len())],
        5 => bytes[at] ^= 1 << random.below(8),
        _ => {
            let end = (at + 1 + random.below(8)).min(bytes.len());
            bytes[at..end].fill(EDGES[random.below(EDGES.len())]);
        }
    }
}

/// Runs a target over its corpus and over the usual number of mutations of it.
#[allow(
    dead_code,
    reason = "a crate whose targets take longer chooses the number"
)]
pub fn replay(target: &str, run: fn(&[u8]) -> bool, corpus_size: usize, least: usize) {
    replay_some(target, run, corpus_size, least, MUTATIONS);
}

/// Runs a target over its corpus and over mutations of it. `least` inputs of the corpus, and of the mutations, must
/// be accepted: a body that refuses everything would test nothing.
#[expect(
    clippy::unwrap_used,
    reason = "a helper of tests: without its corpus the test must fail"
)]
pub fn replay_some(
    target: &str,
    run: fn(&[u8]) -> bool,
    corpus_size: usize,
    least: usize,
    mutations: usize,
) {
    // A crate lies beside `proof` or in it.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|above| above.join("proof/fuzz/corpus").join(target))
        .find(|folder| folder.is_dir())
        .unwrap();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    let corpus: Vec<Vec<u8>> = files
        .iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect();
    assert!(corpus.len() >= corpus_size, "{} inputs", corpus.len());
    assert!(corpus.iter().filter(|data| run(data)).count() * 2 > corpus.len());

    let mut random = Random(0x5eed_0000_0000_0000 + target.len() as u64);
    let mut accepted = 0;
    for _ in 0..mutations {
        let mut data = corpus[random.below(corpus.len())].clone();
        let other = &corpus[random.below(corpus.len())];
        for _ in 0..=random.below(4) {
            mutate(&mut data, other, &mut random);
        }
        accepted += usize::from(run(&data));
    }
    assert!(
        accepted >= least,
        "{accepted} of {mutations} mutations were accepted"
    );
}
