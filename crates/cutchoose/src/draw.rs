//! Decides which objects are opened, and which bucket each of the others joins.
//!
//! Both are functions of a public coin toss and the [`Sizes`], so both parties compute the same. A
//! random guess wins with probability 2^-ρ, so the coins must be interactive and tossed after all
//! objects are fixed: against a hash of the transcript, an adversary could try many guesses
//! offline. The coin for the buckets may be tossed after the opened objects have been checked.

use symbolon_primitives::{BitVec, Challenge};
use symbolon_transport::{Error, Result};

use crate::games::Sizes;

/// A uniform subset of fixed size: the objects that are opened.
///
/// Paper: KNRTT17, App. A, V; RR16, Fig. 15 | which objects are opened, and the buckets
#[derive(Clone, Debug)]
pub struct CheckSet {
    opened: BitVec,
}

impl CheckSet {
    /// Draws the subset: all subsets of its size are equally likely.
    ///
    /// # Errors
    /// `InvalidInput` for sizes that do not fit together or exceed [`Sizes::MOST`].
    pub fn draw(sizes: &Sizes, coin: Challenge) -> Result<CheckSet> {
        check(sizes)?;
        let (objects, kept) = (sizes.objects as usize, sizes.bucketed() as usize);
        let mut opened = BitVec::zeros(objects);
        // The smaller side of the cut is drawn; the other side is the rest.
        let few = kept.min(objects - kept);
        let mut prg = coin.into_prg();
        // Floyd's algorithm: each step adds one of the first `last` + 1 objects.
        for last in objects - few..objects {
            let drawn = prg.below(last as u64 + 1) as usize;
            let taken = if opened.get(drawn) { last } else { drawn };
            opened.set(taken, true);
        }
        if few == kept {
            opened.words_mut().iter_mut().for_each(|word| *word = !*word);
            opened.mask_tail();
        }
        Ok(CheckSet { opened })
    }

    /// Returns the numbers of the opened objects, in ascending order.
    pub fn opened(&self) -> impl Iterator<Item = usize> {
        (0..self.opened.len()).filter(|i| self.opened.get(*i))
    }

    /// Returns the numbers of the objects that are not opened, in ascending order.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        (0..self.opened.len()).filter(|i| !self.opened.get(*i))
    }
}

/// The objects of each bucket.
///
/// Paper: KNRTT17, App. A, V; RR16, Fig. 15
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    bucket: usize,
    objects: Vec<u32>,
}

impl Buckets {
    /// Assigns the objects that are not opened to buckets, by a uniform permutation.
    ///
    /// # Errors
    /// `InvalidInput` for sizes that do not fit together, or for a `set` of other sizes.
    pub fn draw(sizes: &Sizes, set: &CheckSet, coin: Challenge) -> Result<Buckets> {
        check(sizes)?;
        let mut objects: Vec<u32> = set.kept().map(|i| i as u32).collect();
        if objects.len() as u64 != sizes.bucketed() || set.opened.len() as u64 != sizes.objects {
            return Err(Error::InvalidInput("buckets for a check set of other sizes".into()));
        }
        coin.into_prg().shuffle(&mut objects);
        Ok(Buckets { bucket: sizes.bucket as usize, objects })
    }

    /// Returns the numbers of the objects in bucket `j`.
    ///
    /// # Panics
    /// If there is no such bucket.
    pub fn bucket(&self, j: usize) -> &[u32] {
        &self.objects[j * self.bucket..(j + 1) * self.bucket]
    }

    /// Returns the numbers of the objects in all buckets, bucket after bucket.
    pub fn objects(&self) -> &[u32] {
        &self.objects
    }

    /// Returns all buckets, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.objects.chunks_exact(self.bucket)
    }
}

