//! The garbled function: the circuit, with each output for one party masked by an extra input of
//! that party.
//!
//! In dual execution both parties learn every output of the garbled circuits. So an output for one
//! party alone is XORed with random bits, an extra input of that party, and an output for nobody is
//! left out. The inputs of party 0 come first, then those of party 1; each party's masks follow its
//! inputs.

use symbolon_circuit::{Call, Circuit, Component, Input, Output, Plan, Program, Receivers, Step};
use symbolon_circuit::{CircuitError, WireRange};
use symbolon_engine::{Derived, InputBits, OutputBits, phases::small};
use symbolon_primitives::{BitVec, Prg};
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

/// A circuit in the form in which it is garbled.
///
/// Paper: RR16, §6.1 | f of x̂ ⊕ M·r, with masked outputs
#[derive(Debug)]
pub(crate) struct Function {
    /// The plan of the circuit with masked outputs.
    pub plan: Plan,
    /// Input bits of each party, masks included.
    pub inputs: [usize; 2],
    /// Output bits.
    pub outputs: usize,
    /// For each output of the circuit, who learns it.
    receivers: Vec<Option<Receiver>>,
    /// Widths of the circuit's outputs.
    widths: Vec<usize>,
    /// Mask bits of each party, at the end of its inputs.
    masks: [usize; 2],
}

/// Who learns an output; an output that nobody learns has no receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiver {
    Both,
    /// This party alone.
    Only(PartyId),
}

impl Derived for Function {
    fn derive(circuit: &Circuit) -> Result<Function> {
        Function::of(circuit)
    }
}

impl Function {
    /// Returns the form of `circuit` that is garbled.
    ///
    /// # Errors
    /// `InvalidInput` when the circuit is too large or has an input of a third party.
    pub fn of(circuit: &Circuit) -> Result<Function> {
        let receivers: Vec<_> = circuit.outputs().iter().map(receiver).collect();
        let mut widths = Vec::with_capacity(receivers.len());
        for output in circuit.outputs() {
            widths.push(small(output.ty.width())?);
        }
        let wrapped = Wrapper::of(circuit, &receivers)?;
        let (inputs, masks) = (wrapped.inputs, wrapped.masks);
        let masked = wrapped.circuit(circuit).map_err(|e| Error::invalid_input(e.to_string()))?;
        let plan = Plan::new(&masked);
        let outputs = plan.output_slots().len();
        Ok(Function { plan, inputs, outputs, receivers, widths, masks })
    }

    /// Returns the inputs of `party` in execution `index` of `executions`, with fresh masks.
    pub fn inputs_of(
        &self,
        (party, inputs): (PartyId, &InputBits),
        (index, executions): (usize, usize),
        prg: &mut Prg,
    ) -> Zeroizing<Vec<bool>> {
        let mut bits = Zeroizing::new(Vec::with_capacity(self.inputs[usize::from(party)]));
        for joined in inputs.iter().flatten() {
            let width = joined.len() / executions;
            joined.slice(index * width..(index + 1) * width).append_to(&mut bits);
        }
        bits.extend((0..self.masks[usize::from(party)]).map(|_| prg.bool()));
        bits
    }

    /// Unmasks what `party` learns from one execution and appends it to `outputs`. `values` are the
    /// masked outputs, `own` the inputs of `party` with their masks.
    ///
    /// Paper: RR16, §6.1
    pub fn release(&self, party: PartyId, values: &[bool], own: &[bool], outputs: &mut OutputBits) {
        let mut masks = own[own.len() - self.masks[usize::from(party)]..].iter();
        let mut values = values.iter();
        for ((receiver, width), out) in self.receivers.iter().zip(&self.widths).zip(outputs) {
            let Some(receiver) = receiver else { continue };
            let values = values.by_ref().take(*width);
            match receiver {
                Receiver::Both => out.get_or_insert_default().extend(values.copied()),
                Receiver::Only(only) if *only == party => {
                    let unmasked = values.zip(masks.by_ref()).map(|(value, mask)| value ^ mask);
                    out.get_or_insert_default().extend(unmasked);
                }
                Receiver::Only(_) => values.for_each(drop),
            }
        }
    }

