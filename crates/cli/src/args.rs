//! The arguments of commands, and those that several commands share.

use std::path::PathBuf;

use clap::{Arg, Args, Subcommand, ValueEnum};
use symbolon::{Parameter, Protocol};

use crate::given::{Given, Taken};
use crate::labels::{Labels, port_name, port_type};
use crate::lang::ProgramArgs;
use crate::options::{EXIT_CODES, LocalTransport, RemoteTransport, TuningArgs};
use crate::owners::{Audience, Owner, audience, owner};
use crate::progress::args::ShowArgs;
use crate::secret::InputText;
use crate::words::assignment;

/// How values are written, the same for every circuit; shown by `--help`.
const VALUES: &str = "\
VALUES
  A value is one of
    hex:2b7e15…    raw bits: the whole input, or an element, as one big-endian integer
    1234, -5, 0x4d2
                   an integer, in decimal or in hexadecimal
    3,1,2          for an array, its elements in order (also [3, 1, 2])
    true, 1.25, {\"price\": 3}, null, \"Red\"
                   for the types of programs: truth values, fixed-point numbers, structures,
                   optional values, variants
    bits:0110      raw bits, the first character on the first wire
    @FILE          a text file that holds one of these forms, or a list with an element a line or
                   with spaces between elements; as JSON, several lines too
    @FILE.csv      a list with an element a row; a header may name the parts of elements, and
                   @FILE.csv#COLUMN,… chooses columns by their names
    @FILE.json     one JSON document
    @FILE.json#KEY the value of a key, or of that key in each object of a list
    - or @-        a text, from standard input (for one input)
  Wire 0 is the least significant bit of an integer, and element 0 of an array has the lowest wires.
  So hex: writes the last element of an array first, and the usual hexadecimal test strings of AES
  and SHA-2 are used as they are.
  Other users of the machine can read a command line: give secrets as @FILE or on standard input.";

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Show an auction among N bidders, 3 to 16, instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(3..=16))]
    pub parties: Option<u16>,
    /// Simulate a link: lan, lan1, wan, or ROUNDTRIP,BANDWIDTH such as 20ms,100mbit
    #[arg(long, value_name = "LINK")]
    pub link: Option<String>,
}

/// Changes to a circuit's owners and receivers.
#[derive(Args, Debug, Default, Clone)]
#[command(next_help_heading = "Circuit")]
pub struct PortArgs {
    /// Give an input to a party; INPUT is a name or a position from 0, PARTY a number from 0, or
    /// `share`: each party gives a share, and the input is the XOR of all; any of them
    /// can flip its bits by giving another share
    #[arg(long = "owner", value_name = "INPUT=PARTY", value_parser = owner)]
    pub owners: Vec<(String, Owner)>,
    /// Choose who learns an output: OUTPUT=all, OUTPUT=none, OUTPUT=0 or OUTPUT=0,1
    #[arg(long = "output", value_name = "OUTPUT=PARTIES", value_parser = audience)]
    pub outputs: Vec<(String, Audience)>,
    /// Give an input or output of the circuit another type of the same width, such as uint32[200],
    /// (bool, int8) or fixed<12, 20>; PORT is its name in the file
    #[arg(long = "type", value_name = "PORT=TYPE", value_parser = port_type)]
    pub types: Vec<(String, String)>,
    /// Give an input or output of the circuit another name, which all other options then use; PORT
    /// is its name in the file
    #[arg(long = "name", value_name = "PORT=NAME", value_parser = port_name)]
    pub names: Vec<(String, String)>,
    /// What a `.sym` program is compiled with.
    #[command(flatten)]
    pub program: ProgramArgs,
}

impl PortArgs {
    /// Returns the types and names.
    pub fn labels(&self) -> Labels {
        Labels { types: self.types.clone(), names: self.names.clone() }
    }

    /// Returns an option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let PortArgs { owners, outputs, types, names, program } = self;
        let given = [
            (!owners.is_empty(), "--owner"),
            (!outputs.is_empty(), "--output"),
            (!types.is_empty(), "--type"),
            (!names.is_empty(), "--name"),
            (program.entry.is_some(), "--entry"),
            (!program.constants.is_empty(), "--const"),
        ];
        given.into_iter().find_map(|(given, option)| given.then_some(option))
    }
}

