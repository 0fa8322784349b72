//! The command line of `circuit` and `eval`.

use std::path::PathBuf;

use clap::{Arg, Args, Subcommand, ValueEnum};
use symbolon::{Parameter, Protocol};

use crate::args::given::{Given, Taken};
use crate::args::{PortArgs, VALUES, ValueArgs};
use crate::common::secret::InputText;

/// Arguments of `circuit`.
#[derive(Args, Debug)]
pub struct CircuitArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: CircuitCommand,
}

/// What can be done with circuits.
#[derive(Subcommand, Debug)]
pub enum CircuitCommand {
    /// List the built-in circuits
    List,
    /// Show inputs, outputs, owners, gate counts, depth, live width and digest
    Info(InfoArgs),
    /// Evaluate in the clear, on all inputs
    Eval(EvalArgs),
    /// Write a circuit as a file, in our own format or a Bristol format
    #[command(visible_alias = "convert")]
    Export(ExportArgs),
    /// Write a circuit with fewer AND gates to a file; prints the number before and after
    Optimise(ExportArgs),
}

/// Arguments of `circuit info`.
#[derive(Args, Debug)]
pub struct InfoArgs {
    /// A built-in circuit, a circuit file or a `.sym` program
    pub circuit: String,
    /// How many parties [default: as many as are named, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    pub parties: Option<u16>,
    /// Whose is what.
    #[command(flatten)]
    pub ports: PortArgs,
    /// What a run garbles and sends.
    #[command(flatten)]
    pub run: RunInfoArgs,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// The protocols with forecasts.
pub const FORECAST: [Protocol; 2] = [Protocol::Duplo, Protocol::DualEx];

/// `circuit info`, which takes the options of these protocols.
#[derive(Clone, Debug, Default)]
pub struct ByInfo;

impl Taken for ByInfo {
    fn takes(parameter: &Parameter) -> bool {
        match parameter {
            Parameter::Option(protocol, _) => FORECAST.contains(protocol),
            Parameter::General(_) => ["rho", "ot", "batch"].contains(&parameter.spec().name),
        }
    }

    fn adapted(arg: Arg) -> Arg {
        arg.requires("protocol")
    }
}

/// The arguments of `circuit info` that are about a protocol.
#[derive(Args, Debug, Default)]
pub struct RunInfoArgs {
    /// Also show what a run with this protocol garbles and sends: duplo or dualex
    #[arg(long, value_name = "NAME")]
    pub protocol: Option<String>,
    /// Batches that `prepare` makes, each stored as one, with --protocol
    #[arg(
        long,
        value_name = "N",
        requires = "protocol",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub count: Option<u32>,
    /// Its parameters and options.
    #[command(flatten)]
    pub given: Given<ByInfo>,
}

fn eval_help() -> String {
    format!("EXAMPLE\n    symbolon circuit eval add:32 --input 0=20 --input 1=22\n\n{VALUES}")
}

/// Arguments of `circuit eval`.
#[derive(Args, Debug)]
#[command(after_long_help = eval_help())]
pub struct EvalArgs {
    /// A built-in circuit, a circuit file or a `.sym` program
    pub circuit: String,
    /// How many parties [default: as many as are named, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    pub parties: Option<u16>,
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
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Circuit file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Our own: binary, and the only one that keeps names, types, owners, receivers and components
    Native,
    /// Bristol Fashion
    Fashion,
    /// The old Bristol format, with at most two inputs and one output
    Bristol,
}

/// Arguments of `circuit export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// A built-in circuit, a circuit file or a `.sym` program
    pub circuit: String,
    /// How many parties [default: as many as are named, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    pub parties: Option<u16>,
    /// The format [default: native for --out NAME.sbc, else fashion]
    #[arg(long)]
    pub format: Option<ExportFormat>,
    /// Write look-ups as gates; `bristol` always does
    #[arg(long)]
    pub gates: bool,
    /// Whose is what.
    #[command(flatten)]
    pub ports: PortArgs,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl ExportArgs {
    /// Returns the requested format, or the one that the file's name implies.
    pub fn format(&self) -> ExportFormat {
        let native = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "sbc");
        let default = match self.out.as_ref().is_some_and(native) {
            true => ExportFormat::Native,
            false => ExportFormat::Fashion,
        };
        self.format.unwrap_or(default)
    }
}
