//! Look-ups in public tables.

use super::bit::{Bit, Word};
use super::gates::Gates;
use crate::{Lookup, Step, Table, Wire};

impl Gates {
    /// The entry of `table` whose index is given by the inputs, least significant bit first: one
    /// look-up, no ANDs. Protocols without look-ups use gates instead
    /// ([`lower_lookups`](crate::lower_lookups) says how many).
    ///
    /// The look-up uses the table as it is, so that many can share it. Only if inputs are constant,
    /// or the same bit inverted or not, a smaller table of the other inputs replaces it, without
    /// the outputs that are then constant or one of the inputs.
    ///
    /// `finish` reports look-ups with more or fewer inputs than the table has.
    pub fn lookup(&mut self, table: &Table, inputs: &[Bit]) -> Word {
        let inputs = &*self.of_width("a table", inputs, table.inputs() as usize);
        let mut distinct: Vec<Wire> = Vec::with_capacity(inputs.len());
        for (wire, _) in inputs.iter().filter_map(|bit| bit.wire()) {
            if !distinct.contains(&wire) {
                distinct.push(wire);
            }
        }
        if distinct.len() == inputs.len() {
            let wires: Vec<Wire> = inputs.iter().map(|&bit| self.materialise(bit)).collect();
            return self.lookup_wires(table, wires).collect();
        }
        self.smaller_lookup(table, inputs, distinct)
    }

    /// Makes a look-up whose inputs depend on fewer wires than there are inputs.
    fn smaller_lookup(&mut self, table: &Table, inputs: &[Bit], wires: Vec<Wire>) -> Word {
        let value = |bit: Bit, index: usize| match bit.wire() {
            None => bit == Bit::ONE,
            Some((wire, inverted)) => {
                let place = wires.iter().position(|&w| w == wire).expect("all wires are there");
                (index >> place & 1 == 1) != inverted
            }
        };
        let entry = |index| {
            let bits = inputs.iter().enumerate();
            table.entry(bits.map(|(i, &bit)| usize::from(value(bit, index)) << i).sum())
        };
        let entries: Vec<u64> = (0..1 << wires.len()).map(entry).collect();
        let outputs = 0..table.outputs();
        let simple: Vec<Option<Bit>> =
            outputs.map(|o| simple_output(&entries, o, &wires)).collect();
        let left: Vec<usize> = (0..simple.len()).filter(|&o| simple[o].is_none()).collect();
        let mut looked_up = Vec::new();
        if !left.is_empty() {
            let gather = |entry: &u64| {
                left.iter().enumerate().map(|(to, from)| (entry >> from & 1) << to).sum()
            };
            let entries: Vec<u64> = entries.iter().map(gather).collect();
            let table = Table::new(wires.len() as u32, left.len() as u32, entries)
                .expect("no larger than the table it comes from");
            looked_up.extend(self.lookup_wires(&table, wires));
        }
        let mut looked_up = looked_up.into_iter();
        simple.into_iter().filter_map(|bit| bit.or_else(|| looked_up.next())).collect()
    }

    /// Returns the look-up with these inputs, which is made only if it does not exist yet.
    fn lookup_wires(
        &mut self,
        table: &Table,
        inputs: Vec<Wire>,
    ) -> impl Iterator<Item = Bit> + use<> {
        let place = self.lookups.place_of(table);
        let key = (place, inputs.into_boxed_slice());
        let first = match self.lookups.made.get(&key) {
            Some(&first) => first,
            None => self.new_lookup(table, key),
        };
        (first..first + table.outputs()).map(Bit::of_wire)
    }

    fn new_lookup(&mut self, table: &Table, key: (u32, Box<[Wire]>)) -> Wire {
        self.too_large |= u32::try_from(self.lookups.inputs.len()).is_err();
        let Some(first_output) = self.allocate(table.outputs()) else { return 0 };
        let lookups = &mut self.lookups;
        let first_input = lookups.inputs.len() as u32;
        lookups.inputs.extend_from_slice(&key.1);
        self.steps.push(Step::Lookup(lookups.gates.len() as u32));
        lookups.gates.push(Lookup {
            table: key.0,
            first_input,
            input_count: table.inputs(),
            first_output,
            output_count: table.outputs(),
        });
        lookups.made.insert(key, first_output);
        self.start_run();
        first_output
    }
}

