use num_bigint::{BigInt, BigUint, Sign};
use proptest::prelude::*;

use super::*;
use crate::{CircuitError, Input, Type};

fn parse(ty: &Type, text: &str) -> Result<Vec<bool>, String> {
    let input = Input { name: "secret".into(), ty: ty.clone(), owner: 0.into() };
    parse_value(&input, text).map_err(|error| {
        use CircuitError::{Length, Value};
        assert!(matches!(&error, Value { input, .. } | Length { input, .. } if input == "secret"));
        error.to_string()
    })
}

fn bits(text: &str) -> Vec<bool> {
    text.bytes().map(|byte| byte == b'1').collect()
}

fn array(len: u32, elem: Type) -> Type {
    Type::Array { len, elem: Box::new(elem) }
}

#[test]
fn the_forms_agree() {
    let ty = Type::Uint(10);
    let expected = bits("0110000001");
    for text in ["518", "0518", " 518 ", "hex:206", "hex:206 ", "0x206", "bits:0110000001"] {
        assert_eq!(parse(&ty, text).as_ref(), Ok(&expected), "{text}");
    }
    assert_eq!(to_hex(&expected), "206");
    assert_eq!(to_bits_string(&expected), "0110000001");
    assert_eq!(format_value(&ty, &expected).to_string(), "518");
}

#[test]
fn signed_integers() {
    let ty = Type::Int(4);
    for value in -8i32..8 {
        let expected: Vec<bool> = (0..4).map(|i| value >> i & 1 == 1).collect();
        assert_eq!(parse(&ty, &value.to_string()).as_ref(), Ok(&expected));
        assert_eq!(format_value(&ty, &expected), Value::Integer(value.to_string()));
    }
    assert_eq!(parse(&ty, "-0"), parse(&ty, "0"));
    // After `0x` is a number, and after `hex:` are the bits.
    assert_eq!(parse(&ty, "hex:f"), parse(&ty, "-1"));
    assert_eq!(parse(&ty, "0x7"), parse(&ty, "7"));
    assert_eq!(parse(&ty, "-0x8"), parse(&ty, "-8"));
    assert_eq!(parse(&ty, "-0x0"), parse(&ty, "0"));
    assert_eq!(parse(&Type::Int(1), "-1"), Ok(vec![true]));
    let one = &Type::Int(1);
    for (ty, text) in [
        (&ty, "8"),
        (&ty, "-9"),
        (&ty, "-16"),
        (&ty, "0x10"),
        (&ty, "0xf"),
        (&ty, "0x8"),
        (&ty, "-0x9"),
        (one, "1"),
        (one, "0x1"),
    ] {
        assert!(parse(ty, text).is_err(), "{text}");
    }
}

#[test]
fn arrays_put_element_0_on_the_lowest_wires() {
    let ty = Type::words(3, 4);
    let expected = bits("100001001100");
    for text in ["1,2,3", "[1, 2, 3]", " [ 1 ,0x2, 3 ] ", "hex:321", "bits:100001001100"] {
        assert_eq!(parse(&ty, text).as_ref(), Ok(&expected), "{text}");
    }
    assert_eq!(format_value(&ty, &expected).to_string(), "[1, 2, 3]");
    let spaced = parse(&ty, "1 2 3").unwrap_err();
    assert!(spaced.ends_with("3 elements expected, 1 given: a list is written with commas, 1,2,3"));
    assert!(!parse(&ty, "1, 2").unwrap_err().contains("commas"));
    assert_eq!(parse(&array(2, Type::Int(4)), "-1,-8"), Ok(bits("11110001")));
    assert_eq!(parse(&Type::words(1, 4), "5"), parse(&Type::words(1, 4), "[5]"));
}

#[test]
fn arrays_of_arrays() {
    let ty = array(2, Type::words(3, 2));
    for text in ["[[1, 2, 3], [0, 1, 2]]", "[1,2,3],[0,1,2]", "[ [1,2,3] , [0,1,2] ]"] {
        let parsed = parse(&ty, text).expect(text);
        assert_eq!(to_bits_string(&parsed), "100111001001", "{text}");
        assert_eq!(format_value(&ty, &parsed).to_string(), "[[1, 2, 3], [0, 1, 2]]");
    }
    for text in ["1,2,3,0,1,2", "[[1,2,3],[0,1]]", "[[1,2,3],[0,1,2]", "[1,2,3]],[0,1,2]"] {
        assert!(parse(&ty, text).is_err(), "{text}");
    }
}

