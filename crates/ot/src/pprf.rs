//! Punctured pseudorandom functions: trees of seeds of which one party knows all leaves and
//! the other all but one.
//!
//! This is the all-but-one OT of SoftSpokenOT (Roy, CRYPTO 2022), made from base OTs by the trees
//! of Goldreich, Goldwasser and Micali, with the paper's check against a cheating tree sender. The
//! paper hashes the values of each tree separately; here one hash covers all trees.
//!
//! # Building and puncturing
//! Δ is cut into 128/k blocks of k bits, with one tree per block. The *tree sender* (the receiver
//! of correlated OTs) has the 128 pairs of seeds K_i^0, K_i^1; the *tree receiver* (the sender of
//! correlated OTs) has K_i^{Δ_i}. The label of a leaf is y, a number of k bits; level j of the tree
//! determines bit j. Level 0 has two seeds: node c is K^{1−c} of the block's bit 0. A node has two
//! children, whose labels have 0 and 1 as their next bit. For every level j ≥ 1 and c = 0, 1 the
//! tree sender sends
//!
//! ```text
//! K_j^{1−c} ⊕ (⊕ of all nodes of level j with bit j = c)
//! ```
//!
//! The tree receiver decrypts the sum for c = 1 − Δ_j. It knows the children of all nodes but one,
//! and of that node's two children the sum gives it the one off the path of Δ; it never gets the
//! one on the path. In the end it lacks the leaf with label Δ, whose seed is as good as random to
//! it: each node of the path is a generator's output of which everything else about it has been
//! revealed under independent keys.
//!
//! # The check
//! A cheating tree sender may send sums that fit only some values of Δ. So each leaf v yields a
//! 256-bit value f(v) in addition to a seed. The tree sender sends τ = ⊕_y f(v_y) for each tree,
//! and one hash h of all f(v_y) of all trees in order. The tree receiver computes f of the leaves
//! it has, gets the missing value from τ, and compares the hash.
//!
//! Like the check of the extension, this check leaks: a guess of s out of the 2^k values of a block
//! passes with probability s/2^k. `docs/proofs/ot-extension.md` has the proof.
//!
//! From τ and h the tree receiver learns f of the missing leaf, an output that is independent of
//! the leaf's seed.
//!
//! # The generator
//! The child with label y is H_y(v) for its parent v, with the re-keyed AES of
//! [`symbolon_primitives::hash`] and a tweak that names tree, level and y, so that no two nodes
//! share a key. f is two such hashes: in the ideal cipher model a collision of both costs 2^128.
//!
//! # Constant time
//! The tree receiver keeps its nodes in the order y ⊕ Δ, so that it always lacks number 0 and no
//! index depends on Δ; conditional swaps bring the f(v) into the order of labels for the hash.

use blake3::Hasher;
use symbolon_primitives::{Block, Delta, TweakedHash, derive_block};
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

use crate::checks::PUNCTURED_TREE;
use crate::cot::{COLUMNS, SelectiveFailureGuard};
use crate::oracle::Oracle;

/// f(v).
type Value = [Block; 2];

/// Bytes of a [`Value`] and of the hash.
const VALUE: usize = 32;

/// The bits of Δ that one tree of [`softspoken`](crate::softspoken) covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeDepth {
    /// 64 trees of 4 leaves.
    Two,
    /// 32 trees of 16 leaves.
    Four,
    /// 16 trees of 256 leaves.
    Eight,
}

impl TreeDepth {
    /// All depths.
    pub const ALL: [TreeDepth; 3] = [TreeDepth::Two, TreeDepth::Four, TreeDepth::Eight];

    /// Returns k, the number of bits.
    pub const fn bits(self) -> usize {
        match self {
            TreeDepth::Two => 2,
            TreeDepth::Four => 4,
            TreeDepth::Eight => 8,
        }
    }

    /// Returns the number of leaves of a tree, 2^k.
    pub const fn leaves(self) -> usize {
        1 << self.bits()
    }

