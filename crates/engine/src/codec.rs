//! Encodes flat arrays of secrets as bytes and decodes them, for material kept between processes.
//!
//! Lengths are never read from the data: the reader knows all of them from public parameters.

use std::io::{ErrorKind, Read, Write};

use bytemuck::Pod;
use symbolon_circuit::Plan;
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::{Error, Result};
use zeroize::{Zeroize, Zeroizing};

/// Writes fixed sequences of values.
pub struct Writer<'a>(pub &'a mut dyn Write);

impl Writer<'_> {
    /// Writes bytes as they are.
    ///
    /// # Errors
    /// `Store` if they cannot be written; so for all values.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.0
            .write_all(bytes)
            .map_err(|e| Error::stored_io(format!("cannot write what was prepared: {e}"), e))
    }

    /// Writes a number, in 8 bytes, little-endian.
    ///
    /// # Errors
    /// As [`bytes`](Writer::bytes).
    pub fn u64(&mut self, value: u64) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes elements one after the other, as they are in memory.
    ///
    /// # Errors
    /// As [`bytes`](Writer::bytes).
    pub fn list<T: Pod>(&mut self, list: &[T]) -> Result<()> {
        self.bytes(bytemuck::cast_slice(list))
    }

    /// Writes packed bits.
    ///
    /// # Errors
    /// As [`bytes`](Writer::bytes).
    pub fn bits(&mut self, bits: &BitVec) -> Result<()> {
        self.bytes(&Zeroizing::new(bits.to_bytes()))
    }
}

/// Reads these values back.
pub struct Reader<'a>(pub &'a mut dyn Read);

/// How many bytes are made room for at a time: at most one piece more than there will be.
const PIECE: usize = 1 << 20;

impl Reader<'_> {
    /// Fills `bytes`.
    ///
    /// # Errors
    /// `Store` if there are too few bytes, or they cannot be read; so for all values.
    #[inline]
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.0.read_exact(bytes).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => damaged("it ends early"),
            _ => unreadable(e),
        })
    }

    /// Reads N bytes.
    ///
    /// # Errors
    /// As [`fill`](Reader::fill).
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a number.
    ///
    /// # Errors
    /// As [`fill`](Reader::fill).
    #[inline]
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Reads a block.
    ///
    /// # Errors
    /// As [`fill`](Reader::fill).
    #[inline]
    pub fn block(&mut self) -> Result<Block> {
        Ok(Block::from_bytes(self.array()?))
    }

    /// Reads a Δ.
    ///
    /// # Errors
    /// As [`fill`](Reader::fill).
    pub fn delta(&mut self) -> Result<Delta> {
        let mut delta = Delta::new(Block::ZERO);
        self.fill(Block::as_bytes_mut(std::slice::from_mut(delta.bits_mut())))?;
        Ok(delta)
    }

    /// Reads `n` elements. Makes room as they come, and leaves no copies in memory.
    ///
    /// # Errors
    /// As [`fill`](Reader::fill).
    pub fn list<T: Pod + Zeroize>(&mut self, n: usize) -> Result<Vec<T>> {
        let piece = (PIECE / size_of::<T>()).max(1);
        let mut list: Zeroizing<Vec<T>> = Zeroizing::default();
        while list.len() < n {
            let start = list.len();
            grow(&mut list, n.min(start + piece), n);
            self.fill(bytemuck::cast_slice_mut(&mut list[start..]))?;
        }
        Ok(std::mem::take(&mut *list))
    }

    /// Reads `n` packed bits.
    ///
    /// # Errors
    /// As [`fill`](Reader::fill); `Store` if a bit after the last one is set.
    pub fn bits(&mut self, n: usize) -> Result<BitVec> {
        let bytes = Zeroizing::new(self.list(BitVec::byte_len(n))?);
        BitVec::from_bytes(n, &bytes)
            .ok_or_else(|| damaged("bits beyond the end of a list are set"))
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// `Store` if there is more.
    pub fn end(self) -> Result<()> {
        let mut byte = [0];
        loop {
            match self.0.read(&mut byte) {
                Ok(0) => return Ok(()),
                Ok(_) => return Err(damaged("it is longer than it should be")),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(unreadable(e)),
            }
        }
    }

    /// Returns a reader for a part of the same bytes.
    #[inline]
    pub fn part(&mut self) -> Reader<'_> {
        Reader(&mut *self.0)
    }
}

/// Extends a list with zeros, with capacity for `most` elements at most. Wipes memory that it
/// leaves.
fn grow<T: Pod + Zeroize>(list: &mut Zeroizing<Vec<T>>, len: usize, most: usize) {
    if len > list.capacity() {
        let room = len.max(2 * list.capacity()).min(most);
        let mut longer = Zeroizing::new(Vec::with_capacity(room));
        longer.extend_from_slice(list);
        *list = longer;
    }
    list.resize(len, T::zeroed());
}

/// Reads the number of the first gate of `plan`; rejects one for which later numbers would
/// overflow.
///
/// # Errors
/// `Store` for such a number; as [`Reader::fill`].
pub fn first_tweak(from: &mut Reader<'_>, plan: &Plan) -> Result<u64> {
    let first = from.u64()?;
    match first.checked_add(plan.and_count()) {
        // Half-gates take two tweaks per gate.
        Some(end) if end <= u64::MAX / 2 => Ok(first),
        _ => Err(damaged("its gates are numbered beyond the end")),
    }
}

/// Returns the error for bytes that differ from what was written.
pub fn damaged(why: &str) -> Error {
    Error::store(format!("stored material is damaged, or was made for something else: {why}"))
}

fn unreadable(error: std::io::Error) -> Error {
    Error::stored_io(format!("cannot read stored material: {error}"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of more than one piece are read back completely, and truncated ones are rejected.
    #[test]
    fn lists_longer_than_a_piece_come_back() {
        for n in [0, 1, PIECE / 16, PIECE / 16 + 1, 5 * PIECE / 16 + 7] {
            let blocks: Vec<Block> = (0..n as u128).map(Block).collect();
            let mut bytes = Vec::new();
            Writer(&mut bytes).list(&blocks).unwrap();
            assert_eq!(Reader(&mut &bytes[..]).list::<Block>(n).unwrap(), blocks);
            assert_eq!(Reader(&mut &bytes[..]).list::<u8>(16 * n).unwrap(), bytes);
            assert!(Reader(&mut &bytes[..]).list::<Block>(n + 1).is_err());
            assert!(Reader(&mut &bytes[..]).list::<u8>(16 * n + 1).is_err());
        }
    }
}
