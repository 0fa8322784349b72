use proptest::prelude::*;

use super::*;
use crate::{Input, Type};

fn read(ty: &Type, text: &str, form: &FileForm) -> Result<Vec<bool>, String> {
    let input = Input { name: "x".into(), ty: ty.clone(), owner: 0.into() };
    parse_file(&input, text, form).map_err(|error| error.to_string())
}

fn plain(ty: &Type, text: &str) -> Result<String, String> {
    Ok(format_value(ty, &read(ty, text, &FileForm::default())?).to_string())
}

fn csv(ty: &Type, text: &str, columns: &[&str]) -> Result<String, String> {
    let columns = columns.iter().map(|name| name.to_string()).collect();
    let form = FileForm { csv: true, columns, ..FileForm::default() };
    Ok(format_value(ty, &read(ty, text, &form)?).to_string())
}

fn list(len: u32, elem: Type) -> Type {
    Type::Array { len, elem: Box::new(elem) }
}

fn optional(ty: Type) -> Type {
    let variants = vec![("None".into(), vec![]), ("Some".into(), vec![ty])];
    Type::Enum { name: "Option".into(), variants }
}

fn order() -> Type {
    let fields = vec![("price".into(), Type::Uint(16)), ("at".into(), list(2, Type::Int(8)))];
    Type::Struct { name: "Order".into(), fields }
}

#[test]
fn lists_are_read_as_people_have_them() {
    let ty = Type::words(3, 8);
    for text in [
        "1\n2\n3\n",
        "\u{feff}1\r\n2\r\n3",
        "1 2 3",
        "1, 2,\n3,\n",
        "1;2;3",
        "\n1\n\n2\n3\n",
        "[1,\n 2,\n 3]",
        "[\"1\", \"2\", \"3\"]",
        "hex:030201\n",
    ] {
        assert_eq!(plain(&ty, text).as_deref(), Ok("[1, 2, 3]"), "{text:?}");
    }
    let ty = list(3, optional(Type::Uint(8)));
    assert_eq!(plain(&ty, "1\nnull\n3").as_deref(), Ok("[1, null, 3]"));
    assert_eq!(plain(&ty, "1,,3").as_deref(), Ok("[1, null, 3]"));
    let ty = list(2, Type::Bool);
    assert_eq!(plain(&ty, "true false").as_deref(), Ok("[true, false]"));
}

