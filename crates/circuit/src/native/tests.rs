use proptest::prelude::*;

use super::*;
use crate::testing::arbitrary_circuit;
use crate::{Circuit, Component, Failure, Input, Output, Receivers, builtin};

fn written(circuit: &Circuit) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(circuit, &mut bytes).expect("writing to memory");
    bytes
}

fn named(name: &str) -> Circuit {
    builtin::by_name(name).expect("a built-in circuit")
}

/// Returns a circuit of one input and one output of this type, without gates.
fn of_type(ty: Type) -> Circuit {
    let width = ty.width() as u32;
    let outputs = (0..width).collect();
    let main = Component { inputs: width, wires: width, outputs, ..Component::default() };
    let input = Input { name: "x".into(), ty: ty.clone(), owner: 7.into() };
    let output = Output { name: "y".into(), ty, to: Receivers::All };
    Circuit::new("typed", vec![input], vec![output], vec![main]).expect("a valid circuit")
}

fn refused(bytes: &[u8], reason: &str) {
    let error = read(bytes).expect_err(reason).to_string();
    assert!(error.contains(reason), "{error}");
}

/// Returns a file of a circuit without ports whose only component is made of these bytes, after its
/// name.
fn with_component(component: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &[VERSION, 0, 0, 0, 0, 0, 1, 0], component].concat()
}

fn arbitrary_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        (1u32..70).prop_map(Type::Uint),
        (1u32..70).prop_map(Type::Int),
        (1u32..20, 0u32..20).prop_map(|(int, frac)| Type::Fixed { int, frac }),
        Just(Type::Bool),
        Just(Type::F32),
        Just(Type::F64),
        (1u32..9).prop_map(Type::Text),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        let parts = || prop::collection::vec(inner.clone(), 1..4);
        let named = |parts: Vec<Type>| {
            parts.into_iter().enumerate().map(|(i, ty)| (format!("f{i} é"), ty)).collect::<Vec<_>>()
        };
        prop_oneof![
            (1u32..5, inner.clone()).prop_map(|(len, ty)| Type::Array { len, elem: ty.into() }),
            parts().prop_map(Type::Tuple),
            parts().prop_map(move |parts| Type::Struct { name: "S".into(), fields: named(parts) }),
            prop::collection::vec(parts(), 1..4).prop_map(|variants| Type::Enum {
                name: "E".into(),
                variants: (0..).zip(variants).map(|(i, parts)| (format!("v{i}"), parts)).collect(),
            }),
        ]
    })
}