    /// Returns the number of trees for all of Δ, 128/k.
    pub const fn trees(self) -> usize {
        128 / self.bits()
    }
}

/// Returns the bytes of the tree sender's message for the trees of one Δ, the same for every k.
pub const fn message_bytes(k: TreeDepth) -> usize {
    message_bytes_of(k, k.trees())
}

/// Returns the bytes of the tree sender's message for some number of trees: two sums for each level
/// of each tree except the first, a τ for each tree, and h.
pub(crate) const fn message_bytes_of(k: TreeDepth, trees: usize) -> usize {
    trees * tree_bytes(k) + VALUE
}

const fn tree_bytes(k: TreeDepth) -> usize {
    (k.bits() - 1) * 2 * 16 + VALUE
}

/// One direction of one session, to which its trees are bound.
#[derive(Clone, Copy, Debug)]
pub struct TreeParams<'a> {
    /// The session.
    pub session: &'a [u8; 32],
    /// The tree sender's party number.
    pub tree_sender: PartyId,
    /// The tree receiver's party number.
    pub tree_receiver: PartyId,
    /// The bits of a block.
    pub k: TreeDepth,
}

impl TreeParams<'_> {
    fn hasher(&self, context: &str) -> Hasher {
        let mut hasher = Hasher::new_derive_key(context);
        hasher.update(self.session).update(&self.direction());
        hasher.update(&[self.k.bits() as u8]);
        hasher
    }

    /// Returns which party builds and which punctures. Without both, two pairs of parties with the
    /// same tree sender would share a domain.
    fn direction(&self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.tree_sender.to_le_bytes(), self.tree_receiver.to_le_bytes());
        [a, b, c, d]
    }

    fn level_keys(&self) -> LevelKeys<'_> {
        LevelKeys { tree_params: self, oracle: Oracle::new("symbolon punctured trees 2: level") }
    }
}

/// Derives the keys of levels, separately from other uses of the same base OTs.
struct LevelKeys<'a> {
    tree_params: &'a TreeParams<'a>,
    oracle: Oracle,
}

impl LevelKeys<'_> {
    fn of(&mut self, seed: Block) -> Block {
        let TreeParams { session, k, .. } = *self.tree_params;
        let seed = Zeroizing::new(seed.to_bytes());
        let parts: [&[u8]; 4] = [session, &self.tree_params.direction(), &[k.bits() as u8], &*seed];
        block(&self.oracle.digest(&parts)[..16])
    }
}

/// The label of one leaf per tree. Wiped on drop.
pub(crate) struct PuncturePoints(Zeroizing<Vec<u8>>);

impl PuncturePoints {
    /// Returns the blocks of Δ.
    pub fn blocks(k: TreeDepth, delta: &Delta) -> Self {
        let block = |tree| block_of(k, **delta, tree) as u8;
        PuncturePoints(Zeroizing::new((0..k.trees()).map(block).collect()))
    }

    /// Returns these labels, which have k ≤ 8 bits.
    pub fn new(labels: Zeroizing<Vec<u8>>) -> Self {
        PuncturePoints(labels)
    }

    fn zeros(trees: usize) -> Self {
        PuncturePoints(Zeroizing::new(vec![0; trees]))
    }

    fn of(&self, tree: usize) -> u128 {
        self.0[tree].into()
    }
}

/// The seeds of all leaves of all trees, tree by tree. Wiped on drop.
pub(crate) struct Leaves {
    pub k: TreeDepth,
    /// The seeds of a tree are in the order y ⊕ its point.
    points: PuncturePoints,
    seeds: Zeroizing<Vec<Block>>,
    /// A digest of the tree sender's message, which makes challenges depend on the trees.
    pub binding: [u8; 32],
}

impl Leaves {
    /// Returns the seeds for one lane, one tree after another.
    pub fn lane(&self, lane: u64) -> impl Iterator<Item = Zeroizing<Vec<Block>>> {
        let start = derive_block("symbolon punctured trees 2: lane", &self.binding, lane);
        let hash = TweakedHash::new(start);
        self.seeds.chunks_exact(self.k.leaves()).enumerate().map(move |(tree, seeds)| {
            let mut out = Zeroizing::new(seeds.to_vec());
            let tweaks = tweaks(tree, 0, seeds.len(), self.points.of(tree));
            hash.hash_with(&tweaks, 1, &mut out);
            out
        })
    }
}

