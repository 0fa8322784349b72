//! Runs a program's tests: each with the interpreter and as a circuit.

use symbolon_circuit::{Evaluator, Stats, format_value};

use crate::compile::Checked;
use crate::diag::Diagnostics;
use crate::ids::InstanceId;
use crate::interp::{Interp, Stop, decode};
use crate::lower::{Entry, EntryInput, InputKind, assert_place, lower_entry, port_type};
use crate::shrink::{Bits, draw, smallest};
use crate::source::Span;
use crate::tir::{Instance, TOO_DEEP};
use crate::ty::TyId;

/// How a test went.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// Its name.
    pub name: String,
    /// What went wrong, if anything.
    pub wrong: Option<Wrong>,
    /// How often it ran.
    pub runs: u32,
}

/// How a test failed.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// What happened.
    pub what: String,
    /// The smallest arguments found with which it happens, as `name = value`.
    pub with: Vec<String>,
    /// The file, and the line of the assert that failed, or else of the test.
    pub at: (String, u32),
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (file, line) = &self.at;
        write!(f, "{file}:{line}: {}", self.what)?;
        if self.with.is_empty() { Ok(()) } else { write!(f, " with {}", self.with.join(", ")) }
    }
}

/// Tests with parameters run this often.
const RUNS: u32 = 64;

/// A test takes at most this many steps.
const MAX_STEPS: u64 = 1 << 28;

/// Finding smaller arguments takes at most this many runs, and this many steps and gates.
const SHRINK_RUNS: u32 = 4000;
const SHRINK_STEPS: u64 = 1 << 28;

/// Runs all tests of a checked program. The seed fixes the random parameters.
///
/// Call it inside [`with_stack`](crate::with_stack).
pub fn run_tests(checked: &Checked, seed: u64) -> Vec<TestResult> {
    let mut random = Random(seed);
    let results = checked.tests.iter().map(|test| {
        let mut runs = 0;
        let fails = test.fails.as_deref();
        let wrong = run_test(checked, test.instance, fails, &mut random, &mut runs).err();
        TestResult { name: test.name.clone(), wrong, runs }
    });
    results.collect()
}

fn run_test(
    checked: &Checked,
    place: InstanceId,
    fails: Option<&str>,
    random: &mut Random,
    runs: &mut u32,
) -> Result<(), Wrong> {
    let wrong = |what: String| Wrong { what, with: Vec::new(), at: (String::new(), 0) };
    let Some(Some(instance)) = checked.tir.instances.get(place).cloned() else {
        return Err(wrong("it has errors".into()));
    };
    let shapes = &checked.tir.shapes;
    let types: Vec<TyId> = instance
        .params
        .iter()
        .map(|&param| instance.types[instance.locals[param as usize].1 as usize])
        .collect();
    let inputs = types.iter().enumerate().map(|(i, &ty)| EntryInput {
        name: format!("p{i}"),
        kind: InputKind::Party(0.into()),
        ty,
        span: instance.span,
    });
    let inputs: Vec<EntryInput> = inputs.collect();
    let result = instance.types[instance.result as usize];
    let entry = Entry::test(place, inputs, result, shapes);
    let mut errors = Diagnostics::default();
    let at = |span: Span| (checked.sources.name(span).to_string(), checked.sources.line(span));
    let Ok((circuit, _)) = lower_entry(&checked.tir, &entry, &mut errors, false) else {
        let what = errors.render(&checked.sources, false);
        return Err(Wrong { at: at(instance.span), ..wrong(what) });
    };
    let by = Evaluator::new(&circuit);
    let case = Case { checked, instance: &instance, types: &types, circuit: &circuit, by, fails };
    let rounds = if types.is_empty() { 1 } else { RUNS };
    for _ in 0..rounds {
        let bits = draw(shapes, &types, &mut || random.bit());
        *runs += 1;
        if case.run(&bits).0.is_err() {
            let bits = case.shrink(&bits);
            let Err((what, span)) = case.run(&bits).0 else { continue };
            let named = instance.params.iter().map(|&param| &instance.locals[param as usize].0);
            let with = types.iter().zip(&bits).zip(named).map(|((&ty, bits), name)| {
                format!("{name} = {}", format_value(&port_type(shapes, ty), bits))
            });
            return Err(Wrong { what, with: with.collect(), at: at(span) });
        }
    }
    Ok(())
}

