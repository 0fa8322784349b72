//! Outputs: the check of translations, and the release (Fig. 15, "Output Decommit" and "PSI
//! Decommit").
//!
//! If a garbler translated one of the two labels of an output incorrectly, it would learn from the
//! intersection which value the output has. So, after both parties are committed to their sets and
//! before either opens the intersection, each opens the output labels of its bucket's circuits, and
//! the peer checks every translation. The labels of the first circuit are the bucket's. From then
//! on anybody can compute any reconciliation value, which is why the sets are committed first.

use symbolon_primitives::{BitVec, Block, Seed, mask64, same_digest, watch};
use symbolon_transport::{Channel, Error, PartyId, Result};

use super::{
    checks,
    execution::{Execution, PeerCircuit},
    garble::{Leaf, LeafHash},
    label_hashes::LabelHashes,
    messages,
    reconcile::Candidate,
};

/// Evidence that the output labels of the peer's buckets fit their hashes and every circuit's
/// translation, so the intersection may be opened.
pub(super) struct TranslationsChecked(());

/// Opens the output labels of all own buckets.
///
/// Paper: RR16, Fig. 15, Output Decommit | translations
///
/// # Errors
/// `Transport`.
pub(super) fn send_seeds(channel: &mut Channel, executions: &[Execution]) -> Result<()> {
    let circuits = executions.iter().flat_map(|execution| &execution.own);
    let own: Vec<Block> = circuits.map(|circuit| *circuit.output_seed).collect();
    watch::tell_opened(Block::as_bytes(&own));
    channel.send(messages::OUTPUT_SEEDS, Block::as_bytes(&own))
}

/// Checks the output labels that the peer opens.
///
/// Paper: RR16, Fig. 15, Output Decommit
///
/// Check: `dualex`: outputs | `output translation`, after both sets are committed to and before an
/// intersection is opened | a wrong translation of one value | 2^-128
///
/// # Errors
/// `PeerMisbehaved` when labels do not match their commitment or a translation; `Transport`.
pub(super) fn check_seeds(
    channel: &mut Channel,
    session: &[u8; 32],
    executions: &[Execution],
) -> Result<TranslationsChecked> {
    let seeds = executions.iter().map(|execution| execution.theirs.len()).sum();
    let mut theirs = vec![Block::ZERO; seeds];
    channel.recv_into(messages::OUTPUT_SEEDS, Block::as_bytes_mut(&mut theirs))?;
    let peer = channel.peer();
    let mut rest = &theirs[..];
    let mut good = true;
    for execution in executions {
        let (seeds, behind) = rest.split_at(execution.theirs.len());
        good &= fits(session, peer, execution, seeds);
        rest = behind;
    }
    match good {
        true => Ok(TranslationsChecked(())),
        false => Err(Error::misbehaved(peer, checks::TRANSLATION)),
    }
}

/// Whether the opened seeds are those of a bucket's circuits, and the hashes and translations fit
/// them.
///
/// Paper: RR16, Fig. 15, Output Decommit
fn fits(session: &[u8; 32], peer: PartyId, execution: &Execution, seeds: &[Block]) -> bool {
    let outputs = execution.output_hashes.sums.len();
    let hash = |circuit: &PeerCircuit| LeafHash::new(session, peer, circuit.number);
    // The first circuit's labels are the bucket's, and it has no translation.
    let labels = hash(&execution.theirs[0]).output_labels(&Seed::new(seeds[0]), outputs);
    let hashes = LabelHashes::of((session, peer, execution.number), &labels);
    let mut good = hashes.same(&execution.output_hashes);
    for (circuit, seed) in execution.theirs.iter().zip(seeds) {
        let hash = hash(circuit);
        good &= same_digest(&hash.seed(Leaf::Outputs, *seed), &circuit.seeds[1]);
        let wanted = hash.output_labels(&Seed::new(*seed), outputs);
        for ((wanted, translation), label) in
            wanted.iter().zip(&circuit.translation).zip(labels.iter())
        {
            for h in [0, 1] {
                good &= (wanted[h] ^ translation[h]).ct_eq(&label[h]);
            }
        }
    }
    good
}

/// The outputs of an execution, confirmed by both parties' circuits. Outputs are released only from
/// this type.
///
/// Paper: RR16, Fig. 15, PSI Decommit | the output
///
/// Check: `dualex`: outputs | `intersection opening`; `reconciliation`: exactly one common value,
/// of an evaluated circuit | a wrong output | 2^-ρ
pub(super) struct Reconciled {
    values: BitVec,
}

impl Reconciled {
    /// Returns the outputs that the intersection confirms. It must have exactly one value, from a
    /// circuit that was evaluated. `found` has the places in `set` of the values that the peer has
    /// too.
    ///
    /// # Errors
    /// `PeerMisbehaved` when there is no such value, or more than one.
    pub fn new(
        peer: PartyId,
        candidates: &[Candidate],
        set: &[u128],
        found: &[usize],
    ) -> Result<Reconciled> {
        let cheated = || Error::misbehaved(peer, checks::RECONCILIATION);
        let [place] = found else { return Err(cheated()) };
        let item = set[*place];
        // Which circuits gave the value may depend on inputs, so nothing branches on it.
        let width = candidates.first().map_or(0, |candidate| candidate.values.len());
        let (mut values, mut confirmed) = (BitVec::zeros(width), false);
        for candidate in candidates {
            let same = Block(candidate.item).ct_eq(&Block(item)) & candidate.good;
            let first = same & !confirmed;
            let mask = mask64(first);
            let words = values.words_mut().iter_mut().zip(candidate.values.words());
            words.for_each(|(sum, word)| *sum |= word & mask);
            confirmed |= first;
        }
        if confirmed { Ok(Reconciled { values }) } else { Err(cheated()) }
    }

    /// Returns the values of all outputs; masked outputs are still masked.
    pub fn values(&self) -> Vec<bool> {
        self.values.to_bools()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One common value releases the outputs of its candidate; no value, or two, release nothing.
    #[test]
    fn one_common_value_releases_its_candidate() {
        let candidate = |item, bits: [bool; 3]| Candidate {
            values: BitVec::from_bools(&bits),
            item,
            good: true,
        };
        let (right, wrong) = ([true, false, true], [false, true, true]);
        let mut bad = candidate(7, wrong);
        bad.good = false;
        let candidates = [candidate(5, wrong), candidate(6, right), candidate(6, right), bad];
        let set = [9, 6, 5, 7];
        let released = |found: &[usize]| {
            Reconciled::new(1.into(), &candidates, &set, found)
                .map(|reconciled| reconciled.values())
        };
        assert_eq!(released(&[1]).unwrap(), right);
        assert_eq!(released(&[2]).unwrap(), wrong);
        // A value that no circuit gave, no value, two values, a value of wrong labels.
        for found in [&[0][..], &[], &[1, 2], &[3]] {
            let refused = released(found).unwrap_err();
            assert!(
                matches!(refused, Error::PeerMisbehaved { check, .. } if check == checks::RECONCILIATION)
            );
        }
    }
}
