//! One party's inputs, complete and checked before anything is sent.

use symbolon_circuit::{
    Circuit, CircuitError, Failure, FileForm, Input, PartyId, Type, certain_failures,
    parse_file_to, parse_value,
};
use symbolon_primitives::BitVec;
use symbolon_protocols::{Compiled, InputBits, Link};
use symbolon_transport::{Error, Result};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::Port;

#[cfg(feature = "serde")]
mod value;

/// All inputs of one party, each of the right width; wiped when dropped.
///
/// Made by [`Inputs::builder`], which rejects everything on which a run would fail, so that
/// mistakes are found before the peer is involved.
#[derive(ZeroizeOnDrop)]
pub struct Inputs {
    #[zeroize(skip)]
    party: PartyId,
    /// The inputs of the circuit that these are for. Another circuit may have inputs of the same
    /// widths that mean something else.
    #[zeroize(skip)]
    ports: Vec<Input>,
    bits: InputBits,
}

impl Inputs {
    /// Starts collecting the inputs that `party` owns in `circuit`.
    pub fn builder(circuit: &Circuit, party: impl Into<PartyId>) -> InputsBuilder<'_> {
        let (ports, bits) = (circuit.inputs().to_vec(), vec![None; circuit.inputs().len()]);
        InputsBuilder { circuit, inputs: Inputs { party: party.into(), ports, bits } }
    }

    /// Returns the party whose inputs these are.
    pub fn party(&self) -> PartyId {
        self.party
    }

    /// Checks that these are exactly the inputs that `party` needs for `circuit`.
    pub(crate) fn check(&self, circuit: &Circuit, party: PartyId) -> Result<()> {
        if self.party != party {
            return Err(Error::invalid_input(format!(
                "these are party {}'s inputs, this is party {party}",
                self.party
            )));
        }
        let width = |bits: &Option<BitVec>| bits.as_ref().map(|bits| bits.len() as u64);
        let needed = circuit.inputs().iter();
        let needed = needed.map(|input| (input.owner == party).then(|| input.ty.width()));
        if self.are_for(circuit) && self.bits.iter().map(width).eq(needed) {
            return Ok(());
        }
        Err(Error::invalid_input("these are the inputs of another circuit"))
    }

    /// Checks that these are exactly the inputs that `party` needs for `circuit`, as a run does.
    ///
    /// # Errors
    /// `InvalidInput` if they are not.
    pub fn check_for(&self, circuit: &Circuit, party: impl Into<PartyId>) -> Result<()> {
        self.check(circuit, party.into())
    }

    /// Returns a hash of the inputs under a key, with which two sets of inputs for one circuit can
    /// be compared later. Whoever has the key can guess inputs by it: draw the key at random, and
    /// keep it.
    pub fn digest(&self, key: &[u8; 32]) -> [u8; 32] {
        let mut hasher = Zeroizing::new(blake3::Hasher::new_keyed(key));
        for bits in &self.bits {
            let Some(bits) = bits else {
                hasher.update(&[2]);
                continue;
            };
            hasher.update(&(bits.len() as u64).to_le_bytes());
            hasher.update(&Zeroizing::new(bits.to_bytes()));
        }
        *hasher.finalize().as_bytes()
    }

    /// Returns the asserts of the program of which one fails with these inputs whatever the other
    /// parties give, in the order of the program; none if no assert fails for certain, or if it
    /// takes more than a simple evaluation to see. Nothing is sent for this.
    ///
    /// # Panics
    /// When these are the inputs of another circuit.
    pub fn certain_failures<'c>(&self, circuit: &'c Compiled) -> Vec<&'c Failure> {
        if circuit.circuit().failures().is_empty() {
            return Vec::new();
        }
        let bits = self.bits.iter().map(|bits| bits.as_ref().map(BitVec::to_bools));
        let bits = Zeroizing::new(bits.collect::<Vec<_>>());
        certain_failures(circuit.circuit(), circuit.plan(), &bits)
    }

    /// Refuses inputs with which an assert fails whatever the other parties give.
    pub(crate) fn check_asserts(&self, circuit: &Compiled) -> Result<()> {
        let failures = self.certain_failures(circuit);
        let texts: Vec<String> = failures.iter().take(4).map(ToString::to_string).collect();
        match &texts[..] {
            [] => Ok(()),
            [text] => Err(Error::invalid_input(format!("an assert fails: {text}"))),
            _ => {
                Err(Error::invalid_input(format!("an assert fails, one of: {}", texts.join("; "))))
            }
        }
    }

    /// Returns whether the circuit has the inputs that these were made for: names, types, owners.
    pub(crate) fn are_for(&self, circuit: &Circuit) -> bool {
        self.ports == circuit.inputs()
    }

    /// Returns these inputs with other bits for one of them.
    ///
    /// # Errors
    /// `InvalidInput`, see [`InputsBuilder`].
    pub fn with_bits(mut self, port: usize, bits: impl Into<BitVec>) -> Result<Inputs> {
        let mut bits = bits.into();
        let own = self.bits.get_mut(port).and_then(Option::as_mut);
        match own.filter(|own| own.len() == bits.len()) {
            Some(own) => {
                // The old ones are wiped.
                std::mem::swap(own, &mut bits);
                bits.zeroize();
                Ok(self)
            }
            None => {
                bits.zeroize();
                Err(Error::invalid_input(format!("input {port} does not take these bits")))
            }
        }
    }

    /// Returns a copy, which is wiped when dropped, too.
    pub(crate) fn duplicate(&self) -> Inputs {
        Inputs { party: self.party, ports: self.ports.clone(), bits: self.bits.clone() }
    }

    pub(crate) fn bits(&self) -> &InputBits {
        &self.bits
    }
}

