//! The command lines of `preprocess` and `prepare`.

use clap::Args;

use crate::args::given::{ByPreprocess, Given};
use crate::args::options::EXIT_CODES;
use crate::args::{MeetArgs, PortArgs, StoreArgs};

const PREPROCESS_HELP: &str = "\
EXAMPLES
    symbolon preprocess --config run.toml --store my.store --gates 10000000
    symbolon preprocess cbcmac:16 --count 100 --protocol duplo --config run.toml --store my.store

  Both sides fill their common pools until they hold enough for this many AND gates, of any
  circuits. `symbolon circuit info` says how many a circuit has. A pool is closed after every
  `--pool-gates` gates, and is kept when the command is interrupted: run the same command to
  continue.

  `duplo` garbles components, not gates: its pools are filled for a number of runs of a circuit,
  and serve any circuit that is made of the same components.";

fn preprocess_help() -> String {
    format!("{PREPROCESS_HELP}\n\n{EXIT_CODES}")
}

/// Arguments of `preprocess`.
#[derive(Args, Debug)]
#[command(after_long_help = preprocess_help())]
pub struct PreprocessArgs {
    /// With a protocol that garbles components: the circuit whose components are made, a built-in
    /// one, a file or a `.sym` program
    pub circuit: Option<String>,
    /// The number of runs of that circuit [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: Option<u32>,
    /// The number of AND gates to make material for
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub gates: Option<u64>,
    /// The number of input bits of each party [default: an eighth of the gates]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1 << 40))]
    pub input_bits: Option<u64>,
    /// How pools are cut.
    #[command(flatten)]
    pub pools: Given<ByPreprocess>,
    /// Who this is and where the others are.
    #[command(flatten)]
    pub meet: MeetArgs,
    /// Whose is what, of a circuit whose components are made.
    #[command(flatten)]
    pub ports: PortArgs,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

const PREPARE_HELP: &str = "\
EXAMPLES
    symbolon prepare aes128 --count 10 --config run.toml --store my.store
    symbolon prepare aes128 --count 40 --side-by-side 4 --config run.toml --store my.store

  Runs that use circuits of one group run one after another, because a failed check makes the rest
  of the group void. Circuits that are prepared at once are a group; --side-by-side K makes K groups,
  for K runs at a time. Each group has its own connection and its own Δ.

  Material comes from the pools that all sides hold where there is enough, and is made on the spot
  otherwise. `symbolon run --prepared` uses one prepared circuit up.";

fn prepare_help() -> String {
    format!("{PREPARE_HELP}\n\n{EXIT_CODES}")
}

/// Arguments of `prepare`.
#[derive(Args, Debug)]
#[command(after_long_help = prepare_help())]
pub struct PrepareArgs {
    /// A built-in circuit (see `symbolon circuit list`), a circuit file or a `.sym` program
    pub circuit: Option<String>,
    /// The number of prepared circuits [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: Option<u32>,
    /// The number of groups over which they are spread: that many can run at a time; each has its
    /// own Δ, except for what is made from pools [default: 1]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub side_by_side: Option<u32>,
    /// Take all material from pools, and fail if they are not enough
    #[arg(long)]
    pub from_pools: bool,
    /// Print the result as JSON; docs/reference/json.md describes it
    #[arg(long)]
    pub json: bool,
    /// Who this is and where the others are.
    #[command(flatten)]
    pub meet: MeetArgs,
    /// Whose is what.
    #[command(flatten)]
    pub ports: PortArgs,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}
