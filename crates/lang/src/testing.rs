//! Runs a program's tests: each with the interpreter and as a circuit.

use symbolon_circuit::{eval_ports, format_value};

use crate::compile::Checked;
use crate::diag::Diagnostics;
use crate::ids::InstanceId;
use crate::interp::{Interp, Stop, decode};
use crate::lower::{Entry, EntryInput, InputKind, assert_place, lower_entry, port_type};
use crate::tir::{Instance, TOO_DEEP};
use crate::ty::TyId;

/// How a test went.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// Its name.
    pub name: String,
    /// What went wrong, if anything.
    pub wrong: Option<String>,
    /// How often it ran.
    pub runs: u32,
}

/// Tests with parameters run this often.
const RUNS: u32 = 64;

/// A test takes at most this many steps.
const MAX_STEPS: u64 = 1 << 28;

/// Runs all tests of a checked program. The seed fixes the random parameters.
///
/// Call it inside [`with_stack`](crate::with_stack).
pub fn run_tests(checked: &Checked, seed: u64) -> Vec<TestResult> {
    let mut random = Random(seed);
    checked
        .tests
        .iter()
        .map(|test| {
            let mut runs = 0;
            let wrong =
                run_test(checked, test.instance, test.fails.as_deref(), &mut random, &mut runs);
            TestResult { name: test.name.clone(), wrong: wrong.err(), runs }
        })
        .collect()
}

fn run_test(
    checked: &Checked,
    place: InstanceId,
    fails: Option<&str>,
    random: &mut Random,
    runs: &mut u32,
) -> Result<(), String> {
    let Some(Some(instance)) = checked.tir.instances.get(place).cloned() else {
        return Err("it has errors".into());
    };
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
    let entry = Entry::test(place, inputs, result, &checked.tir.shapes);
    let mut errors = Diagnostics::default();
    let Ok((circuit, _)) = lower_entry(&checked.tir, &entry, &mut errors, false) else {
        return Err(errors.render(&checked.sources, false));
    };
    let case = Case { checked, instance: &instance, types: &types, circuit: &circuit, fails };
    let rounds = if types.is_empty() { 1 } else { RUNS };
    for _ in 0..rounds {
        let widths = types.iter().map(|&ty| checked.tir.shapes.width(ty) as usize);
        let mut bits: Vec<Vec<bool>> =
            widths.map(|width| (0..width).map(|_| random.bit()).collect()).collect();
        *runs += 1;
        if let Err(first) = case.run(&bits) {
            let wrong = case.shrink(&mut bits).unwrap_or(first);
            let shown = types.iter().zip(&bits).map(|(&ty, bits)| {
                format_value(&port_type(&checked.tir.shapes, ty), bits).to_string()
            });
            let shown: Vec<String> = shown.collect();
            let with = if shown.is_empty() { String::new() } else { " with ".to_string() };
            return Err(format!("{wrong}{with}{}", shown.join(", ")));
        }
    }
    Ok(())
}

struct Case<'a> {
    checked: &'a Checked,
    instance: &'a Instance,
    types: &'a [TyId],
    circuit: &'a symbolon_circuit::Circuit,
    fails: Option<&'a str>,
}

impl Case<'_> {
    fn run(&self, bits: &[Vec<bool>]) -> Result<(), String> {
        let tir = &self.checked.tir;
        let values =
            self.types.iter().zip(bits).map(|(&ty, bits)| decode(&tir.shapes, ty, bits)).collect();
        let mut interp = Interp::new(tir);
        interp.limit = MAX_STEPS;
        let done = interp.run(self.instance, values);
        let interpreted = match done {
            Ok(_) => None,
            Err(Stop::Assert(text)) => Some(tir.asserts[text as usize].0.clone()),
            Err(Stop::Steps) => return Err("it takes too many steps".into()),
            Err(Stop::Deep) => return Err(TOO_DEEP.into()),
            Err(_) => return Err("a constant index is out of range".into()),
        };
        let outputs = eval_ports(self.circuit, bits).map_err(|error| error.to_string())?;
        let ports = self.circuit.outputs().iter().zip(&outputs);
        let number = ports
            .filter(|(output, _)| output.name == symbolon_circuit::Circuit::FAILURE)
            .map(|(_, bits)| bits.iter().rev().fold(0, |n, &bit| 2 * n + usize::from(bit)))
            .next()
            .unwrap_or(0);
        let computed = assert_place(number).map(|place| tir.asserts[place].0.clone());
        if computed != interpreted {
            return Err(
                "the interpreter and the circuit differ: this is a defect of Symbolon".into()
            );
        }
        match (interpreted, self.fails) {
            (None, None) => Ok(()),
            (Some(text), Some(wanted)) if text == wanted => Ok(()),
            (Some(text), Some(wanted)) => Err(format!("it failed: {text}; not: {wanted}")),
            (Some(text), None) => Err(format!("it failed: {text}")),
            (None, Some(wanted)) => Err(format!("it did not fail: {wanted}")),
        }
    }

    /// Clears bits as long as the test still fails; returns the last failure.
    fn shrink(&self, bits: &mut [Vec<bool>]) -> Option<String> {
        let mut last = None;
        let mut tries = 0;
        for value in 0..bits.len() {
            let mut size = bits[value].len();
            while size > 0 && tries < 1000 {
                for start in (0..bits[value].len()).step_by(size) {
                    let end = (start + size).min(bits[value].len());
                    if !bits[value][start..end].contains(&true) || tries >= 1000 {
                        continue;
                    }
                    tries += 1;
                    let before = bits[value].clone();
                    bits[value][start..end].fill(false);
                    match self.run(bits) {
                        Err(wrong) => last = Some(wrong),
                        Ok(()) => bits[value] = before,
                    }
                }
                size /= 2;
            }
        }
        last
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
