//! Circuit files written by others, checked against published vectors. The files are not part of
//! the project: the tests look for them in the folder that `SYMBOLON_TEST_CIRCUITS` names, or else
//! next to the repository, and say so when there is none. A folder that is named must be there, and
//! every folder must have all files.

use std::path::{Path, PathBuf};

use sha1::Digest;
use symbolon_circuit::bristol::{self, Format};
use symbolon_circuit::{Circuit, Plan, Stats, eval_ports, eval_words, optimise};

/// Returns the folder with the files, or `None` if none is named and there is none next to the
/// repository.
fn folder() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("SYMBOLON_TEST_CIRCUITS").map(PathBuf::from) {
        return Some(given);
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/circuits");
    if beside.is_dir() {
        return Some(beside);
    }
    eprintln!("skipped: no folder {} (set SYMBOLON_TEST_CIRCUITS)", beside.display());
    None
}

fn load(name: &str, expected: Format) -> Option<Circuit> {
    let path = folder()?.join(name);
    let text = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (circuit, format) = bristol::read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(format, expected, "{name}");
    Some(circuit)
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// Bytes in order, each with its most significant bit first: the order of the old files.
fn bits_in_order(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1 == 1)).collect()
}

/// Returns one big-endian integer, least significant bit first: the order of Bristol Fashion.
fn bits_of_integer(bytes: &[u8]) -> Vec<bool> {
    bits_in_order(bytes).into_iter().rev().collect()
}

fn eval(circuit: &Circuit, inputs: &[Vec<bool>]) -> Vec<bool> {
    eval_ports(circuit, inputs).expect("values of the right width").concat()
}

#[test]
fn every_file_is_read_and_written_again() {
    let Some(folder) = folder() else { return };
    let mut files = 0;
    for format in [Format::Fashion, Format::Old] {
        let name = if format == Format::Fashion { "bristol-fashion" } else { "bristol" };
        for entry in std::fs::read_dir(folder.join(name)).expect("both folders") {
            let path = entry.expect("a folder that can be read").path();
            let circuit =
                load(&format!("{name}/{}", path.file_name().unwrap().display()), format).unwrap();
            let stats = Stats::of(&circuit);
            let mut text = Vec::new();
            match format {
                Format::Fashion => bristol::write_fashion(&circuit, &mut text).unwrap(),
                Format::Old => bristol::write_old(&circuit, &mut text).unwrap(),
            }
            let (again, _) = bristol::read(&text).unwrap();
            assert_eq!(
                Stats { live_width: 0, ..stats },
                Stats { live_width: 0, ..Stats::of(&again) }
            );
            assert_eq!(
                u64::from(circuit.main().wires),
                stats.wires,
                "{}: every wire is an input's or a gate's",
                path.display()
            );
            files += 1;
        }
    }
    assert!(files > 0, "{} holds no circuits", folder.display());
}

/// FIPS 197, appendix B and C.1: key, message, ciphertext.
const AES: [[&str; 3]; 2] = [
    [
        "2b7e151628aed2a6abf7158809cf4f3c",
        "3243f6a8885a308d313198a2e0370734",
        "3925841d02dc09fbdc118597196a0b32",
    ],
    [
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
    ],
];

#[test]
fn aes_of_bristol_fashion() {
    let Some(circuit) = load("bristol-fashion/aes_128.txt", Format::Fashion) else { return };
    assert_eq!(Stats::of(&circuit).and, 6400);
    for vector in AES {
        let [key, message, cipher] = vector.map(|hex| bits_of_integer(&unhex(hex)));
        assert_eq!(eval(&circuit, &[key, message]), cipher);
    }
}

#[test]
fn aes_of_the_old_format() {
    let Some(circuit) = load("bristol/AES-non-expanded.txt", Format::Old) else { return };
    for vector in AES {
        let [key, message, cipher] = vector.map(|hex| bits_in_order(&unhex(hex)));
        assert_eq!(eval(&circuit, &[message, key]), cipher);
    }
}

