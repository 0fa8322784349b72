//! XOR-homomorphic commitments to strings of 128 bits, from subspace vector OLE
//! ([`symbolon_ot::vole`]).
//!
//! The *receiver* holds Δ. In the notation of that module, a commitment is a string u and a row V
//! at the *committer*, and W = V ⊕ (u·G)∗Δ at the receiver. To XOR commitments, each side XORs its
//! strings and rows. All commitments of a session are under one Δ, also those of different lanes,
//! so they can be XORed.
//!
//! * [`Committer::commit_random`] commits to random strings, for n − 128 bits each;
//! * [`Committer::opening`] opens any number of XORs of commitments at once. The caller sends the
//!   strings, 16 bytes each, unless the receiver knows them, as when it has garbled a circuit again
//!   from its seed. The proof has 32 bytes for all.
//!
//! The committer only sends, and the receiver only receives.
//!
//! Departure: commitments: openings | random combinations under a coin | a hash of all rows | at d
//! places a wrong row depends on Δ (`docs/proofs/commitments.md#openings`)
//!
//! Timing: strings, rows, Δ | the caller says in public which commitments are opened
//!
//! # Openings
//! The receiver can compute the rows of claimed strings itself, V = W ⊕ (u*·G)∗Δ, so the proof of
//! an opening is a hash of all rows, in order, without a challenge. A wrong string passes with
//! probability 2^(−k·d) ≤ 2^-ρ: `docs/proofs/commitments.md`.
//!
//! # When commitments may be used
//! Commitments that a call returns have passed the consistency check. Opened values may be used
//! only after the `finish` of [`Receiver::opening`].

use std::ops::Range;

use blake3::Hasher;
use symbolon_ot::vole::{self, Prover, Verifier, VerifierKey};
use symbolon_ot::{CotReceiver, CotSender};
use symbolon_primitives::{Block, Prg};
use symbolon_transport::{Channel, PartyId, Result};

use crate::checks::OPENING;
use crate::messages::PROOF;
use row_hasher::RowHasher;

mod later;
mod row_hasher;
mod rows;
mod wiped;

pub use later::{OwnLater, TheirLater};
pub use rows::{Commitments, Committed};
pub use symbolon_ot::vole::{FieldBits, Params, VoleParties};

/// Bytes of the proof that ends an opening of any number of commitments.
pub const PROOF_BYTES: usize = 32;

/// The default k, which takes the least time. k = 4 sends 5 bytes less per string, but its rows
/// have 644 bits instead of 394, and all work on rows takes proportionally longer; k = 1 sends 8
/// bytes more.
pub const DEFAULT_K: FieldBits = FieldBits::Two;

/// Strings in one message.
const PIECE: usize = vole::MAX_DRAW;

/// Returns the bytes on the wire, without message headers, of commitments to `n` random strings.
pub fn random_bytes(params: &Params, n: usize) -> usize {
    let rest = match n % PIECE {
        0 => 0,
        rest => params.draw_bytes(rest),
    };
    n / PIECE * params.draw_bytes(PIECE) + rest
}

/// What the hash of an opening starts with: session, parties, lane, and the number of earlier
/// openings.
struct Openings {
    session: [u8; 32],
    committer: PartyId,
    receiver: PartyId,
    lane: u64,
    next: u64,
}

impl Openings {
    fn of(parties: VoleParties<'_>, lane: u64) -> Openings {
        let VoleParties { session, prover: committer, verifier: receiver } = parties;
        Openings { session: *session, committer, receiver, lane, next: 0 }
    }

    fn begin(&mut self) -> RowHasher {
        let mut hasher = RowHasher::new(Hasher::new_derive_key("symbolon commitments 1: opening"));
        hasher.start(&self.session);
        hasher.start(&self.committer.to_le_bytes());
        hasher.start(&self.receiver.to_le_bytes());
        hasher.start(&self.lane.to_le_bytes());
        hasher.start(&self.next.to_le_bytes());
        self.next += 1;
        hasher
    }
}

/// The side that commits and opens, on one lane.
pub struct Committer {
    prover: Prover,
    openings: Openings,
}

impl Committer {
    /// Sets up the committers of `lanes` lanes, from one draw of correlated OT in which this party
    /// is the *sender*. The peer calls [`Receiver::set_up`] with the receiver of the same
    /// correlated OT.
    ///
    /// # Errors
    /// `PeerMisbehaved` when the draw's check fails; `Transport` when the peer is gone.
    pub fn set_up(
        channel: &mut Channel,
        session: &[u8; 32],
        params: &Params,
        cot: &mut dyn CotSender,
        lanes: usize,
    ) -> Result<Vec<Committer>> {
        let provers = vole::set_up_prover(channel, session, params, cot, lanes)?;
        let parties = VoleParties { session, prover: channel.me(), verifier: channel.peer() };
        Ok(Committer::of(provers, parties))
    }

    /// Returns the committers of all lanes, from their provers.
    pub fn of(provers: Vec<Prover>, parties: VoleParties<'_>) -> Vec<Committer> {
        let one = |(prover, lane)| Committer { prover, openings: Openings::of(parties, lane) };
        provers.into_iter().zip(1..).map(one).collect()
    }

    /// Returns the code and the field.
    pub fn params(&self) -> &Params {
        self.prover.params()
    }

    /// Commits to `n` random strings.
    ///
    /// Paper: KNRTT17, App. A, COMMIT and OPEN | XOR-homomorphic commitments
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn commit_random(&mut self, channel: &mut Channel, n: usize) -> Result<Committed> {
        let mut new = Committed::new(self.params());
        let (values, rows) = new.room(n);
        let words = self.params().row_words();
        for (values, rows) in values.chunks_mut(PIECE).zip(rows.chunks_mut(PIECE * words)) {
            self.prover.draw(channel, values, rows)?;
        }
        Ok(new)
    }

