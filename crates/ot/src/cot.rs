//! What every OT extension offers, and the consistency check they share.
//!
//! A draw of n bits x, padded to n' = 128·m bits with 128 random bits at the end, is a bit matrix
//! of n' rows and 128 columns: the receiver gets T, the sender gets Q, and column i of Q is
//! t^i ⊕ Δ_i·x. Row k is M_k at the receiver and K_k = M_k ⊕ x_k·Δ at the sender. Extensions differ
//! in how they make the columns and in what the receiver sends for them.
//!
//! Departure: OT extension check | one row combination (KOS15) | the hash of each of 128 columns
//! (SoftSpokenOT) | the row check's lemma is false as stated (Roy, CRYPTO 2022); this one is proven
//! (`docs/proofs/ot-extension.md`)
//!
//! # The check
//! A cheating receiver may use another x in some columns. By the lemma of KOS15 (and so Lemma 2 of
//! Yang–Wang–Zhang 2020), one combination over the rows detects this, but Roy (CRYPTO 2022) showed
//! that the lemma is false as stated. Here, as in SoftSpokenOT, the whole matrix is hashed column
//! by column. With every column cut into m elements of GF(2^128), random coefficients χ_1 …
//! χ_{m−1}, and χ_m = 1,
//!
//! ```text
//! receiver sends  x̃ = Σ χ_k·x_k  and  t̃^i = Σ χ_k·t^i_k  for every column i  (2 KiB + 16 bytes)
//! sender checks   q̃^i = t̃^i ⊕ Δ_i·x̃                          for every column i
//! ```
//!
//! A receiver that used another x in column i passes only if it guessed Δ_i:
//! `docs/proofs/ot-extension.md`.
//!
//! # The challenge
//! The χ come from a hash of the session, the parties, the lane and all corrections of this
//! direction so far, the present one included (`extend` hashes the earlier checks, too). So nothing
//! waits for a round trip.

use std::sync::{Arc, Mutex};

use symbolon_primitives::{BitVec, Block, Challenge, Delta, Prg, Transcript, gf128};
use symbolon_transport::{Channel, Check, Error, PartyId, Result};
use zeroize::Zeroizing;

use crate::checks::EXTENSION;
pub use crate::columns::COLUMNS;
use crate::columns::{Columns, Correction, Workspace};
use crate::messages::COT_CHECK;
use crate::silent::{SilentReceiver, SilentSender};

/// Rows discarded per draw, to hide x̃.
const SACRIFICE: usize = 128;

/// The largest draw: its matrices (two of `MAX_DRAW · 16` bytes) stay in a core's own cache.
pub const MAX_DRAW: usize = 1 << 15;

/// Bytes of the check's message: x̃ and a hash per column.
pub const CHECK_BYTES: usize = 16 * (COLUMNS + 1);

/// Returns the bytes of one column in a draw of `n` bits.
pub fn column_bytes(n: usize) -> usize {
    (n.next_multiple_of(128) + SACRIFICE) / 8
}

/// Returns `choices` as one column, padded with a random tail that hides x̃.
pub fn padded(choices: &BitVec, random: &mut Prg) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(vec![0u8; column_bytes(choices.len())]);
    random.fill(&mut bytes);
    let own = Zeroizing::new(choices.to_bytes());
    let (whole, rest) = (choices.len() / 8, choices.len() % 8);
    bytes[..whole].copy_from_slice(&own[..whole]);
    if rest != 0 {
        let mask = (1u8 << rest) - 1;
        bytes[whole] = (bytes[whole] & !mask) | own[whole];
    }
    bytes
}

/// Returns the coefficients χ for columns of `stride` bytes; the last one is 1.
///
/// Paper: Roy22, consistency | consistency check, for both extensions
///
/// Paper: YWZ20, Fig. 4, 5–7 | Π_aBit: coefficients, the check of MACs and keys
pub fn coefficients(challenge: Challenge, stride: usize) -> Vec<Block> {
    let mut chi = vec![Block::ZERO; stride / 16];
    challenge.into_prg().fill_blocks(&mut chi);
    *chi.last_mut().expect("a draw has at least the sacrificed rows") = Block::ONE;
    chi
}

/// Returns x̃, the hash of the padded choices.
pub fn hash_choices(x: &[u8], chi: &[Block]) -> Block {
    let of = |chunk: &[u8]| Block::from_bytes(chunk.try_into().expect("16 bytes"));
    let blocks: Zeroizing<Vec<Block>> = Zeroizing::new(x.chunks_exact(16).map(of).collect());
    gf128::inner_product(&blocks, chi)
}

