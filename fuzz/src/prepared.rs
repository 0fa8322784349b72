//! Prepared circuits as they are read back from a store, with bytes changed, missing, or more: an
//! error, or something that can be dropped; never a panic, and never more memory than the circuit
//! takes.

use std::sync::OnceLock;

use super::runs::{both, circuit, is_expected, networks, ways};

/// What both parties wrote, in every way of computing.
fn written() -> &'static [[Vec<u8>; 2]] {
    static WRITTEN: OnceLock<Vec<[Vec<u8>; 2]>> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let circuit = circuit();
        ways()
            .iter()
            .map(|way| {
                let saved = both(networks(way), |net| {
                    let material = way.protocol.set_up(net)?.preprocess_for(net, circuit)?;
                    let prepared = material.prepare(net, circuit)?;
                    let mut out = Vec::new();
                    way.protocol.save_prepared(net, circuit, prepared, &mut out)?;
                    Ok(out)
                });
                saved.map(|saved| saved.expect("an honest run"))
            })
            .collect()
    })
}

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let [way, low, high, cut, bytes @ ..] = data else { return };
    let ways = ways();
    let (number, party) = (usize::from(way % 8) % ways.len(), usize::from(way / 8 % 2));
    let mut saved = written()[number][party].clone();
    let place = usize::from(u16::from_le_bytes([*low, *high])) % saved.len();
    saved[place..].iter_mut().zip(bytes).for_each(|(to, byte)| *to ^= byte);
    if cut % 4 == 1 {
        saved.truncate(place);
    } else if cut % 4 == 2 {
        saved.extend_from_slice(bytes);
    }
    let (protocol, circuit) = (ways[number].protocol, circuit());
    let net = &networks(&ways[number])[party];
    if let Err(error) = protocol.load_prepared(net, circuit, &mut saved.as_slice()) {
        assert!(is_expected(&error), "{error}");
    }
}
