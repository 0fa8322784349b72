//! The preprocessing: each party commits to its tables, and proves that they are those of its
//! authenticated bits.
//!
//! Let a be the verifier's secret bits, one for each position of the code. From their streams the
//! prover has rows u' and V, the verifier rows V ⊕ a∗u'. For a row of the tables with bits s the
//! prover sends the correction u' ⊕ C(s), so that the verifier has W = V ⊕ a∗C(s). For a mask of
//! the online check, a random word of the square that is zero in the places of the code, the free
//! positions of u' are its free places, and only the other positions are corrected.
//!
//! # The check
//! Once it has all corrections, the verifier draws coefficients χ. The prover opens Σ χ_j·s_j, and
//! the sum of its masks likewise: 128 totals (256 for ρ > 40), each of which is hidden by a row of
//! its own. A digest covers all Σ χ_j·V_j, and all Σ χ_j·M_j for the 128-bit MACs M_j on the
//! tables' bits. The verifier computes both from what was opened. `docs/proofs/tinytable-codes.md`
//! proves that the commitments then are words of the codes, except in positions where the prover
//! guessed a, and commit to the authenticated bits.
//!
//! The verifier itself draws the challenge: nobody else could grind it, and the totals are hidden
//! whatever it is.

use blake3::Hasher;
use symbolon_primitives::block_xor::xor_blocks;
use symbolon_primitives::{BitVec, Block, Prg, gf128};
use symbolon_transport::{Channel, Error, Message, Result};
use zeroize::Zeroizing;

use super::super::checks::COMMITMENT;
use super::super::messages::{CODE_CHALLENGE, CODE_MASKS, CODE_PROOF, CODE_TABLES};
use super::super::prepared::ScrambledCircuit;
use super::combine::{Coefficient, Totals};
use super::layout::Layout;
use super::reed_muller::{Degree, Places};
use super::shares::{Side, TagSums, add_hiding, group_bits};
use super::streams::{Draw, Rows, Streams, windows};
use super::{Commitments, Secrets};

/// How many windows of corrections are sent ahead.
pub(crate) const LOOKAHEAD: usize = 6;

/// The authenticated bits that hide this party's tables, and the keys for the peer's.
pub(super) struct Hiding {
    pub bits: BitVec,
    pub macs: Zeroizing<Vec<Block>>,
    pub keys: Zeroizing<Vec<Block>>,
}

/// Commits both parties to their tables.
///
/// Check: `tinytable` | `code commitment`, with `--mac code`: sums of all rows and of their MACs,
/// under coefficients that the verifier draws | tables, masks that are no words of the code, or are
/// not the authenticated bits | below 2^-ρ, with the online check
/// (`docs/proofs/tinytable-codes.md`)
///
/// Paper: DNNR17, Fig. 9 | commitments to all tables
///
/// # Errors
/// `PeerMisbehaved` if the peer's commitments are wrong; `Transport` if the connection is lost.
pub(super) fn commit(
    circuit: &ScrambledCircuit<u128>,
    layout: Layout,
    secrets: Secrets,
    hiding: &Hiding,
    channel: &mut Channel,
) -> Result<Commitments> {
    let prover = Prover {
        circuit,
        layout: &layout,
        hiding,
        streams: secrets.own_streams(circuit.me, &circuit.delta),
    };
    let tables = prover.send_tables(channel)?;
    let masks = prover.send_masks(channel)?;
    let (chi, theirs) = challenges(channel)?;
    let proof = prover.proof(theirs, channel);
    channel.send(CODE_PROOF, &proof)?;
    channel.flush()?;
    let proof = channel.recv(CODE_PROOF, layout.proof_bytes())?;
    let verifier = Verifier {
        circuit,
        layout: &layout,
        hiding,
        a: &secrets.a,
        streams: secrets.their_streams(circuit.me),
        tables: &tables,
        masks: &masks,
    };
    if !verifier.accepts(chi, &proof) {
        return Err(Error::misbehaved(channel.peer(), COMMITMENT));
    }
    let [table, mask] = layout.correction_blocks();
    let (mut tables, mut masks) = (tables, masks);
    tables.truncate(layout.rows() * table);
    masks.truncate(layout.checks * mask);
    Ok(Commitments { layout, secrets, tables, masks })
}

/// Draws the challenge for the peer, and receives the one for this party.
pub(super) fn challenges(channel: &mut Channel) -> Result<([u8; 32], [u8; 32])> {
    let mut own = [0; 32];
    Prg::from_os().map_err(|e| Error::internal(e.to_string()))?.fill(&mut own);
    channel.send(CODE_CHALLENGE, &own)?;
    channel.flush()?;
    Ok((own, channel.recv_array(CODE_CHALLENGE)?))
}

