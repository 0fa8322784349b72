//! Options that several commands share.

use clap::{Args, ValueEnum};

pub(crate) const EXIT_CODES: &str = "\
EXIT CODES
  0   success
  2   the command line, a file or a value is unusable
  3   the peer is absent, gone, silent, or holds another key
  4   the peer was asked for another computation (circuit, parameters, version)
  5   a check failed: the peer cheated, or its bytes were changed on the way
  6   an assert of the program failed: all outputs are zero
  70  a defect of this program
  71  this machine has no file descriptors, memory, threads or processes left
  72  a party's process on this machine was killed
  73  a party's process on this machine is stopped
  74  something could not be written, for instance because a disk is full
  130 SIGINT came
  143 SIGTERM came";

/// Protocol parameters that all parties must agree on, and how to talk.
#[derive(Args, Debug, Default, Clone)]
#[command(next_help_heading = "Parameters")]
pub struct TuningArgs {
    /// The protocol [default: wrk between two parties, ywz among more]
    #[arg(long, value_name = "NAME")]
    pub protocol: Option<String>,
    /// Statistical security in bits, 40, 64 or 80: a cheat goes unnoticed with probability at most
    /// 2^-RHO [default: 40]
    #[arg(long, value_name = "BITS")]
    pub rho: Option<u32>,
    /// How wrk garbles: four-row, with the fewest rounds; half-gates, with fewer bytes and a round
    /// trip more; or auto, what suits the link and the circuit [default: auto]
    #[arg(long, value_name = "FORM")]
    pub form: Option<String>,
    /// How correlated OTs are made: iknp; softspoken2, softspoken4, softspoken8, with a half, a
    /// quarter, an eighth of its bytes; or auto, what suits the link [default: auto]
    #[arg(long, value_name = "NAME")]
    pub ot: Option<String>,
    /// Evaluate the circuit N times: on values by the line, given as --input NAME=@FILE, or the
    /// same one for all; tinytable, duplo and dualex run them together [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub batch: Option<u64>,
    /// With --batch and dualex: prepare each evaluation by itself, and have K of them online at a
    /// time; `run --prepared` takes each from what `prepare --count` made
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    pub in_flight: Option<u32>,
    /// Bits of the MACs on what tinytable opens: 64 or 128, and more than RHO [default: 64 with RHO
    /// 40, otherwise 128]
    #[arg(long, value_name = "BITS")]
    pub mac_bits: Option<u32>,
    /// The same for comparisons only, however short: an option of `bench` alone.
    #[arg(skip)]
    pub weak_mac_bits: Option<u32>,
    /// How dualex intersects what the parties got: sync, with fewer bytes; or async, with a message
    /// less [default: sync]
    #[arg(long, value_name = "FORM")]
    pub psi: Option<String>,
    /// With dualex: bound by 2^-BITS that any evaluation prepared in a session leaks one bit of an
    /// input, and all else by 2^-RHO; 40, 64 or 80, and the fewer, the fewer circuits are garbled
    /// [default: RHO]
    #[arg(long, value_name = "BITS")]
    pub kappa_b: Option<u32>,
    /// Which leaks --kappa-b bounds: preparation, those of any evaluation; or execution, those of a
    /// given one, as in the paper, with fewer circuits: of N evaluations one leaks a bit with up to
    /// N times that probability, and the peer can choose which one is run [default: preparation]
    #[arg(long, value_name = "WHAT")]
    pub kappa_b_per: Option<String>,
    /// With duplo: garble the components of this name, and no others but leftover gates; once for
    /// each name [default: those with which the run costs least]
    #[arg(long = "component", value_name = "NAME")]
    pub components: Vec<String>,
    /// Stream circuits with more AND gates than this in segments of about this size; memory then
    /// does not grow with the circuit [default: 1048576]
    #[arg(long, value_name = "GATES")]
    pub segment_gates: Option<u64>,
    /// Threads that make triples, 1 to 64, each with a connection of its own; from 2 on one more
    /// for the rest. With duplo and dualex, threads that garble; two where there are cores, even
    /// if this is 1 [default: 1]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Seconds to wait for the peer to connect, and later for each message; longer where it garbles
    /// many gates first [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Simulate a slower link for what this machine sends: lan, lan1, wan, or ROUNDTRIP,BANDWIDTH
    /// such as 20ms,100mbit
    #[arg(long, value_name = "LINK")]
    pub link: Option<String>,
}

/// How parties of `run` talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RemoteTransport {
    /// TLS 1.3, both keys pinned by fingerprint
    Tls,
    /// Plain TCP, for tests only: anyone on the network can read and change everything
    Tcp,
}

impl RemoteTransport {
    /// Returns the name in the JSON result.
    pub fn name(self) -> &'static str {
        match self {
            RemoteTransport::Tls => "tls",
            RemoteTransport::Tcp => "tcp",
        }
    }
}

/// How parties of `local` talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LocalTransport {
    /// TLS 1.3 over loopback, fresh keys, one process a party
    Tls,
    /// Plain TCP over loopback, one process a party
    Tcp,
    /// Memory, one thread a party in this process
    Memory,
}

impl LocalTransport {
    /// Returns the name in the JSON result.
    pub fn name(self) -> &'static str {
        match self {
            LocalTransport::Tls => "tls",
            LocalTransport::Tcp => "tcp",
            LocalTransport::Memory => "memory",
        }
    }
}
