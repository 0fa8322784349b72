//! SoftSpokenOT (Roy, CRYPTO 2022) for the repetition code: correlated OT from vector oblivious
//! linear evaluation over a small field, with 1/k of the bytes of [`crate::iknp`].
//!
//! # The columns (the paper's small-field VOLE, Fig. 7)
//! Δ's 128 bits are cut into 128/k blocks of k bits. For each block the receiver has the 2^k leaves
//! of a tree, and the sender all of them but the one whose number is the block of Δ: see
//! [`crate::pprf`]. With r_y the stream of leaf y, for each block b and each of its bits j:
//!
//! ```text
//! receiver: u^b     = (⊕_y r_y) ⊕ x                                            (sent)
//!           t^{b,j} = ⊕_{y: bit j of y is 1} r_y
//! sender:   q^{b,j} = (⊕_{y: bit j of y ⊕ Δ_b is 1} r_y) ⊕ Δ_{b,j}·u^b  = t^{b,j} ⊕ Δ_{b,j}·x
//! ```
//!
//! The sender's sum does not include r_{Δ_b}. It equals t^{b,j} where Δ_{b,j} = 0, and
//! t^{b,j} ⊕ (⊕_y r_y) where Δ_{b,j} = 1. The sender keeps its leaves in the order z = y ⊕ Δ_b, so
//! that both sides compute the same sums ([`symbolon_primitives::ggm_sums`]). In every block,
//! r_{Δ_b} hides x from the sender. k = 1 would be IKNP.
//!
//! # Soundness (the paper's subspace VOLE, for the repetition code)
//! A cheating receiver may use a different x in each block. Let x_b be the x that block b's
//! correction amounts to. It is well-defined, because the check of the trees ensures that one tree
//! fits all values of Δ_b that are still possible; if there is only one such value, the receiver
//! has guessed the block, and any x_b will do. Then the check of [`crate::cot`] hashes every
//! column. Except with probability 2^-128 for each pair of blocks, different x_b have different
//! hashes; let x be the one whose hash is the x̃ that was sent. In a block with another x_b, each
//! of the k columns i passes only if the t̃^i that was sent is right for the actual bit Δ_i. So the
//! receiver has guessed all k bits of the block, passes with probability 2^-k, and could have
//! computed what an honest receiver gets. If x̃ fits no block, the receiver has guessed all of Δ.
//! So it learns c bits of Δ with probability 2^-c, as in IKNP, but k bits at a time. χ comes from a
//! hash that covers the corrections and, by the digest that binds the trees, all leaves.
//!
//! # Cost
//! A draw of n correlated OTs sends 128/k bits for each of n' = ⌈n/128⌉·128 + 128 rows, and 2064
//! bytes for the check: 16/k bytes per correlated OT, and for the largest draw 0.063 + 0.063/k
//! more. Both sides expand 2^k·128/k streams of n' bits: 2^k/k bits of AES for each bit of the
//! matrix, and 2·(2^k − 1)/k additions. The set-up takes the same 128 base OTs, and one message of
//! 4128 bytes in each direction.

use std::sync::Arc;

use symbolon_primitives::{Delta, Leaves as Streams, Prg, Transcript};
use symbolon_transport::{Channel, Result};

use crate::columns::{Columns, Correction, xor_if, xor_into};
use crate::cot::{self, CotReceiver, CotSender, ExtensionId, SelectiveFailureGuard, column_bytes};
use crate::messages::SOFTSPOKEN_U;
use crate::pprf::{Leaves, PuncturedTrees, SenderTrees, TreeDepth};

/// Returns the bytes on the wire, without message headers, of one draw of `n` bits.
pub fn draw_bytes(k: TreeDepth, n: usize) -> usize {
    k.trees() * column_bytes(n) + cot::CHECK_BYTES
}

/// The streams of one side's leaves on one lane.
struct LeafStreams {
    k: TreeDepth,
    trees: Vec<Streams>,
    /// The number of the streams' next block.
    next: u128,
    binding: [u8; 32],
}

impl LeafStreams {
    fn new(leaves: &Leaves, session: &[u8; 32], stream: ExtensionId) -> Self {
        LeafStreams {
            k: leaves.k,
            trees: leaves.lane(stream.lane).map(|seeds| Streams::new(&seeds)).collect(),
            next: stream.start(session).0,
            binding: leaves.binding,
        }
    }

    /// Computes a draw's sums. Writes each tree's total to `totals`, or over the previous total if
    /// there is only room for one, and the sums of all trees to the 128 columns of `sums`.
    fn draw(&mut self, stride: usize, totals: &mut [u8], sums: &mut [u8]) {
        let (one, per_tree) = (totals.len() == stride, self.k.bits() * stride);
        for (b, (tree, sums)) in self.trees.iter().zip(sums.chunks_exact_mut(per_tree)).enumerate()
        {
            let at = if one { 0 } else { b * stride };
            tree.sums(self.next, &mut totals[at..][..stride], sums);
        }
        self.next = self.next.wrapping_add((stride / 16) as u128);
    }

