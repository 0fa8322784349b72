//! A program in the language: the mean and the median of two salaries, and nothing if somebody
//! keeps a salary back, because then an assert of the program fails.
//!
//! ```text
//! cargo run --release -p symbolon --example program
//! ```

#![allow(clippy::print_stdout)]

use std::thread;

use symbolon::circuit::Circuit;
use symbolon::{Config, Inputs, Outputs, Session, Transport};
use symbolon_lang::{Options, compile_text};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Compiles the program. All parties need the same text and options: they compare their circuits.
fn salaries() -> Result<Circuit> {
    // For a program that uses files of its own, `compile` takes a `source::Folder`.
    let text = include_str!("../../../examples/sym/salaries.sym");
    let constants = vec![("LEAST".to_string(), "2".to_string())];
    let options = Options { constants, parties: Some(2), ..Options::default() };
    compile_text(text, &options).map_err(|errors| errors.to_string().into())
}

/// Returns what a party learns. Its input is an `Option<u32>`: a number, or `null`.
fn party(
    number: u16,
    transport: Transport,
    circuit: &Circuit,
    salary: &str,
) -> symbolon::Result<Outputs> {
    let name = format!("salary.{number}");
    let inputs = Inputs::builder(circuit, number).text(&name, salary)?.finish()?;
    Session::connect(Config::new(number, transport), circuit)?.evaluate(&inputs)
}

#[allow(missing_docs)]
pub fn main() -> Result<()> {
    let circuit = &salaries()?;
    let few = Some("too few salaries");
    for (given, failed) in [(["48000", "52000"], None), (["48000", "null"], few)] {
        let (for_zero, for_one) = Transport::memory(1, None)?;
        let (zero, one) = thread::scope(|scope| {
            let zero = scope.spawn(move || party(0, for_zero, circuit, given[0]));
            let one = party(1, for_one, circuit, given[1]);
            (zero.join().expect("party 0"), one)
        });
        for outputs in [zero?, one?] {
            assert_eq!(outputs.failure().map(|failure| failure.text.as_str()), failed);
            if let Some(failure) = outputs.failure() {
                println!("no result: {failure}");
                continue;
            }
            let (mean, median) = (outputs.text("mean")?, outputs.text("median")?);
            assert_eq!((mean.as_str(), median.as_str()), ("50000", "52000"));
            println!("mean {mean}");
        }
    }
    Ok(())
}
