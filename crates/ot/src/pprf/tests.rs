use proptest::prelude::*;
use symbolon_primitives::Prg;

use super::*;

const SESSION: [u8; 32] = [3; 32];

type Pairs = [[Block; 2]; COLUMNS];

fn tree_params(k: TreeDepth) -> TreeParams<'static> {
    TreeParams { session: &SESSION, tree_sender: 1.into(), tree_receiver: 2.into(), k }
}

fn pairs(prg: &mut Prg) -> Pairs {
    std::array::from_fn(|_| std::array::from_fn(|_| prg.block()))
}

fn chosen(pairs: &Pairs, delta: Block) -> [Block; COLUMNS] {
    std::array::from_fn(|i| pairs[i][(delta.0 >> i & 1) as usize])
}

fn descend(
    tree_params: TreeParams<'_>,
    delta: &Delta,
    chosen: &[Block],
    message: &[u8],
) -> (Zeroizing<Vec<Block>>, bool) {
    super::descend(tree_params, &PuncturePoints::blocks(tree_params.k, delta), chosen, message)
}

fn fails(k: TreeDepth, pairs: &Pairs, delta: Block, message: &[u8]) -> bool {
    !descend(tree_params(k), &Delta::new(delta), &chosen(pairs, delta), message).1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Leaf z of the tree receiver is leaf z ⊕ Δ of the tree sender, for all but z = 0, on every
    /// lane.
    #[test]
    fn all_leaves_but_one_agree(seed in any::<u128>(), delta in any::<u128>(), lane in 0u64..5) {
        for k in TreeDepth::ALL {
            let (mut prg, delta) = (Prg::from_seed(Block(seed)), Block(delta));
            let pairs = pairs(&mut prg);
            let (sender_trees, message) = build_trees(tree_params(k), &pairs);
            prop_assert_eq!(message.len(), message_bytes(k));
            let guard = SelectiveFailureGuard::default();
            let chosen = chosen(&pairs, delta);
            let punctured = puncture(tree_params(k), &Delta::new(delta), &chosen, &message, &guard).unwrap();
            prop_assert_eq!(sender_trees.0.binding, punctured.0.binding);
            let all: Vec<_> = sender_trees.0.lane(lane).collect();
            let some: Vec<_> = punctured.0.lane(lane).collect();
            prop_assert_eq!((all.len(), some.len()), (k.trees(), k.trees()));
            for (tree, (all, some)) in all.iter().zip(&some).enumerate() {
                let missing = block_of(k, delta, tree) as usize;
                for z in 1..k.leaves() {
                    prop_assert_eq!(some[z], all[z ^ missing]);
                }
                // The tree receiver does not have the missing seed.
                prop_assert!(!some.contains(&all[missing]));
            }
        }
    }
}

/// The missing leaf and every node on the path of Δ depend on the seeds that were not chosen. With
/// other seeds in their place, everything that the tree receiver gets is the same, except that
/// leaf.
///
/// The message is made for the other seeds as a tree sender would have to: the half that can be
/// decrypted is unchanged.
#[test]
fn the_missing_leaf_depends_on_what_was_not_chosen() {
    let mut prg = Prg::from_seed(Block(5));
    for k in TreeDepth::ALL {
        let delta = prg.block();
        let (pairs, other) = (pairs(&mut prg), pairs(&mut prg));
        let chosen = chosen(&pairs, delta);
        let (_, message) = build_trees(tree_params(k), &pairs);
        let have = descend(tree_params(k), &Delta::new(delta), &chosen, &message);
        assert!(have.1);
        // Replaces everything that is encrypted under keys that were not chosen.
        let mut altered = message.clone();
        for (tree, other) in other[..k.trees()].iter().enumerate() {
            for level in 1..k.bits() {
                let side = (delta.0 >> (tree * k.bits() + level) & 1) as usize;
                let at = tree * tree_bytes(k) + (level - 1) * 32 + 16 * side;
                altered[at..at + 16].copy_from_slice(&other[0].to_bytes());
            }
        }
        assert_ne!(altered, message);
        let still = descend(tree_params(k), &Delta::new(delta), &chosen, &altered);
        assert!(still.1 && still.0 == have.0);
    }
}

#[test]
fn seeds_differ_by_leaf_tree_lane_parties_and_session() {
    let pairs = pairs(&mut Prg::from_seed(Block(6)));
    let mut seen = std::collections::HashSet::new();
    for k in TreeDepth::ALL {
        let here = tree_params(k);
        for tree_params in [
            here,
            TreeParams { tree_sender: 0.into(), ..here },
            TreeParams { tree_receiver: 0.into(), ..here },
            TreeParams { tree_sender: 2.into(), tree_receiver: 1.into(), ..here },
            TreeParams { session: &[4; 32], ..here },
        ] {
            let (sender_trees, _) = build_trees(tree_params, &pairs);
            for lane in [1, 2] {
                for tree in sender_trees.0.lane(lane) {
                    assert!(tree.iter().all(|seed| seen.insert(seed.0)), "a seed twice");
                }
            }
        }
    }
}

