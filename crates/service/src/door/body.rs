//! Bodies of requests and replies: they hold values, and are wiped.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::{BodyExt, Limited};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use symbolon::circuit::{Circuit, PartyId};
use symbolon::{BitVec, Error, Inputs, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::clients::{complete, own_port};

/// How long a body may take.
const TIME: Duration = Duration::from_secs(10);

/// The values of one party, by the name of the input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    #[serde(default)]
    inputs: BTreeMap<String, Value>,
    /// The wires of inputs as 0 and 1, the first one first.
    #[serde(default)]
    bits: BTreeMap<String, String>,
}

impl Drop for Given {
    fn drop(&mut self) {
        self.inputs.values_mut().for_each(wipe);
        self.bits.values_mut().for_each(Zeroize::zeroize);
    }
}

fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Bool(value) => value.zeroize(),
        Value::Array(elements) => elements.iter_mut().for_each(wipe),
        Value::Object(fields) => fields.values_mut().for_each(wipe),
        Value::Null | Value::Number(_) => {}
    }
}

/// A body that could not be read.
pub(super) enum NoBody {
    TooLarge,
    TooSlow,
    Broken,
}

/// Reads a body of at most `limit` bytes.
pub(super) async fn read(
    body: Body,
    limit: usize,
) -> std::result::Result<Zeroizing<Vec<u8>>, NoBody> {
    let collected = Limited::new(body, limit).collect();
    let collected = tokio::time::timeout(TIME, collected).await.map_err(|_| NoBody::TooSlow)?;
    let bytes =
        collected.map_err(|error| match error.is::<http_body_util::LengthLimitError>() {
            true => NoBody::TooLarge,
            false => NoBody::Broken,
        })?;
    let bytes = bytes.to_bytes();
    let copy = Zeroizing::new(bytes.to_vec());
    // The server's own buffer is out of reach where something else still holds it.
    if let Ok(mut bytes) = bytes.try_into_mut() {
        bytes.zeroize();
    }
    Ok(copy)
}

/// Returns the inputs in a body. No error repeats a value.
pub(super) fn inputs(body: &[u8], circuit: &Circuit, party: PartyId) -> Result<Inputs> {
    let given: Given = serde_json::from_slice(body).map_err(|error| {
        Error::InvalidInput(format!(
            "the body is not {{\"inputs\": {{NAME: VALUE, …}}}}: line {}, column {}",
            error.line(),
            error.column()
        ))
    })?;
    if let Some(port) = own_port(circuit, party) {
        let name = &circuit.inputs()[port].name;
        if given.inputs.contains_key(name) || given.bits.contains_key(name) {
            return Err(Error::InvalidInput(format!("clients give `{name}`")));
        }
    }
    let mut inputs = Inputs::builder(circuit, party);
    for (name, value) in &given.inputs {
        inputs = match value {
            Value::String(text) => inputs.text(name.as_str(), text)?,
            value => inputs.value(name.as_str(), value)?,
        };
    }
    for (name, digits) in &given.bits {
        if !digits.bytes().all(|digit| matches!(digit, b'0' | b'1')) {
            return Err(Error::InvalidInput("`bits` takes digits 0 and 1".to_string()));
        }
        let bits: BitVec = digits.bytes().map(|digit| digit == b'1').collect();
        inputs = inputs.bits(name.as_str(), bits)?;
    }
    complete(circuit, party, inputs)
}

/// Returns a value as a JSON body, which is wiped when it was sent.
pub(super) fn json(value: &impl Serialize) -> Bytes {
    // The length is measured first, so that the text never moves.
    let mut length = Length(0);
    let measured = serde_json::to_writer(&mut length, value);
    let mut text = Zeroizing::new(Vec::with_capacity(length.0));
    let written = measured.and_then(|()| serde_json::to_writer(&mut *text, value));
    debug_assert!(written.is_ok(), "texts and lists can be written as JSON");
    Bytes::from_owner(text)
}

/// Counts the bytes written.
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
