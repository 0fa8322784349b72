//! The bytes that `tinytable` sends, exactly: the formulas of docs/reference/bytes.md.

use crate::common::{self, Setting, chosen, run_all};
use symbolon_authenticated::tinytable::{
    self,
    options::{MacLength, TinyTableOptions},
};
use symbolon_circuit::{Circuit, Layered, Receivers, builtin};
use symbolon_transport::PhaseReport;

/// The size of a message without its payload in bytes.
const FRAME: u64 = 8;

fn phase<'a>(phases: &'a [PhaseReport], name: &str) -> &'a PhaseReport {
    phases.iter().find(|phase| phase.phase == name).unwrap()
}

fn bits(circuit: &Circuit, party: u16) -> u64 {
    let own = circuit.inputs().iter().filter(|input| input.owner == party);
    own.map(|input| input.ty.width()).sum()
}

fn bytes(bits: u64) -> u64 {
    bits.div_ceil(8)
}

/// Returns the bytes and messages that `party` sends online.
fn online(circuit: &Circuit, party: u16, executions: u64) -> [u64; 2] {
    let layered = Layered::new(circuit).unwrap();
    let mut sent = [bytes(bits(circuit, party) * executions), 1];
    for layer in layered.layers().take(layered.depth()) {
        let entries = layer.lookups.iter().map(|lookup| bytes(lookup.outputs.len() as u64));
        sent[0] += bytes(layer.ands.len() as u64 * executions) + entries.sum::<u64>() * executions;
        sent[1] += 1;
    }
    sent[0] += 16;
    sent[1] += 1;
    let theirs = circuit.outputs().iter().filter(|output| output.to.contains(1 - party));
    let theirs: u64 = theirs.map(|output| output.ty.width()).sum();
    if theirs > 0 {
        sent[0] += bytes(theirs * executions) + 16;
        sent[1] += 1;
    }
    [sent[0] + FRAME * sent[1], sent[1]]
}

#[test]
fn online_and_dependent_bytes_are_as_documented() {
    for (circuit, executions) in [
        (common::two_layers(13, Receivers::All), 1),
        (common::two_layers(13, Receivers::only([1])), 5),
        (builtin::by_name("aes128:sbox-expanded").unwrap(), 1),
        (builtin::by_name("aes128:expanded").unwrap(), 1),
        (builtin::by_name("aes128:expanded").unwrap(), 3),
    ] {
        for mac in MacLength::ALL {
            let options = chosen(TinyTableOptions { mac: mac.into(), ..Default::default() });
            let protocol = &tinytable::SPEC;
            let setting = Setting { protocol, executions, options, ..Setting::default() };
            let all = circuit.inputs().iter();
            let all = all.map(|input| vec![true; input.ty.width() as usize * executions]);
            let ended = run_all(setting, &circuit, &all.collect::<Vec<_>>(), |_| ());
            for (party, ended) in (0..).zip(&ended) {
                assert!(ended.outputs.is_ok());
                let online_phase = phase(&ended.phases, "online");
                let expected = online(&circuit, party, executions as u64);
                assert_eq!([online_phase.bytes_sent, online_phase.messages_sent], expected);
                // Nobody waits for more than one message at a time.
                assert!(online_phase.rounds <= expected[1]);
                let layered = Layered::new(&circuit).unwrap();
                if layered.counts().lookups == 0 {
                    // d and e, and the digest of their MACs, for each chunk of gates.
                    let chunks = chunks(&layered, executions as u64);
                    let products = chunks.iter().map(|ands| bytes(2 * ands) + 32 + FRAME);
                    let dependent = phase(&ended.phases, "dependent").bytes_sent;
                    assert_eq!(dependent, products.sum::<u64>());
                }
            }
        }
    }
}

/// Returns the AND gates of all executions, in chunks of at least 8 192.
fn chunks(layered: &Layered, executions: u64) -> Vec<u64> {
    let mut chunks = vec![0];
    for _ in 0..layered.counts().and {
        if chunks[chunks.len() - 1] >= 8192 {
            chunks.push(0);
        }
        *chunks.last_mut().unwrap() += executions;
    }
    chunks
}

/// The figures in docs/reference/bytes.md.
#[test]
fn one_block_of_aes() {
    let sent = |name: &str| online(&builtin::by_name(name).unwrap(), 0, 1);
    assert_eq!(sent("aes128:sbox-expanded"), [488, 13]);
    assert_eq!(sent("aes128:expanded"), [1368, 63]);
}
