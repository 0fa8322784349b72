//! Every decoder of a peer's bytes, through a whole run in which one message of one party is bent:
//! the honest party ends in an error that accuses the peer or the connection, or with the right
//! output. `dualex` also in its other form of intersection, `duplo` also in two parts.

use super::runs::{both, circuit, inputs, is_expected, is_right, networks, ways};
use symbolon_protocols::dualex::options::{DualExOptions, PsiForm};
use symbolon_protocols::{Engine, Link, Network, OutputBits, Protocol};
use symbolon_transport::Result;
use symbolon_transport::adversary::{Action, FnAdversary};

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let [way_bits, index, operation, place, bytes @ ..] = data else { return };
    let ways = ways();
    let way = &ways[usize::from(way_bits % 8) % ways.len()];
    let cheater = usize::from(way_bits / 8 % 2);
    let other = way_bits / 16 % 2 == 1;
    let (index, operation, place) = (usize::from(*index), operation % 4, usize::from(*place));
    let bytes = bytes.to_vec();
    let mut sent = 0;
    let adversary = FnAdversary::new().on_outgoing(move |_, _, payload| {
        if sent == index {
            match operation {
                0 => bytes.iter().enumerate().for_each(|(i, byte)| {
                    if let Some(to) = payload.get_mut(16 * place + i) {
                        *to ^= byte;
                    }
                }),
                1 => payload.clone_from(&bytes),
                2 => payload.truncate(place),
                _ => payload.extend_from_slice(&bytes),
            }
        }
        sent += 1;
        Action::Send
    });
    let mut nets = networks(way);
    if other && way.protocol == Protocol::DualEx {
        let options = DualExOptions { psi: PsiForm::Asynchronous, ..DualExOptions::default() };
        nets.iter_mut().for_each(|net| net.options = options.into());
    }
    nets[cheater].peers()[0].set_adversary(Box::new(adversary));
    let circuit = circuit();
    let ended = both(nets, |net| {
        let mut engine = way.protocol.set_up(net)?;
        if other && way.protocol == Protocol::Duplo {
            return in_parts(net, engine.as_mut());
        }
        let material = engine.preprocess_for(net, circuit)?;
        let prepared = material.prepare(net, circuit)?;
        prepared.evaluate(net, circuit, &inputs(net.me.number()))
    });
    match &ended[1 - cheater] {
        Ok(outputs) => assert!(is_right(outputs), "a wrong output was released"),
        Err(error) => assert!(is_expected(error), "{error}"),
    }
}

/// The sum, then the sum of that and 0.
fn in_parts(net: &mut Network, engine: &mut dyn Engine) -> Result<OutputBits> {
    let circuit = circuit();
    engine.evaluate_part(net, circuit, &[], &inputs(net.me.number()))?;
    let zero = (net.me == 1).then(|| vec![false; 2].into());
    let links = [Link { input: 0, part: 0, output: 0 }];
    engine.evaluate_part(net, circuit, &links, &vec![None, zero])
}
