//! Secrets behind a pointer: moving them copies the pointer alone, and dropping them wipes the only
//! place they were in.
//!
//! A move in Rust is a copy of bytes; the place moved from is not wiped, whether it is on a stack
//! or in a box that is freed. So what would do harm for as long as it can be read (Δ, seeds) is
//! kept in one place on the heap.

use std::fmt;
use std::ops::{Deref, DerefMut};

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::{Block, watch};

/// A value in a place of its own on the heap, wiped when it is dropped.
///
/// It is copied by [`clone`](Clone::clone) alone, into a place that is wiped as well. It is never
/// printed.
pub struct Secret<T: Zeroize>(Box<Zeroizing<T>>);

impl<T: Zeroize> Secret<T> {
    /// Takes a value to the heap. The caller's copy may stay on the stack: see
    /// [`stack`](crate::stack).
    pub fn new(value: T) -> Self {
        Secret(Box::new(Zeroizing::new(value)))
    }
}

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

/// A seed of a generator, or another secret block, in a place of its own.
pub type Seed = Secret<Block>;

/// A party's global key Δ.
///
/// Kernels and hashes take the block that it dereferences to by value, in registers.
#[derive(Clone, Default)]
pub struct Delta(Secret<Block>);

impl Delta {
    /// The key with these bits.
    pub fn new(bits: Block) -> Self {
        watch::tell("Delta", &bits.to_bytes());
        Delta(Secret::new(bits))
    }

    /// Equality in time that does not depend on the bits.
    pub fn ct_eq(&self, other: &Delta) -> bool {
        ConstantTimeEq::ct_eq(&self.0.0.0, &other.0.0.0).into()
    }

    /// The bits, for tests in which a party cheats with another Δ.
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
    fn nothing_of_a_secret_is_printed() {
        assert_eq!(format!("{:?}", Delta::new(Block(7))), "Delta(..)");
        assert_eq!(format!("{:?}", Secret::new(7u64)), "Secret(..)");
    }
}
