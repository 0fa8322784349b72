//! The command line of `local`.

use clap::Args;

use crate::args::options::{EXIT_CODES, LocalTransport, TuningArgs};
use crate::args::{PortArgs, VALUES, ValueArgs};
use crate::common::secret::InputText;
use crate::progress::args::ShowArgs;

const LOCAL_HELP: &str = "\
EXAMPLES
    symbolon local add:32 --input 0=20 --input 1=22
    symbolon local aes128 --input key=hex:000102030405060708090a0b0c0d0e0f \\
        --input message=hex:00112233445566778899aabbccddeeff --link wan --json
    symbolon local ./adder.txt --owner 1=0 --owner 2=1 --input 0=@a --input 1=@b --input 2=@c
    symbolon local auction:3x32 --parties 3 --input 0=120 --input 1=95 --input 2=130
    symbolon local add:32 --parties 3 --owner x=share --input x=20 --input y=22";

fn local_help() -> String {
    format!("{LOCAL_HELP}\n\n{VALUES}\n\n{EXIT_CODES}")
}

/// Arguments of `local`.
#[derive(Args, Debug)]
#[command(after_long_help = local_help())]
pub struct LocalArgs {
    /// A built-in circuit (see `symbolon circuit list`), a circuit file or a `.sym` program
    pub circuit: String,
    /// How many parties, 2 to 64 [default: as many as the circuit names, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=64))]
    pub parties: Option<u16>,
    /// The transport
    #[arg(long, default_value = "tls")]
    pub transport: LocalTransport,
    /// The value of an input; INPUT is a name or a position from 0. Of an input that is shared
    /// (`from share`, `--owner INPUT=share`) it is the whole value, which is split at random
    #[arg(long = "input", value_name = "INPUT=VALUE", allow_hyphen_values = true)]
    pub inputs: Vec<InputText>,
    /// How values are read and written.
    #[command(flatten)]
    pub values: ValueArgs,
    /// Whose is what.
    #[command(flatten)]
    pub ports: PortArgs,
    /// Run the three phases this many times over one set-up
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repeat: u32,
    /// Run the function-independent phase by itself, making triples that fit any circuit. By
    /// default triples are made for this circuit, which is cheaper
    #[arg(long)]
    pub split_phases: bool,
    /// Also start a dealer, and take material from it. Parties must trust a dealer with all their
    /// inputs: see docs/guide.md
    #[arg(long)]
    pub dealer: bool,
    /// Parameters.
    #[command(flatten)]
    pub tuning: TuningArgs,
    /// Print the result as JSON; docs/reference/json.md describes it
    #[arg(long)]
    pub json: bool,
    /// What is shown meanwhile.
    #[command(flatten)]
    pub show: ShowArgs,
}
