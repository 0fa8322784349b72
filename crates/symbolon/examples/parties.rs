//! Five parties: an auction in which all learn who wins, and only the winner learns the price.
//!
//! ```text
//! cargo run --release -p symbolon --example parties
//! ```

#![allow(clippy::print_stdout)]

use std::thread;

use symbolon::circuit::builtin;
use symbolon::{Config, Inputs, Outputs, Result, Session, Transport};

const BIDS: [u128; 5] = [120, 310, 95, 280, 305];

fn party(number: u16, transport: Transport) -> Result<Outputs> {
    let circuit = builtin::by_name("auction:5x32").expect("a built-in circuit");
    let place = usize::from(number);
    let inputs = Inputs::builder(&circuit, number).uint(place, BIDS[place])?.finish()?;
    // Among more than two parties the protocol is `ywz` by default.
    Session::connect(Config::new(number, transport), &circuit)?.evaluate(&inputs)
}

#[allow(missing_docs)]
pub fn main() -> Result<()> {
    // Between machines, use `Transport::tls_mesh` instead.
    let ends = Transport::memory_mesh(5, 1, None)?;
    let learned: Vec<Outputs> = thread::scope(|scope| {
        let start = |(number, transport)| scope.spawn(move || party(number, transport));
        let parties: Vec<_> = (0..).zip(ends).map(start).collect();
        parties.into_iter().map(|party| party.join().expect("a party")).collect::<Result<_>>()
    })?;
    for (number, outputs) in learned.iter().enumerate() {
        let (winner, price) = (outputs.uint("winner")?, outputs.uint(&format!("price_{number}"))?);
        println!("party {number}: winner {winner}, own price {price}");
        assert_eq!(winner, 1);
        assert_eq!(outputs.is_learnt("price_1")?, number == 1);
        assert!(number != 1 || price == 305, "the second highest bid");
    }
    Ok(())
}
