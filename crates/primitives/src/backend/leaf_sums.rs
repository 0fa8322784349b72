//! The sums of leaves ([`Leaves`](crate::Leaves)), strip by strip: the specification of the
//! kernels.

use zeroize::Zeroize;

use crate::Block;

/// The maximum k of 2^k leaves.
pub(crate) const MAX_LEAF_BITS: usize = 8;

/// The number of blocks processed at a time.
const STRIP: usize = 32;

type Strip = [Block; STRIP];

/// The working memory of one strip, wiped on drop.
struct Sums<const BITS: usize> {
    /// The nodes that wait for their sibling, by level.
    waiting: [Strip; BITS],
    sums: [Strip; BITS],
    node: Strip,
}

impl<const BITS: usize> Drop for Sums<BITS> {
    fn drop(&mut self) {
        self.waiting.as_flattened_mut().zeroize();
        self.sums.as_flattened_mut().zeroize();
        self.node.zeroize();
    }
}

/// Computes [`Leaves::sums`](crate::Leaves::sums) with a function that fills a slice with leaf z's
/// blocks from a given number on. This is the specification of the faster versions.
pub(super) fn sums_of(
    bits: usize,
    first: u128,
    total: &mut [u8],
    sums: &mut [u8],
    fill: impl Fn(usize, u128, &mut [Block]),
) {
    // A tree has memory only for its own levels, because clearing and wiping take time.
    match bits {
        2 => all_strips::<2>(first, total, sums, fill),
        3 => all_strips::<3>(first, total, sums, fill),
        4 => all_strips::<4>(first, total, sums, fill),
        5 => all_strips::<5>(first, total, sums, fill),
        6 => all_strips::<6>(first, total, sums, fill),
        7 => all_strips::<7>(first, total, sums, fill),
        8 => all_strips::<8>(first, total, sums, fill),
        _ => unreachable!("there are no more than 2^{} leaves", MAX_LEAF_BITS),
    }
}

fn all_strips<const BITS: usize>(
    first: u128,
    total: &mut [u8],
    sums: &mut [u8],
    fill: impl Fn(usize, u128, &mut [Block]),
) {
    let stride = total.len();
    let mut work = Sums {
        waiting: [[Block::ZERO; STRIP]; BITS],
        sums: [[Block::ZERO; STRIP]; BITS],
        node: [Block::ZERO; STRIP],
    };
    for start in (0..stride).step_by(16 * STRIP) {
        let bytes = (stride - start).min(16 * STRIP);
        let from = first.wrapping_add((start / 16) as u128);
        for z in (0..1usize << BITS).step_by(2) {
            // An even leaf waits for the next one.
            fill(z, from, &mut work.waiting[0][..bytes / 16]);
            fill(z + 1, from, &mut work.node[..bytes / 16]);
            // As in counting: a leaf completes as many subtrees as its number has trailing ones.
            let ends = (z + 1).trailing_ones() as usize;
            for level in 0..ends {
                // The first node of a level overwrites what the previous strip has left.
                if z + 2 == 2 << level {
                    work.sums[level] = work.node;
                } else {
                    add(&mut work.sums[level], &work.node);
                }
                add(&mut work.node, &work.waiting[level]);
            }
            if ends < BITS {
                work.waiting[ends] = work.node;
            }
        }
        total[start..][..bytes].copy_from_slice(&Block::as_bytes(&work.node)[..bytes]);
        for (level, sum) in work.sums.iter().enumerate() {
            sums[level * stride + start..][..bytes].copy_from_slice(&Block::as_bytes(sum)[..bytes]);
        }
    }
}

fn add(into: &mut Strip, other: &Strip) {
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= *b;
    }
}