/// Shown by `run --help`; ends with a settings file.
pub(crate) const RUN_HELP: &str = "\
EXAMPLES
  Party 0 waits, party 1 dials; either may start first:
    symbolon run aes128 --party 0 --listen 0.0.0.0:7000 --key alice.key \\
        --peer-fingerprint 90ac… --input key=@key.txt --output ciphertext=1
    symbolon run aes128 --party 1 --connect alice.example:7000 --key bob.key \\
        --peer-fingerprint 5d1f… --input message=hex:3243f6a8885a308d313198a2e0370734 \\
        --output ciphertext=1

  All of it from a file (flags override it):
    symbolon run --config run.toml

    # run.toml; relative paths are taken from this file's folder
    circuit = \"aes128\"            # a built-in, or a circuit file
    party = 0
    listen = \"0.0.0.0:7000\"       # or connect = \"alice.example:7000\"
    key = \"alice.key\"
    peer_fingerprint = \"90ac…\"
    transport = \"tls\"             # or \"tcp\"
    protocol = \"wrk\"
    form = \"auto\"
    ot = \"auto\"
    rho = 40
    batch = 1
    segment_gates = 1048576             # AND gates; larger circuits are not kept in memory
    threads = 1
    timeout = 60
    link = \"lan\"                  # simulated; leave out on a real network
    # dealer = \"dealer.example:7100\"  # trusted with all inputs: docs/guide.md
    # dealer_fingerprint = \"77be…\"
    store = \"my.store\"            # with --prepared, and for preprocess and prepare
    json = false
    pad = false                    # fill lists that are shorter than their input
    # entry = \"main\"              # of a `.sym` program
    # [const]                      # its `pub const`s
    # N = 9
    [inputs]
    key = \"@key.txt\"              # any VALUE, an integer, or an array of integers
    [owners]
    key = 0
    [outputs]
    ciphertext = \"1\"              # \"all\", \"none\", \"0\", \"0,1\"
    [save]
    ciphertext = \"out.csv\"

  Three parties or more share one file that lists them all; each adds what is its own:
    symbolon run --config auction.toml --party 2 --key carol.key --input bid_2=@bid.txt

    # auction.toml
    circuit = \"auction:3x32\"
    [[party]]
    id = 0
    address = \"alice.example:7000\"  # later parties dial it; --listen may say where it is bound
    fingerprint = \"90ac…\"
    [[party]]
    id = 1
    address = \"bob.example:7000\"
    fingerprint = \"5d1f…\"
    [[party]]
    id = 2                         # nobody dials the last one
    fingerprint = \"77be…\"";

fn run_help() -> String {
    format!("{RUN_HELP}\n\n{VALUES}\n\n{EXIT_CODES}")
}

