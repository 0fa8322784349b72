//! Random well-typed programs: the interpreter and the circuit compute the same.

mod choices;
mod rounds;
mod statements;
mod writer;

use std::sync::atomic::{AtomicUsize, Ordering};

use symbolon_circuit::Evaluator;
use symbolon_lang::interp::{Interp, Stop, decode, encode};
use symbolon_lang::source::NoModules;
use symbolon_lang::tir::Tir;
use symbolon_lang::ty::TyId;
use symbolon_lang::{
    Options, assert_number, check, lower_entry, lower_entry_as_repeats, with_stack,
};

use self::writer::{Random, program};

/// How many loops of all programs became repeats.
static REPEATS: AtomicUsize = AtomicUsize::new(0);

/// Compiles a program and compares on random inputs; returns whether it compiled.
fn compare(seed: u64, text: &str) -> bool {
    let mut checked = check("main.sym", text, &NoModules, &Options::default());
    let shown = |checked: &symbolon_lang::Checked| checked.errors.render(&checked.sources, false);
    // A random program may have impossible constants: a failed literal assert, and so on.
    if checked.errors.errors() > 0 {
        let errors = shown(&checked);
        assert!(!errors.contains("error[E01]"), "{errors}\n{text}");
        assert!(!errors.contains("error[E02]"), "{errors}\n{text}");
        assert!(!errors.contains("error[E03]"), "{errors}\n{text}");
        return false;
    }
    let entry = checked.entry.take().expect("it has a main");
    let mut errors = std::mem::take(&mut checked.errors);
    let Ok((circuit, _)) = lower_entry(&checked.tir, &entry, &mut errors, false) else {
        return false;
    };
    let Ok(repeated) = lower_entry_as_repeats(&checked.tir, &entry, &mut errors) else {
        panic!("{seed}: not as repeats: {}\n{text}", errors.render(&checked.sources, false))
    };
    REPEATS.fetch_add(
        repeated.components().iter().map(|component| component.repeats.len()).sum(),
        Ordering::Relaxed,
    );
    let tir: &Tir = &checked.tir;
    let instance = tir.instances[entry.instance].clone().expect("it is checked");
    let by = [&circuit, &repeated].map(Evaluator::new);
    let mut random = Random(seed ^ 0x5555);
    for round in 0..16 {
        let types: Vec<TyId> = entry.inputs.iter().map(|input| input.ty).collect();
        let mut bits = Vec::new();
        let mut values = Vec::new();
        for &ty in &types {
            let width = tir.shapes.width(ty) as usize;
            let own: Vec<bool> =
                (0..width).map(|_| random.next() >> 63 == 1 && round > 0).collect();
            values.push(decode(&tir.shapes, ty, &own));
            bits.extend(own);
        }
        let mut interp = Interp::new(tir);
        let outputs = by[0].bits(&bits);
        let result = &entry.outputs[0];
        let width = tir.shapes.width(result.ty) as usize;
        let (value, failure) = outputs.split_at(width);
        let number = |bits: &[bool]| bits.iter().rev().fold(0u32, |n, &bit| 2 * n + u32::from(bit));
        let failure = number(failure);
        // A circuit that certainly does not fail has no output for it.
        let outputs = by[1].bits(&bits);
        let (again, failed_again) = outputs.split_at(width);
        let repeats = (again, number(failed_again));
        assert_eq!(repeats, (value, failure), "{seed}: repeats: {values:?}\n{text}");
        match interp.run(&instance, values.clone()) {
            Ok(expected) => {
                let mut expected_bits = Vec::new();
                encode(&tir.shapes, result.ty, &expected, &mut expected_bits);
                assert_eq!((value, failure), (&expected_bits[..], 0), "{seed}: {values:?}\n{text}");
            }
            Err(Stop::Assert(place)) => {
                assert_eq!(u64::from(failure), assert_number(place), "{seed}: {values:?}\n{text}");
                assert!(value.iter().all(|bit| !bit), "{seed}: {values:?}\n{text}");
            }
            Err(stop) => panic!("{seed}: {stop:?}\n{text}"),
        }
    }
    true
}

fn run(seeds: std::ops::Range<u64>, effects: bool) {
    run_all(seeds, |seed| program(seed, effects));
}

fn run_all(seeds: std::ops::Range<u64>, program: impl Fn(u64) -> String + Sync) {
    let total = seeds.end - seeds.start;
    let before = REPEATS.load(Ordering::Relaxed);
    let compiled = with_stack(|| seeds.filter(|&seed| compare(seed, &program(seed))).count())
        .expect("a thread");
    assert!(compiled as u64 > total / 2, "only {compiled} of {total} compile");
    let repeats = REPEATS.load(Ordering::Relaxed) - before;
    assert!(repeats as u64 > total / 8, "only {repeats} loops of {total} programs are repeats");
}

#[test]
fn some_hundred_random_programs_are_computed_alike() {
    run(0..800, false);
}

#[test]
#[ignore = "takes a minute"]
fn ten_thousand_random_programs_are_computed_alike() {
    run(1_000..13_000, false);
}

#[test]
fn some_hundred_programs_with_effects_in_expressions_are_computed_alike() {
    run(0..300, true);
}

#[test]
#[ignore = "takes a minute"]
fn ten_thousand_programs_with_effects_in_expressions_are_computed_alike() {
    run(1_000..11_000, true);
}

#[test]
fn some_hundred_random_loops_over_elements_are_computed_alike() {
    run_all(0..600, rounds::program);
}

#[test]
#[ignore = "takes a minute"]
fn ten_thousand_random_loops_over_elements_are_computed_alike() {
    run_all(1_000..13_000, rounds::program);
}

/// Formatting keeps programs: as they are, with all their text on one line, and with each word on
/// its own.
#[test]
fn formatted_programs_are_the_same_programs() {
    use symbolon_lang::compile_text;
    use symbolon_lang::fmt::format;
    let mut compiled = 0;
    for seed in 0..60 {
        let effects = seed % 3 == 0;
        let text = if seed % 3 == 2 { rounds::program(seed) } else { program(seed, effects) };
        // These programs have no comments. Spaces within texts stay.
        let parts = text.split('"').enumerate();
        let apart = parts.map(|(place, part)| match place % 2 {
            0 => part.to_string(),
            _ => part.replace(' ', "_"),
        });
        let text = apart.collect::<Vec<_>>().join("\"");
        let words: Vec<&str> = text.split_whitespace().collect();
        let Ok(circuit) = compile_text(&text, &Options::default()) else { continue };
        compiled += 1;
        for text in [text.clone(), words.join(" "), words.join("\n")] {
            let found = format(&text).expect("tokens");
            let again = format(&found).expect("tokens");
            let differ = found.lines().zip(again.lines()).find(|(one, other)| one != other);
            assert_eq!(again, found, "{seed}, formatted twice: {differ:?}");
            let again = compile_text(&found, &Options::default());
            let again = again.unwrap_or_else(|errors| panic!("{errors}\n{found}"));
            assert_eq!(again.digest(), circuit.digest(), "{text}\n{found}");
        }
    }
    assert!(compiled > 20, "{compiled}");
}