    /// Returns the digest of a correction, bound to its trees.
    fn digest(&self, u: &[u8]) -> [u8; 32] {
        *blake3::keyed_hash(&self.binding, u).as_bytes()
    }
}

/// The receiver: holds all leaves.
pub struct Receiver {
    leaf_streams: LeafStreams,
    tails: Prg,
    transcript: Transcript,
}

impl Receiver {
    /// Starts from the trees that this party built.
    ///
    /// `stream` distinguishes the directions and lanes of a session, each of which has its own
    /// streams; `tails` makes the random tails that hide x̃.
    pub fn new(trees: &SenderTrees, session: &[u8; 32], stream: ExtensionId, tails: Prg) -> Self {
        Receiver {
            leaf_streams: LeafStreams::new(&trees.0, session, stream),
            tails,
            transcript: stream.transcript(session),
        }
    }
}

impl CotReceiver for Receiver {
    /// Paper: Roy22, Fig. 7 | small-field VOLE from the trees
    fn send_columns(
        &mut self,
        channel: &mut Channel,
        x: &[u8],
        t: &mut Columns,
        Correction { u, .. }: &mut Correction,
    ) -> Result<[u8; 32]> {
        let stride = x.len();
        u.resize(self.leaf_streams.k.trees() * stride, 0);
        self.leaf_streams.draw(stride, u, t.reset(stride));
        for u in u.chunks_exact_mut(stride) {
            xor_into(u, x);
        }
        channel.tamper_state("softspoken: u", u);
        channel.send(SOFTSPOKEN_U, u)?;
        Ok(self.leaf_streams.digest(u))
    }

    fn transcript(&mut self) -> (&mut Transcript, &mut Prg) {
        (&mut self.transcript, &mut self.tails)
    }
}

/// The sender: holds Δ, and all leaves except those that Δ selects.
pub struct Sender {
    delta: Delta,
    leaf_streams: LeafStreams,
    transcript: Transcript,
    guard: Arc<SelectiveFailureGuard>,
}

impl Sender {
    /// Starts from Δ and the trees that it punctured.
    ///
    /// `stream` is shared with no other sender, `guard` with all senders under this Δ.
    pub fn new(
        trees: &PuncturedTrees,
        session: &[u8; 32],
        stream: ExtensionId,
        guard: Arc<SelectiveFailureGuard>,
    ) -> Self {
        Sender {
            delta: trees.1.clone(),
            leaf_streams: LeafStreams::new(&trees.0, session, stream),
            transcript: stream.transcript(session),
            guard,
        }
    }
}

impl CotSender for Sender {
    fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Paper: Roy22, Fig. 7
    ///
    /// Timing: Δ | a masked XOR for each bit of Δ
    fn receive_columns(
        &mut self,
        channel: &mut Channel,
        n: usize,
        q: &mut Columns,
        Correction { u, total }: &mut Correction,
    ) -> Result<[u8; 32]> {
        cot::check_draw(n, n)?;
        let stride = column_bytes(n);
        let k = self.leaf_streams.k;
        u.resize(k.trees() * stride, 0);
        total.resize(stride, 0);
        // This party's part needs nothing from the peer, so it is done while the message is in
        // transit.
        self.leaf_streams.draw(stride, total, q.reset(stride));
        channel.recv_into(SOFTSPOKEN_U, u)?;
        for (i, q) in q.each_mut().enumerate() {
            let u = &u[i / k.bits() * stride..][..stride];
            xor_if(q, u, self.delta.0 >> i & 1 == 1);
        }
        Ok(self.leaf_streams.digest(u))
    }

    fn guard(&self) -> &SelectiveFailureGuard {
        &self.guard
    }

    fn transcript(&mut self) -> &mut Transcript {
        &mut self.transcript
    }
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::Block;

    use super::*;
    use crate::pprf::{self, TreeParams};

    /// The digest of a correction, and so the challenge, depends on the trees.
    #[test]
    fn digests_are_bound_to_the_trees() {
        let mut prg = Prg::from_seed(Block(1));
        let mut leaf_streams = || {
            let pairs = std::array::from_fn(|_| [prg.block(), prg.block()]);
            let tree_params = TreeParams {
                session: &[0; 32],
                tree_sender: 0.into(),
                tree_receiver: 1.into(),
                k: TreeDepth::Four,
            };
            let stream = ExtensionId { sender: Some(1.into()), receiver: 0.into(), lane: 1 };
            let trees = pprf::build_trees(tree_params, &pairs).0;
            LeafStreams::new(&trees.0, tree_params.session, stream)
        };
        let (ours, theirs) = (leaf_streams(), leaf_streams());
        assert_eq!(ours.digest(b"u"), ours.digest(b"u"));
        assert_ne!(ours.digest(b"u"), theirs.digest(b"u"));
        assert_ne!(ours.digest(b"u"), ours.digest(b"v"));
    }
}