/// The side that holds Δ and gets keys.
///
/// One draw is a call of [`receive_columns`](CotSender::receive_columns) and one of
/// [`verify`](CotSender::verify), after which the columns' [rows](Columns::rows) are the keys.
/// [`extend`](CotSender::extend) is a whole draw in one call. A session stays open across draws.
/// The caller provides the memory, and can use the same for many sessions.
///
/// Paper: YWZ20, Fig. 2 | F_COTe
pub trait CotSender: Send {
    /// Returns the global key Δ.
    fn delta(&self) -> &Delta;

    /// Computes this party's columns `q` for a draw of `n` bits and receives the peer's correction;
    /// returns the correction's digest.
    ///
    /// # Errors
    /// `Transport` when the peer is gone; `InvalidInput` when n is larger than [`MAX_DRAW`].
    fn receive_columns(
        &mut self,
        channel: &mut Channel,
        n: usize,
        q: &mut Columns,
        correction: &mut Correction,
    ) -> Result<[u8; 32]>;

    /// Compares the peer's hashes x̃, t̃ with those of this party's columns `q`.
    ///
    /// Paper: YWZ20, Fig. 4, 5–7
    ///
    /// # Errors
    /// `PeerMisbehaved` (by `peer`) when they do not match; then the session must be dropped.
    fn verify(
        &self,
        peer: PartyId,
        chi: &[Block],
        (x, t): (Block, &[Block]),
        q: &Columns,
    ) -> Result<()> {
        self.guard().pass(columns_agree(**self.delta(), &q.hash(chi), x, t), peer, EXTENSION)
    }

    /// Returns the guard of all checks under this Δ.
    fn guard(&self) -> &SelectiveFailureGuard;

    /// Returns this side if it is one of silent OT, whose draws need expansions.
    fn silent(&mut self) -> Option<&mut dyn SilentSender> {
        None
    }

    /// Returns the transcript of this direction between two parties.
    fn transcript(&mut self) -> &mut Transcript;

    /// Performs a whole draw between two parties: fills `keys` with fresh keys, one per choice bit
    /// that the peer draws at the same time with [`CotReceiver::extend`].
    ///
    /// # Errors
    /// As [`receive_columns`](CotSender::receive_columns) and [`verify`](CotSender::verify).
    fn extend(
        &mut self,
        channel: &mut Channel,
        keys: &mut [Block],
        Workspace { columns, correction }: &mut Workspace,
    ) -> Result<()> {
        let digest = self.receive_columns(channel, keys.len(), columns, correction)?;
        let chi = challenge(self.transcript(), &digest, keys.len());
        let mut check = vec![Block::ZERO; COLUMNS + 1];
        channel.recv_into(COT_CHECK, Block::as_bytes_mut(&mut check))?;
        self.transcript().absorb("check", Block::as_bytes(&check));
        self.verify(channel.peer(), &chi, (check[0], &check[1..]), columns)?;
        columns.rows(keys);
        Ok(())
    }
}

/// The side that holds the choice bits and gets MACs. It only sends, so it never waits for the
/// peer.
///
/// Paper: YWZ20, Fig. 2
pub trait CotReceiver: Send {
    /// Computes the columns `t` for the padded choices `x` and sends the correction; returns its
    /// digest. The [rows](Columns::rows) of `t` are the MACs.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    fn send_columns(
        &mut self,
        channel: &mut Channel,
        x: &[u8],
        t: &mut Columns,
        correction: &mut Correction,
    ) -> Result<[u8; 32]>;

    /// As [`CotSender::silent`].
    fn silent(&mut self) -> Option<&mut dyn SilentReceiver> {
        None
    }

    /// Returns the transcript of this direction between two parties, and the generator of random
    /// tails.
    fn transcript(&mut self) -> (&mut Transcript, &mut Prg);

    /// Performs a whole draw between two parties: fills `macs` with a MAC for each of `choices`.
    ///
    /// # Errors
    /// `Transport` when the peer is gone; `InvalidInput` when the lengths differ or are larger than
    /// [`MAX_DRAW`].
    fn extend(
        &mut self,
        channel: &mut Channel,
        choices: &BitVec,
        macs: &mut [Block],
        Workspace { columns, correction }: &mut Workspace,
    ) -> Result<()> {
        check_draw(choices.len(), macs.len())?;
        let x = padded(choices, self.transcript().1);
        let digest = self.send_columns(channel, &x, columns, correction)?;
        let chi = challenge(self.transcript().0, &digest, choices.len());
        let mut check = vec![hash_choices(&x, &chi)];
        check.extend(columns.hash(&chi));
        self.transcript().0.absorb("check", Block::as_bytes(&check));
        channel.send(COT_CHECK, Block::as_bytes(&check))?;
        columns.rows(macs);
        Ok(())
    }
}

fn challenge(transcript: &mut Transcript, digest: &[u8; 32], n: usize) -> Vec<Block> {
    transcript.absorb("correction", digest);
    coefficients(transcript.challenge("chi"), column_bytes(n))
}

