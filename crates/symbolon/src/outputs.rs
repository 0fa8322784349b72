//! The outputs that a party learns.

use std::fmt;

use symbolon_circuit::{Circuit, Failure, Receivers, Type, Value, format_value, to_hex};
use symbolon_protocols::OutputBits;
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroize;

use crate::Port;

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
    pub bits: Option<Vec<bool>>,
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
        self.bits.as_deref().map(|bits| format_value(&self.ty, bits))
    }

    /// Returns the value as the command prints it, if this party learns it: an integer of more than
    /// 64 bits as `hex:…`, names without quotes.
    pub fn text(&self) -> Option<String> {
        let bits = self.bits.as_deref()?;
        Some(match OutputValue::is_hexadecimal(&self.ty) {
            true => format!("hex:{}", to_hex(bits)),
            false => unquoted(&format_value(&self.ty, bits)),
        })
    }

    /// Returns whether [`text`](OutputValue::text) writes values of this type as `hex:…`: integers
    /// of more than 64 bits. Integers within other types, also an `Option`, are in decimal.
    pub fn is_hexadecimal(ty: &Type) -> bool {
        matches!(ty, Type::Uint(width) | Type::Int(width) if *width > 64)
    }

    /// Returns the whole output as one unsigned integer, if this party learns it and it has at most
    /// 128 bits.
    pub fn uint(&self) -> Option<u128> {
        let bits = self.bits.as_deref().filter(|bits| bits.len() <= 128)?;
        Some(bits.iter().rev().fold(0, |value, &bit| value << 1 | u128::from(bit)))
    }
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
        let failure = learnt.find_map(|(port, entry)| circuit.failure(port, entry.bits.as_ref()?));
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

impl Drop for Outputs {
    fn drop(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.bits.zeroize());
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

    #[test]
    fn values_are_not_printed() {
        let circuit = symbolon_circuit::builtin::by_name("add:8").unwrap();
        let bits = |bit: bool| vec![Some(vec![bit; 8])];
        let outputs = |bit: bool| Outputs::new(&circuit, 0.into(), bits(bit)).unwrap();
        let shown = format!("{:?}", outputs(true));
        assert_eq!(shown, format!("{:?}", outputs(false)));
        assert!(shown.contains("is_learnt: true"), "{shown}");
    }
}
