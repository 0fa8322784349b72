//! Lists that grow without leaving copies behind, on huge pages where they are large.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use symbolon_primitives::HugeBuf;

/// The elements that the first growth makes room for, at least.
const LEAST: usize = 64;

/// A vector that is wiped when it is dropped, and where it was before it grew.
pub struct WipedVec<T> {
    /// As long as there ever was need for; zeros from `used` on.
    room: HugeBuf<T>,
    len: usize,
    /// The most elements that there were in this room.
    used: usize,
}

impl<T: Pod> Default for WipedVec<T> {
    fn default() -> Self {
        WipedVec { room: HugeBuf::zeroed(0), len: 0, used: 0 }
    }
}

impl<T: Pod> WipedVec<T> {
    /// A copy of these.
    pub fn from_slice(from: &[T]) -> Self {
        let mut new = WipedVec::default();
        new.grow(from.len()).copy_from_slice(from);
        new
    }

    /// `n` more, all zeros.
    pub fn grow(&mut self, n: usize) -> &mut [T] {
        let (start, end) = (self.len, self.len + n);
        if end > self.room.len() {
            // One that begins with many is not going to grow.
            let least = if start == 0 { LEAST } else { 2 * start };
            let mut room = HugeBuf::zeroed(end.max(least));
            room[..start].copy_from_slice(self);
            (self.room, self.used) = (room, start);
        }
        let stale = start..self.used.clamp(start, end);
        self.room[stale].fill(T::zeroed());
        (self.len, self.used) = (end, self.used.max(end));
        &mut self.room[start..end]
    }

    /// Only the first `n`, if there are more. The others are wiped by what comes in their place, or
    /// by the drop.
    pub fn truncate(&mut self, n: usize) {
        self.len = self.len.min(n);
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
            let left = expected.len() - n / 2;
            list.truncate(left);
            expected.truncate(left);
            assert_eq!(*list, expected[..]);
        }
        list.truncate(usize::MAX);
        assert_eq!(*list.clone(), expected[..]);
    }
}
