//! Clients who are no party: each gives every party's node a share of its values for a call.
//!
//! A call takes submissions from when a node's application opens it until the application makes
//! the call. Then the parties compare lists of what they hold: a client takes part if all of them
//! have the same submission of it. Clients who sent different ones, and clients whose submission a
//! party does not have, are left out, and all parties see their names.
//!
//! Submissions are in memory alone: a share on disk could outlive its use, and a client whose
//! submission was lost in a restart may give it again.

mod config;
mod digest;
mod layout;
mod nodes;
mod reply;
mod round;
mod set;
mod submission;

pub use config::{Admission, ClientsConfig, read_client_tokens};
pub use digest::Digest;
pub use layout::complete;
pub use nodes::{ClientFailure, ClientNodes};
pub use reply::{ClientAnswer, ClientsReply, RoundState};
pub use set::{LeftOut, Why};
pub use submission::{Posted, SubmitError};

pub(crate) use layout::own_port;
pub(crate) use round::{MAX_LIST, Part, Round, Taking};
pub(crate) use set::List;
pub(crate) use submission::Submission;
