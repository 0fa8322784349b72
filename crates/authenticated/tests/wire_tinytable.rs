//! The bytes that `tinytable` sends, exactly: the formulas of docs/reference/bytes.md.

use crate::common::{self, Setting, chosen, run_all};
use symbolon_authenticated::tinytable::{
    self,
    options::{MacLength, TinyTableOptions},
};
use symbolon_circuit::{Circuit, Layered, Receivers, builtin};
use symbolon_engine::Rho;
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

/// The bytes of a code, for codes that a circuit's size chooses: two corrections a row of the
/// tables, the commitments' proof, and the online check. The formulas of the messages, written out.
#[test]
fn bytes_of_codes_are_as_documented() {
    use symbolon_authenticated::tinytable::options::Commitment;
    let circuit = common::two_layers(13, Receivers::All);
    let options =
        chosen(TinyTableOptions { commitment: Commitment::Code, ..TinyTableOptions::default() });
    // For each ρ the code of a small circuit: n, k, the free places, totals and checks.
    for (rho, [n, k, f, t, checks]) in [
        (Rho::Bits40, [1024, 56, 330, 128, 48]),
        (Rho::Bits64, [2048, 67, 495, 256, 72]),
        (Rho::Bits80, [2048, 67, 495, 256, 88u64]),
    ] {
        let setting = Setting { protocol: &tinytable::SPEC, options, rho, ..Setting::default() };
        let all: Vec<Vec<bool>> =
            circuit.inputs().iter().map(|input| vec![true; input.ty.width() as usize]).collect();
        let ended = run_all(setting, &circuit, &all, |_| ());
        let ands = Layered::new(&circuit).unwrap().counts().and;
        let rows = 3 * ands.div_ceil(k) + t;
        let masks = 16 * (n - f).div_ceil(128) * (checks + t);
        let proof = 8 * t * (k.div_ceil(64) + f.div_ceil(64)) + 32;
        let code = n / 8 * rows + masks + 32 + proof + 4 * FRAME;
        for (party, ended) in (0..).zip(&ended) {
            assert!(ended.outputs.is_ok());
            let products = bytes(2 * ands) + 32 + FRAME;
            assert_eq!(phase(&ended.phases, "dependent").bytes_sent, products + code);
            let [plain, messages] = online(&circuit, party, 1);
            let check = 32 + 8 * checks * f.div_ceil(64) + 32 + 2 * FRAME;
            let sent = phase(&ended.phases, "online");
            let expected = [plain - 16 - FRAME + check, messages + 1];
            assert_eq!([sent.bytes_sent, sent.messages_sent], expected);
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
