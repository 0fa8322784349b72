//! The garbler's computation of the rows of independent gates: step 4d.
//!
//! A message of n gates first contains 3n labels (rows 1, 2, 3 of each gate; row 0's is zero), then
//! 4n MACs of ρ bits (rows 0 to 3 of each gate): 3κ + 4ρ bits per gate.

use std::ops::Range;

use symbolon_circuit::And;
use symbolon_engine::Rho;
use symbolon_garbling::four_row::{self, FourRows, ROWS, RowHash, TruncatedMac};
use symbolon_garbling::half_gates::{Gates, RUN};
use symbolon_primitives::{Block, Delta, TweakedHash, derive_block};
use symbolon_transport::{Channel, Result};
use zeroize::ZeroizeOnDrop;

use super::messages;
use crate::gates::{garbled_table::MESSAGE, masked_gates::MaskedGates};

/// Returns the length of a MAC in a garbled row, in bytes.
pub(super) fn mac_bytes(rho: Rho) -> usize {
    rho.bits() as usize / 8
}

/// Returns the hashes of rows, whose starts depend on the session id.
pub(super) fn row_hash(session: &[u8; 32]) -> RowHash {
    let hash = |which| TweakedHash::new(derive_block("symbolon wrk garbling 1", session, which));
    RowHash { labels: hash(0), macs: hash(1) }
}

/// Garbles, and collects the data to be sent.
#[derive(ZeroizeOnDrop)]
pub(super) struct Rows {
    pub delta: Delta,
    #[zeroize(skip)]
    hash: RowHash,
    mac_bytes: usize,
    /// Rows 1 to 3 of each gate that is not sent yet.
    labels: Vec<Block>,
    /// The truncated MACs of all rows of these gates.
    macs: Vec<u8>,
    #[zeroize(skip)]
    kernel: Box<FourRows>,
}

impl Rows {
    pub fn new(delta: Delta, hash: RowHash, mac_bytes: usize) -> Rows {
        Rows {
            delta,
            hash,
            mac_bytes,
            labels: Vec::new(),
            macs: Vec::new(),
            kernel: Box::default(),
        }
    }

    /// Sends all full messages, and at the `end` of a chunk the rest.
    ///
    /// Paper: WRK17, Fig. 2, 4(d)
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

    /// Drops what is not sent.
    #[cfg(feature = "measure")]
    pub fn clear(&mut self) {
        self.labels.clear();
        self.macs.clear();
    }

    /// Garbles gates that do not depend on each other, from gate `done` of the chunk on; the first
    /// gate has number `first`.
    ///
    /// Paper: WRK17, Fig. 2, 4(d) | the garbled table
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
            let run = Gates { ands, place: done + from, number: first + from as u64 };
            match four_row::are_words(self.mac_bytes) {
                true => self.run::<u64>(slots, run, gates),
                false => self.run::<u128>(slots, run, gates),
            }
        }
    }

    /// Garbles at most `RUN` gates.
    fn run<M: TruncatedMac>(&mut self, slots: &mut [Block], run: Gates<'_>, gates: &MaskedGates) {
        let n = run.ands.len();
        let start = self.labels.len();
        self.labels.resize(start + (ROWS - 1) * n, Block::ZERO);
        let table = self.labels[start..].as_chunks_mut().0;
        let hashes = self.kernel.garble((&self.hash, *self.delta), slots, run, gates, table);
        put_macs::<M>(hashes, gates, run.place..run.place + n, self.mac_bytes, &mut self.macs);
    }
}

/// Appends the truncated MACs of rows 0 to 3 of these gates.
///
/// Paper: WRK17, Fig. 2, 4(b) | the garbler's rows: MACs
fn put_macs<M: TruncatedMac>(
    hashes: &[[Block; ROWS]],
    gates: &MaskedGates,
    range: Range<usize>,
    mac_bytes: usize,
    list: &mut Vec<u8>,
) {
    let start = list.len();
    let end = start + ROWS * range.len() * mac_bytes;
    // The last MAC is written with zeros after it.
    list.resize(end + M::BYTES, 0);
    let out = &mut list[start..];
    let rows = [&gates.lambda_a, &gates.lambda_b, &gates.lambda_ab_c];
    let macs = rows.map(|rows| rows.auths(range.start, range.len()));
    let [alpha, beta, row0] = macs.map(|auths| auths.map(|auth| M::of(auth[0][0], mac_bytes)));
    for (k, (((alpha, beta), row0), hashes)) in alpha.zip(beta).zip(row0).zip(hashes).enumerate() {
        let own = four_row::rows(row0, alpha, beta);
        for (row, (own, hash)) in own.into_iter().zip(hashes).enumerate() {
            (own ^ M::of(*hash, mac_bytes)).put_at(out, ROWS * k + row, mac_bytes);
        }
    }
    list.truncate(end);
}
