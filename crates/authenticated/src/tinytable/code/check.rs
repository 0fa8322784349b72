//! The check of all opened table bits, before any output.
//!
//! For a group of AND gates with the masked inputs c and d, the sum C(row) ⊕ C(c)∗C(β) ⊕ C(d)∗C(α)
//! is a word of the square, and has in the places of the code the bits that had to be opened. For a
//! plane of look-ups' entries with the bits s, so has C(I)∗C(s), where I is one in the places of
//! the opened entries. Once it has all bits, the verifier draws ρ + 8 rows of binary coefficients.
//! For each row the prover sends the free places of the sum of all these words, plus a mask from
//! the preprocessing that is zero in the places of the code; the verifier knows the values there.
//! A digest covers the same sums of the rows V.
//!
//! So what is sent does not depend on the circuit's size, and shows only sums of bits that the
//! verifier has. `docs/proofs/tinytable-codes.md` proves both.
//!
//! Departure: `tinytable`: opening under a code | each block is masked and opened (MiniMac) |
//! random sums of all blocks, each with one mask | both parties know the opened bits already: only
//! whether they are right is open

use blake3::Hasher;
use symbolon_primitives::block_xor::xor_blocks;
use symbolon_primitives::{BitVec, Block, Prg, Transcript};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::super::check::Checked;
use super::super::checks::CODE;
use super::super::messages::CODE_ONLINE;
use super::super::{opened::OpenedEntries, prepared::ScrambledCircuit, slices, tag::Tag};
use super::Commitments;
use super::combine::{Coefficient, Totals};
use super::commit::{add_product, challenges, correct, correct_mask, rows_of};
use super::layout::{AND_PLANES, Layout};
use super::reed_muller::{Degree, Places};
use super::shares::{entry, group_bits, put_entry};
use super::streams::{Draw, Rows};

/// Proves this party's bits to the peer, and checks the peer's.
///
/// Check: `tinytable` | `table code`, with `--mac code`: sums of all opened blocks, under
/// coefficients that the verifier draws when it has all bits, before any output | wrong bits,
/// entries, sums | below 2^-ρ, with the commitments' check (`docs/proofs/tinytable-codes.md`)
///
/// Paper: DNNR17, Fig. 11, check | all bits opened until now
///
/// # Errors
/// `PeerMisbehaved` if the peer sent a wrong bit or proof.
pub(super) fn check<T: Tag>(
    ready: &ScrambledCircuit<T>,
    commitments: &Commitments,
    opened: &OpenedEntries,
    transcript: &mut Transcript,
    channel: &mut Channel,
) -> Result<Checked> {
    let (own, theirs) = challenges(channel)?;
    let selected = Selected { ready, layout: &commitments.layout, opened };
    let proof = prove(&selected, commitments, theirs, channel);
    channel.send(CODE_ONLINE, &proof)?;
    channel.flush()?;
    let received = channel.recv(CODE_ONLINE, commitments.layout.online_bytes())?;
    if !accepts(&selected, commitments, own, &received) {
        return Err(Error::misbehaved(channel.peer(), CODE));
    }
    let mut both = [(own, received), (theirs, proof)];
    both.rotate_left(ready.me.index());
    for (challenge, proof) in &both {
        transcript.absorb("challenge of a code", challenge);
        transcript.absorb("proof of a code", proof);
    }
    Ok(Checked::by_code())
}

/// The opened bits by group.
struct Selected<'a, T: Tag> {
    ready: &'a ScrambledCircuit<T>,
    layout: &'a Layout,
    opened: &'a OpenedEntries,
}

/// What is known of a group: packed bits for each place.
#[derive(Default)]
struct Group {
    /// The coefficients of AND gates' shares β and α, or of an entry's bits.
    selectors: Vec<Vec<Block>>,
    /// The peer's bits: those of AND gates, or for each plane of entries.
    theirs: Vec<Vec<Block>>,
}