/// The tree sender's leaves: all of them, in the order of their labels.
pub struct SenderTrees(pub(crate) Leaves);

/// The tree receiver's leaves, which exist only if the check passed. The leaves of a tree are in
/// the order y ⊕ Δ's block, with zero in place of number 0, which the tree receiver does not know.
pub struct PuncturedTrees(pub(crate) Leaves, pub(crate) Delta);

/// Builds the trees. Returns the leaves, and the message that gives the peer all leaves of each
/// tree but one.
///
/// Paper: Roy22, punctured PRF | GGM trees, punctured
pub fn build_trees(
    tree_params: TreeParams<'_>,
    pairs: &[[Block; 2]; COLUMNS],
) -> (SenderTrees, Vec<u8>) {
    let (leaves, message) = build_any(tree_params, pairs);
    (SenderTrees(leaves), message)
}

/// As [`build_trees`], for any number of trees, of k pairs each.
pub(crate) fn build_any(tree_params: TreeParams<'_>, pairs: &[[Block; 2]]) -> (Leaves, Vec<u8>) {
    let k = tree_params.k;
    let trees = pairs.len() / k.bits();
    let mut message = Vec::with_capacity(message_bytes_of(k, trees));
    let mut seeds = Zeroizing::new(Vec::with_capacity(trees * k.leaves()));
    let mut all = tree_params.hasher(HASH);
    let mut level_keys = tree_params.level_keys();
    for (tree, pairs) in pairs.chunks_exact(k.bits()).enumerate() {
        let expander = TreeExpander::new(tree_params, tree, 0);
        let mut keys = |pair: &[Block; 2]| pair.map(|seed| level_keys.of(seed));
        let [zero, one] = keys(&pairs[0]);
        let mut nodes = Zeroizing::new(vec![one, zero]);
        for (level, pair) in pairs.iter().enumerate().skip(1) {
            nodes = expander.children(level, &nodes);
            let [zero, one] = keys(pair);
            let (left, right) = nodes.split_at(nodes.len() / 2);
            message.extend((one ^ sum(left)).to_bytes());
            message.extend((zero ^ sum(right)).to_bytes());
        }
        seeds.extend(expander.seeds(&nodes).iter());
        let values = expander.values(&nodes);
        message.extend(Block::as_bytes(&total(&values)));
        all.update(Block::as_bytes(values.as_flattened()));
    }
    message.extend(all.finalize().as_bytes());
    let binding = *blake3::hash(&message).as_bytes();
    (Leaves { k, points: PuncturePoints::zeros(trees), seeds, binding }, message)
}

/// Punctures the trees at the blocks of `delta`. `chosen` are the seeds that Δ's bits chose from
/// the base OTs' pairs, `message` is the tree sender's.
///
/// Paper: Roy22, punctured PRF
///
/// Check: trees of SoftSpoken OT and commitments | `punctured tree consistency`: a hash of all
/// leaves | a tree that fits only some values of Δ | 2^-k for k guessed bits of Δ; 2^-128
///
/// Timing: Δ: which leaf is missing | nodes are stored by number ⊕ Δ's bits; Δ enters by XOR,
/// `select` and `swap_if`
///
/// # Errors
/// `PeerMisbehaved` (by the tree sender) when the check fails, or an earlier one under this Δ
/// failed; `InvalidInput` when the message does not have [`message_bytes`].
pub fn puncture(
    tree_params: TreeParams<'_>,
    delta: &Delta,
    chosen: &[Block; COLUMNS],
    message: &[u8],
    guard: &SelectiveFailureGuard,
) -> Result<PuncturedTrees> {
    let points = PuncturePoints::blocks(tree_params.k, delta);
    let leaves = puncture_any(tree_params, points, chosen, message, guard)?;
    Ok(PuncturedTrees(leaves, delta.clone()))
}

