//! The dealer: a third process that deals what the parties would otherwise make themselves (the
//! functionality F_Pre from a semi-trusted party: Wang–Ranellucci–Katz 2017, §4.3). The parties
//! then need no oblivious transfer, no leaky triples and no buckets.
//!
//! **Trust.** The dealer knows every Δ, mask, key and triple. That is worthless without the
//! parties' traffic. But together with any one party, or with anybody who can read the messages
//! between the parties, the dealer learns all inputs and can change any output. It must also deal
//! honestly: a party detects wrong correlations only by a failed MAC later on, which then accuses a
//! peer, and a product c ≠ a ∧ b with valid MACs is never detected. So:
//!
//! * the dealer is a machine that no party controls. Parties that deal to themselves have no
//!   security left;
//! * the links between the parties are private (TLS), so that the dealer cannot read along;
//! * each party's link to the dealer is private and authenticated on both sides: anyone who holds
//!   two slots, or reads what is dealt to a party, knows what that party knows. Therefore a
//!   [`Request`] names the keys of all parties, and the dealer gives a slot only to the key that
//!   everybody in the session names for it.
//!
//! The parties agree on the session among themselves beforehand. The session's id binds that there
//! is a dealer, its identity, and everything in the request: it is a hash of all that and of fresh
//! randomness of every party. Whatever happens at the dealer, nothing is dealt twice: each dealing
//! uses fresh randomness from the operating system.
//!
//! # What is dealt
//! Each party i receives Δ_i (its last bit is 1, except for the evaluator's, which is n mod 2);
//! authenticated bits for the masks of every party's inputs; for every AND gate an authenticated
//! share of a random bit, and a triple c = a ∧ b of authenticated shares. M = K ⊕ x·Δ_j between
//! party i, who knows x and M, and party j, who knows K.
//!
//! Each party receives a seed from which it expands Δ_i, its bits x and its keys K. The dealer
//! expands them too, and sends the rest: the MACs, and the bits of party 0's shares that make the
//! products right. Of a MAC and its key only one can be expanded, so each bit costs 16 bytes for
//! each ordered pair of parties.
//!
//! ```text
//! party i → dealer   request           64                       then 8 (40 with keys) a party
//! dealer → party i   seed              16
//!                    input MACs        16 a bit of party i's inputs, and peer
//!                    c bits            1/8 a gate, party 0 only
//!                    gate MACs         4·16 a gate and peer: mask, a, b, c
//! party i → dealer   done              0
//! ```
//!
//! Inputs and gates come in chunks of at most 512 KiB per party, so the dealer's memory depends on
//! the chunk size and not on the count. Chunk k goes to all parties before chunk k + 1 goes to any,
//! and the dealer waits while a party has too large a backlog. If a party waits for a slower one,
//! it is ahead of it, and the slower party's chunks have been sent already, so waits cannot form a
//! cycle.
//!
//! A [`DealerServer`] brings the parties of many sessions together and deals to them;
//! [`DealerClient`] is a party's side.

mod client;
mod deal;
mod pending;
mod request;
mod server;
mod streams;

use symbolon_transport::PartyId;

pub use client::{DealerClient, Gates};
pub use deal::Summary;
pub use pending::ServerLimits;
pub use request::{Limits, MAX_PARTIES, REQUEST_HEAD, Request};
pub use server::{DealerServer, Event};

/// The party whose shares of c are sent rather than expanded.
const CLOSING: PartyId = PartyId::new(0);

/// The number of shares that a gate consumes.
const SHARES: usize = 4;
const A: usize = 1;
const B: usize = 2;
const C: usize = 3;

/// The number of shares in a chunk, times the number of peers. Except for the c bits, no message is
/// longer than 16 bytes times a quarter of this.
const CHUNK: usize = 1 << 15;

/// Returns the number of gates in a chunk among `parties` parties.
const fn gates_in_chunk(parties: usize) -> usize {
    CHUNK / SHARES / (parties - 1)
}

/// Returns the number of input bits of one party in a chunk among `parties` parties.
const fn inputs_in_chunk(parties: usize) -> usize {
    CHUNK / (parties - 1)
}
