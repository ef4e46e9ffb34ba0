//! Runs a profile: chooses sequences, has Kafka's side play them, judges both, and makes small what differs.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use serde_json::json;

use crate::arguments::Arguments;
use crate::kafka::Kafka;
use crate::profile::{Class, Profile, name, request, scenario_name};
use crate::random::Random;
use crate::report::Report;
use crate::shrink::{Found, shown};

/// Sequences that are on the way to Kafka's side at one time.
const ON_THE_WAY: usize = 64;

/// Sequences without a difference that are shown as examples too.
const IN_ACCORD: usize = 5;

/// Step between the sequences that are judged slowly too.
const SLOWLY_EVERY: u64 = 4;

/// A sequence on its way.
struct Sequence<P: Profile> {
    number: u64,
    /// Places where a fresh object takes over because a deliberate difference has led the sides apart.
    renewals: Vec<usize>,
    ops: Vec<P::Operation>,
}

impl<P: Profile> Sequence<P> {
    fn sent(arguments: &Arguments, kafka: &Kafka, number: u64, renewals: Vec<usize>) -> Self {
        let mut random = Random::new(arguments.seed, number);
        let ops = P::generate(&mut random, arguments.length, &renewals);
        kafka.send(&request::<P>(&ops));
        Self {
            number,
            renewals,
            ops,
        }
    }
}

/// Runs the profile. A sequence whose sides were led apart by a deliberate difference is played again with a fresh object after
/// it, so that the rest of it is compared too; what is reported is the last play.
///
/// # Errors
/// Kafka's side has failed.
pub fn run<P: Profile>(arguments: &Arguments, kafka: &mut Kafka) -> io::Result<Report> {
    let mut report = Report::new(P::NAME, arguments.seed);
    let begun = Instant::now();
    let mut found: Vec<Found<P>> = Vec::new();
    let mut examples: Vec<Found<P>> = Vec::new();
    let mut in_accord = Vec::new();
    let mut shown_classes: Vec<Class> = Vec::new();
    let mut waiting: VecDeque<Sequence<P>> = VecDeque::new();
    let mut sequences = arguments.sequences();
    loop {
        while waiting.len() < ON_THE_WAY {
            let Some(number) = sequences.next() else {
                break;
            };
            waiting.push_back(Sequence::sent(arguments, kafka, number, Vec::new()));
        }
        let Some(sequence) = waiting.pop_front() else {
            break;
        };
        let given = kafka.receive()?;
        let Sequence {
            number,
            mut renewals,
            ops,
        } = sequence;
        let mut verdict = P::judge(&ops, &given);
        if let Some(place) = verdict.apart.filter(|_| verdict.difference.is_none()) {
            if let Some((class, reached)) = verdict.replaced {
                report.cover(reached);
                report.classed(class.0);
            }
            renewals.push(place);
            waiting.push_back(Sequence::sent(arguments, kafka, number, renewals));
            continue;
        }
        let slow = verdict.difference.is_none() && number.is_multiple_of(SLOWLY_EVERY);
        if slow {
            let (reached, fault) = P::slowly(&ops);
            verdict.reached.extend(reached);
            verdict.difference = fault;
        }
        report.operations += ops.len();
        report.compared += verdict.compared;
        for what in &verdict.reached {
            report.cover(what);
        }
        let quiet = verdict.difference.is_none() && verdict.explained.is_empty();
        if quiet && arguments.examples && in_accord.len() < IN_ACCORD {
            in_accord.push((number, ops.clone()));
        }
        for difference in verdict.explained {
            let Some(class) = difference.class else {
                continue;
            };
            report.classed(class.0);
            if arguments.examples && !shown_classes.contains(&class) {
                shown_classes.push(class);
                let ops = ops.clone();
                examples.push(Found {
                    number,
                    ops,
                    difference,
                    slow: false,
                });
            }
        }
        if let Some(difference) = verdict.difference {
            let name = name::<P>(&ops, &difference);
            // One of each kind is made small.
            if report.unexplained(&name) == 1 && found.len() < arguments.shrink {
                found.push(Found {
                    number,
                    ops,
                    difference,
                    slow,
                });
            }
        }
    }
    report.seconds = begun.elapsed().as_secs_f64();
    report.differences = shown(arguments, kafka, found)?;
    report.examples = shown(arguments, kafka, examples)?;
    for (number, ops) in in_accord {
        let (scenario, _) = P::exported(kafka, &scenario_name::<P>(arguments, number), &ops)?;
        report
            .examples
            .push(json!({"file": P::SUITE, "scenario": scenario, "explained": []}));
    }
    Ok(report)
}