#[test]
fn elements_with_parts_take_a_line_each() {
    let ty = list(2, order());
    let expected = r#"[{"price": 7, "at": [1, -2]}, {"price": 9, "at": [3, 4]}]"#;
    for text in [
        "7 1 -2\n9 3 4\n",
        "7, 1, -2\n9, 3, 4\n",
        "{\"price\": 7, \"at\": [1, -2]}\n{\"at\": [3, 4], \"price\": 9}\n",
        expected,
    ] {
        assert_eq!(plain(&ty, text).as_deref(), Ok(expected), "{text:?}");
    }
    assert_eq!(plain(&order(), "7 1 -2\n").as_deref(), Ok(r#"{"price": 7, "at": [1, -2]}"#));
}

#[test]
fn csv_is_read_with_and_without_a_header() {
    let ty = list(2, order());
    let expected = r#"[{"price": 7, "at": [1, -2]}, {"price": 9, "at": [3, 4]}]"#;
    for text in [
        "7,1,-2\n9,3,4\n",
        "price,at.0,at.1\n7,1,-2\n9,3,4",
        "who;at.1;price;at.0\r\na;-2;7;1\r\n\r\n\"b;c\";4;9;3\r\n",
        "\u{feff}a\tb\tc\n7\t1\t-2\n9\t3\t4\n",
    ] {
        assert_eq!(csv(&ty, text, &[]).as_deref(), Ok(expected), "{text:?}");
    }
    let ty = Type::words(2, 8);
    assert_eq!(csv(&ty, "name,age\nann,30\nbob,40\n", &["age"]).as_deref(), Ok("[30, 40]"));
    assert_eq!(csv(&ty, "age\n30\n40\n", &[]).as_deref(), Ok("[30, 40]"));
    assert_eq!(csv(&ty, "30\n40\n", &[]).as_deref(), Ok("[30, 40]"));
    let quoted = csv(&ty, "\"age, in\nyears\",x\n\"30\",1\n40,2\n", &["age, in\nyears"]);
    assert_eq!(quoted.as_deref(), Ok("[30, 40]"));
    assert_eq!(csv(&Type::Uint(8), "age\n30\n", &["age"]).as_deref(), Ok("30"));
    let ty = list(2, Type::Tuple(vec![Type::Uint(8), optional(Type::Uint(8))]));
    assert_eq!(csv(&ty, "1,\n2,3\n", &[]).as_deref(), Ok("[[1, null], [2, 3]]"));
}

#[test]
fn errors_name_line_and_element_and_not_the_value() {
    let says = |result: Result<String, String>, what: &str| {
        let error = result.unwrap_err();
        assert!(error.contains(what) && !error.contains("999"), "{error}");
    };
    let ty = Type::words(3, 8);
    says(plain(&ty, "1\n\n2\n999\n"), "line 4, element 2: does not fit");
    says(plain(&ty, "[1,\n2,\nx]"), "line 3, element 2: not an integer");
    says(plain(&ty, "1 2\n"), "3 elements expected, 2 given");
    says(plain(&ty, "1 2 3 4\n"), "3 elements expected, 4 given");
    says(plain(&list(2, order()), "1 2 3\n4 5\n"), "line 2, element 1: 3 values expected, 2 given");
    says(plain(&list(2, order()), "1 2 3\n4 5 999\n"), "line 2, element 1: at.1: does not fit");
    says(csv(&ty, "a,b\n1,2\n", &[]), "2 columns in the row, 1 needed");
    says(csv(&ty, "a,b\n1,2\n", &["c"]), "no column `c`");
    says(csv(&ty, "a,b\n1,2\n3\n", &["b"]), "line 3: 1 cell in the row, 2 in the first row");
    says(csv(&ty, "12a\n1\n2\n", &[]), "line 1, element 0");
    says(csv(&list(2, order()), "price,at.0,at.1\n1,2,999\n", &[]), "line 2, element 0: at.1");
    says(plain(&Type::Uint(8), "\n999\n"), "line 2: does not fit");
}

#[test]
fn a_key_of_json_is_chosen_as_a_column_of_csv_is() {
    let form = |keys: &[&str], pad| FileForm {
        columns: keys.iter().map(|key| key.to_string()).collect(),
        pad,
        ..FileForm::default()
    };
    let get = |ty: &Type, text: &str, key: &str| {
        let bits = read(ty, text, &form(&[key], false))?;
        Ok::<_, String>(format_value(ty, &bits).to_string())
    };
    let ty = Type::words(2, 8);
    let expected = Ok("[30, 40]".to_string());
    let object =
        "\u{feff}{\n \"who\": \"x, ]\\\" [\",\n \"pay\": [30,\n 40],\n \"at\": {\"pay\": 5}}\n";
    assert_eq!(get(&ty, object, "pay"), expected);
    let list = "[{\"who\": \"a: {\", \"pay\": 30},\n {\"pay\": \"40\", \"who\": null}]";
    assert_eq!(get(&ty, list, "pay"), expected);
    assert_eq!(get(&ty, &format!("{{\"staff\": {list}}}"), "staff.pay"), expected);
    assert_eq!(get(&ty, "{\"a.b\": {\"c\": [30, 40]}}", "a.b.c"), expected);
    assert_eq!(get(&ty, "{\"k\": \"hex:281e\"}", "k"), expected);
    assert_eq!(get(&Type::Uint(8), object, "at.pay").as_deref(), Ok("5"));
    assert_eq!(get(&order(), "{\"o\": {\"at\": [1, 2], \"price\": 7}}", "o").unwrap().len(), 26);
    assert!(read(&Type::words(3, 8), object, &form(&["pay"], true)).is_ok());
    assert!(read(&Type::words(3, 8), list, &form(&["pay"], true)).is_ok());

    let says = |text: &str, key: &str, what: &str| {
        let error = get(&ty, text, key).unwrap_err();
        assert!(error.contains(what) && !error.contains("999"), "{error}");
    };
    says(object, "pya", "line 1: there is no key `pya`; did you mean `pay`?");
    says(object, "wages", "there is no key `wages`");
    says(
        "[{\"pay\": 1},\n {\"pat\": 2}]",
        "pay",
        "line 2: there is no key `pay`; did you mean `pat`",
    );
    says("{\"pay\": [1,\n 999]}", "pay", "line 2, element 1: does not fit");
    says("[{\"pay\": 1},\n {\"pay\": 999}]", "pay", "line 2, element 1: does not fit");
    says("[{\"pay\": 1}]", "pay", "2 elements expected, 1 given");
    says("{\"pay\": {\"a\": 1}}", "pay.b", "there is no key `b`");
    says("{\"pay\": 999}", "pay.b", "line 1: no object that could have the key `b`");
    says("[999,\n {\"pay\": 1}]", "pay", "line 1: no object that could have the key `pay`");
    says("{\"pay\": 999", "pay", "line 1: this is not JSON");
    says("999", "pay", "no object");
    says("pay\n30\n40\n", "pay", "NAME.csv#COLUMN");
    let two = read(&ty, object, &form(&["pay", "at"], false)).unwrap_err();
    assert!(two.contains("one key is chosen"), "{two}");
    let near = csv(&ty, "who,pay\na,1\nb,2\n", &["pax"]).unwrap_err();
    assert!(near.contains("no column `pax`; did you mean `pay`?"), "{near}");
    let hidden = csv(&ty, "999,1\na,1\nb,2\n", &["99"]).unwrap_err();
    assert!(hidden.ends_with("no column `99`"), "{hidden}");
}

#[test]
fn json_files_are_json() {
    let form = FileForm { json: true, ..FileForm::default() };
    let json = |ty: &Type, text: &str| {
        read(ty, text, &form).map(|bits| format_value(ty, &bits).to_string())
    };
    let ty = Type::words(3, 8);
    for text in
        ["[1, 2, 3]", "\u{feff}\n[1,\n2,3]\n", "[\"1\", \"hex:02\", \"0x3\"]", "\"hex:030201\""]
    {
        assert_eq!(json(&ty, text).as_deref(), Ok("[1, 2, 3]"), "{text}");
    }
    assert_eq!(json(&list(1, order()), "[{\"at\": [1, 2], \"price\": 7}]").unwrap().len(), 28);
    let twice = "{\"price\": 7, \"at\": [1, 2], \"price\": 7}";
    refuses(json(&order(), twice), "given more than once");
    for (text, line) in [
        ("[1, 2, 3,]", 1),
        ("[1,\n02, 3]", 2),
        ("[1, -02, 3]", 1),
        ("[1, +2, 3]", 1),
        ("[1, 0x2, 3]", 1),
        ("[1, .5, 3]", 1),
        ("[1, 2., 3]", 1),
        ("[1, NaN, 3]", 1),
        ("[1, hex:02, 3]", 1),
        ("['1', 2, 3]", 1),
        ("[1, 2, 3] // three", 1),
        ("[1, /* two */ 2, 3]", 1),
        ("[1, \"2\t\", 3]", 1),
        ("1, 2, 3", 1),
        ("1\n2\n3\n", 2),
        ("[1, 2, 3][", 1),
        ("", 1),
    ] {
        refuses(json(&ty, text), &format!("line {line}: this is not JSON"));
    }
    for text in ["[1.0, 2, 3]", "[1e0, 2, 3]", "[1, null, 3]", "{}", "[1, \"+2\", 3]"] {
        assert!(json(&ty, text).is_err(), "{text}");
    }
}

#[test]
fn lists_in_brackets_are_strict_everywhere() {
    let ty = Type::words(3, 8);
    refuses(plain(&ty, "[1, 2, 3,]"), "a comma follows the last element");
    refuses(plain(&ty, "[1, 02, 3]"), "begins with a 0 too many");
    refuses(plain(&order(), "{\"price\": 07, \"at\": [1, 2]}"), "begins with a 0 too many");
    refuses(plain(&order(), "{\"price\": 7, \"at\": [1, -02]}"), "begins with a 0 too many");
    refuses(plain(&list(1, order()), "{\"price\": 7, \"at\": [1, 2]},,\n"), "a comma follows");
    assert_eq!(plain(&ty, "01\n02\n03\n").as_deref(), Ok("[1, 2, 3]"));
    assert_eq!(plain(&ty, "[1, 0x02, hex:03]").as_deref(), Ok("[1, 2, 3]"));
    // Elements of raw bits are no raw bits of the list.
    for text in ["hex:01\nhex:02\nhex:03\n", "hex:01,hex:02,hex:03", "hex:01 hex:02 hex:03"] {
        assert_eq!(plain(&ty, text).as_deref(), Ok("[1, 2, 3]"), "{text}");
    }
}

/// Reading takes time linear in the length: if lines were counted for each element, this would take
/// minutes.
#[test]
fn long_lists_of_json_are_read() {
    const LEN: u32 = 300_000;
    let ty = Type::words(LEN, 8);
    let plain = format!("[{}7]", "7,\n".repeat(LEN as usize - 1));
    assert_eq!(read(&ty, &plain, &FileForm::default()).unwrap().len(), 8 * LEN as usize);
    let object = "{\"who\": \"somebody\", \"pay\": 7}";
    let objects = format!("[{}{object}]", format!("{object},\n").repeat(LEN as usize - 1));
    let form = FileForm { columns: vec!["pay".into()], ..FileForm::default() };
    assert_eq!(read(&ty, &objects, &form).unwrap().len(), 8 * LEN as usize);
}

#[test]
fn short_lists_are_padded_when_asked() {
    let form = FileForm { pad: true, ..FileForm::default() };
    let padded = |ty: &Type, text: &str| {
        read(ty, text, &form).map(|bits| format_value(ty, &bits).to_string())
    };
    assert_eq!(padded(&Type::words(3, 8), "5\n").as_deref(), Ok("[5, 0, 0]"));
    assert_eq!(padded(&Type::words(3, 8), "").as_deref(), Ok("[0, 0, 0]"));
    assert_eq!(padded(&list(2, optional(Type::Uint(8))), "5").as_deref(), Ok("[5, null]"));
    assert!(padded(&Type::words(1, 8), "5 6").is_err());
}

/// An enumeration whose variants have the names of other things.
fn named_none() -> Type {
    let variants = ["None", "null", "Red"].map(|name| (name.to_string(), vec![]));
    Type::Enum { name: "N".into(), variants: variants.into() }
}

fn padded_csv(ty: &Type, text: &str) -> Result<String, String> {
    let form = FileForm { csv: true, pad: true, ..FileForm::default() };
    Ok(format_value(ty, &read(ty, text, &form)?).to_string())
}

fn refuses(result: Result<String, String>, what: &str) {
    let error = result.expect_err(what);
    assert!(error.contains(what), "{error}");
}

#[test]
fn an_index_column_is_not_taken_for_the_values() {
    let ty = Type::words(2, 32);
    refuses(csv(&ty, ",value\n0,10\n1,20\n", &[]), "line 1: 2 columns in the row, 1 needed");
    refuses(csv(&ty, "\"\",value\n0,10\n1,20\n", &[]), "2 columns in the row, 1 needed");
    refuses(csv(&ty, ",value\n0,10\n1,20\n", &[""]), "no column ``");
    assert_eq!(csv(&ty, ",value\n0,10\n1,20\n", &["value"]).as_deref(), Ok("[10, 20]"));
}

#[test]
fn rows_with_other_numbers_of_cells_are_refused() {
    let ty = list(3, Type::Fixed { int: 16, frac: 16 });
    refuses(csv(&ty, "1\n2,5\n3\n", &[]), "line 2: 2 cells in the row, 1 in the first row");
    refuses(csv(&ty, "a\n1\n2\n3,5\n", &[]), "line 4: 2 cells");
    refuses(csv(&ty, "a,b\n1,1\n2,2,2\n3,3\n", &["a"]), "line 3: 3 cells");
    // Beyond the end, too; and a line of spaces is a cell.
    refuses(csv(&ty, "1\n2\n3\n4,5\n", &[]), "line 4: 2 cells");
    refuses(csv(&ty, "a,b\n1,1\n  \n2,2\n3,3\n", &["a"]), "line 3: 1 cell in the row");
}

#[test]
fn a_row_of_numbers_is_values() {
    let ty = list(2, Type::words(2, 32));
    for (text, value) in [
        ("0,1\n2,3\n", "[[0, 1], [2, 3]]"),
        ("1,0\n2,3\n", "[[1, 0], [2, 3]]"),
        ("[0],[1]\n0,1\n2,3\n", "[[0, 1], [2, 3]]"),
        ("[1],[0]\n1,0\n3,2\n", "[[0, 1], [2, 3]]"),
        ("x,y\n0,1\n2,3\n", "[[0, 1], [2, 3]]"),
    ] {
        assert_eq!(csv(&ty, text, &[]).as_deref(), Ok(value), "{text}");
        assert_eq!(padded_csv(&ty, text).as_deref(), Ok(value), "{text}");
    }
    refuses(csv(&ty, "0,1\n2,3\n4,5\n", &[]), "3 given; the first row is values, since it has no");
    let bits = read(&ty, "[[0, 1], [2, 3]]", &FileForm::default()).unwrap();
    assert_eq!(format_file(&ty, &bits, true), "[0],[1]\n0,1\n2,3\n");
    // These values can look like the names, so nothing is taken for a header, and none is written.
    let ty = list(2, Type::Tuple(vec![optional(Type::words(1, 8)), optional(Type::words(1, 8))]));
    let text = "[0],[1]\n[2],null\n";
    let bits = read(&ty, text, &FileForm { csv: true, ..FileForm::default() }).unwrap();
    assert_eq!(format_value(&ty, &bits).to_string(), "[[[0], [1]], [[2], null]]");
    assert_eq!(format_file(&ty, &bits, true), text);
}

#[test]
fn a_missing_value_is_not_dropped() {
    let ty = list(3, optional(Type::Uint(32)));
    for text in ["salary\n1\n\"\"\n3\n", "1\n\"\"\n3\n", "1\r\n\"\"\r\n\r\n3", "1\nnull\n3"] {
        assert_eq!(csv(&ty, text, &[]).as_deref(), Ok("[1, null, 3]"), "{text:?}");
        assert_eq!(padded_csv(&ty, text).as_deref(), Ok("[1, null, 3]"), "{text:?}");
    }
    assert_eq!(csv(&ty, "1\n2\n\"\"", &[]).as_deref(), Ok("[1, 2, null]"));
    assert_eq!(csv(&ty, "\"\"\n2\n3\n", &[]).as_deref(), Ok("[null, 2, 3]"));
    let ty = list(3, Type::Tuple(vec![optional(Type::Uint(8)), optional(Type::Uint(8))]));
    let expected = Ok("[[1, 2], [null, null], [3, 4]]");
    assert_eq!(csv(&ty, "1,2\n,\n3,4\n", &[]).as_deref(), expected);
    // Other types have no such value.
    refuses(csv(&Type::words(2, 8), "1\n\"\"\n", &[]), "line 2, element 1: nothing is given");
    for word in ["n/a", "NaN", "NULL"] {
        let text = format!("{word}\n1\n2\n");
        refuses(padded_csv(&Type::words(4, 8), &text), "line 1, element 0: not an integer");
    }
}

/// If every cell were tried as a value of every column, or searched for every name, this would take
/// minutes.
#[test]
fn wide_rows_of_csv_are_read() {
    const WIDTH: usize = 65_536;
    let ty = list(1, Type::words(WIDTH as u32, 8));
    let row = |cell: &dyn Fn(usize) -> String| (0..WIDTH).map(cell).collect::<Vec<_>>().join(",");
    let seven = row(&|_| "7".into());
    let form = FileForm { csv: true, ..FileForm::default() };
    let expected = read(&ty, &seven, &form).unwrap();
    for header in [row(&|i| format!("[{}]", WIDTH - 1 - i)), row(&|i| format!("c{i}"))] {
        assert_eq!(read(&ty, &format!("{header}\n{seven}\n"), &form).as_ref(), Ok(&expected));
    }
    refuses(
        csv(&ty, "a,b\n1,2\n", &[]),
        "65536 needed ([0], [1], [2], [3], [4], [5], [6], [7], …)",
    );
}

#[test]
fn a_name_that_is_given_twice_is_refused() {
    let fields = vec![("price".into(), Type::Uint(16)), ("amount".into(), Type::Uint(16))];
    let pairs = list(1, Type::Struct { name: "S".into(), fields });
    let twice = "the header has more than one column `price`";
    refuses(csv(&pairs, "price,amount,price\n1,2,3\n", &[]), twice);
    refuses(csv(&pairs, "price,price\n1,2\n", &[]), twice);
    refuses(csv(&Type::words(1, 8), "price,price\n1,2\n", &["price"]), twice);
    assert!(csv(&pairs, "price,x,amount,x\n1,2,3,4\n", &[]).is_ok());
    // Names that are known in part would be exchanged by their places.
    let missing = "line 1: the header has no column `amount`; did you mean `amout`?";
    refuses(csv(&pairs, "amout,price\n1,2\n", &[]), missing);

    let twice = "the field `price` is given more than once";
    refuses(plain(&pairs, "[{\"price\": 1, \"price\": 2}]"), twice);
    refuses(plain(&pairs, "[{\"price\": 1, \"amount\": 3, \"price\": 2}]"), twice);
    let key = |text: &str, key: &str| {
        let form = FileForm { columns: vec![key.into()], ..FileForm::default() };
        read(&Type::Uint(8), text, &form).map(|_| String::new())
    };
    let twice = "line 2: the key `pay` is given more than once";
    refuses(key("\n{\"pay\": 1, \"pay\": 2}", "pay"), twice);
    refuses(key("\n{\"pay\": {\"a\": 1}, \"p\\u0061y\": 2}", "pay.a"), twice);
    assert!(key("{\"pay\": 1, \"x\": 2, \"x\": 3}", "pay").is_ok());
}

#[test]
fn a_variant_with_the_name_of_no_value_comes_back() {
    let ty = list(4, optional(named_none()));
    let text = r#"["None", null, "null", "Red"]"#;
    let bits = read(&ty, text, &FileForm::default()).unwrap();
    for csv in [false, true] {
        let saved = format_file(&ty, &bits, csv);
        let form = FileForm { csv, ..FileForm::default() };
        assert_eq!(read(&ty, &saved, &form).as_ref(), Ok(&bits), "{saved}");
    }
    refuses(csv(&ty, "None\nRed\nRed\nRed\n", &[]), "`None` is also a variant: write `null` or");
    let nested = list(2, optional(optional(Type::Bool)));
    assert_eq!(csv(&nested, "None\nnull\n", &[]).as_deref(), Ok("[null, null]"));
}

#[test]
fn variants_are_listed_with_and_without_brackets() {
    let colour = |payload| {
        let variants = vec![("Red".into(), vec![]), ("Green".into(), payload)];
        Type::Enum { name: "Colour".into(), variants }
    };
    for elem in [colour(vec![]), colour(vec![Type::Uint(8)])] {
        let ty = list(2, elem);
        for text in [r#""Red","Red""#, r#"["Red", "Red"]"#, "\"Red\"\n\"Red\"\n", "Red\nRed"] {
            assert_eq!(plain(&ty, text).as_deref(), Ok(r#"["Red", "Red"]"#), "{text}");
        }
    }
    let ty = list(2, colour(vec![]));
    assert_eq!(plain(&ty, "Red Green").as_deref(), Ok(r#"["Red", "Green"]"#));
    refuses(plain(&ty, "Red\nRde"), "line 2, element 1: expected one of Red, Green");
}

/// Types of the kinds that files can have.
fn types() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        (1u32..70).prop_map(Type::Uint),
        (1u32..70).prop_map(Type::Int),
        Just(Type::Bool),
        (1u32..12, 0u32..12).prop_map(|(int, frac)| Type::Fixed { int, frac }),
        Just(Type::F32),
        Just(named_none()),
        (1u32..4).prop_map(Type::Text),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        prop_oneof![
            (1u32..4, inner.clone()).prop_map(|(len, elem)| list(len, elem)),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Type::Tuple),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|types| {
                let fields = types.into_iter().enumerate();
                let fields = fields.map(|(i, ty)| (format!("f{i}"), ty)).collect();
                Type::Struct { name: "S".into(), fields }
            }),
            inner.clone().prop_map(optional),
            prop::collection::vec(inner, 0..3).prop_map(|types| {
                let variants = vec![("Empty".into(), vec![]), ("Full".into(), types)];
                Type::Enum { name: "E".into(), variants }
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_written_is_read_back(ty in types(), seed in any::<u64>()) {
        let mut state = seed | 1;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 40 & 1 == 1
        };
        let bits: Vec<bool> = (0..ty.width()).map(|_| random()).collect();
        // Bits of absent payloads mean nothing and are not written.
        let input = Input { name: "x".into(), ty: ty.clone(), owner: 0.into() };
        let bits = parse_value(&input, &format_value(&ty, &bits).to_string()).unwrap();
        for csv in [false, true] {
            let text = format_file(&ty, &bits, csv);
            let form = FileForm { csv, ..FileForm::default() };
            let back = read(&ty, &text, &form);
            prop_assert_eq!(back.as_ref(), Ok(&bits), "{:?}: {}", ty, text);
        }
    }
}

/// A list of any length is passed on in parts, filled up with zeros if asked.
#[test]
fn long_lists_are_read_and_written_in_parts() {
    let ty = list(5000, Type::Uint(9));
    let text: String = (0..4000).map(|i| format!("{}\n", i % 512)).collect();
    let input = Input { name: "x".into(), ty: ty.clone(), owner: 0.into() };
    for csv in [false, true] {
        let form = FileForm { csv, pad: true, ..FileForm::default() };
        let (mut bits, mut longest, mut parts) = (Vec::new(), 0, 0);
        let take = |part: &[bool]| {
            bits.extend_from_slice(part);
            longest = longest.max(part.len());
            parts += 1;
        };
        parse_file_to(&input, &text, &form, take).expect("a list");
        assert_eq!(bits, read(&ty, &text, &form).expect("a list"));
        assert!(longest < 5000 && parts > 10, "{longest} {parts}");
        let mut written = String::new();
        write_file(&ty, |range| bits[range].to_vec(), csv, &mut written).expect("a string");
        assert_eq!(written, format_file(&ty, &bits, csv));
        assert_eq!(written.trim_end(), format!("{text}{}", "0\n".repeat(1000)).trim_end());
    }
}