#[test]
fn every_digit_has_its_value() {
    for byte in 0u8..128 {
        let digit = char::from(byte);
        let bits = parse(&Type::Uint(4), &format!("hex:{digit}"));
        let value =
            bits.map(|bits| bits.iter().rev().fold(0, |all, &bit| all << 1 | u32::from(bit)));
        assert_eq!(value.ok(), digit.to_digit(16), "{digit:?}");
        let bits = parse(&Type::Uint(1), &format!("bits:{digit}"));
        assert_eq!(bits.ok(), digit.to_digit(2).map(|value| vec![value == 1]), "{digit:?}");
    }
}

#[test]
fn reasons_are_given_and_values_are_not() {
    let uint = Type::Uint(8);
    let words = Type::words(3, 8);
    let cases = [
        (&uint, "", "not an integer"),
        (&uint, "777", "does not fit into 8 bits"),
        (&uint, "-77", "unsigned"),
        (&uint, "+77", "not an integer"),
        (&uint, "7 7", "not an integer"),
        (&uint, "77.7", "not an integer"),
        (&uint, "[77]", "not an integer"),
        (&uint, "7７7", "not an integer"),
        (&uint, "hex:", "no hexadecimal digits"),
        (&uint, "hex:777", "at most 2 hexadecimal digits fit, 3 given"),
        (&uint, "hex:g7", "not a hexadecimal"),
        (&uint, "hex:-7", "not a hexadecimal"),
        (&uint, "0x777", "at most 2"),
        (&uint, "bits:0111011", "exactly 8 digits, 7 given"),
        (&uint, "bits:01110112", "0 and 1 only"),
        (&Type::Uint(7), "hex:77f", "at most 2"),
        (&Type::Uint(6), "hex:77", "does not fit into 6 bits"),
        (&words, "77,7", "3 elements expected, 2 given"),
        (&words, "77,7,7,7", "3 elements expected, 4 given"),
        (&words, "", "3 elements expected, 1 given"),
        (&words, "77,,77", "element 1: not an integer"),
        (&words, "77,77,777", "element 2: does not fit into 8 bits"),
        (&words, "[77,77,77", "unpaired brackets"),
        (&words, "77,77,77]", "unpaired brackets"),
        (&words, "[77,77,77],", "3 elements expected, 2 given"),
        (&words, "hex:7777777", "at most 6"),
    ];
    for (ty, text, reason) in cases {
        let error = parse(ty, text).expect_err(text);
        assert!(error.contains(reason) && error.contains(&ty.to_string()), "{text}: {error}");
        assert!(!error.contains("77"), "{text}: the value is in `{error}`");
    }
}

#[test]
fn wide_values_are_for_hexadecimal() {
    let wide = Type::Uint(1 << 20);
    let nines = "9".repeat(200_000);
    assert!(parse(&wide, &nines).unwrap_err().contains("use `hex:"));
    assert_eq!(parse(&wide, "6").map(|bits| bits.iter().filter(|&&bit| bit).count()), Ok(2));
    let parsed = parse(&wide, &format!("hex:8{}1", "0".repeat(1000))).expect("it fits");
    let Value::Integer(text) = format_value(&wide, &parsed) else { panic!("not an integer") };
    assert!(text.starts_with("0x000"));
    assert_eq!(parse(&wide, &text), Ok(parsed));
    // The greatest number of 4096 bits is read and written in decimal.
    let greatest = ((BigUint::from(1u8) << DECIMAL_BITS as usize) - 1u8).to_string();
    assert_eq!(greatest.len(), decimal::MAX_DIGITS);
    let ty = Type::Uint(DECIMAL_BITS);
    assert_eq!(parse(&ty, &greatest), Ok(vec![true; 4096]));
    assert_eq!(format_value(&ty, &vec![true; 4096]).to_string(), greatest);
    assert!(parse(&ty, &format!("1{}", "0".repeat(decimal::MAX_DIGITS - 1) + "0")).is_err());
    assert!(parse(&ty, &"9".repeat(decimal::MAX_DIGITS)).is_err());
}

