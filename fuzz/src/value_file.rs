//! Values in files: the first bytes choose a type and how the file is read, the rest is the text.

use symbolon_circuit::{FileForm, Input, Type, format_file, format_value, parse_file, parse_value};

fn ty(bytes: &[u8; 4]) -> Type {
    let [kind, width, len, parts] = bytes.map(u32::from);
    let scalar = match kind & 3 {
        _ if kind & 32 == 32 => Type::Text(width % 32 + 1),
        0 => Type::Uint(width + 1),
        1 => Type::Int(width + 1),
        2 => Type::Fixed { int: width % 16 + 1, frac: width / 16 },
        _ => Type::Bool,
    };
    let optional = |some: Type| {
        let variants = vec![("None".into(), vec![]), ("Some".into(), vec![some])];
        Type::Enum { name: "Option".into(), variants }
    };
    let part = |i: u32| if parts >> i & 1 == 1 { optional(scalar.clone()) } else { scalar.clone() };
    let elem = match kind >> 2 & 3 {
        0 => part(0),
        1 => Type::Tuple((0..parts % 4 + 1).map(part).collect()),
        2 => {
            let fields = (0..parts % 4 + 1).map(|i| (format!("f{i}"), part(i))).collect();
            Type::Struct { name: "S".into(), fields }
        }
        _ => Type::Array { len: parts % 4 + 1, elem: Box::new(part(1)) },
    };
    match kind >> 4 & 1 {
        0 => elem,
        _ => Type::Array { len: len % 20, elem: Box::new(elem) },
    }
}

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let [a, b, c, d, how, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let input = Input { name: "x".into(), ty: ty(&[*a, *b, *c, *d]), owner: 0.into() };
    let columns: &[&str] = match how >> 2 & 3 {
        0 => &[],
        1 => &["a", "b"],
        2 => &["a"],
        _ => &["a.b"],
    };
    let columns = match how >> 5 & 3 {
        1 => &["a|sha256"],
        2 => &["a|hex"],
        _ => columns,
    };
    let columns = columns.iter().map(|name| name.to_string()).collect();
    let form = FileForm { csv: how & 1 == 1, pad: how & 2 == 2, json: how & 16 == 16, columns };
    let Ok(bits) = parse_file(&input, text, &form) else { return };
    assert_eq!(bits.len() as u64, input.ty.width());
    // Raw bits can have a tag that no variant has and bits behind a variant's payload, which the
    // circuit clears: what is printed of them is another encoding of the same value.
    let shown = format_value(&input.ty, &bits).to_string();
    let bits = match parse_value(&input, &shown) {
        Ok(canonical) if text.contains("hex:") || text.contains("bits:") => canonical,
        parsed => {
            assert_eq!(parsed, Ok(bits.clone()));
            bits
        }
    };
    assert_eq!(format_value(&input.ty, &bits).to_string(), shown);
    for csv in [false, true] {
        let form = FileForm { csv, ..FileForm::default() };
        let text = format_file(&input.ty, &bits, csv);
        assert_eq!(parse_file(&input, &text, &form), Ok(bits.clone()), "{text}");
    }
}
