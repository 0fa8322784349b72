//! Compiles and runs programs.
#![allow(dead_code)]

use symbolon_circuit::{Circuit, Evaluator, format_value, parse_value};
use symbolon_lang::{Options, compile_text};

/// Returns the circuit of a program.
pub fn circuit(text: &str) -> Circuit {
    match compile_text(text, &Options::default()) {
        Ok(circuit) => circuit,
        Err(errors) => panic!("{errors}"),
    }
}

/// Returns the outputs of a circuit for these inputs, as text.
pub fn bits(circuit: &Circuit, inputs: &[&str]) -> Vec<String> {
    function(circuit)(inputs)
}

/// Returns a circuit as a function of its inputs as text.
pub fn function(circuit: &Circuit) -> impl Fn(&[&str]) -> Vec<String> {
    let by = Evaluator::new(circuit);
    move |inputs| outputs(circuit, &by, inputs)
}

fn outputs(circuit: &Circuit, by: &Evaluator<'_>, inputs: &[&str]) -> Vec<String> {
    let ports = circuit.inputs().iter().zip(inputs);
    let bits: Vec<Vec<bool>> =
        ports.map(|(input, text)| parse_value(input, text).expect("a value")).collect();
    let outputs = by.ports(&bits).expect("inputs fit");
    let ports = circuit.outputs().iter().zip(&outputs);
    ports.map(|(output, bits)| format_value(&output.ty, bits).to_string()).collect()
}

/// Returns the outputs of a program for these inputs, as text.
pub fn compute(text: &str, inputs: &[&str]) -> Vec<String> {
    bits(&circuit(text), inputs)
}

/// Returns the errors of a program, as shown.
pub fn errors_of(text: &str) -> String {
    match compile_text(text, &Options::default()) {
        Ok(_) => panic!("it compiles"),
        Err(errors) => errors.to_string(),
    }
}