#[test]
fn types_too_wide_for_any_circuit_are_refused() {
    let huge = array(u32::MAX, array(u32::MAX, Type::Uint(u32::MAX)));
    for text in ["0", "hex:0", "bits:0", "[0]"] {
        assert!(parse(&huge, text).is_err(), "{text}");
    }
}

fn big(bits: &[bool]) -> BigUint {
    bits.iter().rev().fold(BigUint::ZERO, |n, &bit| (n << 1) + u8::from(bit))
}

fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        (1u32..300).prop_map(Type::Uint),
        (1u32..300).prop_map(Type::Int),
        (4090u32..4200).prop_map(Type::Int),
        (1u32..60, 0u32..60).prop_map(|(int, frac)| Type::Fixed { int, frac }),
        // Too wide for decimals, or with too many digits after the point.
        (4000u32..4200, 0u32..200).prop_map(|(int, frac)| Type::Fixed { int, frac }),
        (1u32..60, 2000u32..2100).prop_map(|(int, frac)| Type::Fixed { int, frac }),
    ];
    leaf.prop_recursive(2, 8, 4, |elem| (1u32..5, elem).prop_map(|(len, elem)| array(len, elem)))
}

proptest! {
    #[test]
    fn all_forms_round_trip(ty in any_type(), seed in any::<u64>()) {
        let bits = crate::testing::bits(seed, ty.width() as usize);
        let value = format_value(&ty, &bits).to_string();
        for text in [value, format!("hex:{}", to_hex(&bits)), format!("bits:{}", to_bits_string(&bits))] {
            prop_assert_eq!(parse(&ty, &text), Ok(bits.clone()));
        }
        prop_assert_eq!(BigUint::parse_bytes(to_hex(&bits).as_bytes(), 16), Some(big(&bits)));
    }

    #[test]
    fn decimals_agree_with_a_bignum_library(width in 1u32..5000, seed in any::<u64>()) {
        let bits = crate::testing::bits(seed, width as usize);
        let unsigned = format_value(&Type::Uint(width), &bits).to_string();
        if width > DECIMAL_BITS {
            prop_assert!(unsigned.starts_with("0x"));
            return Ok(());
        }
        prop_assert_eq!(unsigned, big(&bits).to_string());
        let wrap = if bits[width as usize - 1] { BigInt::from(1) << width } else { BigInt::ZERO };
        let signed = BigInt::from_biguint(Sign::Plus, big(&bits)) - wrap;
        prop_assert_eq!(format_value(&Type::Int(width), &bits).to_string(), signed.to_string());
        prop_assert_eq!(parse(&Type::Int(width), &signed.to_string()), Ok(bits));
    }

    #[test]
    fn exactly_the_range_is_taken(width in 1u32..200, offset in -3i32..4) {
        let top = BigInt::from(1) << width;
        let value = &top + offset;
        let fits = value < top;
        prop_assert_eq!(parse(&Type::Uint(width), &value.to_string()).is_ok(), fits && value >= BigInt::ZERO);
        let half = BigInt::from(1) << (width - 1);
        let value: BigInt = offset - &half;
        prop_assert_eq!(parse(&Type::Int(width), &value.to_string()).is_ok(), value >= -&half && value < half);
        let value: BigInt = &half + offset;
        prop_assert_eq!(parse(&Type::Int(width), &value.to_string()).is_ok(), value >= -&half && value < half);
    }

    #[test]
    fn any_text_is_read_or_refused(ty in any_type(), text in "[-\\[\\],0-9a-fx :é]{0,40}") {
        let prefixes = ["", "hex:", "bits:", "0x"];
        for prefix in prefixes {
            if let Ok(bits) = parse(&ty, &format!("{prefix}{text}")) {
                prop_assert_eq!(bits.len() as u64, ty.width());
            }
        }
    }
}

mod compound {
    use super::*;

    fn input(ty: Type) -> Input {
        Input { name: "x".into(), ty, owner: 0.into() }
    }

    fn point() -> Type {
        Type::Struct {
            name: "Point".into(),
            fields: vec![("x".into(), Type::Int(4)), ("on".into(), Type::Bool)],
        }
    }

