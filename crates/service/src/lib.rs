//! A node of a service: it keeps sessions with its peers open and executions of some functions
//! prepared in memory, and runs calls by name.
//!
//! All parties start a [`Node`] with the same functions. For a call, each party's application gives
//! its inputs under a name that the applications choose; when all inputs are there, a prepared
//! execution is run on them. A call costs its online rounds, and nothing else.

mod about;
mod budget;
mod changes;
pub mod checks;
mod client;
mod clients;
mod config;
mod door;
mod error;
mod metrics;
mod name;
mod node;
mod outcome;

mod wire;

/// The target of what a node logs.
const LOG: &str = "symbolon::service";

pub use about::{FunctionReply, FunctionStock, PeerStock, PortReply, Stock};
pub use changes::Changes;
pub use client::{Client, NoReply, Reply};
pub use clients::{
    Admission, ClientAnswer, ClientFailure, ClientNodes, ClientsConfig, ClientsReply, Digest,
    LeftOut, Posted, RoundState, SubmitError, Why, complete, read_client_tokens,
};
pub use config::{FunctionConfig, MAX_READY, MAX_SIDE_BY_SIDE, NodeConfig, NodeUpdate, Party};
pub use door::{
    CallReply, Certificate, Door, DoorConfig, ErrorReply, FailureReply, PublicDoorConfig, State,
    Token, openapi, read_token,
};
pub use error::{CallError, Reason};
pub use name::{MAX_NAME, Name, NoName};
pub use node::{Call, Node};
pub use outcome::Answer;

/// What nodes tell each other, for the page of messages. Not part of the public interface.
#[doc(hidden)]
pub mod documents {
    pub use crate::wire::{messages, schemas};
}

/// The decoders of a peer's bytes, for fuzzing. Not part of the public interface.
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::wire::{Claim, Message, NoMessage, Opening, Purpose, Tag};
}