/// As [`puncture`], for any number of trees, at these points.
pub(crate) fn puncture_any(
    tree_params: TreeParams<'_>,
    points: PuncturePoints,
    chosen: &[Block],
    message: &[u8],
    guard: &SelectiveFailureGuard,
) -> Result<Leaves> {
    if message.len() != message_bytes_of(tree_params.k, points.0.len()) {
        let text = format!("a message of {} bytes for punctured trees", message.len());
        return Err(Error::InvalidInput(text));
    }
    let (seeds, passed) = descend(tree_params, &points, chosen, message);
    guard.pass(passed, tree_params.tree_sender, PUNCTURED_TREE)?;
    let binding = *blake3::hash(message).as_bytes();
    Ok(Leaves { k: tree_params.k, points, seeds, binding })
}

/// Returns the tree receiver's leaves, and whether the check passed.
fn descend(
    tree_params: TreeParams<'_>,
    points: &PuncturePoints,
    chosen: &[Block],
    message: &[u8],
) -> (Zeroizing<Vec<Block>>, bool) {
    let (seeds, hash) = descend_hash(tree_params, points, chosen, message);
    let sent: [u8; VALUE] = message[message.len() - VALUE..].try_into().expect("32 bytes");
    // The comparison is in constant time.
    (seeds, hash == blake3::Hash::from_bytes(sent))
}

/// Returns the tree receiver's leaves, and the hash of all f(v) as it finds them.
fn descend_hash(
    tree_params: TreeParams<'_>,
    points: &PuncturePoints,
    chosen: &[Block],
    message: &[u8],
) -> (Zeroizing<Vec<Block>>, blake3::Hash) {
    let k = tree_params.k;
    let mut seeds = Zeroizing::new(Vec::with_capacity(points.0.len() * k.leaves()));
    let mut all = tree_params.hasher(HASH);
    let mut level_keys = tree_params.level_keys();
    let trees = chosen.chunks_exact(k.bits()).zip(message.chunks_exact(tree_bytes(k)));
    for (tree, (chosen, message)) in trees.enumerate() {
        let expander = TreeExpander::new(tree_params, tree, points.of(tree));
        let (sums, tau) = message.split_at(tree_bytes(k) - VALUE);
        let nodes = expander.descend(&mut level_keys, chosen, sums);
        let mut tree_seeds = expander.seeds(&nodes);
        tree_seeds[0] = Block::ZERO;
        seeds.extend(tree_seeds.iter());
        let mut values = expander.values(&nodes);
        values[0] = [block(&tau[..16]), block(&tau[16..])];
        values[0] = total(&values);
        (0..k.bits()).for_each(|level| swap_if(&mut values, 1 << level, expander.bit(level)));
        all.update(Block::as_bytes(values.as_flattened()));
    }
    (seeds, all.finalize())
}

const HASH: &str = "symbolon punctured trees 2: hash of leaves";

/// The numbers of a leaf's hashes: the one for its seed, and those for the two halves of f.
const SEED: usize = 32;
const HALVES: [usize; 2] = [33, 34];

/// One tree's generator, for nodes in the order y ⊕ `shift`.
struct TreeExpander {
    hash: TweakedHash,
    tree: usize,
    shift: u128,
}

impl TreeExpander {
    fn new(tree_params: TreeParams<'_>, tree: usize, shift: u128) -> Self {
        let direction = u64::from(u32::from_le_bytes(tree_params.direction()));
        let index = direction << 8 | tree_params.k.bits() as u64;
        let start = derive_block("symbolon punctured trees 2: nodes", tree_params.session, index);
        TreeExpander { hash: TweakedHash::new(start), tree, shift }
    }

    /// Returns bit `level` of the shift.
    fn bit(&self, level: usize) -> bool {
        self.shift >> level & 1 == 1
    }

