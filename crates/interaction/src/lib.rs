//! Short interactive steps among all parties of a session, which protocols are built from.
//!
//! * [`commit_open`]: every party commits to a value, then opens it (F_Com, YWZ20 Fig. 10);
//! * [`coin`]: a coin toss (F_Rand, YWZ20 Fig. 11);
//! * [`broadcast`]: all parties compare digests of what was broadcast.
//!
//! All functions take one channel per peer, in ascending order of the peers, and are run by all
//! parties at the same time.

pub mod broadcast;
pub mod checks;
pub mod coin;
pub mod commit_open;
pub mod messages;

pub use broadcast::{BroadcastLog, confirm_broadcasts};
pub use checks::BROADCAST as BROADCAST_CHECK;
pub use coin::{open_with_coin, toss_coin};
pub use commit_open::{CommitOpenLabels, Committed, commit_and_open};
