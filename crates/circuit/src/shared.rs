//! Inputs that nobody knows: every party gives a share, and the circuit computes on their XOR.
//!
//! A wrapper component combines the shares and calls the circuit as it was. It has only XOR gates,
//! which are free in every protocol, so no protocol needs to know of shares.

use symbolon_common::PartyId;

use crate::{Call, Circuit, CircuitError, Component, Input, Program, Step, WireRange};

impl Circuit {
    /// Returns the same function with some of its inputs given as XOR shares: where `shared` (one
    /// entry per input) is set, the input `x` is replaced by one input of the same type for each of
    /// the `parties` parties, called `x.0`, `x.1`, … and owned by party 0, 1, …. The old input is
    /// the XOR of all shares, and its owner no longer matters.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when `shared` has another length than the inputs, there are no
    /// parties, a share's name is taken, or the circuit grows beyond the limits of
    /// [`Circuit::new`].
    pub fn with_shared_inputs(self, shared: &[bool], parties: u16) -> Result<Self, CircuitError> {
        if shared.len() != self.inputs().len() {
            return Err(CircuitError::invalid(format!(
                "{} marks of shared inputs given for {} inputs",
                shared.len(),
                self.inputs().len()
            )));
        }
        if parties == 0 {
            return Err(CircuitError::invalid("shares of no parties"));
        }
        if !shared.contains(&true) {
            return Ok(self);
        }
        let wrapped = Wrapper::of(&self, shared, parties)?;
        let mut components = self.components().to_vec();
        components.push(wrapped.main);
        let program = Program { components, tables: self.tables().to_vec() };
        let circuit = Circuit::new(self.name(), wrapped.inputs, self.outputs().to_vec(), program)?;
        Ok(circuit.with_failures(self.failures()))
    }
}

/// The new main component and its inputs.
struct Wrapper {
    main: Component,
    inputs: Vec<Input>,
}