    /// Returns the outputs of zero executions: empty where `party` learns an output, else `None`.
    pub fn no_outputs(&self, party: PartyId) -> OutputBits {
        let learns = |receiver: &Option<Receiver>| match receiver {
            Some(Receiver::Both) => Some(BitVec::default()),
            Some(Receiver::Only(only)) if *only == party => Some(BitVec::default()),
            _ => None,
        };
        self.receivers.iter().map(learns).collect()
    }
}

fn receiver(output: &Output) -> Option<Receiver> {
    match [0, 1].map(|party| output.to.contains(party)) {
        [true, true] => Some(Receiver::Both),
        [true, false] => Some(Receiver::Only(PartyId::new(0))),
        [false, true] => Some(Receiver::Only(PartyId::new(1))),
        [false, false] => None,
    }
}

/// The new main component, which calls the old one.
struct Wrapper {
    main: Component,
    ports: [Vec<Input>; 2],
    outputs: Vec<Output>,
    inputs: [usize; 2],
    masks: [usize; 2],
}

impl Wrapper {
    fn of(circuit: &Circuit, receivers: &[Option<Receiver>]) -> Result<Wrapper> {
        let mut ports = [Vec::new(), Vec::new()];
        let mut inputs = [0u64; 2];
        // For each input of the circuit: its owner, its start among the owner's inputs, and its
        // width.
        let mut places = Vec::new();
        for input in circuit.inputs() {
            let owner = usize::from(input.owner);
            let Some(port) = ports.get_mut(owner) else {
                return Err(Error::invalid_input("the circuit has an input of a third party"));
            };
            port.push(input.clone());
            places.push((owner, inputs[owner], input.ty.width()));
            inputs[owner] += input.ty.width();
        }
        let mut masks = [0u64; 2];
        for (output, receiver) in circuit.outputs().iter().zip(receivers) {
            if let Some(Receiver::Only(party)) = receiver {
                let ty = output.ty.clone();
                masks[usize::from(*party)] += ty.width();
                ports[usize::from(*party)].push(Input { name: String::new(), ty, owner: *party });
            }
        }
        let starts = [inputs[0], inputs[1]];
        let inputs = [inputs[0] + masks[0], inputs[1] + masks[1]];
        let called = circuit.main().outputs.len() as u64;
        let wires = inputs[0] + inputs[1] + called + masks[0] + masks[1];
        if wires > 1 << 30 {
            return Err(Error::invalid_input("the circuit has too many inputs and outputs"));
        }
        let mut wrapper = Wrapper {
            main: Component {
                name: "masked outputs".to_string(),
                inputs: (inputs[0] + inputs[1]) as u32,
                wires: wires as u32,
                ..Component::default()
            },
            ports,
            outputs: Vec::new(),
            inputs: [inputs[0] as usize, inputs[1] as usize],
            masks: [masks[0] as usize, masks[1] as usize],
        };
        let first = |owner: usize| if owner == 0 { 0 } else { inputs[0] };
        for (owner, start, width) in places {
            let range = WireRange { first: (first(owner) + start) as u32, len: width as u32 };
            wrapper.main.call_args.push(range);
        }
        wrapper.call(circuit, receivers, [starts[0], first(1) + starts[1]].map(|w| w as u32));
        Ok(wrapper)
    }

