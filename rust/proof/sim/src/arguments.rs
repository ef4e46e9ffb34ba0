//! The command line.

use std::time::{SystemTime, UNIX_EPOCH};

use share_state_sim::{Broken, Cuts, Fault};

/// Arguments of the command.
#[derive(Debug)]
pub struct Arguments {
    /// The first seed; the others follow.
    pub seed: u64,
    /// True if the seed was not named.
    pub is_fresh: bool,
    pub worlds: u64,
    pub seconds: Option<u64>,
    pub jobs: u64,
    pub cuts: Cuts,
    pub broken: Option<Broken>,
    pub json: bool,
    /// True if a fault or a meeting that never comes is a failure.
    pub every_meeting: bool,
    /// Folder for the histories of worlds with findings.
    pub keep: Option<String>,
}

/// Usage of the command.
pub const USAGE: &str = "share-state-sim [--worlds N] [--seed S] [--seconds T] [--jobs J] [--every-meeting] [--json]
    [--keep FOLDER] [--without FAULT,…] [--members N] [--records N] [--faulty-ms T] [--queued] [--uncached] [--ungrouped]
    [--read-ahead] [--broken RULE]

Plays worlds from one seed on, and ends with 1 if anything is found. Without --seed it takes a fresh one and prints it. With
--seconds it plays until the time is over; without it and --worlds, one world. With --every-meeting it ends with 1 too if a fault
or a meeting never came; where the time is over before, it plays on for that, up to 20,000 worlds in all.";

impl Arguments {
    /// Reads them.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            seed: fresh(),
            is_fresh: true,
            worlds: 0,
            seconds: None,
            jobs: 1,
            cuts: Cuts::default(),
            broken: None,
            json: false,
            every_meeting: false,
            keep: None,
        };
        while let Some(name) = words.next() {
            match name.as_str() {
                "--json" => {
                    arguments.json = true;
                    continue;
                }
                "--queued" => {
                    arguments.cuts.queued = true;
                    continue;
                }
                "--uncached" => {
                    arguments.cuts.uncached = true;
                    continue;
                }
                "--ungrouped" => {
                    arguments.cuts.ungrouped = true;
                    continue;
                }
                "--read-ahead" => {
                    arguments.cuts.read_ahead = true;
                    continue;
                }
                "--every-meeting" => {
                    arguments.every_meeting = true;
                    continue;
                }
                _ => {}
            }
            let value = words
                .next()
                .ok_or_else(|| format!("{name} needs a value"))?;
            arguments.take(&name, value)?;
        }
        if arguments.worlds == 0 {
            arguments.worlds = if arguments.seconds.is_some() {
                u64::MAX
            } else {
                1
            };
        }
        Ok(arguments)
    }

    fn take(&mut self, name: &str, value: String) -> Result<(), String> {
        let wrong = || format!("{name} {value}: not understood");
        let number = || value.parse::<u64>().map_err(|_| wrong());
        match name {
            "--seed" => {
                self.seed = number()?;
                self.is_fresh = false;
            }
            "--worlds" => self.worlds = number()?,
            "--seconds" => self.seconds = Some(number()?),
            "--jobs" => self.jobs = number()?.max(1),
            "--members" => self.cuts.members = usize::try_from(number()?).ok(),
            "--records" => self.cuts.records = i64::try_from(number()?).ok(),
            "--faulty-ms" => self.cuts.faulty_ms = i64::try_from(number()?).ok(),
            "--broken" => self.broken = Some(Broken::from_name(&value).ok_or_else(wrong)?),
            "--keep" => self.keep = Some(value),
            "--without" => {
                for word in value.split(',') {
                    self.cuts
                        .without
                        .push(Fault::from_name(word).ok_or_else(wrong)?);
                }
            }
            _ => return Err(format!("{name}: not understood")),
        }
        Ok(())
    }
}

fn fresh() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(1, |since| since.as_nanos() as u64 >> 8)
}
