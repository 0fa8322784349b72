//! Boxed secrets: moving them copies only the pointer, and dropping them wipes their only location.
//!
//! A move in Rust copies bytes and does not wipe the source, whether it is on a stack or in a freed
//! box. So values that would do harm for as long as they can be read (Δ, seeds) are kept in one
//! place on the heap.

use std::fmt;
use std::ops::{Deref, DerefMut};

use subtle::ConstantTimeEq;
use zeroize::{DefaultIsZeroes, Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{Block, watch};

/// A value in its own heap allocation, wiped when it is dropped.
///
/// Only [`clone`](Clone::clone) copies it, into memory that is wiped as well. It is never printed.
pub struct Secret<T: Zeroize>(Box<Zeroizing<T>>);

impl<T: Zeroize> Secret<T> {
    /// Moves a value to the heap. The caller's copy may remain on the stack: see
    /// [`stack`](crate::stack).
    pub fn new(value: T) -> Self {
        Secret(Box::new(Zeroizing::new(value)))
    }
}

/// The box wipes its content.
impl<T: Zeroize> ZeroizeOnDrop for Secret<T> {}

impl<T: Zeroize + Default> Default for Secret<T> {
    fn default() -> Self {
        Secret::new(T::default())
    }
}

impl<T: Zeroize + Copy> Clone for Secret<T> {
    fn clone(&self) -> Self {
        Secret::new(**self)
    }
}

impl<T: Zeroize> Deref for Secret<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> DerefMut for Secret<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    /// Prints nothing of the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Makes room for `more` elements of a list of secrets. If the list has to move, its old memory is
/// wiped: a `Vec` that grows by itself frees it as it is.
#[inline]
pub fn reserve_wiped<T: Zeroize + Copy>(list: &mut Vec<T>, more: usize) {
    if more > list.capacity() - list.len() {
        move_wiped(list, more);
    }
}

#[cold]
fn move_wiped<T: Zeroize + Copy>(list: &mut Vec<T>, more: usize) {
    let needed = list.len().saturating_add(more);
    let mut longer = Vec::with_capacity(needed.max(2 * list.capacity()));
    longer.extend_from_slice(list);
    list.zeroize();
    *list = longer;
}

/// Wipes a list, and what is left in its memory of a longer one, all at once: `zeroize` wipes the
/// elements of a `Vec` one by one.
pub fn wipe_list<T: DefaultIsZeroes>(list: &mut Vec<T>) {
    list.spare_capacity_mut().zeroize();
    list.as_mut_slice().zeroize();
    list.clear();
}

/// A seed of a generator, or another secret block, in its own heap allocation.
pub type Seed = Secret<Block>;

/// A party's global key Δ.
///
/// Kernels and hashes take the block that it dereferences to by value, in registers.
#[derive(Clone, Default)]
pub struct Delta(Secret<Block>);

impl Delta {
    /// Creates the key with these bits.
    pub fn new(bits: Block) -> Self {
        watch::tell("Delta", &bits.to_bytes());
        Delta(Secret::new(bits))
    }

    /// Compares two keys in constant time.
    pub fn ct_eq(&self, other: &Delta) -> bool {
        ConstantTimeEq::ct_eq(&self.0.0.0, &other.0.0.0).into()
    }

    /// Returns the bits for writing, for tests in which a party cheats with another Δ.
    pub fn bits_mut(&mut self) -> &mut Block {
        &mut self.0
    }
}

impl Deref for Delta {
    type Target = Block;

    #[inline]
    fn deref(&self) -> &Block {
        &self.0
    }
}

/// Its secret wipes itself.
impl ZeroizeOnDrop for Delta {}

impl fmt::Debug for Delta {
    /// Prints none of the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Delta(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_copies_the_pointer_alone() {
        let delta = Delta::new(Block(7));
        let at: *const Block = &*delta;
        let moved = std::convert::identity(delta);
        assert_eq!(at, &*moved as *const Block);
        let copy = moved.clone();
        assert!(copy.ct_eq(&moved) && !copy.ct_eq(&Delta::new(Block(8))));
        assert_ne!(at, &*copy as *const Block);
    }

    #[test]
    fn a_list_grows_and_keeps_its_elements() {
        let mut list = Vec::new();
        for k in 0..1000 {
            reserve_wiped(&mut list, 1);
            let room = list.capacity();
            list.push(Block(k));
            assert_eq!(list.capacity(), room, "push did not move the list");
        }
        assert!(list.iter().zip(0..).all(|(block, k)| *block == Block(k)));
        reserve_wiped(&mut list, 5000);
        assert!(list.capacity() >= 6000 && list.len() == 1000);
    }

    #[test]
    fn nothing_of_a_secret_is_printed() {
        assert_eq!(format!("{:?}", Delta::new(Block(7))), "Delta(..)");
        assert_eq!(format!("{:?}", Secret::new(7u64)), "Secret(..)");
    }
}
