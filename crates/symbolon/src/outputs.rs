//! The outputs that a party learns.

use std::fmt;

use symbolon_circuit::{Circuit, Failure, Receivers, Type, Value, format_value, to_hex};
use symbolon_primitives::BitVec;
use symbolon_protocols::OutputBits;
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

use crate::Port;

#[cfg(feature = "serde")]
mod json;

#[cfg(feature = "serde")]
pub use json::OutputJson;

/// One output of a finished run.
#[derive(Clone, PartialEq, Eq)]
pub struct OutputValue {
    /// The output's name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Who learns it.
    pub to: Receivers,
    /// Its bits, first wire first, if this party learns it.
    pub bits: Option<BitVec>,
}

impl fmt::Debug for OutputValue {
    /// Shows which output this is and whether this party learns it, but never the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutputValue { name, ty, to, bits } = self;
        let mut out = f.debug_struct("OutputValue");
        out.field("name", name).field("ty", ty).field("to", to);
        out.field("is_learnt", &bits.is_some()).finish_non_exhaustive()
    }
}

impl OutputValue {
    /// Returns the typed value, if this party learns it.
    pub fn value(&self) -> Option<Value> {
        self.bits.as_ref().map(|bits| typed(&self.ty, bits))
    }

    /// Returns the value as the command prints it, if this party learns it: an integer of more than
    /// 64 bits as `hex:…`, names without quotes.
    pub fn text(&self) -> Option<String> {
        self.bits.as_ref().map(|bits| OutputValue::text_of(&self.ty, bits))
    }

    /// Returns bits of a type as [`text`](OutputValue::text) does.
    ///
    /// # Panics
    /// When there are more or fewer bits than the type's width.
    pub fn text_of(ty: &Type, bits: &BitVec) -> String {
        match OutputValue::is_hexadecimal(ty) {
            true => format!("hex:{}", to_hex(&Zeroizing::new(bits.to_bools()))),
            false => match ty {
                Type::Array { elem, len } if elem.width() > 0 => {
                    assert_eq!(bits.len() as u64, ty.width(), "one bit per wire of the type");
                    // A list of all values, in any other form, would take far more memory.
                    let mut text = String::from("[");
                    let width = elem.width() as usize;
                    for place in 0..*len as usize {
                        let own = bits.slice(place * width..(place + 1) * width);
                        text.push_str(if place > 0 { ", " } else { "" });
                        text.push_str(&unquoted(&typed(elem, &own)));
                    }
                    text + "]"
                }
                _ => unquoted(&typed(ty, bits)),
            },
        }
    }

    /// Returns whether [`text`](OutputValue::text) writes values of this type as `hex:…`: integers
    /// of more than 64 bits. Integers within other types, also an `Option`, are in decimal.
    pub fn is_hexadecimal(ty: &Type) -> bool {
        matches!(ty, Type::Uint(width) | Type::Int(width) if *width > 64)
    }

    /// Returns the whole output as one unsigned integer, if this party learns it and it has at most
    /// 128 bits.
    pub fn uint(&self) -> Option<u128> {
        let bits = self.bits.as_ref().filter(|bits| bits.len() <= 128)?;
        Some(bits.words().iter().rev().fold(0, |value, &word| value << 64 | u128::from(word)))
    }

    /// Returns an integer or a truth value as a signed integer, if this party learns it: an `int`
    /// of at most 128 bits, a `uint` of at most 127, or a `bool`.
    pub fn int(&self) -> Option<i128> {
        let value = self.uint()?;
        match self.ty {
            Type::Int(width @ 1..=128) => {
                let unused = 128 - width;
                let shifted = (value << unused) as i128;
                Some(shifted >> unused)
            }
            Type::Uint(0..=127) | Type::Bool => Some(value as i128),
            _ => None,
        }
    }
}

fn typed(ty: &Type, bits: &BitVec) -> Value {
    format_value(ty, &Zeroizing::new(bits.to_bools()))
}