    fn option(some: Type) -> Type {
        let variants = vec![("None".into(), vec![]), ("Some".into(), vec![some])];
        Type::Enum { name: "Option".into(), variants }
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let colour = Type::Enum {
            name: "Colour".into(),
            variants: vec![
                ("Red".into(), vec![]),
                ("Grey".into(), vec![Type::Uint(3)]),
                ("Pair".into(), vec![Type::Bool, option(Type::Uint(2))]),
            ],
        };
        let cases = [
            (Type::Bool, "true"),
            (Type::Fixed { int: 4, frac: 4 }, "-7.9375"),
            (Type::Fixed { int: 4, frac: 4 }, "-8.0"),
            (Type::Fixed { int: 4, frac: 4 }, "0.0625"),
            (Type::Fixed { int: 1, frac: 0 }, "-1.0"),
            (Type::F32, "0.1"),
            (Type::F32, "-0.0"),
            (Type::F32, "1e-45"),
            (Type::F64, "0.1"),
            (Type::F64, "1.7976931348623157e308"),
            (Type::F64, "\"-inf\""),
            (Type::F64, "\"NaN\""),
            (Type::Tuple(vec![Type::Bool, Type::Uint(4)]), "[false, 9]"),
            (point(), "{\"x\": -8, \"on\": true}"),
            (option(Type::Uint(4)), "null"),
            (option(point()), "{\"x\": 3, \"on\": false}"),
            (option(option(Type::Bool)), "{\"Some\": [null]}"),
            (colour.clone(), "\"Red\""),
            (colour.clone(), "{\"Grey\": [5]}"),
            (colour, "{\"Pair\": [true, 2]}"),
        ];
        for (ty, text) in cases {
            let bits = parse_value(&input(ty.clone()), text).unwrap();
            assert_eq!(bits.len() as u64, ty.width(), "{text}");
            assert_eq!(format_value(&ty, &bits).to_string(), text);
        }
    }

    #[test]
    fn fractions_are_rounded_to_nearest_even() {
        let ty = Type::Fixed { int: 4, frac: 2 };
        for (text, shown) in
            [("0.125", "0.0"), ("0.375", "0.5"), ("1.3", "1.25"), ("-0.375", "-0.5")]
        {
            let bits = parse_value(&input(ty.clone()), text).unwrap();
            assert_eq!(format_value(&ty, &bits).to_string(), shown, "{text}");
        }
    }

    proptest! {
        #[test]
        fn exponents_are_rounded_exactly(
            digits in "[0-9]{1,12}",
            fraction in "(\\.[0-9]{1,12})?",
            power in -30i32..12,
            negative: bool,
            frac in 0u32..40,
        ) {
            let ty = Type::Fixed { int: 100, frac };
            let sign = if negative { "-" } else { "" };
            let text = format!("{sign}{digits}{fraction}e{power}");
            let bits = parse_value(&input(ty), &text)?;
            let after = fraction.trim_start_matches('.');
            let mantissa: BigInt = format!("{digits}{after}").parse()?;
            let power = power - after.len() as i32;
            let ten = |n: i32| BigInt::from(10).pow(n.max(0) as u32);
            // Twice the exact number of units is over / under.
            let (over, under) = ((mantissa * ten(power)) << (frac + 1), ten(-power));
            let halves: BigInt = &over / &under;
            let units: BigInt = &halves >> 1;
            let is_odd = |n: &BigInt| n.bit(0);
            let is_more = &halves * &under != over;
            let up = is_odd(&halves) && (is_more || is_odd(&units));
            let expected = if up { units + 1 } else { units };
            let expected = if negative { -expected } else { expected };
            let bytes = expected.to_signed_bytes_le();
            let fill = if expected.sign() == Sign::Minus { 0xff } else { 0 };
            let bit = |i: usize| bytes.get(i / 8).unwrap_or(&fill) >> (i % 8) & 1 == 1;
            prop_assert_eq!(bits, (0..100 + frac as usize).map(bit).collect::<Vec<_>>());
        }
    }

