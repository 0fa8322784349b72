//! How the garbler makes the rows of gates that are independent of each other: step 4d.

use std::ops::Range;

use symbolon_circuit::And;
use symbolon_primitives::{Block, Delta};
use symbolon_transport::{Channel, Result};
use zeroize::Zeroize;

use super::messages;
use super::table::{self, Cut, ROWS, RowHash};
use crate::{
    gates::{masked_gates::MaskedGates, wire_shares::WireShares},
    labels::{self, MESSAGE, RUN},
};

/// Garbles, and collects what is to be sent.
pub(super) struct Rows {
    pub delta: Delta,
    hash: RowHash,
    mac_bytes: usize,
    /// Rows 1 to 3 of each gate that is not sent yet.
    labels: Vec<Block>,
    /// The cut MACs of all their rows.
    macs: Vec<u8>,
    /// Of a run of gates: what the rows are hashed by, then the hashes for labels; and those for
    /// MACs.
    hashes: [Vec<Block>; 2],
    /// Of a run of gates: the own part of what λ_α and λ_β add to their labels, and of what λ_αβ ⊕
    /// λ_γ does.
    own: [[Block; 2]; RUN],
    own_row0: [[Block; 1]; RUN],
}

impl Rows {
    pub fn new(delta: Delta, hash: RowHash, mac_bytes: usize) -> Rows {
        Rows {
            delta,
            hash,
            mac_bytes,
            labels: Vec::new(),
            macs: Vec::new(),
            hashes: [(); 2].map(|()| vec![Block::ZERO; ROWS * RUN]),
            own: [[Block::ZERO; 2]; RUN],
            own_row0: [[Block::ZERO; 1]; RUN],
        }
    }

    /// Sends all that fills messages, and at the `end` of a chunk the rest.
    pub fn send(&mut self, channel: &mut Channel, end: bool) -> Result<()> {
        let gates = self.labels.len() / (ROWS - 1);
        let (of_labels, of_macs) = (ROWS - 1, ROWS * self.mac_bytes);
        let mut sent = 0;
        while gates - sent >= if end { 1 } else { MESSAGE } {
            let n = MESSAGE.min(gates - sent);
            let labels = &self.labels[of_labels * sent..][..of_labels * n];
            let macs = &self.macs[of_macs * sent..][..of_macs * n];
            channel.send_parts(messages::GARBLED_TABLE, &[Block::as_bytes(labels), macs])?;
            sent += n;
        }
        self.labels.drain(..of_labels * sent);
        self.macs.drain(..of_macs * sent);
        Ok(())
    }

    /// Forgets what is not sent.
    #[cfg(feature = "measure")]
    pub fn clear(&mut self) {
        self.labels.clear();
        self.macs.clear();
    }

    /// Garbles gates that do not depend on each other, from gate `done` of the chunk on; the first
    /// has number `first`.
    pub fn garble(
        &mut self,
        slots: &mut [Block],
        ands: &[And],
        gates: &MaskedGates,
        done: usize,
        first: u64,
    ) {
        for (run, ands) in ands.chunks(RUN).enumerate() {
            let from = RUN * run;
            self.hash_rows(slots, ands, first + from as u64);
            self.put_labels(slots, ands, gates, done + from);
            let range = done + from..done + from + ands.len();
            match table::are_words(self.mac_bytes) {
                true => self.put_macs::<u64>(gates, range),
                false => self.put_macs::<u128>(gates, range),
            }
        }
    }

    fn hash_rows(&mut self, slots: &[Block], ands: &[And], first: u64) {
        let [rows, macs] = self.hashes.each_mut().map(|hashes| &mut hashes[..ROWS * ands.len()]);
        let both = rows.as_chunks_mut().0.iter_mut().zip(macs.as_chunks_mut().0);
        for ((rows, macs), and) in both.zip(ands) {
            *rows = labels::row_inputs(slots[and.a as usize], slots[and.b as usize], *self.delta);
            *macs = *rows;
        }
        self.hash.hash(first, ROWS, rows, macs);
    }

    /// The rows' labels but for L_γ,0, which makes the first of them zero.
    fn put_labels(&mut self, slots: &mut [Block], ands: &[And], gates: &MaskedGates, g: usize) {
        let n = ands.len();
        let (own, own_row0) = (&mut self.own[..n], &mut self.own_row0[..n]);
        WireShares::key_sums([&gates.lambda_a, &gates.lambda_b], g, *self.delta, own);
        WireShares::key_sums([&gates.lambda_ab_c], g, *self.delta, own_row0);
        let own = own.iter().zip(own_row0);
        let start = self.labels.len();
        self.labels.resize(start + (ROWS - 1) * n, Block::ZERO);
        let labels = self.labels[start..].as_chunks_mut().0.iter_mut();
        let hashes = self.hashes[0].as_chunks().0.iter();
        for (((labels, and), [h0, h1, h2, h3]), ([alpha, beta], [row0])) in
            labels.zip(ands).zip(hashes).zip(own)
        {
            // Row 2u + v adds the shares of λ_αβ ⊕ λ_γ, v·λ_α and u·λ_β, of which L_γ,0 has the
            // first; row 3 a constant 1, too.
            *labels =
                [*h0 ^ *h1 ^ *alpha, *h0 ^ *h2 ^ *beta, *h0 ^ *h3 ^ *alpha ^ *beta ^ *self.delta];
            slots[and.out as usize] = *h0 ^ *row0;
        }
    }

    /// The cut MACs of rows 0 to 3 of these gates.
    fn put_macs<C: Cut>(&mut self, gates: &MaskedGates, range: Range<usize>) {
        let mac_bytes = self.mac_bytes;
        let start = self.macs.len();
        let end = start + ROWS * range.len() * mac_bytes;
        // The last is written with zeros behind it.
        self.macs.resize(end + C::BYTES, 0);
        let out = &mut self.macs[start..];
        let rows = [&gates.lambda_a, &gates.lambda_b, &gates.lambda_ab_c];
        let macs = rows.map(|rows| rows.auths(range.start, range.len()));
        let [alpha, beta, row0] = macs.map(|auths| auths.map(|auth| C::of(auth[0][0], mac_bytes)));
        let hashes = self.hashes[1].as_chunks::<ROWS>().0.iter();
        for (k, (((alpha, beta), row0), hashes)) in
            alpha.zip(beta).zip(row0).zip(hashes).enumerate()
        {
            let own = table::rows(row0, alpha, beta);
            for (row, (own, hash)) in own.into_iter().zip(hashes).enumerate() {
                (own ^ C::of(*hash, mac_bytes)).put_at(out, ROWS * k + row, mac_bytes);
            }
        }
        self.macs.truncate(end);
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.hashes.zeroize();
        self.own.zeroize();
        self.own_row0.zeroize();
        self.labels.zeroize();
    }
}
