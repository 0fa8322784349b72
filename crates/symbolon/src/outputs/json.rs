//! Outputs as JSON.

use serde::{Deserialize, Serialize};
use symbolon_circuit::{
    Output, PartyId, Receivers, Type, Value, format_value, to_bits_string, to_hex,
};
use symbolon_primitives::BitVec;
use symbolon_transport::Result;
use zeroize::{Zeroize, Zeroizing};

use super::{OutputValue, Outputs};
use crate::json::to_text;

/// One output. Without its value where no party learns it, or with `run` not this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputJson {
    /// The output's name.
    pub name: String,
    /// Its type, such as `u32` or `[u32; 16]`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Who learns it, in ascending order.
    pub receivers: Vec<PartyId>,
    /// Its bits, the first character on the first wire; null when not learnt.
    pub bits: Option<String>,
    /// The whole output as one big-endian integer, `hex:…`; null when not learnt.
    pub hex: Option<String>,
    /// The typed value, null when not learnt. An integer is a text of decimal digits, above 4096
    /// bits `0x…` or `-0x…`.
    pub value: Option<serde_json::Value>,
}

impl Outputs {
    /// Returns all outputs as the text of a JSON list, each as the command writes it with `--json`;
    /// the text is wiped when dropped. `parties` is the number of parties, as from
    /// [`Session::parties`](crate::Session::parties). Needs the feature `serde`.
    ///
    /// # Errors
    /// `InvalidInput` if an assert of the program [failed](Outputs::failure).
    pub fn json(&self, parties: u16) -> Result<Zeroizing<String>> {
        self.check()?;
        let all = Zeroizing::new(OutputJson::all(self, parties));
        Ok(to_text(&*all).expect("texts and lists can be written as JSON"))
    }
}

impl OutputJson {
    /// Creates the output with the bits that were learnt, among `parties` parties.
    pub fn new(output: &Output, bits: Option<&BitVec>, parties: u16) -> Self {
        let Output { name, ty, to } = output;
        OutputJson::of((name.as_str(), ty, to), bits, parties)
    }

    /// Returns all outputs of a run as one party learnt them.
    pub fn all(learnt: &Outputs, parties: u16) -> Vec<Self> {
        let one = |output: &OutputValue| {
            let OutputValue { name, ty, to, bits } = output;
            OutputJson::of((name.as_str(), ty, to), bits.as_ref(), parties)
        };
        learnt.iter().map(one).collect()
    }

    fn of((name, ty, to): (&str, &Type, &Receivers), bits: Option<&BitVec>, parties: u16) -> Self {
        let receivers = match to {
            Receivers::All => PartyId::all(parties).collect(),
            Receivers::Only(parties) => parties.clone(),
        };
        let bits = bits.map(|bits| Zeroizing::new(bits.to_bools()));
        let bits = bits.as_ref().map(|bits| &bits[..]);
        OutputJson {
            name: name.to_string(),
            ty: ty.to_string(),
            receivers,
            bits: bits.map(to_bits_string),
            hex: bits.map(|bits| format!("hex:{}", to_hex(bits))),
            value: bits.map(|bits| value_json(format_value(ty, bits))),
        }
    }
}

impl Zeroize for OutputJson {
    /// Wipes the value, except for names of fields and of variants that hold something.
    fn zeroize(&mut self) {
        self.bits.zeroize();
        self.hex.zeroize();
        self.value.iter_mut().for_each(wipe);
    }
}

fn wipe(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => text.zeroize(),
        serde_json::Value::Bool(value) => value.zeroize(),
        serde_json::Value::Array(elements) => elements.iter_mut().for_each(wipe),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(wipe),
        serde_json::Value::Null | serde_json::Value::Number(_) => {}
    }
}

fn value_json(value: Value) -> serde_json::Value {
    match value {
        Value::Integer(text) | Value::Fraction(text) | Value::Name(text) | Value::Text(text) => {
            text.into()
        }
        Value::Array(elements) => elements.into_iter().map(value_json).collect(),
        Value::Bool(value) => value.into(),
        Value::Null => serde_json::Value::Null,
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| (name, value_json(value));
            serde_json::Value::Object(fields.into_iter().map(field).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::Failure;

    use super::*;

    fn output(name: &str, ty: Type, to: Receivers, bits: Option<Vec<bool>>) -> OutputValue {
        OutputValue { name: name.into(), ty, to, bits: bits.map(BitVec::from) }
    }

    #[test]
    fn outputs_are_written_as_the_command_does() {
        let five = Some(vec![true, false, true, false]);
        let entries = vec![
            output("x \"quoted\"", Type::Uint(4), Receivers::All, five),
            output("theirs", Type::Bool, Receivers::only([1]), None),
        ];
        let expected = [
            r#"[{"name":"x \"quoted\"","type":"u4","receivers":[0,1,2],"#,
            r#""bits":"1010","hex":"hex:5","value":"5"},"#,
            r#"{"name":"theirs","type":"bool","receivers":[1],"#,
            r#""bits":null,"hex":null,"value":null}]"#,
        ];
        let outputs = Outputs { entries, failure: None };
        assert_eq!(*outputs.json(3).unwrap(), expected.concat());
    }

    #[test]
    fn a_failed_assert_leaves_nothing_to_write() {
        let failure = Failure { text: "not both".into(), file: "a.sym".into(), line: 7 };
        let outputs = Outputs { entries: Vec::new(), failure: Some(failure) };
        assert!(outputs.json(2).unwrap_err().to_string().contains("not both"));
    }

    #[test]
    fn values_are_wiped() {
        let fields = vec![("a".into(), Type::words(2, 8)), ("b".into(), Type::Bool)];
        let ty = Type::Struct { name: "S".into(), fields };
        let entry = output("z", ty, Receivers::All, Some(vec![true; 17]));
        let outputs = Outputs { entries: vec![entry], failure: None };
        let mut json = OutputJson::all(&outputs, 2).remove(0);
        let value = |json: &OutputJson| json.value.as_ref().map(ToString::to_string);
        assert_eq!(value(&json).as_deref(), Some(r#"{"a":["255","255"],"b":true}"#));
        json.zeroize();
        assert!(json.bits.is_none() && json.hex.is_none());
        assert_eq!(value(&json).as_deref(), Some(r#"{"a":["",""],"b":false}"#));
    }
}