impl std::fmt::Debug for Inputs {
    /// Shows whose inputs these are, but never a value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs").field("party", &self.party).finish_non_exhaustive()
    }
}

/// Collects a party's inputs, one by one.
///
/// [`text`](InputsBuilder::text) sets an input of any type. Every method rejects an input that the
/// circuit does not have, that another party owns, or that was set before, and a value that does
/// not fit. No error ever contains a value.
///
/// Timing: values | `uint`, `integers` and `bits` shift; a value out of range is refused before
/// anything is sent
#[derive(Debug)]
pub struct InputsBuilder<'c> {
    circuit: &'c Circuit,
    inputs: Inputs,
}

impl InputsBuilder<'_> {
    /// Sets an input of any type from text in one of the [forms](crate::circuit::value) that the
    /// command takes: `-5`, `1.25`, `true`, `hex:01ff`, `[1, 2, 3]`, `{"price": 3, "at": [1, 2]}`.
    ///
    /// ```
    /// # fn main() -> symbolon::Result<()> {
    /// let aes = symbolon::circuit::builtin::by_name("aes128")?;
    /// let key = "hex:000102030405060708090a0b0c0d0e0f";
    /// let inputs = symbolon::Inputs::builder(&aes, 0).text("key", key)?.finish()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidInput`, see [`InputsBuilder`].
    pub fn text<'p>(self, port: impl Into<Port<'p>>, value: &str) -> Result<Self> {
        let index = self.place(port.into())?;
        let bits = parse_value(&self.circuit.inputs()[index], value).map_err(invalid)?;
        self.put(index, bits.into())
    }

    /// Sets an input from an unsigned integer that fits its width, whatever its type: the integer's
    /// lowest bit is the first wire. [`text`](InputsBuilder::text) takes negative numbers.
    ///
    /// # Errors
    /// `InvalidInput`, see [`InputsBuilder`].
    pub fn uint<'p>(self, port: impl Into<Port<'p>>, value: u128) -> Result<Self> {
        let index = self.place(port.into())?;
        let width = self.circuit.inputs()[index].ty.width();
        let bits = self.spread(index, value, width)?;
        self.put(index, bits)
    }

    /// Sets an input that is an array of integers, one value per element. Only signed elements may
    /// be negative.
    ///
    /// # Errors
    /// `InvalidInput`, see [`InputsBuilder`].
    pub fn integers<'p>(self, port: impl Into<Port<'p>>, values: &[i128]) -> Result<Self> {
        let index = self.place(port.into())?;
        let input = &self.circuit.inputs()[index];
        let (count, elem) = match &input.ty {
            Type::Array { len, elem }
                if matches!(**elem, Type::Uint(_) | Type::Int(_) | Type::Bool) =>
            {
                (*len, &**elem)
            }
            ty => {
                return Err(Error::invalid_input(format!(
                    "input `{}` ({ty}) is not an array of integers: give it as text",
                    input.name
                )));
            }
        };
        if values.len() as u64 != u64::from(count) {
            return Err(Error::invalid_input(format!(
                "input `{}` ({}) takes {count} values, {} were given",
                input.name,
                input.ty,
                values.len()
            )));
        }
        let width = elem.width();
        let mut bits = BitVec::with_capacity((u64::from(count) * width) as usize);
        for &value in values {
            bits.extend(self.element(index, value, elem)?);
        }
        self.put(index, bits)
    }

    /// Sets an input from its bits, first wire first: an integer begins with its lowest bit, an
    /// array with element 0.
    ///
    /// # Errors
    /// `InvalidInput`, see [`InputsBuilder`].
    pub fn bits<'p>(self, port: impl Into<Port<'p>>, bits: impl Into<BitVec>) -> Result<Self> {
        let bits = bits.into();
        let index = self.place(port.into())?;
        self.put(index, bits)
    }

    /// Sets an input from bytes: eight wires each, the first wire being the lowest bit of the first
    /// byte. So an array of bytes is given as it is, an integer or an array of integers in
    /// little-endian order, and floating-point numbers as IEEE 754 has them. Unused bits of the
    /// last byte are zero.
    ///
    /// # Errors
    /// `InvalidInput`, see [`InputsBuilder`].
    pub fn bytes<'p>(self, port: impl Into<Port<'p>>, bytes: &[u8]) -> Result<Self> {
        let index = self.place(port.into())?;
        let input = &self.circuit.inputs()[index];
        let width = input.ty.width() as usize;
        let Some(bits) = BitVec::from_bytes(width, bytes) else {
            let (name, ty, takes) = (&input.name, &input.ty, BitVec::byte_len(width));
            let what = match bytes.len() {
                given if given == takes => "a bit beyond its width is set".to_string(),
                given => format!("it takes {takes} bytes, {given} were given"),
            };
            return Err(Error::invalid_input(format!("input `{name}` ({ty}): {what}")));
        };
        self.put(index, bits)
    }

    /// The number of bits that an input takes, if it may be set.
    ///
    /// # Errors
    /// `InvalidInput`, see [`InputsBuilder`].
    pub fn width<'p>(&self, port: impl Into<Port<'p>>) -> Result<u64> {
        let index = self.place(port.into())?;
        Ok(self.circuit.inputs()[index].ty.width())
    }

    /// Finishes the collection.
    ///
    /// # Errors
    /// `InvalidInput` with the names of all own inputs without a value.
    pub fn finish(self) -> Result<Inputs> {
        self.finish_linked(&[])
    }

    /// Finishes the inputs for a part of a reactive computation, whose linked inputs take no
    /// values.
    ///
    /// # Errors
    /// `InvalidInput` if another own input has no value, or a linked one has a value.
    pub fn finish_linked(self, links: &[Link]) -> Result<Inputs> {
        let mut missing = Vec::new();
        for (place, (input, bits)) in
            self.circuit.inputs().iter().zip(&self.inputs.bits).enumerate()
        {
            let linked = links.iter().any(|link| link.input == place);
            if linked && bits.is_some() {
                let text = format!("input `{}` is linked and takes no value", input.name);
                return Err(Error::invalid_input(text));
            }
            if input.owner == self.inputs.party && bits.is_none() && !linked {
                missing.push(format!("`{}` ({})", input.name, input.ty));
            }
        }
        if missing.is_empty() {
            return Ok(self.inputs);
        }
        Err(Error::invalid_input(format!(
            "no value for party {}'s input {}",
            self.inputs.party,
            missing.join(", ")
        )))
    }

    fn place(&self, port: Port<'_>) -> Result<usize> {
        let inputs = self.circuit.inputs();
        let Some(index) = port.find(inputs.iter().map(|input| input.name.as_str())) else {
            let known: Vec<String> = inputs.iter().map(|i| format!("`{}`", i.name)).collect();
            return Err(Error::invalid_input(format!(
                "the circuit has no input {port}; its inputs are {}",
                known.join(", ")
            )));
        };
        let input = &inputs[index];
        if input.owner != self.inputs.party {
            return Err(Error::invalid_input(format!(
                "input `{}` belongs to party {}, not to party {}",
                input.name, input.owner, self.inputs.party
            )));
        }
        if self.inputs.bits[index].is_some() {
            return Err(Error::invalid_input(format!("input `{}` is given twice", input.name)));
        }
        Ok(index)
    }

    fn put(mut self, index: usize, bits: BitVec) -> Result<Self> {
        let input = &self.circuit.inputs()[index];
        if bits.len() as u64 != input.ty.width() {
            return Err(Error::invalid_input(format!(
                "input `{}` ({}) takes {} bits, {} were given",
                input.name,
                input.ty,
                input.ty.width(),
                bits.len()
            )));
        }
        self.inputs.bits[index] = Some(bits);
        Ok(self)
    }

    fn spread(&self, index: usize, value: u128, width: u64) -> Result<BitVec> {
        if width < 128 && value >> width != 0 {
            let input = &self.circuit.inputs()[index];
            return Err(Error::invalid_input(format!(
                "input `{}` ({}): the value does not fit in {width} bits",
                input.name, input.ty
            )));
        }
        Ok((0..width).map(|i| i < 128 && value >> i & 1 == 1).collect())
    }

    /// Returns the bits of an element. An iterator, because a vector would have to be wiped.
    fn element(
        &self,
        index: usize,
        value: i128,
        ty: &Type,
    ) -> Result<impl Iterator<Item = bool> + use<>> {
        let width = ty.width();
        let half = 1i128.checked_shl(width.saturating_sub(1) as u32);
        let fits = match ty {
            // An i128 fits any signed element of 128 bits or more.
            Type::Int(_) => {
                half.is_none_or(|half| width >= 128 || (value >= -half && value < half))
            }
            _ => value >= 0 && (width >= 127 || value >> width == 0),
        };
        if !fits {
            let input = &self.circuit.inputs()[index];
            return Err(Error::invalid_input(format!(
                "input `{}` ({}): a value does not fit in {ty}",
                input.name, input.ty
            )));
        }
        Ok((0..width).map(move |i| value >> i.min(127) & 1 == 1))
    }
}