/// Returns an output of a table if it is a constant, or one of the input wires, inverted or not.
fn simple_output(entries: &[u64], output: u32, wires: &[Wire]) -> Option<Bit> {
    let bit = |index: usize| entries[index] >> output & 1 == 1;
    let inverted = bit(0);
    let is = |function: &dyn Fn(usize) -> bool| {
        (0..entries.len()).all(|index| bit(index) == (function(index) != inverted))
    };
    if is(&|_| false) {
        return Some(Bit::constant(inverted));
    }
    let place = (0..wires.len()).find(|place| is(&|index| index >> place & 1 == 1))?;
    Some(Bit::of_wire(wires[place]).invert_if(inverted))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::builder::{Builder, ComponentBuilder, and_count};
    use crate::testing::{arbitrary_table, bits};
    use crate::{Circuit, LookupCount, Receivers, Type, lower_lookups, reference};

    fn byte_table() -> Table {
        Table::new(8, 8, (0..256).map(|x| x * 167 % 256).collect::<Vec<_>>()).unwrap()
    }

    fn lookups(circuit: &Circuit) -> u64 {
        LookupCount::of(circuit).iter().map(|shape| shape.count).sum()
    }

    proptest! {
        /// Inputs that are constant, inverted, repeated or all different.
        #[test]
        fn folding_keeps_values(table in arbitrary_table(), seed in any::<u64>(), inputs: [bool; 8]) {
            let mut b = Builder::new("test");
            let x = b.input("x", Type::Uint(8), 0);
            let choices = bits(seed, 8 * 16);
            let pick = |choice: &[bool]| {
                let place = choice[..3].iter().fold(0, |i, &bit| 2 * i + usize::from(bit));
                match choice[3..6] {
                    [true, true, value] => (Bit::constant(value), value),
                    [false, false, true] => (!x[place], !inputs[place]),
                    _ => (x[place], inputs[place]),
                }
            };
            let chosen: Vec<(Bit, bool)> =
                choices.chunks(16).map(pick).take(table.inputs() as usize).collect();
            let (operands, values): (Vec<Bit>, Vec<bool>) = chosen.into_iter().unzip();
            let y = b.lookup(&table, &operands);
            b.output("y", &y, Type::Uint(table.outputs()), Receivers::All);
            let circuit = b.finish().unwrap();
            let index = values.iter().rev().fold(0, |i, &bit| 2 * i + usize::from(bit));
            let entry = table.entry(index);
            let expected: Vec<bool> = (0..table.outputs()).map(|i| entry >> i & 1 == 1).collect();
            prop_assert_eq!(&reference::eval(&circuit, &inputs), &expected);
            prop_assert_eq!(&reference::eval(&lower_lookups(&circuit), &inputs), &expected);
        }
    }

    #[test]
    fn constants_fold_and_equal_look_ups_merge() {
        let table = byte_table();
        let mut b = Builder::new("test");
        let x = b.input("x", Type::Uint(8), 0);
        let constant = b.lookup(&table, &Word::constant(8, 3));
        assert_eq!(constant, Word::constant(8, 3 * 167 % 256));
        // One bit left: outputs are constants, the bit, or its inverse.
        let mut nearly = Word::constant(8, 5);
        nearly[1] = x[0];
        b.lookup(&table, &nearly).iter().for_each(|bit| {
            assert!(bit.wire().is_none_or(|(wire, _)| Some(wire) == x[0].wire().map(|w| w.0)));
        });
        assert!(b.steps.is_empty());
        let once = b.lookup(&table, &x);
        assert_eq!(b.lookup(&table.clone(), &x), once);
        assert_ne!(b.lookup(&table, &x.rotl(1)), once);
        assert_eq!((b.lookups.gates.len(), b.lookups.tables.len()), (2, 1));
        // With an input twice, a table of seven bits.
        let mut twice = x.clone();
        twice[7] = !x[2];
        b.lookup(&table, &twice);
        assert_eq!(b.lookups.tables[1].inputs(), 7);
    }

    #[test]
    fn tables_are_shared_by_components_and_swept() {
        let (table, unused) = (byte_table(), Table::new(2, 1, vec![0, 1, 1, 1]).unwrap());
        let mut c = ComponentBuilder::new("twice");
        let x = c.input(8);
        c.lookup(&unused, &x[..2]);
        let y = c.lookup(&table, &x);
        let z = c.lookup(&table, &y);
        c.output(&z);
        let twice = c.finish().unwrap();
        assert_eq!(twice.and_count(), 0);

        let mut b = Builder::new("test");
        let x = b.input("x", Type::Uint(8), 0);
        b.lookup(&unused, &x[..2]);
        let y = b.call_one(&twice, &[&x]);
        let z = b.call_one(&twice, &[&y]);
        // One output is used, all are written.
        let last = b.lookup(&table, &z)[3];
        b.output("y", &last.into(), Type::Uint(1), Receivers::All);
        let circuit = b.finish().unwrap();
        assert_eq!(circuit.tables(), std::slice::from_ref(&table));
        assert_eq!((lookups(&circuit), and_count(&circuit)), (5, 0));
        for x in [0u64, 1, 99, 255] {
            let bits: Vec<bool> = (0..8).map(|i| x >> i & 1 == 1).collect();
            let expected = (0..5).fold(x, |x, _| table.entry(x as usize));
            assert_eq!(reference::eval(&circuit, &bits), [expected >> 3 & 1 == 1]);
        }
    }

    #[test]
    fn finish_reports_a_word_of_another_width() {
        let mut b = Builder::new("wrong");
        let x = b.input("x", Type::Uint(7), 0);
        let entry = b.lookup(&byte_table(), &x);
        b.output("entry", &entry, Type::Uint(8), Receivers::All);
        let told = b.finish().expect_err("too few inputs").to_string();
        assert!(told.contains("takes 8 bits, not 7"), "{told}");
    }
}
