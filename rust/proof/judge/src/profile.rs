//! A profile: a class of Kafka's with the operations on it, what they give on both sides, and where the two differ.

use std::io;

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::compare::{Around, Point};
use crate::kafka::Kafka;
use crate::random::Random;

/// A way in which a deliberate difference shows: its id, and what happens.
pub type Class = (&'static str, &'static str);

/// A difference of a sequence.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Index of the operation.
    pub at: usize,
    /// The points that differ; there is one at least.
    pub points: Vec<Point>,
    /// The deliberate difference that it is; `None` when nothing explains it.
    pub class: Option<Class>,
    /// The states around it, of a share partition.
    pub around: Around,
}

impl Difference {
    /// A difference in one point.
    pub fn new(
        at: usize,
        what: &'static str,
        kafka: String,
        ours: String,
        class: Option<Class>,
    ) -> Self {
        Self {
            at,
            points: vec![Point { what, kafka, ours }],
            class,
            around: Around::default(),
        }
    }

    /// Name of the first point that differs.
    pub fn what(&self) -> &'static str {
        self.points[0].what
    }
}

/// A sequence judged.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Number of operations that were compared.
    pub compared: usize,
    /// Parts of the coverage that they reached.
    pub reached: Vec<String>,
    /// The deliberate differences on the way.
    pub explained: Vec<Difference>,
    /// The first difference that nothing explains; it ends the comparison.
    pub difference: Option<Difference>,
    /// Place where a fresh object under test would let the comparison go on after a deliberate difference.
    pub apart: Option<usize>,
    /// Deliberate difference that the play with a fresh object leaves out, and the part of the coverage that it is.
    pub replaced: Option<(Class, &'static str)>,
}

/// Class of Kafka's that is compared, with the operations on it.
pub trait Profile {
    /// An operation.
    type Operation: Clone;

    /// Name of the profile.
    const NAME: &'static str;
    /// Prefix of its conformance files, and what the driver calls it.
    const SUITE: &'static str;

    /// The deliberate differences that are recognised here.
    fn rules() -> Vec<Class>;

    /// The sequence of a seed. At the `renewals` a fresh object takes over; what stands before them does not depend on them.
    fn generate(random: &mut Random, length: usize, renewals: &[usize]) -> Vec<Self::Operation>;

    /// A sequence that was made smaller, in order again; `None` if it makes no sense any more.
    fn mended(ops: Vec<Self::Operation>) -> Option<Vec<Self::Operation>> {
        Some(ops)
    }

    /// Smaller forms of an operation.
    fn smaller(_op: &Self::Operation) -> Vec<Self::Operation> {
        Vec::new()
    }

    /// An operation for the driver.
    fn to_json(op: &Self::Operation) -> Value;

    /// Name of an operation.
    fn name_of(op: &Self::Operation) -> &'static str;

    /// Compares operation by operation.
    fn judge(ops: &[Self::Operation], given: &[Value]) -> Verdict;

    /// Parts of the coverage and a fault of our side that take so long to find that only some sequences are asked for them.
    fn slowly(_ops: &[Self::Operation]) -> (Vec<String>, Option<Difference>) {
        (Vec::new(), None)
    }

    /// The sequence as a conformance scenario, with the place of each operation in it.
    ///
    /// # Errors
    /// Kafka's side has failed.
    fn exported(
        kafka: &mut Kafka,
        name: &str,
        ops: &[Self::Operation],
    ) -> io::Result<(Value, Vec<Option<usize>>)> {
        let given = asked::<Self>(kafka, ops)?;
        let ops = ops.iter().zip(given).map(|(op, given)| {
            let mut op = Self::to_json(op);
            if let (Some(op), Value::Object(given)) = (op.as_object_mut(), given) {
                op.extend(given);
            }
            op
        });
        let ops: Vec<Value> = ops.collect();
        let places = (0..ops.len()).map(Some).collect();
        let scenario = json!({"name": name, "source": "differential", "ops": ops});
        Ok((scenario, places))
    }
}

/// Name of a difference.
pub fn name<P: Profile>(ops: &[P::Operation], difference: &Difference) -> String {
    format!("{}: {}", P::name_of(&ops[difference.at]), difference.what())
}

/// Name of a sequence as a conformance scenario.
pub fn scenario_name<P: Profile>(arguments: &Arguments, number: u64) -> String {
    format!("{}-{}-{number}", P::NAME, arguments.seed)
}

/// The request that plays operations on Kafka's side.
pub fn request<P: Profile + ?Sized>(ops: &[P::Operation]) -> Value {
    let ops: Vec<Value> = ops.iter().map(P::to_json).collect();
    json!({"suite": P::SUITE, "flags": true, "deadlines": true, "ops": ops})
}

/// Answers of Kafka's side, one an operation.
///
/// # Errors
/// It has failed.
pub fn asked<P: Profile + ?Sized>(
    kafka: &mut Kafka,
    ops: &[P::Operation],
) -> io::Result<Vec<Value>> {
    kafka.send(&request::<P>(ops));
    kafka.receive()
}