struct Case<'a> {
    checked: &'a Checked,
    instance: &'a Instance,
    types: &'a [TyId],
    circuit: &'a symbolon_circuit::Circuit,
    by: Evaluator<'a>,
    fails: Option<&'a str>,
}

impl Case<'_> {
    /// Returns how a run goes, where it fails, and how many steps it takes.
    fn run(&self, bits: &Bits) -> (Result<(), (String, Span)>, u64) {
        let tir = &self.checked.tir;
        let values =
            self.types.iter().zip(bits).map(|(&ty, bits)| decode(&tir.shapes, ty, bits)).collect();
        let mut interp = Interp::new(tir);
        interp.limit = MAX_STEPS;
        let done = interp.run(self.instance, values);
        let interpreted = match done {
            Ok(_) => Ok(None),
            Err(Stop::Assert(text)) => Ok(Some(text as usize)),
            Err(Stop::Steps) => Err("it takes too many steps"),
            Err(Stop::Deep) => Err(TOO_DEEP),
            Err(_) => Err("a constant index is out of range"),
        };
        let went = interpreted
            .map_err(|why| (why.to_string(), self.instance.span))
            .and_then(|failed| self.compare(failed, bits));
        (went, interp.steps)
    }

    /// Compares what the interpreter found with the circuit and with what the test wants.
    fn compare(&self, interpreted: Option<usize>, bits: &Bits) -> Result<(), (String, Span)> {
        let own = |what: String| (what, self.instance.span);
        let outputs = self.by.ports(bits).map_err(|error| own(error.to_string()))?;
        let ports = self.circuit.outputs().iter().zip(&outputs);
        let number = ports
            .filter(|(output, _)| output.name == symbolon_circuit::Circuit::FAILURE)
            .map(|(_, bits)| bits.iter().rev().fold(0, |n, &bit| 2 * n + usize::from(bit)))
            .next()
            .unwrap_or(0);
        let asserts = &self.checked.tir.asserts;
        let text = |place: usize| &asserts[place].0;
        if assert_place(number).map(text) != interpreted.map(text) {
            let what = "the interpreter and the circuit differ: this is a defect of Symbolon";
            return Err(own(what.into()));
        }
        match (interpreted.map(|place| &asserts[place]), self.fails) {
            (None, None) => Ok(()),
            (Some((text, _)), Some(wanted)) if text == wanted => Ok(()),
            (Some((text, span)), Some(wanted)) => {
                Err((format!("it failed: {text}; not: {wanted}"), *span))
            }
            (Some((text, span)), None) => Err((format!("it failed: {text}"), *span)),
            (None, Some(wanted)) => Err(own(format!("it did not fail: {wanted}"))),
        }
    }

    /// Returns the smallest arguments found with which the test fails.
    fn shrink(&self, bits: &Bits) -> Bits {
        let (mut runs, mut steps) = (0, 0);
        let gates = Stats::of(self.circuit).and;
        smallest(&self.checked.tir.shapes, self.types, bits, &mut |bits| {
            if runs == SHRINK_RUNS || steps > SHRINK_STEPS {
                return None;
            }
            let (went, took) = self.run(bits);
            runs += 1;
            steps += took + gates;
            Some(went.is_err())
        })
    }
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): numbers for tests, not for secrets.
struct Random(u64);

impl Random {
    fn bit(&mut self) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) >> 63 == 1
    }
}