    #[test]
    fn wide_fixed_point_numbers_in_lists_are_hexadecimal() {
        let ty = array(2, Type::Fixed { int: 4000, frac: 200 });
        let digits = "0".repeat(1046) + "8001";
        let printed = format!("[hex:{digits}, hex:{digits}]");
        let bits = parse_value(&input(ty.clone()), &printed).unwrap();
        let ones: Vec<usize> = (0..bits.len()).filter(|&place| bits[place]).collect();
        assert_eq!(ones, [0, 15, 4200, 4215]);
        assert_eq!(format_value(&ty, &bits).to_string(), printed);
        for text in ["[hex:8001, hex:8001]", "hex:8001,hex:8001", "[\"hex:8001\", \"hex:8001\"]"] {
            assert_eq!(parse_value(&input(ty.clone()), text).as_ref(), Ok(&bits), "{text}");
        }
        let narrow = array(2, Type::Fixed { int: 3, frac: 2 });
        let error = parse_value(&input(narrow), "[hex:1f, hex:20]").unwrap_err().to_string();
        assert!(error.contains("element 1: the hexadecimal number does not fit"), "{error}");
    }

    #[test]
    fn a_number_means_the_same_in_both_bases() {
        let fixed = Type::Fixed { int: 12, frac: 4 };
        let types = [Type::Uint(12), Type::Int(12), fixed.clone(), Type::F32, Type::F64];
        for ty in &types {
            for (hex, decimal) in [("0x10", "16"), ("0x0", "0"), ("0x7ff", "2047")] {
                let read = |text| parse_value(&input(ty.clone()), text).unwrap();
                assert_eq!(read(hex), read(decimal), "{ty}: {hex}");
                if !matches!(ty, Type::Uint(_)) {
                    assert_eq!(
                        read(&format!("-{hex}")),
                        read(&format!("-{decimal}")),
                        "{ty}: {hex}"
                    );
                }
            }
            // Raw bits have a prefix of their own, also as an element.
            let width = ty.width() as usize;
            let one = format!("bits:1{}", "0".repeat(width - 1));
            let list = parse_value(&input(array(2, ty.clone())), &format!("[{one}, hex:1]"));
            let bits: Vec<bool> = (0..2 * width).map(|i| i % width == 0).collect();
            assert_eq!(list, Ok(bits), "{ty}");
        }
        for (ty, text) in [
            (fixed.clone(), "0x800"),
            (fixed.clone(), "-0x801"),
            (fixed, "0x"),
            (Type::F64, "0x"),
            (Type::F64, "0x1.8p3"),
            (Type::F32, &format!("0x1{}", "0".repeat(32))),
            (Type::F64, &format!("0x1{}", "0".repeat(256))),
            (Type::F64, &format!("0x{}", "f".repeat(5000))),
            (Type::Uint(4), "-0x1"),
        ] {
            assert!(parse_value(&input(ty), text).is_err(), "{text}");
        }
        let wide = Type::Int(DECIMAL_BITS + 4);
        for text in ["-1", "hex:8", "-5"] {
            let bits = parse_value(&input(wide.clone()), text).unwrap();
            let shown = format_value(&wide, &bits).to_string();
            assert_eq!(parse_value(&input(wide.clone()), &shown), Ok(bits), "{shown}");
        }
        let ones = vec![true; wide.width() as usize];
        assert!(format_value(&wide, &ones).to_string().starts_with("-0x000"));
    }

