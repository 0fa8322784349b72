use proptest::prelude::*;
use symbolon_common::invisible::is_invisible;

use super::*;
use crate::{Input, Type};

fn input(ty: &Type) -> Input {
    Input { name: "x".into(), ty: ty.clone(), owner: 0.into() }
}

fn list(len: u32, elem: Type) -> Type {
    Type::Array { len, elem: Box::new(elem) }
}

fn optional(ty: Type) -> Type {
    let variants = vec![("None".into(), vec![]), ("Some".into(), vec![ty])];
    Type::Enum { name: "Option".into(), variants }
}

fn named(fields: &[(&str, Type)]) -> Type {
    let fields = fields.iter().map(|(name, ty)| (name.to_string(), ty.clone())).collect();
    Type::Struct { name: "S".into(), fields }
}

/// Returns a value as it is shown, or the reason why it is none, which never contains it.
fn shown(ty: &Type, text: &str) -> Result<String, String> {
    let bits = parse_value(&input(ty), text).map_err(|error| error.to_string())?;
    Ok(format_value(ty, &bits).to_string())
}

fn from_file(ty: &Type, text: &str, csv: bool, columns: &[&str]) -> Result<String, String> {
    let columns = columns.iter().map(|name| name.to_string()).collect();
    let form = FileForm { csv, columns, ..FileForm::default() };
    let bits = parse_file(&input(ty), text, &form).map_err(|error| error.to_string())?;
    Ok(format_value(ty, &bits).to_string())
}

fn csv(ty: &Type, text: &str, columns: &[&str]) -> Result<String, String> {
    from_file(ty, text, true, columns)
}

fn refuses(result: Result<String, String>, reason: &str) {
    let error = result.expect_err(reason);
    assert!(error.contains(reason), "{error}");
}

#[test]
fn the_first_byte_is_on_the_lowest_wires() {
    let bits = parse_value(&input(&Type::Text(3)), "Az").unwrap();
    assert_eq!(to_hex(&bits), "007a41");
    assert_eq!(parse_value(&input(&Type::words(3, 8)), "65, 122, 0"), Ok(bits));
}

