//! The entries of tables that were opened, which the check is about.

use symbolon_primitives::BitVec;

use super::{entries::width, program::Program};

/// Which entries of all tables were opened, and what the peer sent of them.
pub(super) struct OpenedEntries {
    /// By position of an AND gate: the masked values of its inputs.
    pub c: BitVec,
    pub d: BitVec,
    /// The peer's bits.
    pub theirs: BitVec,
    /// By look-up, and within it by execution: the index.
    pub indices: Vec<u8>,
    /// The peer's shares of these entries.
    pub entries: Vec<u8>,
}

impl OpenedEntries {
    /// Nothing yet, with room for all executions of a program.
    pub fn with_room(program: &Program, executions: usize) -> Self {
        let [c, d, theirs] = [(); 3].map(|()| BitVec::with_capacity(program.ands() * executions));
        let bytes: usize = (0..program.lookups()).map(|number| width(program.table(number))).sum();
        let indices = Vec::with_capacity(program.lookups() * executions);
        OpenedEntries { c, d, theirs, indices, entries: Vec::with_capacity(bytes * executions) }
    }
}
