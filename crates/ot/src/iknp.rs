//! Correlated OT extension of Ishai, Kilian, Nissim and Petrank (CRYPTO 2003), with the check of
//! [`crate::cot`].
//!
//! The receiver holds 128 pairs of seeds, the sender one seed of each pair, chosen by the bits of
//! Δ:
//!
//! ```text
//! receiver: t^i = PRG(seed_i^0),  u^i = t^i ⊕ PRG(seed_i^1) ⊕ x       for each column i of 128
//! sender:   q^i = PRG(seed_i^{Δ_i}) ⊕ Δ_i·u^i  = t^i ⊕ Δ_i·x
//! ```
//!
//! The correction u has 128 bits per row. Of all extensions this one does the least work and sends
//! the most.

use std::sync::Arc;

use symbolon_primitives::{Block, Delta, Prg, Transcript};
use symbolon_transport::{Channel, Result};

use crate::columns::{Columns, Correction, xor_if, xor_into};
use crate::cot::{self, CotReceiver, CotSender, column_bytes};
pub use crate::cot::{COLUMNS, ExtensionId, MAX_DRAW, SelectiveFailureGuard};
use crate::messages::IKNP_U;

/// Returns the bytes on the wire, without message headers, of one draw of `n` bits.
pub fn draw_bytes(n: usize) -> usize {
    COLUMNS * column_bytes(n) + cot::CHECK_BYTES
}

/// The receiver: holds both seeds of every pair.
pub struct Receiver {
    seeds: Vec<[Prg; 2]>,
    tails: Prg,
    transcript: Transcript,
}

impl Receiver {
    /// Starts from 128 pairs of seeds; the peer knows one seed of each pair.
    ///
    /// `stream` distinguishes the directions and lanes of a session; `tails` makes the random tails
    /// that hide x̃.
    pub fn new(
        seeds: &[[Block; 2]; COLUMNS],
        session: &[u8; 32],
        stream: ExtensionId,
        tails: Prg,
    ) -> Self {
        let start = stream.start(session);
        let prg = |seed| Prg::starting_at(seed, start);
        Receiver {
            seeds: seeds.iter().map(|pair| pair.map(prg)).collect(),
            tails,
            transcript: stream.transcript(session),
        }
    }
}

impl CotReceiver for Receiver {
    /// Paper: IKNP03 | columns, correlated OT
    fn send_columns(
        &mut self,
        channel: &mut Channel,
        x: &[u8],
        t: &mut Columns,
        Correction { u, .. }: &mut Correction,
    ) -> Result<[u8; 32]> {
        let stride = x.len();
        u.resize(COLUMNS * stride, 0);
        t.reset(stride);
        let columns = t.each_mut().zip(u.chunks_exact_mut(stride));
        for ([zero, one], (t, u)) in self.seeds.iter_mut().zip(columns) {
            zero.fill(t);
            one.fill(u);
            xor_into(u, t);
            xor_into(u, x);
        }
        channel.tamper_state("iknp: u", u);
        channel.send(IKNP_U, u)?;
        Ok(*blake3::hash(u).as_bytes())
    }

    fn transcript(&mut self) -> (&mut Transcript, &mut Prg) {
        (&mut self.transcript, &mut self.tails)
    }
}

/// The sender: holds Δ and the seed of each pair that Δ's bit chose.
pub struct Sender {
    delta: Delta,
    seeds: Vec<Prg>,
    transcript: Transcript,
    guard: Arc<SelectiveFailureGuard>,
}

impl Sender {
    /// Starts from Δ and 128 seeds: seed i is the one that bit i of Δ chose.
    ///
    /// `stream` is shared with no other sender, `guard` with all senders under this Δ.
    pub fn new(
        delta: &Delta,
        seeds: &[Block; COLUMNS],
        session: &[u8; 32],
        stream: ExtensionId,
        guard: Arc<SelectiveFailureGuard>,
    ) -> Self {
        let start = stream.start(session);
        Sender {
            delta: delta.clone(),
            seeds: seeds.iter().map(|&seed| Prg::starting_at(seed, start)).collect(),
            transcript: stream.transcript(session),
            guard,
        }
    }
}

impl CotSender for Sender {
    fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Paper: IKNP03
    ///
    /// Timing: Δ | a masked XOR for each bit of Δ
    fn receive_columns(
        &mut self,
        channel: &mut Channel,
        n: usize,
        q: &mut Columns,
        Correction { u, .. }: &mut Correction,
    ) -> Result<[u8; 32]> {
        cot::check_draw(n, n)?;
        let stride = column_bytes(n);
        u.resize(COLUMNS * stride, 0);
        // This party's part needs nothing from the peer, so it is done while the message is in
        // transit.
        q.reset(stride);
        for (seed, q) in self.seeds.iter_mut().zip(q.each_mut()) {
            seed.fill(q);
        }
        channel.recv_into(IKNP_U, u)?;
        for (i, (q, u)) in q.each_mut().zip(u.chunks_exact(stride)).enumerate() {
            xor_if(q, u, self.delta.0 >> i & 1 == 1);
        }
        Ok(*blake3::hash(u).as_bytes())
    }

    fn guard(&self) -> &SelectiveFailureGuard {
        &self.guard
    }

    fn transcript(&mut self) -> &mut Transcript {
        &mut self.transcript
    }
}