    /// Begins an opening, with one proof at its end.
    ///
    /// Paper: KNRTT17, App. A, COMMIT and OPEN
    pub fn opening(&mut self) -> OwnOpening {
        OwnOpening { hasher: self.openings.begin() }
    }
}

/// The committer's side of an opening. If it is dropped without [`finish`](OwnOpening::finish), the
/// opening fails at the receiver.
pub struct OwnOpening {
    hasher: RowHasher,
}

impl OwnOpening {
    /// Adds a range of a list of commitments whose strings the receiver knows.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn add_range(&mut self, committed: &Committed, range: Range<usize>) {
        self.hasher.rows(committed.rows().range(range));
    }

    /// Adds the XOR of some commitments of a list. The receiver knows its string.
    ///
    /// # Panics
    /// If there is no such commitment.
    pub fn add_sum(&mut self, committed: &Committed, which: impl Iterator<Item = usize>) {
        let rows = committed.rows();
        rows.sum_to(which, self.hasher.row(rows.words()));
        self.hasher.flush();
    }

    /// Sends the proof.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn finish(self, channel: &mut Channel) -> Result<()> {
        channel.send(PROOF, self.hasher.finish().as_bytes())
    }
}

/// The side that receives commitments, on one lane.
pub struct Receiver {
    verifier: Verifier,
    openings: Openings,
}

impl Receiver {
    /// Sets up the receivers of `lanes` lanes under one random Δ, from one draw of correlated OT in
    /// which this party is the *receiver*. The peer calls [`Committer::set_up`].
    ///
    /// # Errors
    /// `PeerMisbehaved` when the check of the committer's trees fails; `Transport` when the peer is
    /// gone.
    pub fn set_up(
        channel: &mut Channel,
        session: &[u8; 32],
        params: &Params,
        cot: &mut dyn CotReceiver,
        lanes: usize,
        prg: &mut Prg,
    ) -> Result<Vec<Receiver>> {
        let verifiers = vole::set_up_verifier(channel, session, params, cot, lanes, prg)?;
        let parties = VoleParties { session, prover: channel.peer(), verifier: channel.me() };
        Ok(Receiver::of(verifiers, parties))
    }

    /// Returns the receivers of all lanes, from their verifiers.
    pub fn of(verifiers: Vec<Verifier>, parties: VoleParties<'_>) -> Vec<Receiver> {
        let one = |(verifier, lane)| Receiver { verifier, openings: Openings::of(parties, lane) };
        verifiers.into_iter().zip(1..).map(one).collect()
    }

    /// Returns the code and the field.
    pub fn params(&self) -> &Params {
        self.verifier.params()
    }

    /// Receives commitments to `n` random strings.
    ///
    /// Paper: KNRTT17, App. A, COMMIT and OPEN
    ///
    /// # Errors
    /// `PeerMisbehaved` when the commitments are inconsistent, or a check under this Δ has failed
    /// before; `Transport` when the peer is gone.
    pub fn commit_random(&mut self, channel: &mut Channel, n: usize) -> Result<Commitments> {
        let mut new = Commitments::new(self.params());
        let words = self.params().row_words();
        for rows in new.room(n).chunks_mut(PIECE * words) {
            self.verifier.draw(channel, rows.len() / words, rows)?;
        }
        Ok(new)
    }

    /// Begins an opening, with one proof at its end.
    ///
    /// Paper: KNRTT17, App. A, COMMIT and OPEN
    pub fn opening(&mut self) -> TheirOpening {
        TheirOpening { hasher: self.openings.begin(), key: self.verifier.key().clone() }
    }
}

/// The receiver's side of an opening.
pub struct TheirOpening {
    hasher: RowHasher,
    key: VerifierKey,
}

impl TheirOpening {
    /// Adds the XOR of some commitments of a list, to a known string.
    ///
    /// # Panics
    /// If there is no such commitment.
    pub fn add_sum(
        &mut self,
        commitments: &Commitments,
        which: impl Iterator<Item = usize>,
        value: Block,
    ) {
        let row = self.hasher.row(commitments.words());
        commitments.sum_to(which, row);
        self.key.add_public(value, row);
        self.hasher.flush();
    }

    /// Receives the proof and checks it.
    ///
    /// # Errors
    /// As [`check`](TheirOpening::check), and `Transport` when the peer is gone.
    pub fn finish(self, channel: &mut Channel) -> Result<()> {
        self.check(&Proof::receive(channel)?)
    }

    /// Checks a proof that was received before.
    ///
    /// Check: openings of commitments | `commitment opening`: a hash of all rows | another string
    /// or XOR | 2^(−k·d) ≤ 2^-ρ
    ///
    /// # Errors
    /// `PeerMisbehaved` when a string is not the committed one, or a check under this Δ has failed
    /// before.
    pub fn check(self, proof: &Proof) -> Result<()> {
        // The comparison is in constant time.
        let passed = self.hasher.finish() == proof.hash;
        self.key.pass(passed, proof.peer, OPENING)
    }
}

/// The proof of an opening, as the committer sent it.
pub struct Proof {
    hash: blake3::Hash,
    peer: PartyId,
}

impl Proof {
    /// Receives the proof of the opening that the committer finishes next.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn receive(channel: &mut Channel) -> Result<Proof> {
        let hash = blake3::Hash::from_bytes(channel.recv_array::<PROOF_BYTES>(PROOF)?);
        Ok(Proof { hash, peer: channel.peer() })
    }
}