/// Returns the names of outputs, for messages.
fn names<'o>(outputs: impl IntoIterator<Item = &'o OutputValue>) -> String {
    let names: Vec<String> =
        outputs.into_iter().map(|output| format!("`{}`", output.name)).collect();
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

fn unfit(output: &OutputValue, number: &str) -> Error {
    let OutputValue { name, ty, .. } = output;
    Error::invalid_input(format!(
        "output `{name}` ({ty}) cannot be read as {number} of 128 bits: read its text or its bits"
    ))
}

fn unquoted(value: &Value) -> String {
    match value {
        Value::Name(name) => name.clone(),
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(unquoted).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::Object(fields) => {
            let field =
                |(name, value): &(String, Value)| format!("\"{name}\": {}", unquoted(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The outputs of one run, in the circuit's order. Only those that this party learns have values,
/// which are wiped when this is dropped.
///
/// [`uint`](Outputs::uint), [`int`](Outputs::int), [`text`](Outputs::text),
/// [`value`](Outputs::value) and [`bits`](Outputs::bits) read an output by name or index, or say
/// why they cannot. [`get`](Outputs::get) and [`iter`](Outputs::iter) are for programs that do not
/// know which outputs there are.
///
/// ```
/// use symbolon::{Config, Inputs, Session, Transport, circuit::builtin};
///
/// # fn main() -> symbolon::Result<()> {
/// let circuit = builtin::by_name("add:8")?;
/// let (for_zero, for_one) = Transport::memory(1, None)?;
/// let party = |number: u16, transport, name, value| {
///     let inputs = Inputs::builder(&circuit, number).uint(name, value)?.finish()?;
///     Session::connect(Config::new(number, transport), &circuit)?.evaluate(&inputs)
/// };
/// let outputs = std::thread::scope(|scope| {
///     let zero = scope.spawn(|| party(0, for_zero, "x", 40));
///     let one = party(1, for_one, "y", 2);
///     zero.join().expect("no panic").and(one)
/// })?;
/// assert_eq!(outputs.uint("sum")?, 42);
/// let error = outputs.uint("total").expect_err("there is no such output");
/// assert!(error.to_string().contains("no output `total`; its outputs are `sum`"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Outputs {
    entries: Vec<OutputValue>,
    failure: Option<Failure>,
}

impl Outputs {
    /// Combines a protocol's output bits with the circuit's names.
    pub(crate) fn new(circuit: &Circuit, party: PartyId, bits: OutputBits) -> Result<Self> {
        if bits.len() != circuit.outputs().len() {
            return Err(Error::internal("the protocol returned another number of outputs"));
        }
        let mut entries = Vec::with_capacity(bits.len());
        for (output, bits) in circuit.outputs().iter().zip(bits) {
            let width = bits.as_ref().map(|bits| bits.len() as u64);
            let expected = output.to.contains(party).then(|| output.ty.width());
            if width != expected {
                return Err(Error::internal(format!(
                    "the protocol returned output `{}` in a wrong width",
                    output.name
                )));
            }
            entries.push(OutputValue {
                name: output.name.clone(),
                ty: output.ty.clone(),
                to: output.to.clone(),
                bits,
            });
        }
        let mut learnt = circuit.outputs().iter().zip(&entries);
        let failure = learnt.find_map(|(port, entry)| {
            // Other outputs may be long.
            let bits = entry.bits.as_ref().filter(|_| port.name == Circuit::FAILURE)?;
            circuit.failure(port, &bits.to_bools())
        });
        Ok(Outputs { failure: failure.cloned(), entries })
    }

    /// Returns the assert of the program that failed, if one did. Then all other outputs are zero,
    /// and none is a result.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Returns the output with this name or index, whether or not this party learns it.
    pub fn get<'p>(&self, port: impl Into<Port<'p>>) -> Option<&OutputValue> {
        let index = port.into().find(self.entries.iter().map(|entry| entry.name.as_str()))?;
        self.entries.get(index)
    }

    /// Returns whether this party learns the output with this name or index.
    ///
    /// # Errors
    /// `InvalidInput` if the circuit has no such output; the text lists its outputs.
    pub fn is_learnt<'p>(&self, port: impl Into<Port<'p>>) -> Result<bool> {
        Ok(self.find(port.into())?.bits.is_some())
    }

    /// Returns the output with this name or index, if this party learns it.
    ///
    /// # Errors
    /// `InvalidInput` if the circuit has no such output, if this party does not learn it, or if an
    /// assert of the program [failed](Outputs::failure). The text lists the outputs that there are.
    pub fn learnt<'p>(&self, port: impl Into<Port<'p>>) -> Result<&OutputValue> {
        Ok(self.entry(port.into())?.0)
    }

    /// Returns the bits of an output, first wire first.
    ///
    /// # Errors
    /// As [`learnt`](Outputs::learnt).
    pub fn bits<'p>(&self, port: impl Into<Port<'p>>) -> Result<&BitVec> {
        Ok(self.entry(port.into())?.1)
    }

    /// Returns the bytes of an output, wiped when dropped: eight wires each, as
    /// [`InputsBuilder::bytes`](crate::InputsBuilder::bytes) takes them.
    ///
    /// # Errors
    /// As [`learnt`](Outputs::learnt).
    pub fn bytes<'p>(&self, port: impl Into<Port<'p>>) -> Result<Zeroizing<Vec<u8>>> {
        Ok(Zeroizing::new(self.bits(port)?.to_bytes()))
    }

    /// Returns an output as one unsigned integer, whatever its type: the first wire is its lowest
    /// bit. [`int`](Outputs::int) returns negative numbers.
    ///
    /// # Errors
    /// As [`learnt`](Outputs::learnt), and `InvalidInput` if it has more than 128 bits.
    pub fn uint<'p>(&self, port: impl Into<Port<'p>>) -> Result<u128> {
        let output = self.learnt(port)?;
        output.uint().ok_or_else(|| unfit(output, "an unsigned integer"))
    }

    /// Returns an integer or a truth value as a signed integer.
    ///
    /// # Errors
    /// As [`learnt`](Outputs::learnt), and `InvalidInput` if it is neither an `int` of at most 128
    /// bits, nor a `uint` of at most 127, nor a `bool`. This never depends on the value.
    pub fn int<'p>(&self, port: impl Into<Port<'p>>) -> Result<i128> {
        let output = self.learnt(port)?;
        output.int().ok_or_else(|| unfit(output, "a signed integer"))
    }

    /// Returns an output as the command prints it; see [`OutputValue::text`].
    ///
    /// # Errors
    /// As [`learnt`](Outputs::learnt).
    pub fn text<'p>(&self, port: impl Into<Port<'p>>) -> Result<String> {
        let (output, bits) = self.entry(port.into())?;
        Ok(OutputValue::text_of(&output.ty, bits))
    }

    /// Returns an output in the shape of its type.
    ///
    /// # Errors
    /// As [`learnt`](Outputs::learnt).
    pub fn value<'p>(&self, port: impl Into<Port<'p>>) -> Result<Value> {
        let (output, bits) = self.entry(port.into())?;
        Ok(typed(&output.ty, bits))
    }

    fn find(&self, port: Port<'_>) -> Result<&OutputValue> {
        self.get(port).ok_or_else(|| {
            let known = names(self);
            Error::invalid_input(format!(
                "the circuit has no output {port}; its outputs are {known}"
            ))
        })
    }

    fn entry(&self, port: Port<'_>) -> Result<(&OutputValue, &BitVec)> {
        self.check()?;
        let output = self.find(port)?;
        let bits = output.bits.as_ref().ok_or_else(|| {
            let learnt = names(self.iter().filter(|output| output.bits.is_some()));
            let name = &output.name;
            Error::invalid_input(format!(
                "this party does not learn output `{name}`; it learns {learnt}"
            ))
        })?;
        Ok((output, bits))
    }

    /// Rejects reading the zeros that a failed assert leaves.
    fn check(&self) -> Result<()> {
        let Some(failure) = &self.failure else { return Ok(()) };
        let text = format!("an assert failed, so the outputs are no result: {failure}");
        Err(Error::invalid_input(text))
    }

    /// Returns all outputs, in the circuit's order.
    pub fn iter(&self) -> std::slice::Iter<'_, OutputValue> {
        self.entries.iter()
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.entries).finish()
    }
}

