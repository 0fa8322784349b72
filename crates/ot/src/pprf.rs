//! Punctured pseudorandom functions: trees of seeds of which one party knows all leaves and the other
//! all but one.
//!
//! This is the all-but-one OT of SoftSpokenOT (Roy, CRYPTO 2022, §6), made from base OTs by the trees
//! of Goldreich, Goldwasser and Micali, with the paper's check against a cheating planter.
//!
//! # Planting and puncturing
//! Δ is cut into 128/k blocks of k bits, one tree a block. The *planter* (the receiver of correlated
//! OTs) has the 128 pairs of seeds K_i^0, K_i^1; the *puncturer* (their sender) has K_i^{Δ_i}. A leaf is
//! labelled y, a number of k bits; level j of the tree decides bit j. Level 0 is made of two seeds:
//! node c is K^{1−c} of the block's bit 0. A node v of level j has the children G_0(v) and G_1(v), whose
//! labels have 0 and 1 as bit j + 1. For every level j ≥ 1 and c = 0, 1 the planter sends
//!
//! ```text
//! K_j^{1−c} ⊕ (⊕ of all nodes of level j with bit j = c)
//! ```
//!
//! The puncturer decrypts the one for c = 1 − Δ_j. It knows the children of all nodes but one, so this
//! sum gives it the child it lacks that leaves the path of Δ; the child on the path it never gets. In
//! the end it lacks the leaf with label Δ, whose seed is as good as random to it: each node of
//! the path is a generator's output of which everything else about it has been revealed under
//! independent keys.
//!
//! # The check
//! A cheating planter sends sums that fit some values of Δ only. So each leaf v makes, besides a seed,
//! a 256-bit value f(v), and the planter sends for each tree τ = ⊕_y f(v_y), and one hash h of all f(v_y) of
//! all trees in order. The puncturer computes f of the leaves it has, the missing one from τ, and
//! compares the hash.
//!
//! What the puncturer hashes in a tree depends on what the planter sent and on the block of Δ. If it is
//! accepted for two values d and d' of the block, then the hashed values are the same (h is collision
//! resistant), and f is injective as far as anybody can find out, so that the leaves other than d and
//! d' are the same in both cases. Hence there is one tree that fits all accepted values, which is what
//! the planter has in effect planted; and h fixes the hashed values, so whether one tree is accepted does
//! not depend on Δ's other blocks. The planter has then guessed that each block lies in the tree's set of
//! accepted values. A set of s out of 2^k passes with probability s/2^k and tells log2(2^k/s) bits: the same leak as a
//! guess in the extension's own check, with the same consequence ([`crate::cot`]): all later uses of Δ
//! need all of the remaining bits. As there, the verdicts under one Δ are passed one after another.
//!
//! The values τ and h tell the puncturer f of the missing leaf, an output independent of its seed.
//!
//! # Constant time
//! The puncturer keeps its nodes in the order y ⊕ Δ, so that it always lacks number 0 and no index
//! depends on Δ; conditional swaps bring them into the order of labels for the hash.

use blake3::Hasher;
use symbolon_primitives::Block;
use symbolon_transport::{Error, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::cot::{COLUMNS, Verdicts};
use crate::generator::BlockBits;

/// The name of the check in `PeerMisbehaved`.
pub const CHECK: &str = "punctured tree consistency";

const VALUE: usize = 32;
type Value = [u8; VALUE];

/// Bytes of the planter's message: two sums for each level of each tree but the first ones, a τ for
/// each tree, and h. The same for every k.
pub const fn message_bytes(k: BlockBits) -> usize {
    k.trees() * tree_bytes(k) + VALUE
}

const fn tree_bytes(k: BlockBits) -> usize {
    (k.bits() - 1) * 2 * 16 + VALUE
}

/// One direction of one session: what its trees are bound to.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The session.
    pub session: &'a [u8; 32],
    /// The planter's party number.
    pub planter: u16,
    /// The bits of a block.
    pub k: BlockBits,
}

impl Ground<'_> {
    fn hasher(&self, context: &str) -> Hasher {
        let mut hasher = Hasher::new_derive_key(context);
        hasher.update(self.session).update(&self.planter.to_le_bytes());
        hasher.update(&[self.k.bits() as u8]);
        hasher
    }

    /// The key of a level, apart from other uses of the same base OTs.
    fn level_key(&self, seed: Block) -> Block {
        let mut hasher = self.hasher("symbolon punctured trees 1: level");
        first_block(hasher.update(&seed.to_bytes()))
    }
}

/// The seeds of all leaves of all trees, tree by tree, and a digest that both parties share.
pub(crate) struct Leaves {
    pub k: BlockBits,
    seeds: Zeroizing<Vec<Block>>,
    /// A digest of the planter's message: what makes a challenge depend on the trees.
    pub binding: [u8; 32],
}

