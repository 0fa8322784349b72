//! Circuits with look-ups in protocols that do not support them.

use crate::common::{Setting, assert_runs};
use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Receivers, Table, Type};
use symbolon_protocols::Protocol;

/// Returns a circuit of two rounds of look-ups: three bits to four, and four bits to three.
fn circuit() -> Circuit {
    let wide = Table::new(3, 4, vec![9, 2, 14, 7, 0, 11, 5, 12]).unwrap();
    let narrow = Table::new(4, 3, (0..16).map(|x| (x * x + 3) % 7).collect::<Vec<_>>()).unwrap();
    let mut b = Builder::new("look-ups");
    let x = b.input("x", Type::Uint(3), 0);
    let y = b.input("y", Type::Uint(3), 1);
    let (u, v) = (b.lookup(&wide, &x), b.lookup(&wide, &y));
    let sum = b.xor(&u, &v);
    let z = b.lookup(&narrow, &sum);
    let both = b.and(&z, &x);
    b.output("z", &z, Type::Uint(3), Receivers::All);
    b.output("both", &both, Type::Uint(3), Receivers::only([0]));
    b.finish().unwrap()
}

#[test]
fn look_ups_are_computed_by_gates() {
    let circuit = circuit();
    let bits = |value: u32| (0..3).map(|i| value >> i & 1 == 1).collect::<Vec<bool>>();
    for protocol in Protocol::ALL {
        for (x, y) in [(0, 7), (5, 2), (6, 6)] {
            let setting = Setting { protocol, ..Setting::default() };
            assert_runs(setting, &circuit, &[bits(x), bits(y)]);
        }
    }
}