/// Sends the windows of a draw of `rows` rows, and receives the peer's, which have as many blocks a
/// row. Returns these.
fn exchange(
    channel: &mut Channel,
    message: Message,
    (rows, blocks): (usize, usize),
    mut own: impl FnMut(&mut [Block]),
) -> Result<Vec<Block>> {
    let mut theirs = vec![Block::ZERO; rows * blocks];
    let mut left = &mut theirs[..];
    let mut receive = |channel: &mut Channel, n: usize| {
        let (now, rest) = std::mem::take(&mut left).split_at_mut(n * blocks);
        left = rest;
        channel.recv_into(message, Block::as_bytes_mut(now))
    };
    let mut awaited = windows(rows);
    let mut window = Vec::new();
    for (number, n) in windows(rows).enumerate() {
        window.resize(n * blocks, Block::ZERO);
        window.chunks_exact_mut(blocks).for_each(&mut own);
        channel.tamper_state(message.name(), Block::as_bytes_mut(&mut window));
        channel.send(message, Block::as_bytes(&window))?;
        if number >= LOOKAHEAD
            && let Some(n) = awaited.next()
        {
            receive(channel, n)?;
        }
    }
    channel.flush()?;
    awaited.try_for_each(|n| receive(channel, n))?;
    Ok(theirs)
}

/// The coefficients of the check, in the order of the rows.
struct Coefficients {
    prg: Prg,
    hashes: usize,
}

impl Coefficients {
    fn new(challenge: &[u8; 32], hashes: usize) -> Coefficients {
        Coefficients { prg: Prg::from_public_digest(challenge), hashes }
    }

    /// Returns those of the next group's first plane, or of the next mask.
    fn next(&mut self) -> Coefficient {
        let first = self.prg.block();
        [first, if self.hashes > 1 { self.prg.block() } else { Block::ZERO }]
    }
}

/// Returns the coefficient of the row that hides total number i.
fn only(i: usize) -> Coefficient {
    let mut coefficient = [Block::ZERO; 2];
    coefficient[i / 128] = Block(1 << (i % 128));
    coefficient
}

/// The party that commits.
struct Prover<'a> {
    circuit: &'a ScrambledCircuit<u128>,
    layout: &'a Layout,
    hiding: &'a Hiding,
    /// The streams of both seeds of each pair.
    streams: [Streams; 2],
}