    /// Hashes nodes under tweaks that name `use_` and the labels.
    fn hash(&self, use_: usize, nodes: &mut [Block]) {
        let tweaks = tweaks(self.tree, use_, nodes.len(), self.shift);
        self.hash.hash_with(&tweaks, 1, nodes);
    }

    /// Returns the nodes of `level` from their parents: first all children whose new, highest bit
    /// is that of the shift, then their siblings.
    fn children(&self, level: usize, parents: &[Block]) -> Zeroizing<Vec<Block>> {
        let mut nodes = Zeroizing::new([parents, parents].concat());
        self.hash(level, &mut nodes);
        nodes
    }

    /// Returns the last level, punctured at the shift, with zero in place of number 0.
    fn descend(
        &self,
        keys: &mut LevelKeys<'_>,
        chosen: &[Block],
        sums: &[u8],
    ) -> Zeroizing<Vec<Block>> {
        let mut nodes = Zeroizing::new(vec![Block::ZERO, keys.of(chosen[0])]);
        for (level, sums) in (1..).zip(sums.chunks_exact(32)) {
            nodes = self.children(level, &nodes);
            let half = nodes.len() / 2;
            let (path, off) = nodes.split_at_mut(half);
            // The child on the path and its sibling were computed from an unknown parent.
            (path[0], off[0]) = (Block::ZERO, Block::ZERO);
            let [zero, one] = [0, 16].map(|at| block(&sums[at..at + 16]));
            let sent = one ^ (zero ^ one).select(self.bit(level));
            off[0] = sent ^ keys.of(chosen[level]) ^ sum(off);
        }
        nodes
    }

    /// Returns the leaves' seeds.
    fn seeds(&self, leaves: &[Block]) -> Zeroizing<Vec<Block>> {
        let mut seeds = Zeroizing::new(leaves.to_vec());
        self.hash(SEED, &mut seeds);
        seeds
    }

    /// Returns the leaves' values f.
    fn values(&self, leaves: &[Block]) -> Zeroizing<Vec<Value>> {
        let [first, second] = HALVES.map(|half| {
            let mut out = Zeroizing::new(leaves.to_vec());
            self.hash(half, &mut out);
            out
        });
        Zeroizing::new(first.iter().zip(second.iter()).map(|(a, b)| [*a, *b]).collect())
    }
}

/// Returns the tweaks for `n` nodes of a tree in the order y ⊕ `shift`'s low bits; `n` is a power
/// of two.
fn tweaks(tree: usize, use_: usize, n: usize, shift: u128) -> Zeroizing<Vec<u128>> {
    let first = (tree as u128) << 64 | (use_ as u128) << 32;
    let label = |z: u128| z ^ shift & (n as u128 - 1);
    Zeroizing::new((0..n as u128).map(|z| first | label(z)).collect())
}

/// Returns the block of Δ that a tree covers, in the low bits.
fn block_of(k: TreeDepth, delta: Block, tree: usize) -> u128 {
    delta.0 >> (tree * k.bits()) & (k.leaves() as u128 - 1)
}

fn block(bytes: &[u8]) -> Block {
    Block::from_bytes(bytes.try_into().expect("16 bytes"))
}

fn sum(blocks: &[Block]) -> Block {
    blocks.iter().fold(Block::ZERO, |sum, &block| sum ^ block)
}

fn total(values: &[Value]) -> Value {
    values.iter().fold([Block::ZERO; 2], |sum, value| [sum[0] ^ value[0], sum[1] ^ value[1]])
}

/// If `swap`, swaps each value with the one whose number differs in the bit `distance`. Does not
/// branch on `swap`.
fn swap_if(values: &mut [Value], distance: usize, swap: bool) {
    for pair in values.chunks_exact_mut(2 * distance) {
        let (low, high) = pair.split_at_mut(distance);
        let low = low.as_flattened_mut().iter_mut();
        for (a, b) in low.zip(high.as_flattened_mut()) {
            let difference = (*a ^ *b).select(swap);
            *a ^= difference;
            *b ^= difference;
        }
    }
}

#[cfg(test)]
#[path = "pprf/tests.rs"]
mod tests;