fn check(sizes: &Sizes) -> Result<()> {
    let Sizes { buckets, bucket, objects } = *sizes;
    let kept = bucket.checked_mul(buckets);
    if buckets == 0
        || bucket == 0
        || objects > Sizes::MOST
        || kept.is_none_or(|kept| kept > objects)
    {
        let text = format!("a draw of {objects} objects into {buckets} buckets of {bucket}");
        return Err(Error::InvalidInput(text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use symbolon_transport::adversary::Rate;

    use super::*;

    fn coin(number: u64) -> Challenge {
        let mut seed = [3; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        Challenge::from_seed32(seed)
    }

    fn sizes(buckets: u64, bucket: u64, objects: u64) -> Sizes {
        Sizes { buckets, bucket, objects }
    }

    #[test]
    fn both_sides_draw_the_same_and_other_coins_draw_otherwise() {
        let sizes = sizes(10, 3, 100);
        let draw = |a, b| {
            let set = CheckSet::draw(&sizes, coin(a)).unwrap();
            let buckets = Buckets::draw(&sizes, &set, coin(b)).unwrap();
            (set.opened().collect::<Vec<_>>(), buckets)
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2).0, draw(3, 2).0);
        assert_ne!(draw(1, 2).1, draw(1, 3).1);
    }

    #[test]
    fn every_object_is_opened_or_in_one_bucket() {
        for sizes in
            [sizes(1, 1, 1), sizes(1, 1, 2), sizes(4, 5, 20), sizes(7, 3, 500), sizes(90, 5, 451)]
        {
            let set = CheckSet::draw(&sizes, coin(1)).unwrap();
            let buckets = Buckets::draw(&sizes, &set, coin(2)).unwrap();
            assert_eq!(set.opened().count() as u64, sizes.opened());
            assert_eq!(buckets.iter().len() as u64, sizes.buckets);
            let mut seen = vec![0; sizes.objects as usize];
            set.opened().for_each(|i| seen[i] += 1);
            for (j, bucket) in buckets.iter().enumerate() {
                assert_eq!(bucket, buckets.bucket(j));
                assert_eq!(bucket.len() as u64, sizes.bucket);
                bucket.iter().for_each(|i| seen[*i as usize] += 1);
            }
            assert!(seen.iter().all(|seen| *seen == 1));
            assert!((0..seen.len()).all(|i| set.opened.get(i) != set.kept().any(|k| k == i)));
        }
    }

    /// Asserts that all results of a small draw are equally likely: their number is right, and none
    /// is rare or common.
    fn assert_uniform<T: Ord>(results: usize, draw: impl Fn(u64) -> T) {
        let runs = 600 * results as u64;
        let mut seen = BTreeMap::<T, u64>::new();
        (0..runs).for_each(|i| *seen.entry(draw(i)).or_default() += 1);
        assert_eq!(seen.len(), results);
        for hits in seen.into_values() {
            Rate { hits, runs }.assert_is(1.0 / results as f64);
        }
    }

    #[test]
    fn every_subset_is_as_likely() {
        for (kept, objects, subsets) in [(3, 5, 10), (2, 5, 10), (3, 6, 20), (5, 6, 6), (1, 7, 7)] {
            let sizes = sizes(kept, 1, objects);
            let opened = |i| CheckSet::draw(&sizes, coin(i)).unwrap().opened().collect::<Vec<_>>();
            assert_uniform(subsets, opened);
        }
    }

    #[test]
    fn every_order_in_buckets_is_as_likely() {
        let sizes = sizes(2, 2, 5);
        let set = CheckSet::draw(&sizes, coin(0)).unwrap();
        assert_uniform(24, |i| Buckets::draw(&sizes, &set, coin(i)).unwrap().objects);
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let refused = |result: Result<()>| assert!(matches!(result, Err(Error::InvalidInput(_))));
        for bad in [
            sizes(0, 1, 5),
            sizes(1, 0, 5),
            sizes(2, 3, 5),
            sizes(u64::MAX, 2, 5),
            sizes(1, 1, 1 << 32),
        ] {
            refused(CheckSet::draw(&bad, coin(0)).map(drop));
        }
        let set = CheckSet::draw(&sizes(2, 2, 5), coin(0)).unwrap();
        for other in [sizes(1, 3, 5), sizes(1, 4, 6), sizes(1, 5, 6), sizes(0, 0, 5)] {
            refused(Buckets::draw(&other, &set, coin(0)).map(drop));
        }
    }
}