#[test]
fn texts_are_read_with_and_without_quotes() {
    let ty = Type::Text(20);
    for (written, text) in [
        ("alice@example.org", "\"alice@example.org\""),
        ("\"alice@example.org\"", "\"alice@example.org\""),
        ("Zoë", "\"Zoë\""),
        (r#""Zo\u00eb""#, "\"Zoë\""),
        (r#""\ud83d\ude00\/\b\f""#, r#""😀/\u0008\u000c""#),
        ("", "\"\""),
        ("\"\"", "\"\""),
        ("[a], {b}", "\"[a], {b}\""),
        (r#"say "no""#, r#""say \"no\"""#),
        ("\"hex:61\"", "\"hex:61\""),
        ("hex:61", "\"a\""),
        ("null", "\"null\""),
        ("a\u{202e}b", r#""a\u202eb""#),
        ("\"a\nb\tc\\\\\"", r#""a\nb\tc\\""#),
    ] {
        assert_eq!(shown(&ty, written).as_deref(), Ok(text), "{written}");
    }
    let ty = list(3, Type::Text(4));
    for written in ["[\"a\", \"b,]\", \"c\"]", "\"a\",\"b,]\",\"c\""] {
        assert_eq!(shown(&ty, written).as_deref(), Ok("[\"a\", \"b,]\", \"c\"]"), "{written}");
    }
    assert_eq!(shown(&ty, "a, b, c").as_deref(), Ok("[\"a\", \"b\", \"c\"]"));
    assert_eq!(shown(&list(1, Type::Text(4)), r#""\n""#).as_deref(), Ok(r#"["\n"]"#));
    let ty = optional(Type::Text(4));
    for (written, text) in [("null", "null"), ("\"null\"", "\"null\""), ("a", "\"a\"")] {
        assert_eq!(shown(&ty, written).as_deref(), Ok(text));
    }
    let ty = named(&[("a", Type::Text(4)), ("b", optional(Type::Text(4)))]);
    let text = "{\"a\": \"}:,\\\"\", \"b\": null}";
    assert_eq!(shown(&ty, text).as_deref(), Ok(text));
}

#[test]
fn what_is_no_text_is_refused_and_not_told() {
    let ty = Type::Text(4);
    for (written, reason) in [
        ("12345", "at most 4 bytes of UTF-8 fit, 5 given"),
        ("ëëë", "at most 4 bytes of UTF-8 fit, 6 given"),
        ("a\0b", "no zero bytes"),
        (r#""a\u0000""#, "no zero bytes"),
        (r#""a"#, "written as in JSON"),
        (r#""a" b"#, "written as in JSON"),
        (r#""a\"#, "written as in JSON"),
        (r#""\x61""#, "written as in JSON"),
        (r#""\ud83d""#, "written as in JSON"),
        (r#""\ud83da""#, "written as in JSON"),
        (r#""\u12""#, "written as in JSON"),
        ("\"", "written as in JSON"),
        ("hex:123456789", "at most 8 hexadecimal digits"),
    ] {
        refuses(shown(&ty, written), reason);
    }
    refuses(shown(&list(1, Type::Text(9)), "[[a]]"), "is written in quotes");
    refuses(shown(&list(2, Type::Text(9)), "[\"a, c]"), "unpaired brackets");
    for written in ["secret", "\"secret\"", "\"secret", "hex:secret"] {
        assert!(!shown(&ty, written).unwrap_err().contains("secret"), "{written}");
    }
}

#[test]
fn bytes_that_are_no_text_are_shown_as_hexadecimal() {
    let ty = Type::Text(3);
    for bytes in ["ffffff", "610061", "0000c3", "006100"] {
        let bits = parse_value(&input(&ty), &format!("hex:{bytes}")).unwrap();
        let text = format_value(&ty, &bits).to_string();
        assert_eq!(text, format!("\"hex:{bytes}\""));
        assert_eq!(parse_value(&input(&ty), &text), Ok(bits));
    }
}

#[test]
fn lines_are_texts() {
    let ty = list(3, Type::Text(20));
    let lines = |text: &str| from_file(&ty, text, false, &[]);
    let expected = Ok("[\"a b, c\", \"[d]\", \"e\"]".to_string());
    assert_eq!(lines("a b, c\r\n[d]\n\n  e \n"), expected);
    assert_eq!(lines("\"a b, c\"\n\"[d]\"\n\"e\"\n"), expected);
    assert_eq!(lines("[\"a b, c\",\n\"[d]\", \"e\"]\n"), expected);
    refuses(lines("a\nb\n123456789012345678901\n"), "line 3, element 2: at most 20 bytes");
    let json = "[{\"id\": \"a\"}, {\"id\": \"hex:61\"}, {\"id\": \"\"}]";
    let values = from_file(&ty, json, false, &["id"]);
    assert_eq!(values.as_deref(), Ok("[\"a\", \"hex:61\", \"\"]"));
    let one = from_file(&Type::Text(20), " two words\n", false, &[]);
    assert_eq!(one.as_deref(), Ok("\"two words\""));
}

#[test]
fn cells_are_texts_as_they_are() {
    let row = named(&[("name", Type::Text(20)), ("nick", optional(Type::Text(8)))]);
    let ty = list(3, row.clone());
    let rows = " Ada ,null\n\"Bo, \"\"B\"\"\",\nhex:61,\"\"\n";
    let expected = "[{\"name\": \" Ada \", \"nick\": \"null\"}, \
        {\"name\": \"Bo, \\\"B\\\"\", \"nick\": null}, {\"name\": \"hex:61\", \"nick\": null}]";
    assert_eq!(csv(&ty, rows, &[]).as_deref(), Ok(expected));
    // The names of all columns are a header, in any order, and so are names that are chosen.
    assert_eq!(csv(&ty, &format!("name,nick\n{rows}"), &[]).as_deref(), Ok(expected));
    assert_eq!(csv(&ty, &format!("x,y\n{rows}"), &["x", "y"]).as_deref(), Ok(expected));
    let turned = "nick,name\nb,Bea\n,Cy\n,Di\n";
    assert!(csv(&ty, turned, &[]).unwrap().starts_with("[{\"name\": \"Bea\", \"nick\": \"b\"}"));
    // A row of semicolons, whose first cell has a comma.
    let ty = list(1, row);
    let one = csv(&ty, "\"Lovelace, Ada\";al\n", &[]);
    assert_eq!(one.as_deref(), Ok("[{\"name\": \"Lovelace, Ada\", \"nick\": \"al\"}]"));
    let mixed = list(1, named(&[("name", Type::Text(20)), ("age", Type::Uint(8))]));
    let expected = Ok("[{\"name\": \"Ada\", \"age\": 36}]".to_string());
    assert_eq!(csv(&mixed, "Name,Years\nAda,36\n", &[]), expected);
    assert_eq!(csv(&mixed, "age,name\n36,Ada\n", &[]), expected);
    let mixed = list(2, named(&[("name", Type::Text(20)), ("age", Type::Uint(8))]));
    refuses(csv(&mixed, "Ada,36\nBo,x\n", &[]), "line 2, element 1: age: not an integer");
    refuses(csv(&mixed, "Ada,36\n123456789012345678901,1\n", &[]), "name: at most 20 bytes");
}

#[test]
fn a_column_of_texts_becomes_digests() {
    let people = "email,age\nalice@example.org,30\n\"a, \"\"b\"\" \",31\n Zoë,32\n";
    for (bytes, ty) in [(32, Type::Uint(256)), (16, Type::Uint(128))] {
        let of = |text: &str| {
            use sha2::Digest;
            let digest = sha2::Sha256::digest(text.as_bytes());
            let digits: String = digest[..bytes].iter().map(|byte| format!("{byte:02x}")).collect();
            shown(&ty, &format!("0x{digits}")).unwrap()
        };
        let expected = ["alice@example.org", "a, \"b\" ", " Zoë"].map(of).join(", ");
        let ids = csv(&list(3, ty.clone()), people, &["email|sha256"]);
        assert_eq!(ids, Ok(format!("[{expected}]")));
        let json = r#"[{"id": "alice@example.org"}, {"id": "a, \"b\" "}, {"id": " Zo\u00eb"}]"#;
        let ids = from_file(&list(3, ty.clone()), json, false, &["id|sha256"]);
        assert_eq!(ids, Ok(format!("[{expected}]")));
    }
    // As `printf alice@example.org | sha256sum` prints it.
    let known = "7a64adf28737ea90719cbdf0b1a87a5effff3753b79c91d717f4f4153ead0498";
    let ids = csv(&list(1, Type::Uint(256)), "a\nalice@example.org\n", &["a|sha256"]);
    assert_eq!(ids, shown(&list(1, Type::Uint(256)), &format!("0x{known}")));
    let ty = list(3, named(&[("id", Type::Uint(128)), ("age", Type::Uint(8))]));
    let rows = csv(&ty, people, &["email|sha256", "age"]).unwrap();
    assert!(rows.ends_with("\"age\": 32}]"), "{rows}");
    let ty = list(2, optional(Type::Uint(128)));
    assert!(csv(&ty, "a\n\"\"\nx\n", &["a | sha256"]).unwrap().starts_with("[null, "));
    let ids = list(1, Type::Uint(128));
    refuses(csv(&ids, "a\n\" \"\n", &["a|sha256"]), "nothing is given");
    refuses(csv(&ids, "a\nb\n", &["a|md5"]), "no `md5`");
    refuses(csv(&list(1, Type::Uint(64)), "a\nb\n", &["a|sha256"]), "a u128 or u256, not");
    refuses(csv(&list(1, Type::Text(64)), "a\nb\n", &["a|sha256"]), "not text<64>");
    refuses(csv(&ids, "a\nb\n", &["b|sha256"]), "no column `b`");
    refuses(from_file(&ids, "[{\"a\": 1}]", false, &["a|sha256"]), "a text in quotes is expected");
    refuses(from_file(&ids, "[{\"a\": \"1\"}]", false, &["a|md5"]), "no `md5`");
}

#[test]
fn a_column_of_hexadecimal_digits_needs_no_0x() {
    let ty = list(4, Type::Uint(128));
    let ids = "id\n10\n0x10\n DeadBeef \n0XFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF\n";
    let expected = "[16, 16, 3735928559, 340282366920938463463374607431768211455]";
    assert_eq!(csv(&ty, ids, &["id|hex"]).as_deref(), Ok(expected));
    // Without it, digits are decimal unless they follow `0x`.
    assert_eq!(
        csv(&list(2, Type::Uint(128)), "id\n10\n0x10\n", &["id"]).as_deref(),
        Ok("[10, 16]")
    );
    let json = from_file(&list(1, Type::Uint(16)), "[{\"id\": \"ff\"}]", false, &["id|hex"]);
    assert_eq!(json.as_deref(), Ok("[255]"));
    for (cell, reason) in [
        ("g", "not a hexadecimal number"),
        ("-1", "not a hexadecimal number"),
        ("0x", "no hexadecimal digits"),
        ("0x0x1", "not a hexadecimal number"),
        ("12345", "at most 4 hexadecimal digits fit"),
        ("\"\"", "nothing is given"),
    ] {
        refuses(csv(&list(1, Type::Uint(16)), &format!("id\n{cell}\n"), &["id|hex"]), reason);
    }
    refuses(csv(&list(1, Type::Int(16)), "id\n1\n", &["id|hex"]), "an unsigned integer, not i16");
}

proptest! {
    /// Whatever a program puts into a text is shown, and nothing of it is hidden.
    #[test]
    fn all_bytes_come_back(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..9),
            "\\PC{0,4}|[\u{0}-\u{300}\"]{0,4}".prop_map(String::into_bytes),
        ],
        more in 1u32..3,
    ) {
        let ty = Type::Text(bytes.len() as u32 + more);
        let mut bits: Vec<bool> =
            bytes.iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1)).collect();
        bits.resize(ty.width() as usize, false);
        let text = format_value(&ty, &bits).to_string();
        prop_assert!(!text.contains(is_invisible) && !text.contains('\n'));
        prop_assert!(serde_json::from_str::<String>(&text).is_ok());
        prop_assert_eq!(parse_value(&input(&ty), &text), Ok(bits.clone()));
        let (some, ty) = (optional(ty.clone()), ty);
        let tagged = [&[true][..], &bits].concat();
        for (ty, bits) in [(&ty, &bits), (&some, &tagged)] {
            let pair = named(&[("a", ty.clone()), ("b", ty.clone())]);
            for ty in [list(2, ty.clone()), pair.clone(), list(1, pair)] {
                let bits = [&bits[..], bits].concat();
                for csv in [false, true] {
                    let text = format_file(&ty, &bits, csv);
                    let form = FileForm { csv, ..FileForm::default() };
                    let back = parse_file(&input(&ty), &text, &form);
                    prop_assert_eq!(back.as_ref(), Ok(&bits), "{}", text);
                }
            }
        }
    }

    #[test]
    fn escapes_are_those_of_json(text in "[\"\\\\unbfrtx/d8c0e\u{e9}]{0,14}") {
        let quoted = format!("\"{text}\"");
        let read = text::from_json(&quoted).map(|text| text.to_string()).ok();
        prop_assert_eq!(read, serde_json::from_str::<String>(&quoted).ok());
    }
}
