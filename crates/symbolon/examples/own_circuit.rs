//! A custom function, built gate by gate: eight votes of party 0, weighted by party 1.
//!
//! ```text
//! cargo run --release -p symbolon --example own_circuit
//! ```

#![allow(clippy::print_stdout)]

use std::thread;

use symbolon::circuit::builder::{Builder, Word};
use symbolon::circuit::{Circuit, CircuitError, Receivers, Type};
use symbolon::{Config, Inputs, Session, Transport};

/// Both parties learn the weighted sum and nothing else.
fn weighted_vote() -> Result<Circuit, CircuitError> {
    let mut b = Builder::new("weighted vote");
    let votes = b.input("votes", Type::Uint(8), 0);
    let weights = b.input("weights", Type::words(8, 16), 1);
    let mut sum = Word::zero(16);
    for (i, weight) in weights.split(16).iter().enumerate() {
        let counted = b.and_each(votes[i], weight);
        sum = b.add(&sum, &counted);
    }
    b.output("result", &sum, Type::Uint(16), Receivers::All);
    b.finish()
}

fn party(
    number: u16,
    transport: Transport,
    circuit: &Circuit,
) -> Result<u128, Box<dyn std::error::Error + Send + Sync>> {
    let inputs = Inputs::builder(circuit, number);
    let inputs = match number {
        0 => inputs.uint("votes", 0b1010_0001)?,
        _ => inputs.integers("weights", &[100, 20, 30, 40, 50, 60, 70, 80])?,
    };
    let mut session = Session::connect(Config::new(number, transport), circuit)?;
    Ok(session.evaluate(&inputs.finish()?)?.uint("result")?)
}

#[allow(missing_docs)]
pub fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let circuit = &weighted_vote()?;
    let (for_zero, for_one) = Transport::memory(1, None)?;
    let (zero, one) = thread::scope(|scope| {
        let zero = scope.spawn(move || party(0, for_zero, circuit));
        let one = party(1, for_one, circuit);
        (zero.join().expect("party 0"), one)
    });
    let (zero, one) = (zero?, one?);
    println!("party 0 learned {zero}, party 1 learned {one}");
    assert_eq!((zero, one), (100 + 60 + 80, 240));
    Ok(())
}
