//! Options that several commands share.

use clap::{Args, ValueEnum};

use crate::args::given::{ByRun, Given};

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
    /// Those on which all parties must agree.
    #[command(flatten)]
    pub given: Given<ByRun>,
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
