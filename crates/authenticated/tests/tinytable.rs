//! `tinytable` against the reference evaluation: random circuits with look-ups, and AES with gates
//! and with tables.

use crate::common::{self, Ended, Setting, chosen, receivers, run_all};
use proptest::prelude::*;
use symbolon_authenticated::{
    tinytable::{
        self,
        options::{Commitment, MacLength, TinyTableOptions},
    },
    ywz,
};
use symbolon_circuit::builder::{Bit, Builder, Word};
use symbolon_circuit::{Circuit, Receivers, Table, Type, builtin};
use symbolon_engine::{OutputBits, Rho};
use symbolon_primitives::BitVec;
use symbolon_transport::Error;

fn setting(executions: usize, mac: MacLength) -> Setting {
    committed(executions, mac, Commitment::Bits)
}

fn committed(executions: usize, mac: MacLength, commitment: Commitment) -> Setting {
    let options = chosen(TinyTableOptions { mac: mac.into(), commitment });
    Setting { protocol: &tinytable::SPEC, executions, options, ..Setting::default() }
}

/// Returns what `party` should learn from this many executions.
fn expected(circuit: &Circuit, party: u16, all: &[Vec<bool>], executions: usize) -> OutputBits {
    let one = |lane: usize| -> OutputBits {
        let part = |bits: &Vec<bool>| {
            let width = bits.len() / executions;
            bits[lane * width..(lane + 1) * width].to_vec()
        };
        let all: Vec<Vec<bool>> = all.iter().map(part).collect();
        common::expected(circuit, party, &all)
    };
    let mut outputs = one(0);
    for lane in 1..executions {
        for (all, more) in outputs.iter_mut().zip(one(lane)) {
            let more = more.iter().flat_map(BitVec::iter).collect::<Vec<_>>();
            all.iter_mut().for_each(|all| all.extend(more.iter().copied()));
        }
    }
    outputs
}

fn assert_runs(setting: Setting, circuit: &Circuit, all: &[Vec<bool>]) -> Vec<Ended> {
    let ended = run_all(setting, circuit, all, |_| ());
    for (party, ended) in (0..).zip(&ended) {
        let outputs = ended.outputs.as_ref().unwrap_or_else(|error| panic!("{party}: {error}"));
        let expected = expected(circuit, party, all, setting.executions);
        assert!(outputs == &expected, "party {party}");
    }
    ended
}

/// Returns a circuit with look-ups: each step derives its operands, and the numbers of its table,
/// from two numbers.
fn with_lookups(steps: &[(u8, u32, u32)], to: [Receivers; 2]) -> Circuit {
    let mut b = Builder::new("random");
    let mut wires: Vec<Bit> = Vec::new();
    for owner in [0, 1] {
        wires.extend(b.input(format!("i{owner}"), Type::Uint(4), owner).iter());
    }
    for &(kind, x, y) in steps {
        let wire = |number: u32| wires[number as usize % wires.len()];
        let (left, right) = (wire(x), wire(y));
        match kind % 8 {
            0 | 1 => wires.push(b.and_bit(left, right)),
            2 | 3 => wires.push(b.xor_bit(left, right)),
            4 => wires.push(b.xor_bit(left, Bit::constant(true))),
            _ => {
                let (k, m) = (1 + x % 6, 1 + y % 13);
                let entry =
                    |i: u64| (i + 1).wrapping_mul(u64::from(x) * 2 + 1) >> 3 & ((1 << m) - 1);
                let table = Table::new(k, m, (0..1 << k).map(entry).collect::<Vec<_>>()).unwrap();
                let inputs = (0..k).map(|i| wire(x.wrapping_mul(i + 1).wrapping_add(y)));
                let inputs: Vec<Bit> = inputs.collect();
                wires.extend(b.lookup(&table, &inputs).iter());
            }
        }
    }
    for (i, to) in to.into_iter().enumerate() {
        let last: Word = wires[wires.len() - 6 + 3 * i..][..3].iter().copied().collect();
        b.output(format!("o{i}"), &last, Type::Uint(3), to);
    }
    b.finish().unwrap()
}

