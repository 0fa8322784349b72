//! The tweaks of hashes.

/// The tweaks of consecutive groups of blocks.
#[derive(Clone, Copy, Debug)]
pub enum Tweaks<'a> {
    /// Group `g` has tweak `first + g` modulo 2^128.
    From(u128),
    /// Group `g` has the `g`-th tweak of the list.
    List(&'a [u128]),
}

impl Tweaks<'_> {
    /// Returns the tweak of group `g`.
    ///
    /// # Panics
    /// If the tweaks are a list that ends before `g`.
    #[inline]
    pub fn get(&self, g: usize) -> u128 {
        match self {
            Tweaks::From(first) => first.wrapping_add(g as u128),
            Tweaks::List(list) => list[g],
        }
    }

    /// Returns the tweaks after the first `groups` groups.
    ///
    /// # Panics
    /// If the tweaks are a list with fewer entries.
    #[must_use]
    pub fn after(&self, groups: usize) -> Self {
        match *self {
            Tweaks::From(first) => Tweaks::From(first.wrapping_add(groups as u128)),
            Tweaks::List(list) => Tweaks::List(&list[groups..]),
        }
    }
}
