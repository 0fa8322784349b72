//! Look-ups of a schedule, with their slots.

/// One look-up: the slots `outputs` become the bits of the table's entry whose index the slots
/// `inputs` hold; both least significant bit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LookupGate<'a> {
    /// The table's number.
    pub table: u32,
    /// The slots read, as many as the table has inputs; a slot may occur more than once.
    pub inputs: &'a [u32],
    /// The slots written, as many as the table has outputs; different from every slot that the AND
    /// gates and look-ups of the same batch read, and from those of their other results.
    pub outputs: &'a [u32],
}

/// Look-ups that do not depend on each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct LookupGates<'a> {
    gates: &'a [Place],
    /// The list that the places point into.
    slots: &'a [u32],
}

impl<'a> LookupGates<'a> {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    /// Iterates over the look-ups.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = LookupGate<'a>> + use<'a> {
        let slots = self.slots;
        self.gates.iter().map(move |place| {
            let (inputs, rest) = slots[place.first as usize..].split_at(place.inputs as usize);
            LookupGate { table: place.table, inputs, outputs: &rest[..place.outputs as usize] }
        })
    }
}

/// The look-ups of one frame, in the order of its schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct LookupList {
    gates: Vec<Place>,
    slots: Vec<u32>,
}

/// Where the slots of a look-up are in its list: first the inputs', then the outputs'.
#[derive(Clone, Copy, Debug)]
struct Place {
    table: u32,
    first: u32,
    inputs: u8,
    outputs: u8,
}

impl LookupList {
    pub(super) fn len(&self) -> usize {
        self.gates.len()
    }

    /// Adds a look-up; a component's limits keep all numbers in range.
    pub(super) fn push(
        &mut self,
        table: u32,
        inputs: impl Iterator<Item = u32>,
        outputs: impl Iterator<Item = u32>,
    ) {
        let first = self.slots.len();
        self.slots.extend(inputs);
        let middle = self.slots.len();
        self.slots.extend(outputs);
        self.gates.push(Place {
            table,
            first: first as u32,
            inputs: (middle - first) as u8,
            outputs: (self.slots.len() - middle) as u8,
        });
    }

    /// Returns the look-ups with these numbers.
    pub(super) fn part(&self, range: std::ops::Range<usize>) -> LookupGates<'_> {
        LookupGates { gates: &self.gates[range], slots: &self.slots }
    }
}