impl<'a> IntoIterator for &'a Outputs {
    type Item = &'a OutputValue;
    type IntoIter = std::slice::Iter<'a, OutputValue>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(name: &str, ty: Type, bits: Option<Vec<bool>>) -> OutputValue {
        let bits = bits.map(BitVec::from);
        OutputValue { name: name.into(), ty, to: Receivers::All, bits }
    }

    /// Returns outputs of ones, of which this party does not learn the last one.
    fn ones(failure: Option<Failure>) -> Outputs {
        let list = Type::words(2, 8);
        let types = [("small", Type::Int(8)), ("wide", Type::Uint(128)), ("list", list)];
        let types = types.into_iter().chain([("wider", Type::Int(129))]);
        let entries = types.map(|(name, ty)| {
            let bits = vec![true; ty.width() as usize];
            output(name, ty, Some(bits))
        });
        let theirs = output("theirs", Type::Uint(8), None);
        Outputs { entries: entries.chain([theirs]).collect(), failure }
    }

    #[test]
    fn outputs_are_read_by_name_and_index() {
        let outputs = ones(None);
        assert_eq!((outputs.uint("small"), outputs.int(0)), (Ok(255), Ok(-1)));
        assert_eq!(outputs.uint("wide"), Ok(u128::MAX));
        assert_eq!(outputs.text(1), Ok(format!("hex:{}", "f".repeat(32))));
        assert_eq!(outputs.value("small"), Ok(Value::Integer("-1".into())));
        assert_eq!(outputs.bits("list").map(BitVec::to_bools), Ok(vec![true; 16]));
        assert_eq!(outputs.learnt("list").unwrap().name, "list");
        assert_eq!((outputs.is_learnt("list"), outputs.is_learnt("theirs")), (Ok(true), Ok(false)));
    }

    #[test]
    fn outputs_that_cannot_be_read_are_errors_that_say_why() {
        let outputs = ones(None);
        let all = "its outputs are `small`, `wide`, `list`, `wider`, `theirs`";
        let learnt = "it learns `small`, `wide`, `list`, `wider`";
        let cases = [
            (outputs.uint("sum").err(), ["no output `sum`", all]),
            (outputs.text(5).err(), ["no output number 5", all]),
            (outputs.is_learnt("sum").err(), ["no output `sum`", all]),
            (outputs.uint("theirs").err(), ["does not learn output `theirs`", learnt]),
            (outputs.bits("theirs").err(), ["does not learn output `theirs`", learnt]),
            (outputs.uint("wider").err(), ["`wider` (i129)", "an unsigned integer of 128 bits"]),
            (outputs.int("wider").err(), ["`wider` (i129)", "a signed integer of 128 bits"]),
            (outputs.int("wide").err(), ["`wide` (u128)", "a signed integer of 128 bits"]),
            (outputs.int("list").err(), ["`list` ([u8; 2])", "read its text or its bits"]),
        ];
        for (error, parts) in cases {
            let error = error.expect(parts[0]);
            let shown = error.to_string();
            assert!(matches!(error, Error::InvalidInput(_)), "{shown}");
            assert!(parts.iter().all(|part| shown.contains(*part)), "{shown}");
        }
        let nobody = Outputs { entries: vec![output("theirs", Type::Bool, None)], failure: None };
        let shown = nobody.uint(0).unwrap_err().to_string();
        assert!(shown.ends_with("; it learns none"), "{shown}");
    }

    #[test]
    fn the_zeros_of_a_failed_assert_are_not_read() {
        let failure = Failure { text: "not both".into(), file: "a.sym".into(), line: 7 };
        let outputs = ones(Some(failure));
        let read = [
            outputs.uint("small").err(),
            outputs.int("small").err(),
            outputs.text("small").err(),
            outputs.value("small").err(),
            outputs.bits("small").err(),
            outputs.learnt("small").err(),
        ];
        for error in read {
            let shown = error.expect("an assert failed").to_string();
            assert!(shown.ends_with("no result: not both (a.sym, line 7)"), "{shown}");
        }
        assert_eq!(outputs.is_learnt("small"), Ok(true));
        assert!(outputs.get("small").is_some());
    }

    /// Signed integers are those that the output's text has.
    #[test]
    fn signed_integers_have_the_sign_of_their_type() {
        for width in 1..=128u32 {
            let one = |bit: u32| (0..width).map(|place| place == bit).collect::<Vec<bool>>();
            let patterns = [one(0), one(width - 1), one(width), vec![true; width as usize]];
            for bits in patterns {
                for ty in [Type::Int(width), Type::Uint(width)] {
                    let fits = ty != Type::Uint(128);
                    let z = output("z", ty, Some(bits.clone()));
                    let expected = z.value().filter(|_| fits).map(|value| value.to_string());
                    let number = z.int().map(|number| number.to_string());
                    assert_eq!(number, expected, "{} {bits:?}", z.ty);
                }
            }
        }
        assert_eq!(output("z", Type::Bool, Some(vec![true])).int(), Some(1));
        assert_eq!(output("z", Type::F32, Some(vec![true; 32])).int(), None);
    }

    #[test]
    fn values_are_not_printed() {
        let circuit = symbolon_circuit::builtin::by_name("add:8").unwrap();
        let bits = |bit: bool| vec![Some(vec![bit; 8].into())];
        let outputs = |bit: bool| Outputs::new(&circuit, 0.into(), bits(bit)).unwrap();
        let shown = format!("{:?}", outputs(true));
        assert_eq!(shown, format!("{:?}", outputs(false)));
        assert!(shown.contains("is_learnt: true"), "{shown}");
    }
}
