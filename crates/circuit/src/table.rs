//! The tables of look-up gates.

use std::sync::Arc;

use crate::CircuitError;

/// A public table of 2^k entries of m bits: the function of a look-up gate with k inputs and m
/// outputs. Cheap to clone: the entries are shared.
///
/// The inputs' bits, the first one least significant, are the entry's index; the outputs are the
/// entry's bits, the first one least significant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    inputs: u32,
    outputs: u32,
    entries: Arc<[u64]>,
}

impl Table {
    /// The most inputs a table may have.
    pub const MAX_INPUTS: u32 = 8;

    /// The most outputs a table may have.
    pub const MAX_OUTPUTS: u32 = 64;

    /// Creates a table of `inputs` bits in (1 to [`MAX_INPUTS`](Self::MAX_INPUTS)) and `outputs`
    /// bits out (1 to [`MAX_OUTPUTS`](Self::MAX_OUTPUTS)).
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when a number of bits is out of range, there are not 2^`inputs`
    /// entries, or one has more than `outputs` bits.
    pub fn new(
        inputs: u32,
        outputs: u32,
        entries: impl Into<Arc<[u64]>>,
    ) -> Result<Table, CircuitError> {
        Self::check_shape(inputs, outputs)?;
        let entries = entries.into();
        if entries.len() != 1 << inputs {
            return Err(CircuitError::invalid(format!(
                "a table of {inputs} inputs has {} entries, {} given",
                1u32 << inputs,
                entries.len()
            )));
        }
        let beyond = |entry: &u64| outputs < u64::BITS && entry >> outputs != 0;
        if let Some(place) = entries.iter().position(beyond) {
            return Err(CircuitError::invalid(format!(
                "entry {place} of a table of {outputs} outputs has more bits"
            )));
        }
        Ok(Table { inputs, outputs, entries })
    }

    /// Refuses numbers of inputs and outputs that no table may have.
    pub(crate) fn check_shape(inputs: u32, outputs: u32) -> Result<(), CircuitError> {
        for (what, number, most) in
            [("inputs", inputs, Self::MAX_INPUTS), ("outputs", outputs, Self::MAX_OUTPUTS)]
        {
            if !(1..=most).contains(&number) {
                return Err(CircuitError::invalid(format!(
                    "a table has 1 to {most} {what}, not {number}"
                )));
            }
        }
        Ok(())
    }

    /// Returns how many bits choose an entry.
    pub fn inputs(&self) -> u32 {
        self.inputs
    }

    /// Returns how many bits an entry has.
    pub fn outputs(&self) -> u32 {
        self.outputs
    }

    /// Returns the entries, by index: 2^[`inputs`](Self::inputs) of them.
    pub fn entries(&self) -> &[u64] {
        &self.entries
    }

    /// Returns the entry with this index.
    ///
    /// # Panics
    /// When the index is not below 2^[`inputs`](Self::inputs).
    pub fn entry(&self, index: usize) -> u64 {
        self.entries[index]
    }

    /// Returns an upper bound on the gates that can replace a look-up (see
    /// [`crate::lower_lookups`]): at most 2^k products, and for every output a sum of all of them,
    /// term by term, with a product and a sum for at most every second one.
    pub(crate) fn most_gates(&self) -> u64 {
        (4 * (u64::from(self.outputs) + 1)) << self.inputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_shape_they_claim() {
        let table = Table::new(2, 3, vec![0, 5, 7, 2]).unwrap();
        assert_eq!((table.inputs(), table.outputs(), table.entry(2)), (2, 3, 7));
        assert!(Table::new(8, 64, vec![u64::MAX; 256]).is_ok());
        let refused = |inputs, outputs, entries: Vec<u64>, reason: &str| {
            let error = Table::new(inputs, outputs, entries).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        };
        refused(0, 1, vec![0], "1 to 8 inputs, not 0");
        refused(9, 1, vec![0; 512], "1 to 8 inputs, not 9");
        refused(u32::MAX, 1, vec![], "1 to 8 inputs");
        refused(1, 0, vec![0; 2], "1 to 64 outputs, not 0");
        refused(1, 65, vec![0; 2], "1 to 64 outputs, not 65");
        refused(3, 1, vec![0; 7], "has 8 entries, 7 given");
        refused(1, 3, vec![7, 8], "entry 1 of a table of 3 outputs");
    }
}
