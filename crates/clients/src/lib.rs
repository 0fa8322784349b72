//! Clients who are no party: how they share values among the parties, and how they read answers.
//!
//! A circuit for clients is made of a program with inputs `from clients`. Its [`Layout`] says all
//! that clients and parties must know.
//!
//! 1. A client calls [`Layout::encode`]. Each party gets its [`Share`] and the [`Hashes`] of all
//!    shares; the client keeps a [`Receipt`] if it gets answers.
//! 2. A party calls [`Layout::accept`], which checks its own share against the hashes. Parties
//!    compare the digests, so that they know that they hold parts of the same submission.
//! 3. Each party makes its input of the shares ([`Layout::input`]), and they run the circuit.
//!    [`Layout::counted`] says which clients were counted.
//! 4. Any party passes on a client's answer ([`Layout::answer`]), and the client reads it
//!    ([`Layout::open`]).
//!
//! # Bytes
//! Bits fill blocks of 64 bits, the first bit on the least significant place; blocks are
//! little-endian. Blocks are elements of GF(2^64) modulo x^64 + x^4 + x^3 + x + 1; bit i is the
//! coefficient of x^i.
//!
//! | | blocks |
//! | --- | --- |
//! | values | x_1 … x_d: each value after the other, filled up with zeros |
//! | tag | tag(x; s) = s^(q+1) + Σ x_i·s^i, q the smallest power of two above d |
//! | message | x_1 … x_d, random s, t = tag(x; s); if there are answers, a pad of as many random bits, filled up with zeros, and random keys a and b |
//! | share | 32 random bytes (not blocks), then blocks; all shares' blocks add up to the message |
//! | answer | the answers v_1 … v_k, filled up with zeros, plus the pad; then tag(v; a) + b; all zero for a client that was not counted |
//!
//! The hash of party p's share is SHA-256 of `symbolon client share`, p in 2 bytes, the share. The
//! digest of a submission is SHA-256 of `symbolon client submission`, the context and the client's
//! name, each after its length in 8 bytes, the number of parties in 2 bytes, and the hashes of all
//! shares. Numbers are little-endian.

mod answer;
mod blocks;
mod digest;
mod error;
mod json;
mod layout;
mod share;

pub use answer::{Opened, Receipt};
pub use digest::Hashes;
pub use error::ClientError;
pub use layout::Layout;
pub use share::{Share, Submission};
