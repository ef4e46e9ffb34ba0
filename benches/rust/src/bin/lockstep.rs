//! Bare clients of a server that speaks Kafka's protocol: each sends its next request when the last one is answered.
//!
//! `lockstep HOST:PORT FILE` reads the requests of every connection from a file: a count of requests, then each with its length
//! before it (both `u32`, big endian), one connection after the other. All begin at once, a thread each. It prints one JSON
//! object: seconds from the first request to the last answer, the median and the 99th percentile of the nanoseconds that a
//! request took, and the different answers in hexadecimal, without their correlation ids, each with how often it came.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use share_state_benches::arguments::Arguments;
use share_state_benches::result::Tail;

type Failure = Box<dyn Error + Send + Sync>;

/// A thread only copies bytes.
const STACK: usize = 128 << 10;
const PATIENCE: Duration = Duration::from_secs(120);
/// The correlation id, which differs from answer to answer.
const CORRELATION: usize = 4;

/// Observations of one connection.
struct Seen {
    ended: Instant,
    took: Vec<u32>,
    answers: BTreeMap<Vec<u8>, u64>,
}

fn main() -> ExitCode {
    match run(&Arguments::of_process()) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("lockstep: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let (Some(address), Some(file)) = (arguments.word(0), arguments.word(1)) else {
        return Err("HOST:PORT and FILE".into());
    };
    let connections = requests(&fs::read(file)?).ok_or("the file ends within a request")?;
    let barrier = Arc::new(Barrier::new(connections.len() + 1));
    let mut threads = Vec::new();
    for requests in connections {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let barrier = Arc::clone(&barrier);
        let work = move || {
            barrier.wait();
            ask(stream, &requests)
        };
        threads.push(thread::Builder::new().stack_size(STACK).spawn(work)?);
    }
    barrier.wait();
    let began = Instant::now();
    let (mut ended, mut took, mut answers) = (began, Vec::new(), BTreeMap::<_, u64>::new());
    for thread in threads {
        let seen = thread.join().map_err(|_| "a thread has failed")??;
        ended = ended.max(seen.ended);
        took.extend(seen.took);
        for (answer, count) in seen.answers {
            *answers.entry(answer).or_default() += count;
        }
    }
    let tail = Tail::of(took).ok_or("no request")?;
    let mut said = String::new();
    let (seconds, p50, p99) = ((ended - began).as_secs_f64(), tail.p50, tail.p99);
    write!(
        said,
        "{{\"seconds\":{seconds},\"p50_ns\":{p50},\"p99_ns\":{p99},\"answers\":{{"
    )?;
    for (number, (answer, count)) in answers.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let hex: String = answer.iter().map(|byte| format!("{byte:02x}")).collect();
        write!(said, "{comma}\"{hex}\":{count}")?;
    }
    said.push_str("}}");
    Ok(said)
}

fn ask(mut stream: TcpStream, requests: &[Vec<u8>]) -> io::Result<Seen> {
    let (mut took, mut answers) = (Vec::with_capacity(requests.len()), BTreeMap::new());
    for request in requests {
        let sent = Instant::now();
        stream.write_all(request)?;
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let mut answer = vec![0; u32::from_be_bytes(length) as usize];
        stream.read_exact(&mut answer)?;
        took.push(u32::try_from(sent.elapsed().as_nanos()).unwrap_or(u32::MAX));
        *answers
            .entry(answer.split_off(CORRELATION.min(answer.len())))
            .or_default() += 1;
    }
    Ok(Seen {
        ended: Instant::now(),
        took,
        answers,
    })
}

/// The requests of each connection, with their lengths before them as they are sent; `None` if the file is cut off.
fn requests(mut file: &[u8]) -> Option<Vec<Vec<Vec<u8>>>> {
    let mut connections = Vec::new();
    while !file.is_empty() {
        let (count, rest) = file.split_first_chunk::<4>()?;
        file = rest;
        let mut requests = Vec::new();
        for _ in 0..u32::from_be_bytes(*count) {
            let (length, _) = file.split_first_chunk::<4>()?;
            let end = 4 + u32::from_be_bytes(*length) as usize;
            let (request, rest) = file.split_at_checked(end)?;
            requests.push(request.to_vec());
            file = rest;
        }
        connections.push(requests);
    }
    Some(connections)
}