proptest! {
    #[test]
    fn circuits_come_back_as_they_were(
        circuit in arbitrary_circuit(),
        owner in any::<u16>(),
        to in prop::collection::vec(any::<u16>(), 0..4),
    ) {
        let owners = vec![owner; circuit.inputs().len()];
        let receivers = vec![Receivers::only(to); circuit.outputs().len()];
        let circuit = circuit.with_owners(&owners)?.with_receivers(receivers)?;
        let bytes = written(&circuit);
        prop_assert!(is_native(&bytes));
        let again = read(&bytes)?;
        prop_assert_eq!(&again, &circuit);
        prop_assert_eq!(again.digest(), circuit.digest());
        prop_assert_eq!(written(&again), bytes);
    }

    #[test]
    fn types_come_back_as_they_were(ty in arbitrary_type()) {
        let circuit = of_type(ty);
        prop_assert_eq!(read(&written(&circuit))?, circuit);
    }

    /// A good file with one byte changed: refused, or a circuit that can be written.
    #[test]
    fn damaged_files_are_read_or_refused(
        circuit in arbitrary_circuit(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = written(&circuit);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(circuit) = read(&bytes) {
            prop_assert_eq!(read(&written(&circuit))?, circuit);
        }
    }

    #[test]
    fn a_file_that_ends_early_or_goes_on_is_refused(circuit in arbitrary_circuit()) {
        let bytes = written(&circuit);
        for end in 0..bytes.len() {
            prop_assert!(read(&bytes[..end]).is_err(), "cut at {}", end);
        }
        let longer = [&bytes[..], &[0]].concat();
        prop_assert!(read(&longer).unwrap_err().to_string().contains("the file continues"));
    }
}

#[test]
fn built_in_circuits_and_what_asserts_say_come_back() {
    let failure = Failure { text: "too large".into(), file: "a.sym".into(), line: 7 };
    let failing = named("add:8").with_failures(vec![failure]);
    let circuits = [failing, named("aes128:sbox"), named("sort:16x8"), named("auction:3x8")];
    for circuit in circuits {
        let again = read(&written(&circuit)).expect("a circuit");
        assert_eq!(again, circuit);
        assert_eq!(again.name(), circuit.name());
    }
}

#[test]
fn files_are_small() {
    let bytes = |name: &str| written(&named(name)).len();
    // Millions of ANDs in 100 000 calls: a component is written once, a run of wires is a range.
    assert!(bytes("sort:4096x32") < 3_000_000, "{}", bytes("sort:4096x32"));
    let aes = named("aes128");
    let steps: usize = aes.components().iter().map(|component| component.steps.len()).sum();
    assert!(bytes("aes128") < 4 * steps, "{} bytes for {steps} steps", bytes("aes128"));
}

#[test]
fn other_versions_and_other_files_are_refused() {
    let mut bytes = written(&named("add:8"));
    refused(b"1 3\n2 1 1\n", "does not begin");
    bytes[4] = VERSION + 1;
    refused(&bytes, "version 4 of the format; this program reads versions 1 to 3");
    bytes[4] = 0;
    refused(&bytes, "version 0");
}

#[test]
fn the_oldest_version_is_read() {
    // A component that calls another one twice, without the lists of repeats and what they pass.
    let inverter = [&[1, b'i', 1, 2, 1][..], &[2 | 1 << 3], &[0, 0, 0, 0, 1, 2, 1]].concat();
    let calls = [&[2][..], &[0, 0, 1, 2], &[0, 0, 1, 2]].concat();
    let main = [&[0, 1, 3, 2, 5, 5][..], &calls, &[2, 0, 1, 0, 1], &[0, 0], &[1, 4, 1]].concat();
    let port = [1, b'x', 3, 0];
    let bytes = [&MAGIC[..], &[OLDEST, 0, 1][..], &port, &[1], &port, &[0, 0, 2], &inverter, &main];
    let circuit = read(&bytes.concat()).expect("a circuit");
    assert_eq!(crate::eval_bits(&circuit, &[true]), [true]);
    assert_eq!(read(&written(&circuit)).expect("a circuit"), circuit);
    // The same bytes are not a file of the present version, and the oldest version has no repeats.
    let mut newer = bytes.concat();
    newer[4] = VERSION;
    assert!(read(&newer).is_err());
    let mut repeats = with_component(&[0, 1, 1, 7, 0, 0, 0, 0, 0]);
    repeats[4] = OLDEST;
    refused(&repeats, "unknown kind of step");
}

#[test]
fn a_number_has_one_form() {
    refused(&with_component(&[0x80, 0x00]), "byte 14: an overlong number");
    refused(&with_component(&[0xff; 12]), "a number is too large");
    // 2^64.
    let large = [&[0x80; 9][..], &[2]].concat();
    refused(&with_component(&large), "a number is too large");
}

#[test]
fn claims_are_checked_before_memory_is_taken() {
    let number = |mut number: u64| {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    };
    let many = &number(u32::MAX.into())[..];
    let inputs = &number(MAX_INPUTS + 1)[..];
    let beyond = &number(MAX_OUTPUTS + 1)[..];
    // Inputs; wires; steps; a run of outputs.
    refused(&with_component(&[inputs, inputs].concat()), "2^30 inputs");
    let wires = &number(1 << 28)[..];
    refused(&with_component(&[&[0], wires, &[0; 8]].concat()), "claims 268435456 wires");
    let more = &number((1 << 28) + 1)[..];
    refused(&with_component(&[&[0], more, &[0; 8]].concat()), "which are 2^28 and 256 for each");
    refused(&with_component(&[&[0, 0], many].concat()), "more items than the file has bytes");
    let outputs = [&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0], beyond].concat();
    refused(&with_component(&outputs), "2^26 outputs");
    // Tables; a text; values without bits.
    refused(&[&MAGIC[..], &[VERSION, 0, 0, 0, 0], many].concat(), "more items");
    refused(&[&MAGIC[..], &[VERSION], many].concat(), "beyond the end");
    let empty = [&MAGIC[..], &[VERSION, 0, 1, 1, b'x', 2], many, &[5, 0, 0]].concat();
    refused(&empty, "too many values without bits");
}

#[test]
fn enumerations_without_variants_are_refused() {
    // (u8, enum E {}), once as it is and once within an optional type.
    let tuple = [5, 2, 0, 8, 7, 1, b'E', 0];
    let inner = [7, 1, b'O', 1, 1, b'S', 1, 7, 1, b'E', 0];
    for ty in [&tuple[..], &inner] {
        let file = [&MAGIC[..], &[VERSION, 0, 1, 1, b'x'], ty, &[0; 8]].concat();
        refused(&file, "an enumeration has no variants");
    }
}

#[test]
fn deep_types_are_refused_by_reader_and_writer() {
    let nested = |depth| (1..depth).fold(Type::Bool, |ty, _| Type::Tuple(vec![ty]));
    let deepest = of_type(nested(MAX_DEPTH));
    assert_eq!(read(&written(&deepest)).expect("a circuit"), deepest);
    let error = write(&of_type(nested(MAX_DEPTH + 1)), Vec::new()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    let deep = [&MAGIC[..], &[VERSION, 0, 1, 1, b'x'], &[5, 1].repeat(10_000)].concat();
    refused(&deep, "nested too deep");
}

#[test]
fn unknown_kinds_are_refused() {
    // A constant with a distance; a call with one; a repeat with one.
    for step in [3 | 1 << 3, 5 | 2 << 3, 7 | 1 << 3] {
        refused(&with_component(&[0, 1, 1, step, 0, 0, 0, 0, 0, 0, 0]), "unknown kind of step");
    }
    let passed = with_component(&[0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0]);
    refused(&passed, "unknown kind of argument");
    // Version 2 has no texts.
    for (version, ty) in [(VERSION, 11), (WITHOUT_TEXTS, 10)] {
        let ty = [&MAGIC[..], &[version, 0, 1, 1, b'x', ty, 1]].concat();
        refused(&ty, "unknown kind of type");
    }
    assert_eq!(written(&named("add:8"))[4], WITHOUT_TEXTS);
    assert_eq!(written(&of_type(Type::words(2, 8)))[4], WITHOUT_TEXTS);
    assert_eq!(written(&of_type(Type::Tuple(vec![Type::Text(1)])))[4], VERSION);
}
