//! Plays simulated worlds from a seed on, makes one with a finding smaller, and prints how to play it again.

mod arguments;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arguments::{Arguments, USAGE};
use share_state_sim::{Fault, Meeting, Tally, play, shrink};

/// Findings that are made smaller; the others are counted.
const SHOWN: usize = 3;

/// Worlds in which every fault and every meeting has come. The rarest comes once in a few hundred.
const ENOUGH: u64 = 20_000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match Arguments::read(words.into_iter()) {
        Ok(arguments) => run(&arguments),
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> ExitCode {
    if !arguments.json {
        let origin = if arguments.is_fresh { "fresh" } else { "named" };
        println!("seed {} ({origin})", arguments.seed);
    }
    // A panic is a finding, and told as such.
    std::panic::set_hook(Box::new(|_| {}));
    let begun = Instant::now();
    let mut tally = campaign(arguments, begun);
    while arguments.every_meeting
        && tally.worlds < ENOUGH.min(arguments.worlds)
        && !tally.missing().is_empty()
    {
        tally.add(play_on(arguments, tally.worlds));
    }
    let missing = if arguments.every_meeting {
        tally.missing()
    } else {
        Vec::new()
    };
    let seconds = begun.elapsed().as_secs_f64();
    if arguments.json {
        println!("{}", json(arguments, &tally, seconds));
    } else {
        table(&tally, seconds);
    }
    for (seed, _) in tally.found.iter().take(SHOWN) {
        show(arguments, *seed);
    }
    for never in &missing {
        println!("never: {never}");
    }
    if !tally.found.is_empty() {
        println!("{} worlds with findings", tally.found.len());
    }
    if tally.found.is_empty() && missing.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Some more worlds, after so many.
fn play_on(arguments: &Arguments, played: u64) -> Tally {
    let mut more = Tally::default();
    for number in played..(played + 100).min(arguments.worlds) {
        let seed = arguments.seed.wrapping_add(number);
        more.take(seed, &play(seed, &arguments.cuts, arguments.broken));
    }
    more
}

/// Plays the worlds, each thread the next one that is free.
fn campaign(arguments: &Arguments, begun: Instant) -> Tally {
    let limit = arguments.seconds.map(Duration::from_secs);
    let next = AtomicU64::new(0);
    let work = || {
        let mut own = Tally::default();
        let mut told = Instant::now();
        while limit.is_none_or(|limit| begun.elapsed() < limit) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= arguments.worlds {
                break;
            }
            let seed = arguments.seed.wrapping_add(number);
            own.take(seed, &play(seed, &arguments.cuts, arguments.broken));
            if told.elapsed() > Duration::from_secs(30) && !arguments.json {
                told = Instant::now();
                println!(
                    "{number} worlds, {} with findings in this thread",
                    own.found.len()
                );
            }
        }
        own
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.jobs).map(|_| scope.spawn(work)).collect();
        let mut all = Tally::default();
        for thread in threads {
            if let Ok(own) = thread.join() {
                all.add(own);
            }
        }
        all.found.sort();
        all
    })
}

fn table(tally: &Tally, seconds: f64) {
    println!("worlds {}", tally.worlds);
    println!("steps {}", tally.steps);
    println!("events of histories {}", tally.events);
    println!("steps a second {:.0}", tally.steps as f64 / seconds);
    for (fault, count) in Fault::ALL.into_iter().zip(tally.faults) {
        println!("fault: {} {count}", fault.name());
    }
    for meeting in Meeting::ALL {
        println!(
            "meeting: {} {}",
            meeting.text(),
            tally.meetings.count(meeting)
        );
    }
}

fn json(arguments: &Arguments, tally: &Tally, seconds: f64) -> serde_json::Value {
    let faults: serde_json::Map<_, _> = Fault::ALL
        .into_iter()
        .zip(tally.faults)
        .map(|(fault, count)| (fault.name().to_owned(), count.into()))
        .collect();
    let meetings: serde_json::Map<_, _> = Meeting::ALL
        .into_iter()
        .map(|meeting| {
            (
                meeting.text().to_owned(),
                tally.meetings.count(meeting).into(),
            )
        })
        .collect();
    serde_json::json!({
        "seed": arguments.seed,
        "worlds": tally.worlds,
        "steps": tally.steps,
        "events": tally.events,
        "seconds": seconds,
        "faults": faults,
        "meetings": meetings,
        "found": tally.found.iter().map(|(seed, what)| serde_json::json!({"seed": seed, "what": what})).collect::<Vec<_>>(),
    })
}

/// Makes a world smaller, and says how to play it again.
fn show(arguments: &Arguments, seed: u64) {
    let (cuts, played) = shrink(seed, arguments.broken, &arguments.cuts);
    println!("\nseed {seed}, {} steps:", played.steps);
    for finding in &played.findings {
        println!("  {finding}");
    }
    let broken = arguments.broken.map_or(String::new(), |broken| {
        format!(" --broken {}", broken.name())
    });
    println!(
        "  again: cargo run --release -p share-state-sim -- --seed {seed}{}{broken}",
        cuts.arguments()
    );
    if let Some(folder) = &arguments.keep {
        let path = format!("{folder}/{seed}.jsonl");
        let kept = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, played.history.join("\n") + "\n"));
        match kept {
            Ok(()) => println!("  history: {path}"),
            Err(error) => println!("  history: {error}"),
        }
    }
}