    #[test]
    fn floating_point_numbers_are_the_nearest_finite_ones() {
        for (text, number) in [
            ("1e308", 1e308),
            ("1.7976931348623157e308", f64::MAX),
            ("5e-324", 5e-324),
            ("2.4e-324", 0.0),
            ("-2.4e-324", -0.0),
            ("1e-400", 0.0),
            ("0.1", 0.1),
            ("9007199254740993", 9_007_199_254_740_992.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("\"-inf\"", f64::NEG_INFINITY),
            ("0e99999999999999999999", 0.0),
        ] {
            let bits = parse_value(&input(Type::F64), text).unwrap();
            let value = bits.iter().rev().fold(0u64, |n, &bit| n << 1 | u64::from(bit));
            assert_eq!(value, number.to_bits(), "{text}");
        }
        let huge = format!("1{}", "0".repeat(400));
        for text in ["1e400", "-1e400", "1.8e308", "1e99999999999999999999", &huge] {
            let error = parse_value(&input(Type::F64), text).expect_err(text).to_string();
            assert!(error.contains("beyond the largest number"), "{error}");
        }
        assert!(parse_value(&input(Type::F32), "1e39").is_err());
        assert!(parse_value(&input(Type::F32), "1e38").is_ok());
        // One grammar for all numbers with a point.
        let fixed = Type::Fixed { int: 8, frac: 8 };
        for ty in [Type::F64, Type::F32, fixed] {
            for text in
                ["+1", ".5", "1.", "1.e1", "-.5", "1e", "--1", "-", "", "1_0", "-NaN", "infi"]
            {
                assert!(parse_value(&input(ty.clone()), text).is_err(), "{ty}: {text}");
            }
        }
    }

    #[test]
    fn fixed_point_numbers_take_exponents() {
        let ty = Type::Fixed { int: 8, frac: 8 };
        let zeros = "0".repeat(5000);
        for (text, shown) in [
            ("1e1", "10.0"),
            ("1.5E+1", "15.0"),
            ("1e-2", "0.01171875"),
            ("1e-5", "0.0"),
            ("-2500e-3", "-2.5"),
            ("0e999999999999999999999999", "0.0"),
            ("-7e-999999999999999999999999", "0.0"),
            (&format!("1{zeros}e-5000"), "1.0"),
            (&format!("0.{zeros}1e5002"), "10.0"),
        ] {
            let bits = parse_value(&input(ty.clone()), text).unwrap();
            assert_eq!(format_value(&ty, &bits).to_string(), shown, "{text}");
        }
        for (text, reason) in [
            ("1e3", "does not fit into 8 bits"),
            ("1e999999999999999999999999", "does not fit into 8 bits"),
            ("1e2000000000", "does not fit into 8 bits"),
            ("1e", "not a decimal number"),
            ("e1", "not a decimal number"),
            ("1e1.5", "not a decimal number"),
            ("1e+-1", "not a decimal number"),
            ("1e1e1", "not a decimal number"),
        ] {
            let error = parse_value(&input(ty.clone()), text).expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_variant_takes_its_only_list_as_serde_writes_it() {
        let with =
            |part: Type| Type::Enum { name: "E".into(), variants: vec![("V".into(), vec![part])] };
        let words = |len| Type::words(len, 4);
        let nested = |len, elem| Type::Array { len, elem: Box::new(elem) };
        let cases = [
            (words(3), "[1, 2, 3]"),
            (words(1), "[1]"),
            (words(0), "[]"),
            (nested(1, words(2)), "[[1, 2]]"),
            (nested(2, words(1)), "[[1], [2]]"),
            (nested(1, nested(1, words(1))), "[[[1]]]"),
            (Type::Tuple(vec![Type::Bool, Type::Uint(4)]), "[true, 2]"),
            (option(words(2)), "[1, 2]"),
            (option(words(2)), "null"),
        ];
        for (part, content) in cases {
            let ty = with(part);
            let own = format!("{{\"V\": [{content}]}}");
            let bits = parse_value(&input(ty.clone()), &own).unwrap();
            assert_eq!(format_value(&ty, &bits).to_string(), own);
            let serde = format!("{{\"V\": {content}}}");
            assert_eq!(parse_value(&input(ty), &serde), Ok(bits), "{serde}");
        }
        let refuses = |text: &str, reason: &str| {
            let error = parse_value(&input(with(words(3))), text).expect_err(text).to_string();
            assert!(error.contains(reason), "{error}");
        };
        refuses("{\"V\": [1, 2]}", "3 elements expected, 2 given");
        refuses("{\"V\": [[1, 99, 3]]}", "part 0: element 1: does not fit");
        refuses("{\"V\": [1, 99, 3]}", "element 1: does not fit");
    }

    #[test]
    fn what_does_not_fit_is_refused_without_being_repeated() {
        let fixed = Type::Fixed { int: 4, frac: 4 };
        for (ty, text) in [
            (Type::Bool, "secret"),
            (fixed.clone(), "8"),
            (fixed.clone(), "7.99"),
            (fixed, "1.secret"),
            (point(), "{\"x\": 3}"),
            (point(), "{\"x\": 3, \"y\": 1}"),
            (point(), "secret"),
            (option(Type::Uint(2)), "4444"),
            (Type::Tuple(vec![Type::Bool]), "[true, true]"),
        ] {
            let error = parse_value(&input(ty), text).unwrap_err().to_string();
            assert!(!error.contains("secret") && !error.contains("4444"), "{error}");
        }
    }
}