impl<T: Tag> Selected<'_, T> {
    /// Calls `each` with every group, which has as many planes. The peer's bits are those of the
    /// shares, without the public constants that one party adds.
    fn groups(&self, mut each: impl FnMut(usize, usize, Group)) {
        let layout = self.layout;
        let mut theirs = self.opened.theirs.clone();
        if self.ready.me == 1 {
            let public = self.opened.c.words().iter().zip(self.opened.d.words());
            let words = theirs.words_mut().iter_mut().zip(public.map(|(c, d)| c & d));
            words.for_each(|(bits, public)| *bits ^= public);
        }
        let mut entries = self.entries().peekable();
        for (group, planes) in layout.groups().enumerate() {
            let range = layout.range(group);
            let zeros = || vec![Block::ZERO; layout.place_blocks()];
            let known = if group < layout.and_groups() {
                let bits = |bits: &BitVec| {
                    let mut packed = zeros();
                    let words = bytemuck::cast_slice_mut(&mut packed);
                    slices::get(bits.words(), range.start, words, range.len());
                    packed
                };
                let selectors = vec![bits(&self.opened.c), bits(&self.opened.d)];
                Group { selectors, theirs: vec![bits(&theirs)] }
            } else {
                let mut opened = zeros();
                let mut theirs: Vec<Vec<Block>> = (0..planes).map(|_| zeros()).collect();
                while let Some((number, share)) = entries.next_if(|(n, _)| *n < range.end) {
                    let place = number - range.start;
                    opened[place / 128].0 |= 1 << (place % 128);
                    let words = theirs.iter_mut().map(|plane| bytemuck::cast_slice_mut(plane));
                    put_entry(&mut words.collect::<Vec<_>>(), place, share);
                }
                Group { selectors: vec![opened], theirs }
            };
            each(group, planes, known);
        }
    }

    /// Returns the numbers of the opened entries, in ascending order, and the peer's shares.
    fn entries(&self) -> impl Iterator<Item = (usize, u64)> {
        let (program, executions) = (&self.ready.program, self.ready.executions);
        let mut shares = &self.opened.entries[..];
        let indices = self.opened.indices.chunks(executions).enumerate();
        indices.flat_map(move |(lookup, indices)| {
            let first = program.place(lookup, 0, executions).entry;
            let size = program.table(lookup).entries().len();
            let width = super::super::entries::width(program.table(lookup));
            let (now, rest) = shares.split_at(width * indices.len());
            shares = rest;
            let numbers = (0..).zip(indices);
            let numbers =
                numbers.map(move |(l, index): (usize, &u8)| first + l * size + *index as usize);
            numbers.zip(now.chunks(width).map(entry))
        })
    }
}

/// The coefficients of the check: those of each group of AND gates, and of each plane of entries.
struct Coefficients {
    prg: Prg,
    mask: Block,
}

impl Coefficients {
    fn new(challenge: &[u8; 32], checks: usize) -> Coefficients {
        let mask = Block(u128::MAX >> (128 - checks));
        Coefficients { prg: Prg::from_public_digest(challenge), mask }
    }

    fn next(&mut self) -> Coefficient {
        [Block(self.prg.block().0 & self.mask.0), Block::ZERO]
    }
}

/// Adds the opened sum of a group to totals, from words of its planes: Σ selector∗plane. For AND
/// gates there is one sum, otherwise one for each plane.
fn add_opened(
    totals: &mut Totals,
    planes: &mut [Block],
    selectors: &[Vec<Block>],
    coefficients: &[Coefficient],
) {
    let blocks = planes.len() / if selectors.len() == 1 { coefficients.len() } else { AND_PLANES };
    match selectors {
        [opened] => {
            for (plane, coefficient) in planes.chunks_exact_mut(blocks).zip(coefficients) {
                plane.iter_mut().zip(opened).for_each(|(to, opened)| to.0 &= opened.0);
                totals.add(plane, *coefficient);
            }
        }
        _ => {
            let (sum, rest) = planes.split_at_mut(blocks);
            for (plane, selector) in rest.chunks_exact(blocks).zip(selectors) {
                add_product(sum, plane, selector);
            }
            totals.add(sum, coefficients[0]);
        }
    }
}

/// Returns the words of the code with these bits.
fn words_of(layout: &Layout, bits: &[Vec<Block>]) -> Vec<Vec<Block>> {
    let word = |bits: &Vec<Block>| {
        let mut word = vec![Block::ZERO; layout.code.blocks()];
        layout.code.encode(bytemuck::cast_slice(bits), &mut word);
        word
    };
    bits.iter().map(word).collect()
}