    /// Calls the circuit and masks its outputs. The masks of each party are the inputs from `masks`
    /// on.
    fn call(&mut self, circuit: &Circuit, receivers: &[Option<Receiver>], masks: [u32; 2]) {
        let mut value = self.main.inputs;
        self.main.calls.push(Call {
            component: circuit.components().len() as u32 - 1,
            first_arg: 0,
            arg_count: self.main.call_args.len() as u32,
            first_output: value,
        });
        self.main.steps.push(Step::Call(0));
        let mut next = value + circuit.main().outputs.len() as u32;
        let mut masks = masks;
        for (output, receiver) in circuit.outputs().iter().zip(receivers) {
            let width = output.ty.width() as u32;
            if receiver.is_some() {
                self.outputs.push(Output { to: Receivers::All, ..output.clone() });
            }
            match receiver {
                None => {}
                Some(Receiver::Both) => self.main.outputs.extend(value..value + width),
                Some(Receiver::Only(party)) => {
                    let mask = &mut masks[usize::from(*party)];
                    for bit in 0..width {
                        let out = next + bit;
                        self.main.steps.push(Step::Xor { a: value + bit, b: *mask + bit, out });
                        self.main.outputs.push(out);
                    }
                    *mask += width;
                    next += width;
                }
            }
            value += width;
        }
    }

    fn circuit(self, circuit: &Circuit) -> std::result::Result<Circuit, CircuitError> {
        let mut components = circuit.components().to_vec();
        components.push(self.main);
        let program = Program { components, tables: circuit.tables().to_vec() };
        let named = |(k, input): (usize, Input)| Input { name: format!("input {k}"), ..input };
        let inputs = self.ports.into_iter().flatten().enumerate().map(named).collect();
        Circuit::new(circuit.name(), inputs, self.outputs, program)
    }
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::builder::Builder;
    use symbolon_circuit::{Type, eval_ports, eval_words};
    use symbolon_primitives::Block;

    use super::*;

    /// Has outputs for both parties, for each alone and for nobody; the parties' inputs alternate.
    fn example() -> Circuit {
        let mut b = Builder::new("example");
        let [x, y, z] =
            [("x", 1), ("y", 0), ("z", 1)].map(|(name, owner)| b.input(name, Type::Uint(5), owner));
        let sum = b.add(&x, &y);
        let both = b.and(&x, &z);
        let product = b.mul(&y, &z);
        let only = |party| Receivers::only([party]);
        b.output("sum", &sum, Type::Uint(5), only(1));
        b.output("both", &both, Type::Uint(5), Receivers::All);
        b.output("nobody", &sum, Type::Uint(5), Receivers::Only(vec![]));
        b.output("product", &product, Type::Uint(5), only(0));
        b.finish().unwrap()
    }

    #[test]
    fn masked_outputs_are_released_to_those_who_learn_them() {
        let circuit = example();
        let function = Function::of(&circuit).unwrap();
        assert_eq!((function.inputs, function.outputs), ([10, 15], 15));
        let mut prg = Prg::from_seed(Block(symbolon_transport::adversary::fresh(1)));
        for _ in 0..20 {
            let all: Vec<Vec<bool>> =
                (0..3).map(|_| (0..5).map(|_| prg.bool()).collect()).collect();
            let expected = eval_ports(&circuit, &all).unwrap();
            let inputs: [InputBits; 2] = [
                vec![None, Some(all[1][..].into()), None],
                vec![Some(all[0][..].into()), None, Some(all[2][..].into())],
            ];
            let own = [0, 1].map(|party| {
                function.inputs_of((party.into(), &inputs[usize::from(party)]), (0, 1), &mut prg)
            });
            let words: Vec<u64> =
                own.iter().flat_map(|own| own.iter()).map(|bit| u64::from(*bit)).collect();
            let values: Vec<bool> =
                eval_words(&function.plan, &words).iter().map(|word| word & 1 == 1).collect();
            for party in [0, 1] {
                let mut outputs = function.no_outputs(party.into());
                function.release(party.into(), &values, &own[usize::from(party)], &mut outputs);
                for (k, (output, port)) in outputs.iter().zip(circuit.outputs()).enumerate() {
                    let learns = port.to.contains(party).then(|| expected[k][..].into());
                    assert_eq!(*output, learns, "output {k} of party {party}");
                }
            }
        }
    }
}
