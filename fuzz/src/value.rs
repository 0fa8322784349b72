//! Values of inputs: the first bytes choose a type, the rest is the text.

use symbolon_circuit::{Input, Type, format_value, parse_value, to_bits_string, to_hex};

fn ty(kind: u8, width: u32, len: u32) -> Type {
    let scalar = match kind & 9 {
        0 => Type::Uint(width),
        1 => Type::Int(width),
        _ => Type::Text(width),
    };
    let array = |elem| Type::Array { len, elem: Box::new(elem) };
    match kind >> 1 & 3 {
        0 => scalar,
        1 => array(scalar),
        _ => array(array(scalar)),
    }
}

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let [kind, low, high, len, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let width = u32::from(u16::from_le_bytes([*low, *high])) % 5000 + 1;
    let ty = ty(*kind, width, u32::from(*len) % 20 + 1);
    let input = Input { name: "x".into(), ty, owner: 0.into() };
    let Ok(bits) = parse_value(&input, text) else { return };
    assert_eq!(bits.len() as u64, input.ty.width());
    for text in [
        format_value(&input.ty, &bits).to_string(),
        format!("hex:{}", to_hex(&bits)),
        format!("bits:{}", to_bits_string(&bits)),
    ] {
        assert_eq!(parse_value(&input, &text), Ok(bits.clone()));
    }
}
