//! The dealer: a third process that deals what the parties would otherwise make among themselves
//! (the functionality F_Pre from a semi-trusted party: Wang–Ranellucci–Katz 2017, §4.3). The
//! parties then need no oblivious transfer, no leaky triples and no buckets.
//!
//! **What it is trusted with.** The dealer knows every Δ, mask, key and triple. That is nothing
//! without the parties' traffic, and everything with it: together with any one party, or with
//! anybody who can read what the parties send each other, it learns all inputs and can change any
//! output. It must deal honestly, too: a party cannot tell wrong correlations from right ones,
//! other than by a failed MAC later on, which then accuses a peer; and a product c ≠ a ∧ b whose
//! MACs are right fails nowhere. So:
//!
//! * the dealer is a machine that no party controls. Parties that deal themselves have no security
//!   left;
//! * the links between the parties are private (TLS), so that the dealer cannot read along;
//! * each party's link to the dealer is authenticated on both sides and private: anyone in
//!   two slots, or reads what is dealt to a party, knows what that party knows. A [`Request`]
//!   therefore names the keys of all parties, and the dealer gives a slot only to the key that
//!   everybody in the session names for it.
//!
//! Among themselves the parties agree beforehand on the session, with which they bind that there is
//! a dealer, which one, and everything that is in the request; the session's id is a hash of all
//! that and of fresh randomness of every party. Whatever happens at the dealer, nothing is dealt
//! twice: each dealing is fresh from the operating system's randomness.
//!
//! # What is dealt, and how
//! Δ_i for every party (all last bits 1 but the evaluator's, which is n mod 2); authenticated bits
//! for the masks of every party's inputs; for every AND gate an authenticated share of a random
//! bit, and a triple c = a ∧ b of authenticated shares. M = K ⊕ x·Δ_j between party i, who knows x
//! and M, and party j, who knows K.
//!
//! Each party gets a seed from which it expands Δ_i, its bits x and its keys K; the dealer expands
//! them too, and sends what is left: the MACs, and the bits by which party 0's shares make the
//! products right. Of a MAC and its key one can be expanded but not both, so 16 bytes a bit and
//! ordered pair is what it takes.
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
//! Inputs and gates come in chunks, cut so that no party's chunk exceeds 512 KiB; what the dealer
//! holds follows the chunk and not the count. Chunk k goes to all parties before chunk k + 1 goes
//! to any, and the dealer waits while a party has too much ahead of it. A party that waits for a
//! slower one is ahead of it, so the slower one finds its chunks sent: the wait cannot become a
//! circle.
//!
//! [`serve`] deals to one set of parties; a [`DealerServer`] brings together those who come;
//! [`DealerClient`] is a party's side.

mod client;
mod deal;
mod pending;
mod request;
mod server;
mod streams;

use symbolon_transport::PartyId;

pub use client::{DealerClient, Gates};
pub use deal::{Summary, serve};
pub use pending::ServerLimits;
pub use request::{Limits, MAX_PARTIES, REQUEST_HEAD, Request};
pub use server::{DealerServer, Event};

/// The party whose shares of c are sent and not expanded.
const CLOSING: PartyId = PartyId::new(0);

/// What a gate uses up: four shares, in this order.
const SHARES: usize = 4;
const A: usize = 1;
const B: usize = 2;
const C: usize = 3;

/// Shares of a chunk, times peers: no message but the c bits is longer than 16 bytes times a
/// quarter of this.
const CHUNK: usize = 1 << 15;

/// How many gates a chunk has among `parties` parties.
const fn gates_in_chunk(parties: usize) -> usize {
    CHUNK / SHARES / (parties - 1)
}

/// How many input bits of one party a chunk has among `parties` parties.
const fn inputs_in_chunk(parties: usize) -> usize {
    CHUNK / (parties - 1)
}
