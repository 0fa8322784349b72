//! The opened entries of tables, which the check covers.

use symbolon_primitives::BitVec;

use super::{entries::width, program::Program};

/// Which entries of all tables were opened, and what the peer sent for them.
pub(super) struct OpenedEntries {
    /// The masked values of the left and right inputs, by position of an AND gate.
    pub c: BitVec,
    pub d: BitVec,
    /// The peer's bits.
    pub theirs: BitVec,
    /// The index of the opened entry, by look-up and within it by execution.
    pub indices: Vec<u8>,
    /// The peer's shares of these entries.
    pub entries: Vec<u8>,
}

impl OpenedEntries {
    /// Returns an empty value with room for all executions of a program.
    pub fn with_room(program: &Program, executions: usize) -> Self {
        let [c, d, theirs] = [(); 3].map(|()| BitVec::with_capacity(program.ands() * executions));
        let bytes: usize = (0..program.lookups()).map(|number| width(program.table(number))).sum();
        let indices = Vec::with_capacity(program.lookups() * executions);
        OpenedEntries { c, d, theirs, indices, entries: Vec::with_capacity(bytes * executions) }
    }
}
