//! The content of a pool of components.

use symbolon_circuit::components::Kind;

/// The kinds of garbled components, how many of each, and the number of wires, transfers and masks
/// that connect them to inputs and outputs. This is all that a
/// [pool](crate::Engine::fill_components) reveals of the programs that it is for.
#[derive(Clone, Debug)]
pub struct Components {
    /// The kinds, and how many components of each.
    pub by_kind: Vec<(Kind, u64)>,
    /// The wires of inputs and of sums.
    pub wires: u64,
    /// The oblivious transfers, one for each input bit of the evaluator.
    pub transfers: u64,
    /// The masks of output bits.
    pub masks: u64,
}

impl Components {
    /// Returns the same kinds, with `number` applied to every count.
    pub fn map(&self, number: impl Fn(u64) -> u64) -> Components {
        let kinds = self.by_kind.iter().map(|(kind, count)| (kind.clone(), number(*count)));
        Components {
            by_kind: kinds.collect(),
            wires: number(self.wires),
            transfers: number(self.transfers),
            masks: number(self.masks),
        }
    }

    /// Returns the counts: wires, transfers and masks, then the components of each kind.
    pub fn counts(&self) -> Vec<u64> {
        let kinds = self.by_kind.iter().map(|(_, count)| *count);
        [self.wires, self.transfers, self.masks].into_iter().chain(kinds).collect()
    }

    /// Returns the digest that identifies each kind, and its name.
    pub fn kinds(&self) -> impl Iterator<Item = ([u8; 32], &str)> {
        self.by_kind.iter().map(|(kind, _)| (kind.digest(), &kind.name[..]))
    }

    /// Returns the number of AND gates in all components.
    pub fn and_gates(&self) -> u64 {
        let gates = |(kind, count): &(Kind, u64)| (kind.ands() as u64).saturating_mul(*count);
        self.by_kind.iter().map(gates).fold(0, u64::saturating_add)
    }
}
