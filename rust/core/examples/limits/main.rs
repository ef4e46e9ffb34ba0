//! Measures a day of very many share partitions, hour by hour of simulated time: a table, and a line of JSON for each hour.
//!
//! ```sh
//! cargo run --release --package share-state-core --example limits -- [PARTITIONS [LOCKS-EACH [HOURS [ROUNDS-AN-HOUR]]]]
//! ```
//!
//! Without arguments 100,000 share partitions with 10 locks each for 24 hours, with 10 rounds an hour.

mod day;

use std::time::Instant;

use day::Day;

const HOUR_MS: i64 = 3_600_000;

/// Kibibytes of this process in memory, where the system tells.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn main() -> Result<(), String> {
    let mut given = Vec::new();
    for argument in std::env::args().skip(1) {
        given.push(
            argument
                .parse::<usize>()
                .map_err(|_| format!("{argument} is no number"))?,
        );
    }
    let or = |at: usize, default: usize| given.get(at).copied().unwrap_or(default);
    let (partitions, locks, hours, rounds) =
        (or(0, 100_000), or(1, 10), or(2, 24), or(3, 10).max(1));
    let mut day = Day::new(partitions, locks)?;
    let begun = Instant::now();
    println!(
        "| hour | locks at once | deliveries | in flight | store MiB | resident MiB | seconds |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut lines = Vec::new();
    for hour in 1..=hours {
        for _ in 0..rounds {
            day.round(HOUR_MS / i64::try_from(rounds).map_err(|error| error.to_string())?)?;
        }
        let (in_flight, store) = (day.in_flight()?, day.store_bytes());
        let resident = resident_kib().unwrap_or(0);
        let (locks, delivered) = (day.count.locks, day.count.delivered);
        let seconds = begun.elapsed().as_secs();
        println!(
            "| {hour} | {locks} | {delivered} | {in_flight} | {} | {} | {seconds} |",
            store >> 20,
            resident >> 10
        );
        lines.push(format!(
            "{{\"hour\":{hour},\"locks\":{locks},\"delivered\":{delivered},\"in_flight\":{in_flight},\
             \"store_bytes\":{store},\"resident_kib\":{resident}}}"
        ));
    }
    println!("\n{}", lines.join("\n"));
    Ok(())
}