impl Wrapper {
    fn of(circuit: &Circuit, shared: &[bool], parties: u16) -> Result<Wrapper, CircuitError> {
        let mut inputs = Vec::new();
        let mut width = 0u64;
        let mut steps = 0u64;
        for (input, &shared) in circuit.inputs().iter().zip(shared) {
            let copies = if shared { u64::from(parties) } else { 1 };
            width += input.ty.width() * copies;
            steps += input.ty.width() * (copies - 1);
            if !shared {
                inputs.push(input.clone());
                continue;
            }
            inputs.extend(PartyId::all(parties).map(|owner| Input {
                name: format!("{}.{owner}", input.name),
                ty: input.ty.clone(),
                owner,
            }));
        }
        let called = circuit.main();
        let wires = width + steps + called.outputs.len() as u64;
        // The limit of a component, before anything of that size is made.
        let Some(wires) = u32::try_from(wires).ok().filter(|wires| *wires <= 1 << 30) else {
            return Err(CircuitError::invalid("the shares of the inputs have too many bits"));
        };
        let mut main = Component {
            name: format!("{} of shares", called.name),
            inputs: width as u32,
            wires,
            steps: Vec::with_capacity(steps as usize + 1),
            ..Component::default()
        };
        let (mut place, mut next) = (0, main.inputs);
        for (input, &shared) in circuit.inputs().iter().zip(shared) {
            let len = input.ty.width() as u32;
            let mut sum = WireRange { first: place, len };
            place += len;
            for _ in 1..if shared { parties } else { 1 } {
                for bit in 0..len {
                    main.steps.push(Step::Xor {
                        a: sum.first + bit,
                        b: place + bit,
                        out: next + bit,
                    });
                }
                sum.first = next;
                next += len;
                place += len;
            }
            main.call_args.push(sum);
        }
        main.steps.push(Step::Call(0));
        main.calls.push(Call {
            component: circuit.components().len() as u32 - 1,
            first_arg: 0,
            arg_count: main.call_args.len() as u32,
            first_output: next,
        });
        main.outputs = (next..wires).collect();
        Ok(Wrapper { main, inputs })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::builder::{Builder, and_count};
    use crate::testing::bits;
    use crate::{Circuit, Failure, Plan, Receivers, Type, eval_ports, reference};

    /// x − y, and x ∧ z bit by bit.
    fn example() -> Circuit {
        let mut b = Builder::new("example");
        let [x, y, z] = ["x", "y", "z"].map(|name| b.input(name, Type::Uint(5), 1));
        let difference = b.sub(&x, &y);
        let both = b.and(&x, &z);
        b.output("difference", &difference, Type::Uint(5), Receivers::All);
        b.output("both", &both, Type::Uint(5), Receivers::only([1]));
        b.finish().unwrap()
    }

    proptest! {
        #[test]
        fn the_xor_of_the_shares_is_the_input(
            shared in prop::collection::vec(any::<bool>(), 3),
            parties in 1u16..6,
            seed in any::<u64>(),
        ) {
            let circuit = example();
            let split = circuit.clone().with_shared_inputs(&shared, parties).unwrap();
            prop_assert_eq!(and_count(&split), and_count(&circuit));
            prop_assert_eq!(split.outputs(), circuit.outputs());
            let mut given = Vec::new();
            let mut whole = Vec::new();
            for (place, &shared) in shared.iter().enumerate() {
                let mut sum = vec![false; 5];
                for share in 0..if shared { parties } else { 1 } {
                    let bits = bits(seed ^ (place as u64) << 8 ^ u64::from(share), 5);
                    sum.iter_mut().zip(&bits).for_each(|(sum, bit)| *sum ^= bit);
                    given.push(bits);
                }
                whole.push(sum);
            }
            let expected = eval_ports(&circuit, &whole).unwrap();
            prop_assert_eq!(&eval_ports(&split, &given).unwrap(), &expected);
            prop_assert_eq!(reference::eval(&split, &given.concat()), expected.concat());
            prop_assert_eq!(Plan::new(&split).and_count(), and_count(&circuit));
        }
    }

    #[test]
    fn what_asserts_say_is_kept() {
        let failure = Failure { text: "too large".into(), file: "a.sym".into(), line: 7 };
        let circuit = example().with_failures(vec![failure]);
        let split = circuit.clone().with_shared_inputs(&[true, false, false], 2).unwrap();
        assert_eq!(split.failures(), circuit.failures());
    }

    #[test]
    fn look_ups_are_kept() {
        let circuit = crate::builtin::by_name("aes128:sbox").unwrap();
        let split = circuit.clone().with_shared_inputs(&[true, false], 2).unwrap();
        assert_eq!(split.tables(), circuit.tables());
        let [a, b, message] = [1, 2, 3].map(|seed| bits(seed, 128));
        let key = a.iter().zip(&b).map(|(a, b)| a ^ b).collect();
        let expected = eval_ports(&circuit, &[key, message.clone()]);
        assert_eq!(eval_ports(&split, &[a, b, message]), expected);
    }

    #[test]
    fn shares_have_names_and_owners() {
        let split = example().with_shared_inputs(&[false, true, false], 3).unwrap();
        let ports: Vec<_> =
            split.inputs().iter().map(|i| (i.name.as_str(), i.owner.number())).collect();
        assert_eq!(ports, [("x", 1), ("y.0", 0), ("y.1", 1), ("y.2", 2), ("z", 1)]);
        assert_ne!(split.digest(), example().digest());
        let same = example().with_shared_inputs(&[false; 3], 3).unwrap();
        assert_eq!(same, example());
    }

    #[test]
    fn what_cannot_be_shared_is_refused() {
        let refused = |circuit: Circuit, shared: &[bool], parties, text: &str| {
            let error = circuit.with_shared_inputs(shared, parties).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        };
        refused(example(), &[true], 2, "1 marks");
        refused(example(), &[true; 3], 0, "no parties");
        let mut b = Builder::new("names");
        for name in ["x", "x.1"] {
            let input = b.input(name, Type::Uint(1), 0);
            b.output(format!("out {name}"), &input, Type::Uint(1), Receivers::All);
        }
        refused(b.finish().unwrap(), &[true, false], 2, "x.1");
        let mut b = Builder::new("wide");
        let input = b.input("x", Type::Uint(1 << 20), 0);
        b.output("y", &input.slice(0..1), Type::Uint(1), Receivers::All);
        refused(b.finish().unwrap(), &[true], 1024, "too many bits");
    }
}