/// Arguments of `run`.
#[derive(Args, Debug, Default)]
#[command(after_long_help = run_help())]
pub struct RunArgs {
    /// A built-in circuit (see `symbolon circuit list`), a circuit file or a `.sym` program
    pub circuit: Option<String>,
    /// Who this is and where the others are.
    #[command(flatten)]
    pub meet: MeetArgs,
    /// The value of one of this party's inputs; INPUT is a name or a position from 0
    #[arg(long = "input", value_name = "INPUT=VALUE", allow_hyphen_values = true)]
    pub inputs: Vec<InputText>,
    /// How values are read and written.
    #[command(flatten)]
    pub values: ValueArgs,
    /// Whose is what.
    #[command(flatten)]
    pub ports: PortArgs,
    /// Use up a circuit that `symbolon prepare` put into the store
    #[arg(long)]
    pub prepared: bool,
    /// The store, with --prepared.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// How values are read and written.
#[derive(Args, Debug, Default, Clone)]
pub struct ValueArgs {
    /// Fill lists that are shorter than their input with zero bits: `null`, 0, false
    #[arg(long)]
    pub pad: bool,
    /// Write an output to a file, by the file's name as CSV (`.csv`), JSON (`.json`), or text with
    /// an element a line
    #[arg(long = "save", value_name = "OUTPUT=FILE", value_parser = assignment)]
    pub saves: Vec<(String, String)>,
}

/// Who this is, where the others are, and what all must agree on.
#[derive(Args, Debug, Default, Clone)]
#[command(next_help_heading = "Parties")]
pub struct MeetArgs {
    /// Read settings from a TOML file; flags override them
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Which party this is, from 0
    #[arg(long, value_name = "PARTY")]
    pub party: Option<u16>,
    /// Wait for the peer at this address, HOST:PORT; port 0 picks a free one and says which
    #[arg(long, value_name = "ADDR", conflicts_with = "connect")]
    pub listen: Option<String>,
    /// Dial the peer at this address, HOST:PORT
    #[arg(long, value_name = "ADDR")]
    pub connect: Option<String>,
    /// This party's identity file, made by `symbolon keygen`
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The fingerprint of the peer's key, as the peer told you over another channel
    #[arg(long, value_name = "HEX")]
    pub peer_fingerprint: Option<String>,
    /// The transport [default: tls]
    #[arg(long)]
    pub transport: Option<RemoteTransport>,
    /// Take material from the dealer at this address, HOST:PORT, instead of making it with the
    /// peers; all parties must. Much faster, but the dealer is trusted: together with any one
    /// party, or by reading what the parties send each other, it learns all inputs and can change
    /// any output, and alone it can spoil outputs, unnoticed. See docs/guide.md
    #[arg(long, value_name = "ADDR")]
    pub dealer: Option<String>,
    /// The fingerprint of the dealer's key
    #[arg(long, value_name = "HEX")]
    pub dealer_fingerprint: Option<String>,
    /// Parameters.
    #[command(flatten)]
    pub tuning: TuningArgs,
    /// What is shown meanwhile.
    #[command(flatten)]
    pub show: ShowArgs,
}

/// Where material is kept, and what opens it.
#[derive(Args, Debug, Default, Clone)]
#[command(next_help_heading = "Store")]
pub struct StoreArgs {
    /// The directory of this party's store; created if it does not exist
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// The key file that opens the store, made by `symbolon store keygen`
    #[arg(long, value_name = "FILE", conflicts_with = "store_passphrase")]
    pub store_key: Option<PathBuf>,
    /// A file whose first line is the passphrase that opens the store
    #[arg(long, value_name = "FILE")]
    pub store_passphrase: Option<PathBuf>,
}

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
    /// Close a pool after this many AND gates, and begin another one; a circuit is prepared from
    /// one pool, which must be large enough for it [default: 16777216]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub pool_gates: Option<u64>,
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
EXAMPLE
    symbolon prepare aes128 --count 10 --config run.toml --store my.store

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

/// Arguments of `store`.
#[derive(Args, Debug)]
pub struct StoreCommandArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// What can be done with a store.
#[derive(Subcommand, Debug)]
pub enum StoreCommand {
    /// List pools and prepared circuits, what is left of them, and what is being written
    Ls {
        /// The store.
        #[command(flatten)]
        store: OpenArgs,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Read and check everything that is not used up; what is damaged becomes void
    Verify(OpenArgs),
    /// Remove what is used, void or half-written
    Gc(OpenArgs),
    /// Print what is public about an item as JSON; material itself never leaves the store
    Export {
        /// The store.
        #[command(flatten)]
        store: OpenArgs,
        /// The item, as `ls` names it
        item: String,
    },
    /// Encrypt an existing store, or change its key; no process may be using it
    Encrypt {
        /// The store, and what opens it now.
        #[command(flatten)]
        store: OpenArgs,
        /// The new key file (`store keygen` makes one)
        #[arg(long, value_name = "FILE", conflicts_with = "new_store_passphrase")]
        new_store_key: Option<PathBuf>,
        /// A file whose first line is the new passphrase
        #[arg(long, value_name = "FILE")]
        new_store_passphrase: Option<PathBuf>,
    },
    /// Make a store that was copied or moved here usable: everything in it becomes void
    ResetOwnership(OpenArgs),
    /// Make a key file that opens stores
    Keygen {
        /// Where to write it
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

/// A store that is there, and what opens it.
#[derive(Args, Debug)]
pub struct OpenArgs {
    /// The directory of the store
    pub directory: PathBuf,
    /// The key file that opens it
    #[arg(long, value_name = "FILE", conflicts_with = "store_passphrase")]
    pub store_key: Option<PathBuf>,
    /// A file whose first line is the passphrase that opens it
    #[arg(long, value_name = "FILE")]
    pub store_passphrase: Option<PathBuf>,
}

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
    /// The value of an input; INPUT is a name or a position from 0
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
        matches!(parameter, Parameter::Option(protocol, _) if FORECAST.contains(protocol))
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
    /// Evaluations, with --protocol; says how many run together [default: 1]
    #[arg(
        long,
        value_name = "N",
        requires = "protocol",
        value_parser = clap::value_parser!(u64).range(1..=1 << 40)
    )]
    pub batch: Option<u64>,
    /// Batches that `prepare` makes, each stored as one, with --protocol
    #[arg(
        long,
        value_name = "N",
        requires = "protocol",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub count: Option<u32>,
    /// Statistical security in bits, with --protocol: 40, 64 or 80 [default: 40]
    #[arg(long, value_name = "BITS", requires = "protocol")]
    pub rho: Option<u32>,
    /// What makes correlated OTs, with --protocol dualex: iknp, softspoken2, softspoken4 or
    /// softspoken8 [default: softspoken4]
    #[arg(long, value_name = "NAME", requires = "protocol")]
    pub ot: Option<String>,
    /// The options of these protocols.
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
    /// The value of an input; INPUT is a name or a position from 0
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

/// Arguments of `keygen`.
#[derive(Args, Debug)]
pub struct KeygenArgs {
    /// Where to put the identity; readable by you alone
    #[arg(long, value_name = "FILE", default_value = "symbolon.key")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `fingerprint`.
#[derive(Args, Debug)]
pub struct FingerprintArgs {
    /// An identity file made by `symbolon keygen`
    pub file: PathBuf,
}