/// Returns one block of a hash with Merkle–Damgård padding: the message, a one, zeros, its length
/// in bits.
fn padded(message: &[u8]) -> Vec<u8> {
    let mut block = message.to_vec();
    block.push(0x80);
    block.resize(56, 0);
    block.extend_from_slice(&(8 * message.len() as u64).to_be_bytes());
    block
}

#[test]
fn sha1_of_the_old_format() {
    let Some(circuit) = load("bristol/sha-1.txt", Format::Old) else { return };
    for message in [&b""[..], b"abc", b"fifty-five bytes are the most that fit into one block!!"] {
        let digest = eval(&circuit, &[bits_in_order(&padded(message))]);
        assert_eq!(digest, bits_in_order(&sha1::Sha1::digest(message)));
    }
}

#[test]
fn sha256_of_bristol_fashion() {
    let Some(circuit) = load("bristol-fashion/sha256.txt", Format::Fashion) else { return };
    let state = unhex("6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19");
    for message in [&b""[..], b"abc", b"fifty-five bytes are the most that fit into one block!!"] {
        let inputs = [bits_of_integer(&padded(message)), bits_of_integer(&state)];
        let digest = eval(&circuit, &inputs);
        assert_eq!(digest, bits_of_integer(&sha2::Sha256::digest(message)));
    }
}

fn number(value: u64, width: usize) -> Vec<bool> {
    (0..width).map(|i| value >> i & 1 == 1).collect()
}

const PAIRS: [(u64, u64); 4] = [
    (0, 0),
    (u64::MAX, 1),
    (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3211),
    (0xdead_beef_0bad_cafe, 0x1234_5678_9abc_def1),
];

#[test]
fn arithmetic_of_bristol_fashion() {
    type Function = fn(u64, u64) -> u64;
    let files: [(&str, Function); 2] =
        [("adder64", u64::wrapping_add), ("mult64", u64::wrapping_mul)];
    for (name, function) in files {
        let name = format!("bristol-fashion/{name}.txt");
        let Some(circuit) = load(&name, Format::Fashion) else { return };
        for (a, b) in PAIRS {
            let output = eval(&circuit, &[number(a, 64), number(b, 64)]);
            assert_eq!(output, number(function(a, b), 64), "{name}({a}, {b})");
        }
    }
    let Some(circuit) = load("bristol-fashion/zero_equal.txt", Format::Fashion) else { return };
    for (a, _) in PAIRS {
        assert_eq!(eval(&circuit, &[number(a, 64)]), [a == 0]);
    }
}

#[test]
fn adder_of_the_old_format() {
    let Some(circuit) = load("bristol/adder_32bit.txt", Format::Old) else { return };
    for (a, b) in PAIRS {
        let (a, b) = (a & 0xffff_ffff, b & 0xffff_ffff);
        assert_eq!(eval(&circuit, &[number(a, 32), number(b, 32)]), number(a + b, 33));
    }
}

#[test]
fn optimised_files_compute_the_same_with_fewer_gates() {
    for (name, format, most) in [
        ("bristol/AES-non-expanded.txt", Format::Old, 6_800),
        ("bristol/adder_32bit.txt", Format::Old, 32),
        ("bristol-fashion/adder64.txt", Format::Fashion, 63),
        ("bristol-fashion/mult64.txt", Format::Fashion, 4_033),
        ("bristol-fashion/sha256.txt", Format::Fashion, 22_573),
        ("bristol-fashion/zero_equal.txt", Format::Fashion, 63),
    ] {
        let Some(circuit) = load(name, format) else { return };
        let better = optimise(&circuit).expect("it fits");
        let (before, after) = (Stats::of(&circuit).and, Stats::of(&better).and);
        eprintln!("{name}: {before} ANDs, then {after}");
        assert!(after <= before && after <= most, "{name}: {before}, then {after}");
        let width: u64 = circuit.inputs().iter().map(|input| input.ty.width()).sum();
        let (plan, other) = (Plan::new(&circuit), Plan::new(&better));
        let mut state = 1u64;
        for _ in 0..4 {
            let words: Vec<u64> = (0..width)
                .map(|_| {
                    state =
                        state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    state ^ state << 32
                })
                .collect();
            assert_eq!(eval_words(&plan, &words), eval_words(&other, &words), "{name}");
        }
    }
}
