//! Vectors for clients in other languages: `bindings/typescript/test/vectors.json`.
//!
//! `SYMBOLON_WRITE_DOCS=1 cargo test -p symbolon-service --test service vectors` rewrites them.

use std::path::Path;

use serde_json::{Value, json};
use symbolon::circuit::{self, ClientPorts, Field, Type, format_value};
use symbolon_clients::{Layout, Submission};

/// Bytes that look random, and are the same for all languages.
fn random(seed: u8) -> impl FnMut(&mut [u8]) -> Result<(), symbolon_clients::ClientError> {
    let mut reader = blake3::Hasher::new().update(&[seed]).finalize_xof();
    move |bytes: &mut [u8]| {
        reader.fill(bytes);
        Ok(())
    }
}

fn blocks(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|block| u64::from_le_bytes(block.try_into().unwrap())).collect()
}

/// Returns an answer of a run whose bits are all 1, or every third one is.
fn answer(layout: &Layout, made: &Submission, step: usize) -> (Vec<u8>, Value) {
    let ports = layout.ports();
    let width = ports.answer_bits() as usize;
    let bits: Vec<bool> = (0..width).map(|bit| bit % step == 0).collect();
    let receipt = blocks(made.receipt.as_bytes());
    let (pad, keys) = receipt.split_at(receipt.len() - 2);
    let block = |bits: &[bool]| bits.iter().rev().fold(0, |sum, bit| 2 * sum + u64::from(*bit));
    let clear: Vec<u64> = bits.chunks(64).map(block).collect();
    let masked = clear.iter().zip(pad).map(|(clear, pad)| clear ^ pad);
    let tag = Field::BLOCKS.amd_tag(&clear, keys[0]) ^ keys[1];
    let bytes: Vec<u8> = masked.chain([tag]).flat_map(u64::to_le_bytes).collect();
    let opened = layout.open(&made.receipt, &bytes).unwrap();
    let value = |(name, ty, bits): &(String, Type, symbolon::BitVec)| {
        (name.clone(), shown(format_value(ty, &bits.to_bools())))
    };
    (bytes, Value::Object(opened.answers.iter().map(value).collect()))
}

/// Returns a value as JSON, with numbers as text.
fn shown(value: circuit::Value) -> Value {
    use circuit::Value as Shown;
    match value {
        Shown::Integer(text) | Shown::Fraction(text) | Shown::Name(text) | Shown::Text(text) => {
            Value::String(text)
        }
        Shown::Bool(value) => Value::Bool(value),
        Shown::Null => Value::Null,
        Shown::Array(all) => all.into_iter().map(shown).collect(),
        Shown::Object(all) => all.into_iter().map(|(name, value)| (name, shown(value))).collect(),
    }
}

/// Integers as text: JSON has none beyond 2^53 that every language reads.
fn texts(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Array(all) => all.into_iter().map(texts).collect(),
        Value::Object(all) => all.into_iter().map(|(name, value)| (name, texts(value))).collect(),
        other => other,
    }
}

fn vector(
    seed: u8,
    parties: u16,
    values: &[(&str, Type, Value)],
    answers: &[(&str, Type)],
) -> Value {
    let fields = |name: &str, ty: &Type| (name.to_string(), ty.clone());
    let layout = Layout::new(ClientPorts {
        clients: 5,
        parties,
        values: values.iter().map(|(name, ty, _)| fields(name, ty)).collect(),
        answers: answers.iter().map(|(name, ty)| fields(name, ty)).collect(),
    });
    let layout = layout.unwrap();
    let given: Vec<(&str, String)> =
        values.iter().map(|(name, _, value)| (*name, value.to_string())).collect();
    let given: Vec<(&str, &str)> =
        given.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let (mut next, mut used) = (random(seed), Vec::new());
    let mut noted = |bytes: &mut [u8]| {
        next(bytes)?;
        used.extend_from_slice(bytes);
        Ok(())
    };
    let made = layout.encode_with(&layout.values(&given).unwrap(), &mut noted).unwrap();
    let answer = (!answers.is_empty()).then(|| answer(&layout, &made, usize::from(seed)));
    let given = values.iter().map(|(name, _, value)| (name.to_string(), texts(value.clone())));
    json!({
        "layout": serde_json::from_str::<Value>(&layout.to_json()).unwrap(),
        "values": given.collect::<serde_json::Map<_, _>>(),
        "random": hex::encode(used),
        "shares": made.shares.iter().map(|one| hex::encode(one.as_bytes())).collect::<Vec<_>>(),
        "hashes": hex::encode(made.hashes.to_bytes()),
        "receipt": hex::encode(made.receipt.as_bytes()),
        "answer": answer.as_ref().map(|(bytes, _)| hex::encode(bytes)),
        "answers": answer.as_ref().map(|(_, values)| values),
    })
}

#[test]
fn the_vectors_of_clients_are_current() {
    let uint = Type::Uint;
    let array = |len, elem: Type| Type::Array { len, elem: Box::new(elem) };
    let person = Type::Struct {
        name: "Person".into(),
        fields: vec![("age".into(), uint(7)), ("balance".into(), Type::Int(40))],
    };
    let option = |some: Type| Type::Enum {
        name: "Option".into(),
        variants: vec![("None".into(), vec![]), ("Some".into(), vec![some])],
    };
    let fixed = |int, frac| Type::Fixed { int, frac };
    let vectors = json!([
        vector(1, 2, &[("bid", uint(64), json!(u64::MAX))], &[]),
        vector(2, 3, &[("bid", uint(13), json!(5))], &[("price", uint(13)), ("won", Type::Bool)]),
        vector(
            3,
            3,
            &[
                ("of", person, json!({"age": 99, "balance": -123_456_789_012i64})),
                ("votes", array(70, Type::Bool), json!(vec![true; 70])),
            ],
            &[("counts", array(3, uint(50))), ("sum", uint(64))],
        ),
        // Every fourth bit is 1: this is a text. Every seventh: it is none.
        vector(
            4,
            2,
            &[
                ("note", Type::Text(12), json!("Zoë \"1\" €")),
                ("code", option(Type::Text(3)), json!("abc")),
                ("rate", fixed(9, 7), json!("-1.3")),
            ],
            &[("note", Type::Text(5)), ("rate", fixed(3, 61))],
        ),
        vector(
            7,
            2,
            &[
                ("rate", fixed(2, 100), json!("1e-17")),
                ("nested", option(option(uint(3))), json!({"Some": [null]}))
            ],
            &[("note", Type::Text(5)), ("nested", array(2, option(option(uint(3)))))],
        ),
    ]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../../bindings/typescript/test/vectors.json");
    let current = serde_json::to_string_pretty(&vectors).unwrap() + "\n";
    if std::env::var_os("SYMBOLON_WRITE_DOCS").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let hint = "the vectors of clients are not current: SYMBOLON_WRITE_DOCS=1 rewrites them";
    assert!(std::fs::read_to_string(&path).unwrap_or_default() == current, "{hint}");
}
