//! What a node has, for people and programs.

use serde::{Deserialize, Serialize};
use symbolon::circuit::PartyId;
use utoipa::ToSchema;

use crate::name::Name;

/// What a node has prepared, and who is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stock {
    /// This party.
    #[schema(value_type = u16)]
    pub party: PartyId,
    /// Whether the node is about to stop.
    pub draining: bool,
    /// All other parties.
    pub peers: Vec<PeerStock>,
    /// All functions.
    pub functions: Vec<FunctionStock>,
}

/// Whether a peer is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PeerStock {
    /// Its number.
    #[schema(value_type = u16)]
    pub party: PartyId,
    /// Whether it is connected.
    pub connected: bool,
    /// Whether it said that it is about to stop.
    pub draining: bool,
    /// Why it is not connected, as far as it is known.
    pub why: Option<String>,
}

/// What is prepared of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FunctionStock {
    /// Its name.
    #[schema(value_type = String)]
    pub name: Name,
    /// Why nobody can call it, if the parties do not agree on it.
    pub disabled: Option<String>,
    /// Open sessions. Each runs one call at a time.
    pub sessions: usize,
    /// The number of sessions that there should be.
    pub side_by_side: usize,
    /// Executions that are prepared or being prepared.
    pub ready: usize,
    /// The number of executions that there should be.
    pub wanted: usize,
    /// Calls for which this party's inputs wait.
    pub waiting: usize,
    /// How many calls the owner of this node still allows; null if the number is not limited.
    pub calls_left: Option<u64>,
}

impl Stock {
    /// Returns whether calls can run: all peers are there, and every function has a session.
    pub fn is_healthy(&self) -> bool {
        let usable = |one: &FunctionStock| one.disabled.is_none() && one.sessions > 0;
        !self.draining
            && self.peers.iter().all(|peer| peer.connected)
            && self.functions.iter().all(usable)
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FunctionReply {
    /// Its name.
    #[schema(value_type = String)]
    pub name: Name,
    /// The protocol.
    pub protocol: String,
    /// Its inputs, of all parties.
    pub inputs: Vec<PortReply>,
    /// Its outputs.
    pub outputs: Vec<PortReply>,
}

/// An input or an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortReply {
    /// Its name.
    pub name: String,
    /// Its type, such as `u32`.
    #[serde(rename = "type")]
    pub ty: String,
    /// The owner of an input, the receivers of an output.
    pub parties: Vec<u16>,
}