impl Prover<'_> {
    /// Calls `each` with the bits of each row of the tables and its coefficient, then with those of
    /// the rows that hide them. `groups` gets each group's coefficient.
    fn rows(
        &self,
        chi: &mut Coefficients,
        mut groups: impl FnMut(usize, Coefficient),
        mut each: impl FnMut(&[Block], Coefficient),
    ) {
        let blocks = self.layout.place_blocks();
        let mut planes = Zeroizing::new(Vec::new());
        for (group, n) in self.layout.groups().enumerate() {
            planes.resize(n * blocks, Block::ZERO);
            group_bits(self.circuit, self.layout, group, &mut planes);
            let mut coefficient = chi.next();
            groups(group, coefficient);
            for plane in planes.chunks_exact(blocks) {
                each(plane, coefficient);
                coefficient = coefficient.map(Block::double);
            }
        }
        let k = self.layout.code.dimension();
        for i in 0..self.layout.hiding() {
            let mut row = Zeroizing::new(vec![Block::ZERO; blocks]);
            let words = bytemuck::cast_slice_mut(&mut row);
            super::super::slices::get(self.hiding.bits.words(), i * k, words, k);
            each(&row, only(i));
        }
    }

    /// Sends the corrections of the tables, and of what hides them.
    fn send_tables(&self, channel: &mut Channel) -> Result<Vec<Block>> {
        let code = &self.layout.code;
        let all = self.layout.rows() + self.layout.hiding();
        let mut bits = Zeroizing::new(Vec::with_capacity(all * self.layout.place_blocks()));
        let mut unused = Coefficients::new(&[0; 32], 1);
        self.rows(&mut unused, |_, _| (), |row, _| bits.extend_from_slice(row));
        let [mut zero, mut one] = self.streams.each_ref().map(|s| Rows::new(s, Draw::Tables, all));
        let mut bits = bits.chunks_exact(self.layout.place_blocks());
        exchange(channel, CODE_TABLES, (all, code.blocks()), |correction| {
            if let Some(bits) = bits.next() {
                code.encode(bytemuck::cast_slice(bits), correction);
            }
            xor_blocks(correction, zero.next());
            xor_blocks(correction, one.next());
        })
    }

    /// Sends the corrections of the masks, and of what hides them.
    fn send_masks(&self, channel: &mut Channel) -> Result<Vec<Block>> {
        let code = &self.layout.code;
        let all = self.layout.checks + self.layout.hiding();
        let [mut zero, mut one] = self.streams.each_ref().map(|s| Rows::new(s, Draw::Masks, all));
        let mut word = Zeroizing::new(vec![Block::ZERO; code.blocks()]);
        let mut mask = Zeroizing::new(vec![Block::ZERO; code.blocks()]);
        let [_, blocks] = self.layout.correction_blocks();
        exchange(channel, CODE_MASKS, (all, blocks), |correction| {
            word.copy_from_slice(zero.next());
            xor_blocks(&mut word, one.next());
            mask.copy_from_slice(&word);
            code.keep(Places::Free, &mut mask);
            code.complete(Degree::Square, &mut mask);
            xor_blocks(&mut word, &mask);
            code.get(Places::Fixed, &word, bytemuck::cast_slice_mut(correction));
        })
    }

    /// Returns the proof for a challenge.
    fn proof(&self, challenge: [u8; 32], channel: &mut Channel) -> Vec<u8> {
        let (layout, code) = (self.layout, &self.layout.code);
        let (t, blocks) = (layout.hiding(), code.blocks());
        let mut chi = Coefficients::new(&challenge, layout.hashes);
        let mut tags = TagSums::new(self.circuit, layout, Side::Own);
        let mut macs = Zeroizing::new(vec![Block::ZERO; layout.hashes * code.dimension()]);
        let mut sums = Totals::new(t, layout.place_blocks());
        let mut v = Totals::new(t, blocks);
        let all = layout.rows() + t;
        let mut rows = Rows::new(&self.streams[0], Draw::Tables, all);
        self.rows(
            &mut chi,
            |group, coefficient| tags.add_group(group, coefficient, &mut macs),
            |row, coefficient| {
                sums.add(row, coefficient);
                v.add(rows.next(), coefficient);
            },
        );
        add_hiding(&self.hiding.macs, code.dimension(), &mut macs);
        let (mut mask_sums, mut mask_v) = (Totals::new(t, blocks), Totals::new(t, blocks));
        let all = layout.checks + t;
        let [mut zero, mut one] = self.streams.each_ref().map(|s| Rows::new(s, Draw::Masks, all));
        for row in 0..all {
            let coefficient = row.checked_sub(layout.checks).map_or_else(|| chi.next(), only);
            let mut word = Zeroizing::new(one.next().to_vec());
            let zero = zero.next();
            mask_v.add(zero, coefficient);
            xor_blocks(&mut word, zero);
            mask_sums.add(&word, coefficient);
        }
        let mut proof = Vec::with_capacity(layout.proof_bytes());
        let words = code.dimension().div_ceil(64);
        for total in sums.finish().chunks_exact(layout.place_blocks()) {
            proof.extend_from_slice(&Block::as_bytes(total)[..8 * words]);
        }
        let mut free = vec![0; code.count(Places::Free).div_ceil(64)];
        for total in mask_sums.finish().chunks_exact(blocks) {
            code.get(Places::Free, total, &mut free);
            proof.extend_from_slice(bytemuck::cast_slice(&free));
        }
        channel.tamper_state("tinytable: own code proof", &mut proof);
        proof.extend_from_slice(&digest(&v.finish(), &mask_v.finish(), &macs));
        proof
    }
}

/// Returns the digest of both totals of rows, and of the sums of tags.
fn digest(tables: &[Block], masks: &[Block], tags: &[Block]) -> [u8; 32] {
    let mut hasher = Hasher::new_derive_key("symbolon tinytable codes 1: commitments");
    for part in [tables, masks, tags] {
        hasher.update(Block::as_bytes(part));
    }
    *hasher.finalize().as_bytes()
}

/// The party to which the other commits.
struct Verifier<'a> {
    circuit: &'a ScrambledCircuit<u128>,
    layout: &'a Layout,
    hiding: &'a Hiding,
    a: &'a [Block],
    streams: Streams,
    /// The peer's corrections.
    tables: &'a [Block],
    masks: &'a [Block],
}

