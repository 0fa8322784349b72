//! What a party of `local` tells its parent.

use serde::{Deserialize, Serialize};

use crate::common::error::CliError;
use crate::common::peer::Peer;
use crate::progress::Event;
use crate::results::party::PartyResult;

/// A message from a party to its parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ChildMessage {
    /// The job is accepted; this is how to reach this party.
    Ready(Peer),
    /// What it does.
    Event(Event),
    /// It has finished.
    Done(Box<PartyResult>),
    /// It has not.
    Failed(CliError),
}
