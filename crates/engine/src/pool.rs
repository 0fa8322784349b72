//! Function-independent material outside of a session: written as it is made, and read back in
//! part, possibly by another process on another day.
//!
//! A pool has *sections*, each a sequence of bytes in which any range of records can be found. What
//! they contain is the protocol's own.

use std::io::Read;
use std::ops::Range;

use symbolon_transport::Result;

/// Receives a pool's sections as they are made, each in order.
pub trait PoolSink {
    /// Appends to a section.
    ///
    /// # Errors
    /// `Store` if the bytes cannot be kept.
    fn write(&mut self, section: usize, bytes: &[u8]) -> Result<()>;
}

/// Provides the bytes of a pool's sections.
pub trait PoolSource {
    /// Opens a range of bytes of a section.
    ///
    /// # Errors
    /// `Store` if it cannot be read.
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>>;

    /// Returns whether the pool waits for one program in this process, which may read it step by
    /// step.
    fn waits(&self) -> bool {
        false
    }
}

/// A part of a pool to be consumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolRange {
    /// The gates, by their number in the pool.
    pub gates: Range<u64>,
    /// The input bits of each party, by party number.
    pub inputs: Vec<Range<u64>>,
}
