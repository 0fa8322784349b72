//! Arguments that several commands share.

pub mod given;
pub mod labels;
pub mod options;
pub mod owners;
pub mod program;
pub mod tuning;

use std::path::PathBuf;

use clap::Args;

use crate::common::secret::InputText;
use crate::common::words::assignment;
use crate::progress::args::ShowArgs;
use labels::{Labels, port_name, port_type};
use options::{EXIT_CODES, RemoteTransport, TuningArgs};
use owners::{Audience, Owner, audience, owner};
use program::ProgramArgs;

/// How values are written, the same for every circuit; shown by `--help`.
pub const VALUES: &str = "\
VALUES
  A value is one of
    hex:2b7e15…    raw bits: the whole input, or an element, as one big-endian integer
    1234, -5, 0x4d2
                   an integer, in decimal or in hexadecimal
    3,1,2          for an array, its elements in order (also [3, 1, 2])
    true, 1.25, {\"price\": 3}, null, \"Red\"
                   for the types of programs: truth values, fixed-point numbers, structures,
                   optional values, variants
    \"Zoë\", Zoë     a text, in quotes as in JSON; they can be left out where there are no quotes,
                   brackets or commas
    bits:0110      raw bits, the first character on the first wire
    @FILE          a text file that holds one of these forms, or a list with an element a line or
                   with spaces between elements; as JSON, several lines too
    @FILE.csv      a list with an element a row; a header may name the parts of elements, and
                   @FILE.csv#COLUMN,… chooses columns by their names; COLUMN|sha256 and COLUMN|hex
                   make integers of texts
    @FILE.json     one JSON document
    @FILE.json#KEY the value of a key, or of that key in each object of a list
    @FILE.bin      its bytes, eight wires each, the first wire the lowest bit of the first byte:
                   bytes as they are, numbers and arrays of them in little-endian order
    - or @-        a text, from standard input (for one input)
  Wire 0 is the least significant bit of an integer, and element 0 of an array has the lowest wires.
  So hex: writes the last element of an array first, and the usual hexadecimal test strings of AES
  and SHA-2 are used as they are.
  Other users of the machine can read a command line: give secrets as @FILE or on standard input.";

/// Changes to the owners of a program's inputs.
#[derive(Args, Debug, Default, Clone)]
pub struct OwnerArgs {
    /// Give an input to a party; INPUT is a name or a position from 0, PARTY a number from 0, or
    /// `share`: each party gives a share
    #[arg(long = "owner", value_name = "INPUT=PARTY", value_parser = owner)]
    pub owners: Vec<(String, Owner)>,
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
    /// Give an input or output of the circuit another type of the same width, such as [u32; 200],
    /// (bool, i8) or fixed<12, 20>; PORT is its name in the file
    #[arg(long = "type", value_name = "PORT=TYPE", value_parser = port_type)]
    pub types: Vec<(String, String)>,
    /// Give an input or output of the circuit another name, which all other options then use; PORT
    /// is its name in the file
    #[arg(long = "name", value_name = "PORT=NAME", value_parser = port_name)]
    pub names: Vec<(String, String)>,
    /// What a `.sym` program is compiled with.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Compile a `.sym` program even if an earlier command did, and do not keep its circuit; see
    /// `symbolon cache`
    #[arg(long)]
    pub no_cache: bool,
}

impl PortArgs {
    /// Returns the types and names.
    pub fn labels(&self) -> Labels {
        Labels { types: self.types.clone(), names: self.names.clone() }
    }

    /// Returns an option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let PortArgs { owners, outputs, types, names, program, no_cache } = self;
        let given = [
            (!owners.is_empty(), "--owner"),
            (!outputs.is_empty(), "--output"),
            (!types.is_empty(), "--type"),
            (!names.is_empty(), "--name"),
            (program.entry.is_some(), "--entry"),
            (!program.constants.is_empty(), "--const"),
            (*no_cache, "--no-cache"),
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
    /// Write an output to a file, by the file's name as CSV (`.csv`), JSON (`.json`), bytes
    /// (`.bin`), or text with an element a line
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
