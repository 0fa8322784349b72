//! Correlated trees: the nodes of every level add up to Δ at the one side, and to zero at the
//! other, which has all nodes but for one path, where its nodes differ by Δ.
//!
//! These are the correlated GGM trees of Guo and others ("Half-Tree", EUROCRYPT 2023, Figs. 3, 4):
//! the left child of a node is its hash, and the right child is the sum of both.
//!
//! # One message
//! The sender (of correlated OTs) draws the left node of level 1 of each tree. For level i it
//! sends the sum of all left children, hidden by the key K of a correlated OT:
//!
//! ```text
//! c_i = K_i ⊕ (⊕ of the left children)
//! ```
//!
//! The receiver has M_i = K_i ⊕ r_i·Δ. So c_i ⊕ M_i is the sum of the left children where r_i = 0,
//! and that of the right children where r_i = 1, because both sums together are Δ. The bits of the
//! path α are those that the receiver has not got: α_i = ¬r_i. It computes all children, with what
//! it has on the path, and then adds to the two children of the path's node what makes the left
//! and the right sum both c_i ⊕ M_i. Off the path that is the sender's node. On the path it is
//! what all others add up to, which is the sender's node ⊕ Δ.
//!
//! # Constant time
//! The path is secret, so no index depends on it. The receiver keeps a mask for each node, all
//! ones on the path, which grows with the tree.

use symbolon_primitives::{Block, TweakedHash, mask128};
use zeroize::Zeroizing;

/// The hash of all trees of an expansion.
pub(super) struct TreeExpander {
    hash: TweakedHash,
    height: usize,
}

impl TreeExpander {
    /// Starts from a public block that no other expansion has.
    pub fn new(start: Block, height: usize) -> Self {
        TreeExpander { hash: TweakedHash::new(start), height }
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// Computes the children of the first 2^level nodes: the left ones take their places, and the
    /// right ones follow.
    ///
    /// Eight nodes have a key of their own. At most one of them is unknown to the receiver.
    fn children(&self, tree: usize, level: usize, nodes: &mut [Block]) {
        let count = 1 << level;
        let (left, right) = nodes[..2 * count].split_at_mut(count);
        right.copy_from_slice(left);
        let tweak = (tree as u128) << 64 | (level as u128) << 32;
        self.hash.hash(tweak, count.min(8), left);
        for (right, left) in right.iter_mut().zip(left) {
            *right ^= *left;
        }
    }

    /// Grows the sender's tree from its left node at level 1. Calls `sum` with each level and the
    /// sum of its left children.
    pub fn grow(
        &self,
        tree: usize,
        delta: Block,
        root: Block,
        leaves: &mut [Block],
        mut sum: impl FnMut(usize, Block),
    ) {
        (leaves[0], leaves[1]) = (root, root ^ delta);
        sum(0, root);
        for level in 1..self.height {
            self.children(tree, level, leaves);
            sum(level, total(&leaves[..1 << level]));
        }
    }

    /// Grows the receiver's tree. `sums` has, for each level, the sum of the children that are not
    /// on the path's side. Sets `path` to all ones for the leaf α, and to zero for all others.
    ///
    /// Timing: α: which output has noise | a mask for each node; bits of α only make masks
    pub fn grow_punctured(
        &self,
        tree: usize,
        alpha: &[u8],
        sums: &[Block],
        Leaves { blocks: leaves, path }: &mut Leaves,
    ) {
        (leaves[0], leaves[1]) = (sums[0], sums[0]);
        let side = Block(mask128(alpha[0] == 1));
        (path[0], path[1]) = (side ^ Block(u128::MAX), side);
        for level in 1..self.height {
            self.children(tree, level, leaves);
            let count = 1 << level;
            let (left, right) = leaves[..2 * count].split_at_mut(count);
            let [fix_left, fix_right] = [total(left), total(right)].map(|sum| sum ^ sums[level]);
            let side = Block(mask128(alpha[level] == 1));
            let (here, there) = path[..2 * count].split_at_mut(count);
            for (((left, right), here), there) in left.iter_mut().zip(right).zip(here).zip(there) {
                *left ^= *here & fix_left;
                *right ^= *here & fix_right;
                *there = *here & side;
                *here ^= *there;
            }
        }
    }
}

fn total(blocks: &[Block]) -> Block {
    // Two sums at a time, which do not wait for each other.
    let mut sums = [Block::ZERO; 2];
    for (i, block) in blocks.iter().enumerate() {
        sums[i & 1] ^= *block;
    }
    sums[0] ^ sums[1]
}

/// Memory for one tree at a time. Wiped on drop.
pub(super) struct Leaves {
    pub blocks: Zeroizing<Vec<Block>>,
    /// All ones at the receiver's α, else zero; unused at the sender.
    pub path: Zeroizing<Vec<Block>>,
}

impl Leaves {
    pub fn new(leaves: usize) -> Self {
        let zeros = || Zeroizing::new(vec![Block::ZERO; leaves]);
        Leaves { blocks: zeros(), path: zeros() }
    }
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::Prg;

    use super::*;

    /// The receiver's leaves are the sender's, but for the one at α, which differs by Δ: for every
    /// α, and against a tree made node by node.
    #[test]
    fn leaves_differ_at_alpha_only() {
        let mut prg = Prg::from_seed(Block(4));
        for height in 1..=6 {
            let leaves = 1 << height;
            let expander = TreeExpander::new(prg.block(), height);
            let (delta, root) = (prg.block(), prg.block());
            let mut v = vec![Block::ZERO; leaves];
            let mut left = vec![Block::ZERO; height];
            expander.grow(3, delta, root, &mut v, |level, sum| left[level] = sum);
            assert_eq!(v, node_by_node(&expander, 3, [root, root ^ delta]));
            assert_eq!(total(&v), delta);
            for alpha in 0..leaves {
                let bits: Vec<u8> = (0..height).map(|i| (alpha >> i & 1) as u8).collect();
                let sums: Vec<Block> =
                    bits.iter().zip(&left).map(|(a, l)| *l ^ delta.select(*a == 0)).collect();
                let mut all = Leaves::new(leaves);
                expander.grow_punctured(3, &bits, &sums, &mut all);
                let Leaves { blocks: w, path } = &all;
                for y in 0..leaves {
                    assert_eq!(w[y], v[y] ^ delta.select(y == alpha), "{y} of {leaves}, {alpha}");
                    assert_eq!(path[y], Block(u128::MAX).select(y == alpha));
                }
            }
        }
    }

    /// The specification: H(parent) and parent ⊕ H(parent), one at a time.
    fn node_by_node(expander: &TreeExpander, tree: usize, first: [Block; 2]) -> Vec<Block> {
        let mut nodes = first.to_vec();
        for level in 1..expander.height {
            let child = |y: usize| {
                let parent = nodes[y % nodes.len()];
                let key = (y % nodes.len() / 8) as u128;
                let mut hash = [parent];
                let tweak = (tree as u128) << 64 | (level as u128) << 32 | key;
                expander.hash.hash(tweak, 1, &mut hash);
                if y < nodes.len() { hash[0] } else { parent ^ hash[0] }
            };
            nodes = (0..2 * nodes.len()).map(child).collect();
        }
        nodes
    }
}