impl Leaves {
    /// The seeds for one lane, one tree after another.
    pub fn lane(&self, lane: u64) -> impl Iterator<Item = Zeroizing<Vec<Block>>> {
        let mut start = Hasher::new_derive_key("symbolon punctured trees 1: lane");
        start.update(&lane.to_le_bytes());
        self.seeds.chunks_exact(self.k.leaves()).map(move |tree| {
            let derive = |seed: &Block| first_block(start.clone().update(&seed.to_bytes()));
            Zeroizing::new(tree.iter().map(derive).collect())
        })
    }
}

/// The planter's leaves: all, in the order of their labels. Wiped on drop.
pub struct Planted(pub(crate) Leaves);

/// The puncturer's leaves, which exist only if the check passed: those of a tree in the order y ⊕ Δ's
/// block, with zero in place of number 0, which it does not know. Wiped on drop.
pub struct Punctured {
    pub(crate) delta: Block,
    pub(crate) leaves: Leaves,
}

impl Drop for Punctured {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

/// Plants the trees: returns the leaves and the message that lets the peer have all but one of each.
pub fn plant(ground: Ground<'_>, pairs: &[[Block; 2]; COLUMNS]) -> (Planted, Vec<u8>) {
    let Ground { k, .. } = ground;
    let g = Growth::new(ground);
    let mut message = Vec::with_capacity(message_bytes(k));
    let mut seeds = Zeroizing::new(Vec::with_capacity(k.trees() * k.leaves()));
    let mut all = ground.hasher(HASH);
    for pairs in pairs.chunks_exact(k.bits()) {
        let keys = |pair: &[Block; 2]| pair.map(|seed| ground.level_key(seed));
        let [zero, one] = keys(&pairs[0]);
        let mut nodes = Zeroizing::new(vec![one, zero]);
        for pair in &pairs[1..] {
            nodes = g.children(&nodes, false);
            let [zero, one] = keys(pair);
            let (left, right) = nodes.split_at(nodes.len() / 2);
            message.extend((one ^ sum(left)).to_bytes());
            message.extend((zero ^ sum(right)).to_bytes());
        }
        let mut total = [0; VALUE];
        for node in nodes.iter() {
            let (seed, value) = g.leaf(*node);
            seeds.push(seed);
            add(&mut total, &value);
            all.update(&value);
        }
        message.extend(total);
    }
    message.extend(all.finalize().as_bytes());
    let binding = *blake3::hash(&message).as_bytes();
    (Planted(Leaves { k, seeds, binding }), message)
}

/// Punctures the trees at `delta`'s blocks, with the seeds `chosen` by Δ's bits from the base OTs'
/// pairs and the planter's message.
///
/// # Errors
/// `PeerMisbehaved` (by the planter) when the check fails, or one under this Δ did before;
/// `InvalidInput` when the message is not of [`message_bytes`].
pub fn puncture(
    ground: Ground<'_>,
    delta: Block,
    chosen: &[Block; COLUMNS],
    message: &[u8],
    verdicts: &Verdicts,
) -> Result<Punctured> {
    if message.len() != message_bytes(ground.k) {
        let text = format!("a message of {} bytes for punctured trees", message.len());
        return Err(Error::InvalidInput(text));
    }
    let (seeds, passed) = descend(ground, delta, chosen, message);
    verdicts.pass(passed, ground.planter, CHECK)?;
    let binding = *blake3::hash(message).as_bytes();
    Ok(Punctured { delta, leaves: Leaves { k: ground.k, seeds, binding } })
}

/// The puncturer's leaves, and whether the check passed.
fn descend(
    ground: Ground<'_>,
    delta: Block,
    chosen: &[Block; COLUMNS],
    message: &[u8],
) -> (Zeroizing<Vec<Block>>, bool) {
    let (seeds, hash) = descend_hash(ground, delta, chosen, message);
    // The comparison is in constant time.
    (seeds, hash == blake3::Hash::from_bytes(value(&message[message.len() - VALUE..])))
}

/// The puncturer's leaves, and the hash of all f(v) as it finds them.
fn descend_hash(
    ground: Ground<'_>,
    delta: Block,
    chosen: &[Block; COLUMNS],
    message: &[u8],
) -> (Zeroizing<Vec<Block>>, blake3::Hash) {
    let k = ground.k;
    let g = Growth::new(ground);
    let mut seeds = Zeroizing::new(Vec::with_capacity(k.trees() * k.leaves()));
    let mut all = ground.hasher(HASH);
    let trees = chosen.chunks_exact(k.bits()).zip(message.chunks_exact(tree_bytes(k)));
    for (tree, (chosen, message)) in trees.enumerate() {
        let bit = |level: usize| delta.0 >> (tree * k.bits() + level) & 1 == 1;
        let (sums, total) = message.split_at(tree_bytes(k) - VALUE);
        let nodes = g.descend_tree(ground, chosen, sums, bit);
        let mut values = Zeroizing::new(Vec::with_capacity(k.leaves()));
        values.push(value(total));
        seeds.push(Block::ZERO);
        for node in &nodes[1..] {
            let (seed, value) = g.leaf(*node);
            seeds.push(seed);
            add(&mut values[0], &value);
            values.push(value);
        }
        (0..k.bits()).for_each(|level| swap_if(&mut values, 1 << level, bit(level)));
        all.update(values.as_flattened());
    }
    (seeds, all.finalize())
}

const HASH: &str = "symbolon punctured trees 1: hash of leaves";

/// The generator from nodes to children, and from the last nodes to what they are for.
struct Growth {
    node: Hasher,
    leaf: Hasher,
}

impl Growth {
    fn new(ground: Ground<'_>) -> Self {
        Growth {
            node: ground.hasher("symbolon punctured trees 1: children"),
            leaf: ground.hasher("symbolon punctured trees 1: leaf"),
        }
    }

