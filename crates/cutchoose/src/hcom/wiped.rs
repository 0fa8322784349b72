//! Lists that grow without leaving copies in memory, on huge pages if they are large.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use symbolon_primitives::HugeBuf;

/// The least number of elements for which the first growth makes room.
const LEAST: usize = 64;

/// A vector that wipes its memory when it is dropped, and its old memory when it grows.
pub struct WipedVec<T> {
    /// The allocated memory; zeros from `len` on.
    room: HugeBuf<T>,
    len: usize,
}

impl<T: Pod> Default for WipedVec<T> {
    fn default() -> Self {
        WipedVec { room: HugeBuf::zeroed(0), len: 0 }
    }
}

impl<T: Pod> WipedVec<T> {
    /// Returns a copy of `from`.
    pub fn from_slice(from: &[T]) -> Self {
        let mut new = WipedVec::default();
        new.grow(from.len()).copy_from_slice(from);
        new
    }

    /// Appends `n` zeros and returns them.
    pub fn grow(&mut self, n: usize) -> &mut [T] {
        let (start, end) = (self.len, self.len + n);
        if end > self.room.len() {
            // A list that starts with many elements is not expected to grow.
            let least = if start == 0 { LEAST } else { 2 * start };
            let mut room = HugeBuf::zeroed(end.max(least));
            room[..start].copy_from_slice(self);
            self.room = room;
        }
        self.len = end;
        &mut self.room[start..end]
    }
}

impl<T: Pod> Clone for WipedVec<T> {
    fn clone(&self) -> Self {
        WipedVec::from_slice(self)
    }
}

impl<T: Pod> Deref for WipedVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.room[..self.len]
    }
}

impl<T: Pod> DerefMut for WipedVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.room[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_elements_are_zeros_wherever_they_are() {
        let mut list = WipedVec::<u64>::default();
        let mut expected = Vec::new();
        for (step, n) in [3, 0, 70, 5, 1000, 1, 64].into_iter().enumerate() {
            let new = list.grow(n);
            assert!(new.iter().all(|&word| word == 0), "step {step}");
            new.fill(step as u64 + 1);
            expected.resize(expected.len() + n, step as u64 + 1);
            assert_eq!(*list, expected[..]);
        }
        assert_eq!(*list.clone(), expected[..]);
    }
}
