//! All work that needs no input is done the night before: a pool, then a prepared circuit, both
//! kept on disk. In the morning a result takes three messages. Each step opens the stores anew, so
//! each could be a process of its own; between machines, use [`Transport::tls`].
//!
//! ```text
//! cargo run --release -p symbolon --example night_before
//! ```

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::thread;

use symbolon::circuit::builtin;
use symbolon::store::{Protection, Store};
use symbolon::stored::{self, Amount};
use symbolon::{Config, GateForm, Inputs, Result, Transport};

/// Runs one step for both parties, each with its own store in `directory`.
fn both<T: Send>(
    directory: &Path,
    step: impl Fn(u16, Config, &Store) -> Result<T> + Sync,
) -> Result<[T; 2]> {
    // Each step has its own connection, as if the processes had ended in between.
    let (for_zero, for_one) = Transport::memory(1, None)?;
    let party = |number: u16, transport: Transport| -> Result<T> {
        let protection = Protection::None; // Give a passphrase where others can read the disk.
        let store = Store::open_or_create(directory.join(number.to_string()), &protection)?;
        step(number, Config::new(number, transport).form(GateForm::FourRow), &store)
    };
    thread::scope(|scope| {
        let zero = scope.spawn(|| party(0, for_zero));
        let one = party(1, for_one);
        Ok([zero.join().expect("party 0")?, one?])
    })
}

#[allow(missing_docs)]
pub fn main() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let directory = folder.path();
    let circuit = &builtin::by_name("aes128")?;

    // In the evening: material for any circuit with this many gates.
    let amount = Amount { and_gates: 6_400, input_bits: 128 };
    let [filled, _] = both(directory, |_, config, store| stored::fill(config, store, amount))?;
    println!("a pool for {} AND gates", filled.made.and_gates);

    // At night: the circuit is garbled.
    let [prepared, _] =
        both(directory, |_, config, store| stored::prepare(config, store, circuit, 1))?;
    println!("{} prepared, {} of them from the pool", prepared.items.len(), prepared.from_pools);

    // In the morning: the inputs. The prepared circuit is used up.
    let key = "hex:000102030405060708090a0b0c0d0e0f";
    let block = "hex:00112233445566778899aabbccddeeff";
    let [zero, one] = both(directory, |number, config, store| {
        let value = if number == 0 { key } else { block };
        let inputs = Inputs::builder(circuit, number).text(usize::from(number), value)?.finish()?;
        stored::run(config, store, circuit, &inputs)
    })?;
    for ran in [&zero, &one] {
        println!("{}", ran.outputs.text("ciphertext")?);
    }

    let inputs =
        |number: u16| Inputs::builder(circuit, number).text(usize::from(number), key)?.finish();
    let again = both(directory, |number, config, store| {
        stored::run(config, store, circuit, &inputs(number)?)
    });
    println!("and again: {}", again.err().ok_or("a prepared circuit was used twice")?);
    Ok(())
}