    /// The next level: the children with 0 as the new, highest bit of their number, then those with 1;
    /// the other way round if `swap`.
    fn children(&self, nodes: &[Block], swap: bool) -> Zeroizing<Vec<Block>> {
        let mut out = Zeroizing::new(vec![Block::ZERO; 2 * nodes.len()]);
        let (low, high) = out.split_at_mut(nodes.len());
        for ((node, low), high) in nodes.iter().zip(low).zip(high) {
            let [left, right] = expand(&self.node, *node).map(|half| block(&half[..16]));
            let difference = (left ^ right).select(swap);
            (*low, *high) = (left ^ difference, right ^ difference);
        }
        out
    }

    /// The last level of one tree, punctured where `bit` says, with zero as number 0.
    fn descend_tree(
        &self,
        ground: Ground<'_>,
        chosen: &[Block],
        sums: &[u8],
        bit: impl Fn(usize) -> bool,
    ) -> Zeroizing<Vec<Block>> {
        let mut nodes = Zeroizing::new(vec![Block::ZERO, ground.level_key(chosen[0])]);
        for (level, sums) in (1..).zip(sums.chunks_exact(32)) {
            nodes = self.children(&nodes, bit(level));
            let half = nodes.len() / 2;
            let (path, off) = nodes.split_at_mut(half);
            // The child on the path and its sibling, made from nothing.
            (path[0], off[0]) = (Block::ZERO, Block::ZERO);
            let [zero, one] = [0, 16].map(|at| block(&sums[at..at + 16]));
            let sent = one ^ (zero ^ one).select(bit(level));
            off[0] = sent ^ ground.level_key(chosen[level]) ^ sum(off);
        }
        nodes
    }

    /// The seed and the check's value f of a leaf.
    fn leaf(&self, node: Block) -> (Block, Value) {
        let [seed, value] = expand(&self.leaf, node);
        (block(&seed[..16]), value)
    }
}

/// 64 bytes from a block.
fn expand(start: &Hasher, node: Block) -> [Value; 2] {
    let mut hasher = start.clone();
    hasher.update(&node.to_bytes());
    let mut out = [[0; VALUE]; 2];
    hasher.finalize_xof().fill(out.as_flattened_mut());
    hasher.zeroize();
    out
}

fn first_block(hasher: &mut Hasher) -> Block {
    let out = block(&hasher.finalize().as_bytes()[..16]);
    hasher.zeroize();
    out
}

fn block(bytes: &[u8]) -> Block {
    Block::from_bytes(bytes.try_into().expect("16 bytes"))
}

fn value(bytes: &[u8]) -> Value {
    bytes.try_into().expect("32 bytes")
}

fn sum(blocks: &[Block]) -> Block {
    blocks.iter().fold(Block::ZERO, |sum, &block| sum ^ block)
}

fn add(into: &mut Value, other: &Value) {
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= b;
    }
}

/// Swaps each value with the one whose number differs in the bit `distance`, if `swap`; without a branch.
fn swap_if(values: &mut [Value], distance: usize, swap: bool) {
    let mask = 0u8.wrapping_sub(u8::from(swap));
    for pair in values.chunks_exact_mut(2 * distance) {
        let (low, high) = pair.split_at_mut(distance);
        let low = low.as_flattened_mut().iter_mut();
        for (a, b) in low.zip(high.as_flattened_mut()) {
            let difference = (*a ^ *b) & mask;
            *a ^= difference;
            *b ^= difference;
        }
    }
}

#[cfg(test)]
#[path = "pprf/tests.rs"]
mod tests;
