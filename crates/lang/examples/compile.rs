//! Compiles programs, and prints the time and the memory that this takes.

use std::time::Instant;

fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().expect("a file");
    let text = std::fs::read_to_string(&file).expect("a text");
    let constants = args
        .map(|arg| {
            let (name, value) = arg.split_once('=').expect("NAME=VALUE");
            (name.to_string(), value.to_string())
        })
        .collect();
    let options = symbolon_lang::Options { constants, ..Default::default() };
    let start = Instant::now();
    match symbolon_lang::compile_text(&text, &options) {
        Ok(circuit) => {
            let steps: usize = circuit.components().iter().map(|c| c.steps.len()).sum();
            let ands = symbolon_circuit::builder::and_count(&circuit);
            println!("{ands} ANDs, {} components, {steps} steps", circuit.components().len());
        }
        Err(errors) => println!("{errors}"),
    }
    println!("{:.2} s", start.elapsed().as_secs_f64());
}