/// In the tree sender's message, a wrong bit in a sum is caught exactly if Δ's bit makes the tree
/// receiver use the sum; otherwise the trees are right.
#[test]
fn a_wrong_sum_is_caught_when_it_is_used() {
    let mut prg = Prg::from_seed(Block(7));
    for k in TreeDepth::ALL {
        let (delta, pairs) = (prg.block(), pairs(&mut prg));
        let (_, message) = build_trees(tree_params(k), &pairs);
        let right = descend(tree_params(k), &Delta::new(delta), &chosen(&pairs, delta), &message).0;
        let (mut caught, mut sums) = (0, 0);
        for tree in 0..k.trees() {
            for (level, side) in (1..k.bits()).flat_map(|level| [(level, 0), (level, 1)]) {
                let at = tree * tree_bytes(k) + (level - 1) * 32 + 16 * side;
                let mut message = message.clone();
                message[at + prg.below(16) as usize] ^= 1 << prg.below(8);
                let (leaves, passed) =
                    descend(tree_params(k), &Delta::new(delta), &chosen(&pairs, delta), &message);
                let bit = (delta.0 >> (tree * k.bits() + level) & 1) as usize;
                assert_eq!(passed, bit == side, "{k:?}, tree {tree}, level {level}, side {side}");
                assert!(!passed || leaves == right);
                caught += usize::from(!passed);
                sums += 1;
            }
        }
        assert_eq!(2 * caught, sums, "one of the two sums of each level is used");
    }
}

/// In the tree sender's message, a wrong τ of any tree or a wrong hash is always caught.
#[test]
fn wrong_totals_and_hash() {
    let mut prg = Prg::from_seed(Block(8));
    for k in TreeDepth::ALL {
        let (delta, pairs) = (prg.block(), pairs(&mut prg));
        let (_, message) = build_trees(tree_params(k), &pairs);
        let end_of = |tree: usize| (tree + 1) * tree_bytes(k);
        let places = (0..k.trees()).map(end_of).chain([message.len()]);
        for end in places {
            let mut message = message.clone();
            message[end - 1 - prg.below(32) as usize] ^= 1 << prg.below(8);
            assert!(fails(k, &pairs, delta, &message));
        }
    }
}

/// Returns the message of a tree sender whose tree 0 has another node in place of number `at` on
/// `level`, and which continues from there as if nothing had happened.
fn grafted(k: TreeDepth, pairs: &Pairs, level: usize, at: usize) -> Vec<u8> {
    let (_, mut message) = build_trees(tree_params(k), pairs);
    let mut all = tree_params(k).hasher(HASH);
    for (tree, pairs) in pairs.chunks_exact(k.bits()).enumerate() {
        let expander = TreeExpander::new(tree_params(k), tree, 0);
        let tree_params = tree_params(k);
        let mut level_keys = tree_params.level_keys();
        let mut keys = |pair: &[Block; 2]| pair.map(|seed| level_keys.of(seed));
        let [zero, one] = keys(&pairs[0]);
        let mut nodes = Zeroizing::new(vec![one, zero]);
        let message = &mut message[tree * tree_bytes(k)..][..tree_bytes(k)];
        for (j, pair) in pairs.iter().enumerate().skip(1) {
            nodes = expander.children(j, &nodes);
            if (tree, j) == (0, level) {
                nodes[at] ^= Block(0x10);
            }
            let [zero, one] = keys(pair);
            let (left, right) = nodes.split_at(nodes.len() / 2);
            let sums = &mut message[(j - 1) * 32..];
            sums[..16].copy_from_slice(&(one ^ sum(left)).to_bytes());
            sums[16..32].copy_from_slice(&(zero ^ sum(right)).to_bytes());
        }
        let values = expander.values(&nodes);
        message[tree_bytes(k) - VALUE..].copy_from_slice(Block::as_bytes(&total(&values)));
        all.update(Block::as_bytes(values.as_flattened()));
    }
    let end = message.len() - VALUE;
    message[end..].copy_from_slice(all.finalize().as_bytes());
    message
}