impl Verifier<'_> {
    /// Returns whether the peer's proof is right.
    fn accepts(&self, challenge: [u8; 32], proof: &[u8]) -> bool {
        let (layout, code) = (self.layout, &self.layout.code);
        let (t, k) = (layout.hiding(), code.dimension());
        let mut chi = Coefficients::new(&challenge, layout.hashes);
        let mut tags = TagSums::new(self.circuit, layout, Side::Theirs);
        let mut keys = Zeroizing::new(vec![Block::ZERO; layout.hashes * k]);
        let mut w = Totals::new(t, code.blocks());
        let all = layout.rows() + t;
        let mut rows = Rows::new(&self.streams, Draw::Tables, all);
        let mut corrections = self.tables.chunks_exact(code.blocks());
        let mut row = Zeroizing::new(vec![Block::ZERO; code.blocks()]);
        let mut add = |coefficient| {
            if let Some(correction) = corrections.next() {
                correct(&mut row, rows.next(), self.a, correction);
                w.add(&row, coefficient);
            }
        };
        for (group, planes) in layout.groups().enumerate() {
            let mut coefficient = chi.next();
            tags.add_group(group, coefficient, &mut keys);
            for _ in 0..planes {
                add(coefficient);
                coefficient = coefficient.map(Block::double);
            }
        }
        (0..t).for_each(|i| add(only(i)));
        add_hiding(&self.hiding.keys, k, &mut keys);
        let mut w = w.finish();
        let mut mask_w = self.masks(&mut chi);

        let (opened, expected) = proof.split_at(proof.len() - 32);
        let (sums, mask_sums) = opened.split_at(t * k.div_ceil(64) * 8);
        let mask_sums = rows_of(mask_sums, t, code.count(Places::Free));
        let (Some(sums), Some(mask_sums)) = (rows_of(sums, t, k), mask_sums) else {
            return false;
        };
        let mut word = vec![Block::ZERO; code.blocks()];
        for (i, (w, sum)) in w.chunks_exact_mut(code.blocks()).zip(&sums).enumerate() {
            code.encode(sum, &mut word);
            add_product(w, self.a, &word);
            self.add_opened(i, sum, &mut keys);
        }
        for (w, sum) in mask_w.chunks_exact_mut(code.blocks()).zip(&mask_sums) {
            word.fill(Block::ZERO);
            code.put(Places::Free, sum, &mut word);
            code.complete(Degree::Square, &mut word);
            add_product(w, self.a, &word);
        }
        blake3::Hash::from_bytes(digest(&w, &mask_w, &keys)) == *expected
    }

    /// Returns the totals of the rows of masks.
    fn masks(&self, chi: &mut Coefficients) -> Zeroizing<Vec<Block>> {
        let (layout, code) = (self.layout, &self.layout.code);
        let [_, blocks] = layout.correction_blocks();
        let mut w = Totals::new(layout.hiding(), code.blocks());
        let mut rows = Rows::new(&self.streams, Draw::Masks, layout.checks + layout.hiding());
        let mut corrected = Zeroizing::new(vec![Block::ZERO; code.blocks()]);
        for (row, packed) in self.masks.chunks_exact(blocks).enumerate() {
            let coefficient = row.checked_sub(layout.checks).map_or_else(|| chi.next(), only);
            correct_mask(&mut corrected, layout, rows.next(), self.a, packed);
            w.add(&corrected, coefficient);
        }
        w.finish()
    }

    /// Adds Δ·X^i times the bits of total number i to the keys.
    fn add_opened(&self, i: usize, total: &[u64], keys: &mut [Block]) {
        let k = self.layout.code.dimension();
        let power = gf128::mul(Block(1 << (i % 128)), *self.circuit.delta);
        for (place, key) in keys[i / 128 * k..][..k].iter_mut().enumerate() {
            *key ^= power.select(total[place / 64] >> (place % 64) & 1 == 1);
        }
    }
}

/// Returns `n` packed rows of this many bits; `None` if bits after the last are set.
pub(super) fn rows_of(bytes: &[u8], n: usize, bits: usize) -> Option<Vec<Vec<u64>>> {
    let rows = bytes.chunks_exact(bytes.len() / n).map(bytemuck::pod_collect_to_vec);
    let rows: Vec<Vec<u64>> = rows.collect();
    let spare = (64 - bits % 64) % 64;
    let fits =
        |row: &Vec<u64>| row.last().is_none_or(|last| last.leading_zeros() as usize >= spare);
    rows.iter().all(fits).then_some(rows)
}

/// Adds a∗word to a row.
pub(super) fn add_product(row: &mut [Block], a: &[Block], word: &[Block]) {
    row.iter_mut().zip(a.iter().zip(word)).for_each(|(row, (a, word))| row.0 ^= a.0 & word.0);
}

/// Sets a row of W: the verifier's streams with the correction added.
pub(super) fn correct(w: &mut [Block], row: &[Block], a: &[Block], correction: &[Block]) {
    w.copy_from_slice(row);
    add_product(w, a, correction);
}

/// Sets a row of W of a mask, whose correction is packed.
pub(super) fn correct_mask(
    w: &mut [Block],
    layout: &Layout,
    row: &[Block],
    a: &[Block],
    packed: &[Block],
) {
    let mut correction = vec![Block::ZERO; row.len()];
    layout.code.put(Places::Fixed, bytemuck::cast_slice(packed), &mut correction);
    correct(w, row, a, &correction);
}