/// Reads what a file holds as the wires of an input of any type, in the forms that
/// [`parse_file`](crate::circuit::parse_file) reads. A long list takes little memory besides.
///
/// # Errors
/// `InvalidInput` if it is no such value; the text names the line, and never contains a value.
pub fn read_file(input: &Input, text: &str, form: &FileForm) -> Result<BitVec> {
    let mut bits = BitVec::default();
    let append = |part: &[bool]| bits.extend_from(&BitVec::from_bools(part));
    parse_file_to(input, text, form, append).map_err(invalid)?;
    Ok(bits)
}

fn invalid(error: CircuitError) -> Error {
    Error::invalid_input(error.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use symbolon_circuit::{Component, Output, Receivers};

    use super::*;

    /// Returns a circuit that passes on its inputs: `a` of party 0, `b` of party 1, `c` of party 0.
    pub(super) fn circuit(types: [Type; 3]) -> Circuit {
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        for ((name, owner), ty) in [("a", 0), ("b", 1), ("c", 0)].into_iter().zip(types) {
            inputs.push(Input { name: name.into(), ty: ty.clone(), owner: owner.into() });
            outputs.push(Output { name: name.into(), ty, to: Receivers::All });
        }
        let width = inputs.iter().map(|input| input.ty.width() as u32).sum();
        let main = Component {
            inputs: width,
            wires: width,
            outputs: (0..width).collect(),
            ..Component::default()
        };
        Circuit::new("same", inputs, outputs, vec![main]).expect("a valid circuit")
    }

    fn circuit_of_floats() -> Circuit {
        let pairs = Type::Array { len: 2, elem: Box::new(Type::F32) };
        circuit([Type::Uint(8), Type::Uint(8), pairs])
    }

    fn example() -> Circuit {
        let pairs = Type::Array { len: 2, elem: Box::new(Type::Int(8)) };
        circuit([Type::Uint(8), Type::Uint(8), pairs])
    }

    #[test]
    fn own_inputs_by_name_and_place() {
        let circuit = example();
        let builder = Inputs::builder(&circuit, 0).uint("a", 5).unwrap();
        let inputs = builder.integers(2, &[-1, 3]).unwrap().finish().unwrap();
        let bits = inputs.bits();
        let text = |bits: &Option<BitVec>| {
            bits.as_ref().map(|bits| symbolon_circuit::to_bits_string(&bits.to_bools()))
        };
        assert_eq!(text(&bits[0]).as_deref(), Some("10100000"));
        assert_eq!(bits[1], None);
        assert_eq!(text(&bits[2]).as_deref(), Some("1111111111000000"));
        assert!(!format!("{inputs:?}").contains("true"));
    }

    #[test]
    fn mistakes_are_told_and_values_are_not() {
        let circuit = example();
        let new = || Inputs::builder(&circuit, 0);
        let of_floats = circuit_of_floats();
        let floats = || Inputs::builder(&of_floats, 0);
        let cases = [
            (new().text("a", "hex:4d2").err(), "`a`"),
            (new().uint("a", 1234).err(), "8 bits"),
            (new().uint("b", 1).err(), "belongs to party 1"),
            (new().uint("d", 1).err(), "`a`, `b`, `c`"),
            (new().uint(3, 1).err(), "number 3"),
            (new().bits("a", vec![true; 7]).err(), "takes 8 bits, 7"),
            (new().bytes("a", &[1, 2]).err(), "takes 1 bytes, 2"),
            (new().bytes("b", &[1]).err(), "belongs to party 1"),
            (new().integers("a", &[1]).err(), "not an array"),
            (floats().integers("c", &[1, 2]).err(), "not an array of integers"),
            (new().integers("c", &[1]).err(), "takes 2 values, 1"),
            (new().integers("c", &[1, 1234]).err(), "i8"),
            (new().uint("a", 1).unwrap().uint(0, 1).err(), "given twice"),
            (new().uint("a", 1).unwrap().finish().err(), "input `c`"),
        ];
        for (error, text) in cases {
            let error = error.expect(text);
            let shown = error.to_string();
            assert!(matches!(error, Error::InvalidInput(_)) && shown.contains(text), "{shown}");
            assert!(!shown.contains("1234") && !shown.contains("4d2"), "{shown}");
        }
    }

    #[test]
    fn bits_beyond_the_width_are_refused() {
        let circuit = circuit([Type::Uint(12), Type::Uint(1), Type::Bool]);
        let new = || Inputs::builder(&circuit, 0);
        let bits = new().bytes("a", &[0x21, 0x0f]).unwrap().inputs.bits[0].clone().unwrap();
        assert_eq!(bits.words(), [0xf21]);
        let refused = new().bytes("a", &[0x21, 0x1f]).unwrap_err().to_string();
        assert!(refused.contains("a bit beyond its width"), "{refused}");
    }

    proptest! {
        /// The typed setters produce the same bits as the text forms, and reject the same values.
        #[test]
        fn setters_agree_with_text(
            width in 1u32..=128,
            signed in any::<bool>(),
            shift in 0u32..128,
            value in any::<i128>(),
        ) {
            let value = value >> shift;
            let elem = if signed { Type::Int(width) } else { Type::Uint(width) };
            let array = Type::Array { len: 1, elem: Box::new(elem) };
            let circuit = circuit([Type::Uint(width), Type::Uint(1), array]);
            let bits = |builder: Result<InputsBuilder<'_>>, place: usize| {
                builder.ok().and_then(|builder| builder.inputs.bits[place].clone())
            };
            let new = || Inputs::builder(&circuit, 0);
            let text = value.to_string();
            prop_assert_eq!(bits(new().integers("c", &[value]), 2), bits(new().text("c", &text), 2));
            let bytes = BitVec::byte_len(width as usize);
            let given = &value.to_le_bytes()[..bytes];
            let fits = bits(new().integers("c", &[value]), 2).is_some();
            if fits && (value >= 0 || width % 8 == 0) {
                prop_assert_eq!(bits(new().bytes("c", given), 2), bits(new().text("c", &text), 2));
            }
            let unsigned = value.unsigned_abs();
            let text = unsigned.to_string();
            prop_assert_eq!(bits(new().uint("a", unsigned), 0), bits(new().text("a", &text), 0));
        }
    }
}