fn bits(seed: u64, n: usize) -> Vec<bool> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 40 & 1 == 1
    };
    (0..n).map(next).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_circuits_with_look_ups(
        steps in prop::collection::vec(any::<(u8, u32, u32)>(), 0..40),
        to in [receivers(2), receivers(2)],
        executions in prop_oneof![Just(1usize), 1usize..70],
        mac in prop::sample::select(&MacLength::ALL),
        commitment in prop::sample::select(&Commitment::ALL),
        seed: u64,
    ) {
        let circuit = with_lookups(&steps, to);
        let all = [bits(seed, 4 * executions), bits(!seed, 4 * executions)];
        assert_runs(committed(executions, mac, commitment), &circuit, &all);
    }
}

/// Key, message and ciphertext of FIPS 197, C.1, in the form of the built-in circuits: big-endian
/// integers.
const AES: [u128; 3] = [
    0x000102030405060708090a0b0c0d0e0f,
    0x00112233445566778899aabbccddeeff,
    0x69c4e0d86a7b0430d8cdb78070b4c55a,
];

#[test]
fn aes_by_gates_and_by_tables_is_aes() {
    for name in ["aes128", "aes128:sbox"] {
        let circuit = builtin::by_name(name).unwrap();
        let bits = |value: u128| (0..128).map(move |i| value >> i & 1 == 1);
        // Three executions; the second is the standard's.
        let three = |value: u128| [!value, value, value << 1].into_iter().flat_map(bits).collect();
        for commitment in Commitment::ALL {
            let setting = committed(3, MacLength::Bits64, commitment);
            for ended in assert_runs(setting, &circuit, &[three(AES[0]), three(AES[1])]) {
                let outputs = ended.outputs.unwrap();
                let output = outputs[0].as_ref().unwrap();
                assert!(output.slice(128..256).iter().eq(bits(AES[2])), "{name}");
            }
        }
    }
}

#[test]
fn every_rho_and_several_lanes() {
    let circuit =
        with_lookups(&[(5, 3, 2), (0, 9, 1), (7, 5, 7)], [Receivers::All, Receivers::All]);
    for (rho, lanes) in [(Rho::Bits64, 1), (Rho::Bits80, 2)] {
        for commitment in Commitment::ALL {
            let setting = committed(2, MacLength::Bits128, commitment);
            let setting = Setting { rho, lanes, ..setting };
            assert_runs(setting, &circuit, &[bits(1, 8), bits(2, 8)]);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_sent() {
    let wide = |bits: u32| {
        let mut b = Builder::new("wide");
        let x = b.input("x", Type::Uint(1), 0);
        b.input("y", Type::Uint(1), 1);
        let table = Table::new(1, bits, vec![0, (1 << bits) - 1]).unwrap();
        let z = b.lookup(&table, &x);
        b.output("z", &z, Type::Uint(bits), Receivers::All);
        b.finish().unwrap()
    };
    let all = [vec![true; 2], vec![false; 2]];
    assert_runs(setting(2, MacLength::Bits64), &wide(33), &all);
    for (setting, circuit, all) in [
        (setting(2, MacLength::Bits32), wide(33), &all[..]),
        (setting(2, MacLength::Bits64), wide(2), &[vec![true; 3], vec![true; 2]][..]),
        (Setting { protocol: &ywz::SPEC, ..setting(2, MacLength::Bits64) }, wide(2), &all),
    ] {
        let ended = run_all(setting, &circuit, all, |_| ());
        assert!(matches!(ended[0].outputs, Err(Error::InvalidInput(_))), "{:?}", ended[0].outputs);
        assert!(ended[1].outputs.is_err());
    }
}
