//! A thousand evaluations of one circuit side by side, with `tinytable`: one message per layer for
//! all of them together.
//!
//! ```text
//! cargo run --release -p symbolon --example batch
//! ```

#![allow(clippy::print_stdout)]

use std::thread;

use symbolon::circuit::builtin;
use symbolon::{Config, Inputs, Protocol, Result, Session, Transport};

const COUNT: u64 = 1_000;

/// Returns the sums that a party learns of its numbers and the other's.
fn party(number: u16, transport: Transport) -> Result<Vec<u128>> {
    let circuit = builtin::by_name("add:32").expect("a built-in circuit");
    let config = Config::new(number, transport).protocol(Protocol::TinyTable).executions(COUNT);
    let mut session = Session::connect(config, &circuit)?;
    let place = usize::from(number);
    let inputs = (0..u128::from(COUNT))
        .map(|i| Inputs::builder(&circuit, number).uint(place, i * (1 + place as u128))?.finish());
    let mut sums = Vec::new();
    session.evaluate_batch(inputs, |learned| {
        sums.push(learned.uint("sum")?);
        Ok(())
    })?;
    Ok(sums)
}

#[allow(missing_docs)]
pub fn main() -> Result<()> {
    let (for_zero, for_one) = Transport::memory(1, None)?;
    let (zero, one) = thread::scope(|scope| {
        let zero = scope.spawn(|| party(0, for_zero));
        let one = party(1, for_one);
        (zero.join().expect("party 0"), one)
    });
    let (zero, one) = (zero?, one?);
    println!("{} sums, the last one {:?}", zero.len(), zero.last());
    assert_eq!(zero, (0..u128::from(COUNT)).map(|i| 3 * i).collect::<Vec<_>>());
    assert_eq!(zero, one);
    Ok(())
}