/// A node that is not its parent's child, with everything else made to fit. A party that knows the
/// parent finds another node; a party that does not has the parent on its path. So the cheat passes
/// exactly if the `level` bits of the block that lead to the parent are guessed, with probability
/// 2^-level. All blocks that pass give the same leaves.
#[test]
fn a_grafted_node_passes_for_the_guessed_bits_only() {
    let mut prg = Prg::from_seed(Block(9));
    for k in TreeDepth::ALL {
        let (pairs, rest) = (pairs(&mut prg), prg.block());
        for level in 1..k.bits() {
            let at = prg.below(2 << level) as usize;
            let message = grafted(k, &pairs, level, at);
            let mut tree: Vec<Option<Block>> = vec![None; k.leaves()];
            let mut passed = 0;
            for d in 0..k.leaves() {
                let delta = Block(rest.0 >> k.bits() << k.bits() | d as u128);
                let (leaves, passes) =
                    descend(tree_params(k), &Delta::new(delta), &chosen(&pairs, delta), &message);
                let guessed = (d ^ at).is_multiple_of(1 << level);
                assert_eq!(passes, guessed, "{k:?}, level {level}, node {at}, block {d}");
                passed += usize::from(passes);
                for z in (1..k.leaves()).filter(|_| passes) {
                    let known = tree[z ^ d].get_or_insert(leaves[z]);
                    assert_eq!(*known, leaves[z], "two trees passed");
                }
            }
            assert_eq!(passed, k.leaves() >> level);
        }
    }
}

/// A tree that is wrong for every block except one guess of the whole block: a wrong sum on every
/// level, with τ and the hash made to fit. It passes for that block alone.
#[test]
fn a_guess_of_the_whole_block() {
    let mut prg = Prg::from_seed(Block(11));
    for k in TreeDepth::ALL {
        let (pairs, rest) = (pairs(&mut prg), prg.block());
        let guess = prg.below(k.leaves() as u64) as usize;
        let delta_of = |d: usize| Block(rest.0 >> k.bits() << k.bits() | d as u128);
        let (_, mut message) = build_trees(tree_params(k), &pairs);
        (0..(k.bits() - 1) * 32).step_by(16).for_each(|sum| message[sum] ^= 1);
        // A τ of zero makes the missing value one that no leaf has.
        message[tree_bytes(k) - VALUE..tree_bytes(k)].fill(0);
        let guessed = delta_of(guess);
        let chosen_by_guess = chosen(&pairs, guessed);
        let points = PuncturePoints::blocks(k, &Delta::new(guessed));
        let (_, hash) = descend_hash(tree_params(k), &points, &chosen_by_guess, &message);
        let end = message.len() - VALUE;
        message[end..].copy_from_slice(hash.as_bytes());
        for d in 0..k.leaves() {
            assert_eq!(fails(k, &pairs, delta_of(d), &message), d != guess);
        }
    }
}

#[test]
fn a_failed_check_is_the_planter_s_and_the_last() {
    let mut prg = Prg::from_seed(Block(10));
    let k = TreeDepth::Four;
    let (delta, pairs) = (prg.block(), pairs(&mut prg));
    let chosen = chosen(&pairs, delta);
    let (_, mut message) = build_trees(tree_params(k), &pairs);
    let guard = SelectiveFailureGuard::default();
    let attempt = |message: &[u8]| {
        puncture(tree_params(k), &Delta::new(delta), &chosen, message, &guard).map(drop)
    };
    assert_eq!(attempt(&message), Ok(()));
    assert!(matches!(attempt(&message[1..]), Err(Error::InvalidInput(_))));
    *message.last_mut().unwrap() ^= 1;
    assert_eq!(attempt(&message), Err(Error::misbehaved(1, PUNCTURED_TREE)));
    *message.last_mut().unwrap() ^= 1;
    assert_eq!(attempt(&message), Err(Error::misbehaved(1, PUNCTURED_TREE)));
}

/// Every hash of the trees depends on the session, both parties, the length of blocks and the
/// purpose.
#[test]
fn hashes_of_other_grounds_are_others() {
    let of =
        |session: u8, (tree_sender, tree_receiver): (u16, u16), k: TreeDepth, context: &str| {
            TreeParams {
                session: &[session; 32],
                tree_sender: tree_sender.into(),
                tree_receiver: tree_receiver.into(),
                k,
            }
            .hasher(context)
            .finalize()
        };
    let first = of(1, (0, 2), TreeDepth::Two, HASH);
    assert_eq!(first, of(1, (0, 2), TreeDepth::Two, HASH));
    for other in [
        of(2, (0, 2), TreeDepth::Two, HASH),
        of(1, (1, 2), TreeDepth::Two, HASH),
        of(1, (0, 3), TreeDepth::Two, HASH),
        of(1, (2, 0), TreeDepth::Two, HASH),
        of(1, (0, 2), TreeDepth::Four, HASH),
        of(1, (0, 2), TreeDepth::Two, "another"),
    ] {
        assert_ne!(first, other);
    }
}
