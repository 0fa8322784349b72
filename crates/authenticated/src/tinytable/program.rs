//! A circuit in the form in which the protocol runs it: layers, and the positions of the gates of
//! all executions.

use symbolon_circuit::{Circuit, Input, Layered, PartyId, Table};
use symbolon_engine::Derived;
use symbolon_transport::{Error, Result};

use super::entries::{Place, width};
use crate::tinytable::options::MacLength;

/// A circuit in layers, with what follows from it alone.
///
/// With `n` executions, AND gate number `g` of execution `l` has *position* g·n + l. A look-up's
/// tables are in the same order, with the entries of a table adjacent.
#[derive(Debug)]
pub(crate) struct Program {
    pub layered: Layered,
    /// The owner of each input wire.
    pub owners: Vec<PartyId>,
    /// The place of each look-up's table in one execution.
    places: Vec<Place>,
    /// The number of each look-up's table.
    tables: Vec<usize>,
    /// The number of entries, and of bytes of their shares, in all tables of one execution.
    pub end: Place,
}

impl Derived for Program {
    fn derive(circuit: &Circuit) -> Result<Program> {
        Program::new(circuit)
    }
}

impl Program {
    /// Creates the program of a circuit.
    ///
    /// # Errors
    /// `InvalidInput` if the circuit is too large for layers.
    pub fn new(circuit: &Circuit) -> Result<Program> {
        let layered =
            Layered::new(circuit).map_err(|error| Error::invalid_input(error.to_string()))?;
        let owner = |input: &Input| std::iter::repeat_n(input.owner, input.ty.width() as usize);
        let owners = circuit.inputs().iter().flat_map(owner).collect();
        let (mut places, mut tables) = (Vec::new(), Vec::new());
        let mut end = Place { entry: 0, byte: 0 };
        for lookup in layered.layers().flat_map(|layer| layer.lookups.iter()) {
            let number = lookup.table as usize;
            let table = &layered.tables()[number];
            places.push(end);
            tables.push(number);
            end.entry += table.entries().len();
            end.byte += table.entries().len() * width(table);
        }
        Ok(Program { layered, owners, places, tables, end })
    }

    /// Returns the number of AND gates.
    pub fn ands(&self) -> usize {
        self.layered.counts().and as usize
    }

    /// Returns the number of look-ups.
    pub fn lookups(&self) -> usize {
        self.tables.len()
    }

    /// Returns the table of a look-up.
    pub fn table(&self, lookup: usize) -> &Table {
        &self.layered.tables()[self.tables[lookup]]
    }

    /// Returns the place of a look-up's table for execution `execution` out of `executions`.
    pub fn place(&self, lookup: usize, execution: usize, executions: usize) -> Place {
        let (Place { entry, byte }, table) = (self.places[lookup], self.table(lookup));
        let entries = table.entries().len();
        Place {
            entry: entry * executions + entries * execution,
            byte: byte * executions + entries * width(table) * execution,
        }
    }

    /// Returns the number of pairs of a mask and a triple that one execution consumes.
    pub fn units(&self) -> u64 {
        let lookups = (0..self.lookups()).map(|lookup| units_of(self.table(lookup)) as u64);
        self.layered.counts().and + lookups.sum::<u64>()
    }

    /// Returns the number of input bits of a party.
    pub fn input_bits(&self, party: PartyId) -> usize {
        self.owners.iter().filter(|owner| **owner == party).count()
    }

    /// Checks that there are two parties, and that every table's entries fit the MACs.
    pub fn check(&self, mac: MacLength) -> Result<()> {
        if let Some(party) = self.owners.iter().find(|owner| owner.number() > 1) {
            return Err(Error::invalid_input(format!("an input belongs to party {party} of two")));
        }
        match self.layered.tables().iter().find(|table| table.outputs() > mac.bits()) {
            None => Ok(()),
            Some(table) => Err(Error::invalid_input(format!(
                "a table with {} output bits takes MACs at least as long, not {mac} bits",
                table.outputs()
            ))),
        }
    }
}

/// Returns the number of pairs of a mask and a triple that one look-up consumes in one execution: a
/// triple for each of the 2^k − k − 1 products of at least two of its input masks, and a mask for
/// each output.
pub(crate) fn units_of(table: &Table) -> usize {
    let inputs = table.inputs() as usize;
    ((1 << inputs) - inputs - 1).max(table.outputs() as usize)
}