/// Returns this party's proof for a challenge.
fn prove<T: Tag>(
    selected: &Selected<'_, T>,
    commitments: &Commitments,
    challenge: [u8; 32],
    channel: &mut Channel,
) -> Vec<u8> {
    let Commitments { layout, secrets, .. } = commitments;
    let (ready, code) = (selected.ready, &layout.code);
    let blocks = code.blocks();
    let streams = secrets.own_streams(ready.me, &ready.delta);
    let mut rows = Rows::new(&streams[0], Draw::Tables, layout.rows());
    let mut chi = Coefficients::new(&challenge, layout.checks);
    let [mut z, mut v] = [(); 2].map(|()| Totals::new(layout.checks, blocks));
    let [mut bits, mut words] = [(); 2].map(|()| Zeroizing::new(Vec::new()));
    selected.groups(|group, planes, known| {
        let selectors = words_of(layout, &known.selectors);
        let coefficients: Vec<Coefficient> = known.theirs.iter().map(|_| chi.next()).collect();
        bits.resize(planes * layout.place_blocks(), Block::ZERO);
        words.resize(planes * blocks, Block::ZERO);
        group_bits(ready, layout, group, &mut bits);
        let encoded = words.chunks_exact_mut(blocks);
        for (word, bits) in encoded.zip(bits.chunks_exact(layout.place_blocks())) {
            code.encode(bytemuck::cast_slice(bits), word);
        }
        add_opened(&mut z, &mut words, &selectors, &coefficients);
        words.chunks_exact_mut(blocks).for_each(|word| word.copy_from_slice(rows.next()));
        add_opened(&mut v, &mut words, &selectors, &coefficients);
    });
    let (mut z, mut v) = (z.finish(), v.finish());
    let masks = streams.each_ref().map(|streams| Rows::new(streams, Draw::Masks, layout.checks));
    let [mut zero, mut one] = masks;
    let mut proof = Vec::with_capacity(layout.online_bytes());
    let mut free = vec![0; code.count(Places::Free).div_ceil(64)];
    for (z, v) in z.chunks_exact_mut(blocks).zip(v.chunks_exact_mut(blocks)) {
        let zero = zero.next();
        xor_blocks(v, zero);
        xor_blocks(z, zero);
        xor_blocks(z, one.next());
        code.get(Places::Free, z, &mut free);
        proof.extend_from_slice(bytemuck::cast_slice(&free));
    }
    channel.tamper_state("tinytable: own opened sums", &mut proof);
    proof.extend_from_slice(&digest(&v));
    proof
}

fn digest(rows: &[Block]) -> [u8; 32] {
    let mut hasher = Hasher::new_derive_key("symbolon tinytable codes 1: opened bits");
    *hasher.update(Block::as_bytes(rows)).finalize().as_bytes()
}

/// Returns whether the peer's proof is right for its bits.
fn accepts<T: Tag>(
    selected: &Selected<'_, T>,
    commitments: &Commitments,
    challenge: [u8; 32],
    proof: &[u8],
) -> bool {
    let Commitments { layout, secrets, tables, masks } = commitments;
    let (code, a) = (&layout.code, &secrets.a[..]);
    let blocks = code.blocks();
    let streams = secrets.their_streams(selected.ready.me);
    let mut rows = Rows::new(&streams, Draw::Tables, layout.rows());
    let mut corrections = tables.chunks_exact(blocks);
    let mut chi = Coefficients::new(&challenge, layout.checks);
    let mut w = Totals::new(layout.checks, blocks);
    let mut bits = Totals::new(layout.checks, layout.place_blocks());
    let mut planes_of_w = Zeroizing::new(Vec::new());
    selected.groups(|_, planes, known| {
        let selectors = words_of(layout, &known.selectors);
        let coefficients: Vec<Coefficient> = known.theirs.iter().map(|_| chi.next()).collect();
        known.theirs.iter().zip(&coefficients).for_each(|(row, c)| bits.add(row, *c));
        planes_of_w.resize(planes * blocks, Block::ZERO);
        let corrected_rows = planes_of_w.chunks_exact_mut(blocks).zip(corrections.by_ref());
        corrected_rows.for_each(|(w, correction)| {
            correct(w, rows.next(), a, correction);
        });
        add_opened(&mut w, &mut planes_of_w, &selectors, &coefficients);
    });
    let (mut w, bits) = (w.finish(), bits.finish());
    let mut rows = Rows::new(&streams, Draw::Masks, layout.checks);
    let [_, packed] = layout.correction_blocks();
    let (opened, expected) = proof.split_at(proof.len() - 32);
    let Some(opened) = rows_of(opened, layout.checks, code.count(Places::Free)) else {
        return false;
    };
    let mut word = vec![Block::ZERO; blocks];
    let mut mask = Zeroizing::new(vec![Block::ZERO; blocks]);
    let known = bits.chunks_exact(layout.place_blocks()).zip(&opened);
    let masked = w.chunks_exact_mut(blocks).zip(masks.chunks_exact(packed));
    for ((w, packed), (bits, free)) in masked.zip(known) {
        correct_mask(&mut mask, layout, rows.next(), a, packed);
        xor_blocks(w, &mask);
        word.fill(Block::ZERO);
        code.put(Places::Code, bytemuck::cast_slice(bits), &mut word);
        code.put(Places::Free, free, &mut word);
        code.complete(Degree::Square, &mut word);
        add_product(w, a, &word);
    }
    blake3::Hash::from_bytes(digest(&w)) == *expected
}