/// Refuses draws that are too large or do not fit their output.
pub(crate) fn check_draw(choices: usize, outputs: usize) -> Result<()> {
    if choices != outputs || choices > MAX_DRAW {
        return Err(Error::InvalidInput(format!(
            "a draw of correlated OTs with {choices} choices and {outputs} outputs; at most {MAX_DRAW}"
        )));
    }
    Ok(())
}

/// Whether q̃^i = t̃^i ⊕ Δ_i·x̃ for all columns, compared in constant time.
///
/// Paper: Roy22, consistency
///
/// Check: OT extension | `OT extension consistency`: x̃ and 128 column hashes | different choice
/// bits in columns or towards verifiers | 2^-k for k guessed bits of Δ; 2^-128
///
/// Timing: Δ, columns | all columns are combined before one comparison
fn columns_agree(delta: Block, q: &[Block], x: Block, t: &[Block]) -> bool {
    let mut difference = Block::ZERO;
    for (i, (q, t)) in q.iter().zip(t).enumerate() {
        let expected = *t ^ x.select(delta.0 >> i & 1 == 1);
        difference = Block(difference.0 | (*q ^ expected).0);
    }
    difference.ct_eq(&Block::ZERO) && q.len() == t.len()
}

/// Reports the results of all checks under one Δ one after another, and lets none pass after a
/// failure.
///
/// A cheater may guess a bit of Δ per check. If two lanes, or two colluding peers, were checked at
/// the same time, they could learn from the second verdict although the first check failed. Here
/// nothing passes after a failure, and every later check reports the first failure.
#[derive(Default)]
pub struct SelectiveFailureGuard {
    failed: Mutex<Option<(PartyId, Check)>>,
}

impl SelectiveFailureGuard {
    /// Returns a guard to be shared by all senders under one Δ.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Lets a check pass only if it succeeded and all earlier ones did.
    pub(crate) fn pass(&self, passed: bool, party: PartyId, check: Check) -> Result<()> {
        let mut failed = self.failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !passed && failed.is_none() {
            *failed = Some((party, check));
        }
        match *failed {
            None => Ok(()),
            Some((culprit, check)) => Err(Error::misbehaved(culprit, check)),
        }
    }
}

/// A party's global key, with the guard of all checks under it, for all peers and on all lanes.
#[derive(Clone)]
pub struct GlobalKey {
    /// Δ.
    pub delta: Delta,
    /// Shared by all clones.
    pub guard: Arc<SelectiveFailureGuard>,
}

impl GlobalKey {
    /// Returns a key under which nothing has been checked yet.
    pub fn new(delta: Delta) -> Self {
        GlobalKey { delta, guard: SelectiveFailureGuard::new() }
    }
}

/// Identifies one of a session's extensions, and is part of its challenges.
#[derive(Clone, Copy, Debug)]
pub struct ExtensionId {
    /// The party that holds Δ; `None` if all parties but the receiver check one draw together.
    pub sender: Option<PartyId>,
    /// The party that holds the choice bits.
    pub receiver: PartyId,
    /// The lane, or 0 for the set-up's own draw.
    pub lane: u64,
}

impl ExtensionId {
    /// Returns a transcript that has absorbed the session and this stream.
    pub fn transcript(self, session: &[u8; 32]) -> Transcript {
        let mut transcript = Transcript::new("symbolon correlated ot 2", session);
        match self.sender {
            Some(sender) => transcript.absorb("sender", &sender.to_le_bytes()),
            None => transcript.absorb("senders", b"all others"),
        }
        transcript.absorb("receiver", &self.receiver.to_le_bytes());
        transcript.absorb("lane", &self.lane.to_le_bytes());
        transcript
    }

    /// Returns the start of the streams of its seeds ([`Prg`]). No other extension of any session
    /// starts there.
    pub fn start(self, session: &[u8; 32]) -> Block {
        self.transcript(session).challenge("start of streams").into_block()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The challenge depends on the session, both parties and the lane before any message is sent.
    #[test]
    fn challenges_of_other_streams_are_others() {
        let of = |session: u8, sender: Option<PartyId>, receiver: PartyId, lane: u64| {
            let id = ExtensionId { sender, receiver, lane };
            let mut transcript = id.transcript(&[session; 32]);
            (challenge(&mut transcript, &[7; 32], 1)[0], id.start(&[session; 32]))
        };
        let first = of(1, Some(2.into()), 0.into(), 1);
        assert_eq!(first, of(1, Some(2.into()), 0.into(), 1));
        for other in [
            of(2, Some(2.into()), 0.into(), 1),
            of(1, Some(3.into()), 0.into(), 1),
            of(1, Some(0.into()), 2.into(), 1),
            of(1, None, 0.into(), 1),
            of(1, Some(2.into()), 1.into(), 1),
            of(1, Some(2.into()), 0.into(), 2),
        ] {
            assert!(first.0 != other.0 && first.1 != other.1);
        }
    }
}
