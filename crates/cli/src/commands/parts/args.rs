//! Arguments of `parts`.

use std::path::PathBuf;

use clap::{Arg, Args};
use symbolon::{Parameter, parameters};

use crate::args::MeetArgs;
use crate::args::options::EXIT_CODES;
use crate::common::secret::InputText;

const PARTS_HELP: &str = "\
EXAMPLE
    symbolon parts tender.toml --local --input sum.x=3 --input sum.y=4

  where tender.toml has

    [[part]]
    name = \"sum\"
    circuit = \"add:8\"
    outputs = { sum = \"none\" }        # nobody learns it

    [[part]]
    name = \"double\"
    circuit = \"add:8\"
    links = { x = \"sum.sum\", y = \"sum.sum\" }

    [[part]]
    name = \"again\"
    circuit = \"add:8\"
    links = { x = \"double.sum\", y = \"sum.sum\" }
    when = \"double.sum = 14\"          # otherwise this part is left out

  Both parties give the same file. `owners = { INPUT = PARTY }` says whose an input is.";

fn parts_help() -> String {
    format!("{PARTS_HELP}\n\n{EXIT_CODES}")
}

/// Changes the help of the options that `parts` shares with other commands: most are of protocols
/// that keep no outputs, and refused.
pub fn of_parts(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "protocol" => arg.help(format!("The protocol [default: {DEFAULT}]")),
        "dealer" | "dealer_fingerprint" | "batch" | "in-flight" | "form" => arg.hide(true),
        id => {
            let of_others = parameters().iter().any(|one| match one {
                Parameter::Option(of, option) => option.spec.name == id && of.name() != DEFAULT,
                Parameter::General(_) => false,
            });
            arg.hide(of_others)
        }
    }
}

/// The protocol, if none is named: the only one that keeps outputs for later parts.
pub const DEFAULT: &str = "duplo";

/// Arguments of `parts`.
#[derive(Args, Debug)]
#[command(after_long_help = parts_help())]
pub struct PartsArgs {
    /// The file that lists the parts
    #[arg(value_name = "FILE")]
    pub plan: PathBuf,
    /// Run both parties here, as threads
    #[arg(
        long,
        conflicts_with_all = [
            "config", "party", "listen", "connect", "key", "peer_fingerprint", "transport",
            "dealer", "dealer_fingerprint"
        ]
    )]
    pub local: bool,
    /// An own input, PART.INPUT=VALUE; with --local, any party's
    #[arg(long = "input", value_name = "PART.INPUT=VALUE")]
    pub inputs: Vec<InputText>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Who this is and where the others are.
    #[command(flatten)]
    pub meet: MeetArgs,
}
