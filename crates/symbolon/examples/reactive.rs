//! A hidden balance that passes through several circuits: in each round both parties add something,
//! and learn only whether the balance has reached a limit. Only then do they open it. They decide
//! between rounds which circuit comes next.
//!
//! ```text
//! cargo run --release -p symbolon --example reactive
//! ```

#![allow(clippy::print_stdout)]

use std::thread;

use symbolon::circuit::builder::{Builder, Word};
use symbolon::circuit::{Circuit, Receivers, Type};
use symbolon::{Config, Inputs, Link, Protocol, Result, Session, Transport};

const LIMIT: u128 = 100;

/// Adds both parties' amounts to the balance, which nobody learns.
fn round() -> Circuit {
    let mut b = Builder::new("round");
    let balance = b.input("balance", Type::Uint(16), 0);
    let given = [0, 1].map(|party| b.input(format!("from {party}"), Type::Uint(16), party));
    let balance = b.add(&balance, &given[0]);
    let balance = b.add(&balance, &given[1]);
    let below = b.lt(&balance, &Word::constant(16, LIMIT));
    b.output("balance", &balance, Type::Uint(16), Receivers::Only(vec![]));
    b.output("below", &[below].into_iter().collect(), Type::Bool, Receivers::All);
    b.finish().expect("a valid circuit")
}

/// Opens the balance.
fn last() -> Circuit {
    let mut b = Builder::new("last");
    let balance = b.input("balance", Type::Uint(16), 0);
    b.output("balance", &balance, Type::Uint(16), Receivers::All);
    b.finish().expect("a valid circuit")
}

/// Returns the number of rounds, and the balance after them.
fn party(number: u16, transport: Transport) -> Result<(usize, u128)> {
    let (round, last) = (round(), last());
    let config = Config::new(number, transport).protocol(Protocol::Duplo);
    let mut session = Session::connect_in_parts(config, &round, &[])?;
    let own = 1 + usize::from(number);
    let mut first = Inputs::builder(&round, number);
    if number == 0 {
        first = first.uint("balance", 0)?;
    }
    let mut learnt = session.evaluate_part(&first.uint(own, 20)?.finish()?)?;
    let mut rounds = 1;
    let balance_of = |part| [Link { input: 0, part, output: 0 }];
    while learnt.uint("below")? == 1 {
        let links = balance_of(rounds - 1);
        let inputs = Inputs::builder(&round, number).uint(own, 7)?.finish_linked(&links)?;
        learnt = session.continue_with(&round, &links, &inputs)?;
        rounds += 1;
    }
    let links = balance_of(rounds - 1);
    let inputs = Inputs::builder(&last, number).finish_linked(&links)?;
    let opened = session.continue_with(&last, &links, &inputs)?;
    Ok((rounds, opened.uint("balance")?))
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
    println!("{} rounds, then {}", zero.0, zero.1);
    // 40 in the first round, and 14 in each later one.
    assert_eq!(zero, (6, 110));
    assert_eq!(zero, one);
    Ok(())
}
