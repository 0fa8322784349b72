//! Cheats in the proofs of half-gates, chunk by chunk: masked values are proven to garblers, and
//! gates to the evaluator, while later chunks of the same segment are garbled.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{self, Ended, Setting, careless, message};
use symbolon_authenticated::ywz;
use symbolon_circuit::{Circuit, Receivers};
use symbolon_transport::adversary::{Action, CheckName, FnAdversary};

/// AND gates of a chunk; the plan's batches divide them.
const CHUNK: usize = 8192;

/// The number of chunks in the circuit, which is one segment: more than are in progress at a time.
const CHUNKS: usize = 10;

/// The number of chunks garbled before the masked values of the first one are received.
const AHEAD: usize = 7;

/// The chunks that are lied about: the first two, the one during which the last is garbled, and the
/// last.
const LIED_ABOUT: [usize; 4] = [0, 1, CHUNKS - AHEAD, CHUNKS - 1];

/// The number of messages of garbled gates in a chunk.
const MESSAGES: usize = CHUNK / 1024;

const WIDTH: usize = CHUNKS * CHUNK / 2;

const GARBLED: &str = "garbled gates";
const VALUES: &str = "masked values, label digest, chi";
const PROOF: &str = "circuit authentication";
const LABEL_CHECK: &str = "masked value label";

fn setting(parties: u16) -> Setting {
    Setting { protocol: &ywz::SPEC, parties, segment_gates: Some(1 << 20), ..Setting::default() }
}

fn circuit(parties: u16) -> Circuit {
    match parties {
        2 => common::two_layers(WIDTH as u32, Receivers::All),
        n => common::circuit_of(WIDTH as u32, n),
    }
}

/// Runs with these adversaries: from whom, to whom.
fn run(parties: u16, adversaries: Vec<(u16, u16, FnAdversary)>) -> Vec<Ended> {
    let bits = |party: usize| (0..WIDTH).map(|i| (i * i + party * i + i / 3) % 5 < 3).collect();
    let inputs: Vec<Vec<bool>> = (0..usize::from(parties)).map(bits).collect();
    common::run_all(setting(parties), &circuit(parties), &inputs, |nets| {
        for (from, to, adversary) in adversaries {
            let peers = &mut nets[usize::from(from)].lanes[0];
            let channel = peers.iter_mut().find(|channel| channel.peer() == to).unwrap();
            channel.set_adversary(Box::new(adversary));
        }
    })
}

/// Counts the messages of two kinds.
fn counting(kinds: [&'static str; 2]) -> (FnAdversary, [Arc<AtomicUsize>; 2]) {
    let counts = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let seen = counts.clone();
    let adversary = FnAdversary::new().on_outgoing(move |sent, _, _| {
        for (kind, seen) in kinds.iter().zip(&seen) {
            seen.fetch_add(usize::from(sent == *kind), Ordering::SeqCst);
        }
        Action::Send
    });
    (adversary.listening(), counts)
}

/// Asserts that the other party of two catches it at this check when `cheater` changes what it
/// sends.
#[track_caller]
fn assert_caught(cheater: u16, adversary: FnAdversary, check: impl CheckName) {
    let ended = run(2, vec![(cheater, 1 - cheater, adversary)]);
    common::assert_caught(&ended[usize::from(1 - cheater)], cheater, check);
}

/// An honest run has as many chunks as these tests expect, each with its own χ and z; all z are in
/// one message.
/// Cheat: 2, G | step 12 | nothing: G looks for a χ that it has seen | every chunk's χ is fresh, z
/// leave together | always
#[test]
fn every_chunk_has_a_chi_of_its_own() {
    let (values, proofs) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (seen, proven) = (values.clone(), proofs.clone());
    let listen = FnAdversary::new()
        .on_incoming(move |kind, _, payload| {
            if kind == VALUES {
                assert_eq!(payload.len(), CHUNK / 8 + 32 + 16);
                seen.lock().unwrap().push(payload[payload.len() - 16..].to_vec());
            }
        })
        .on_outgoing(move |kind, _, payload| {
            if kind == PROOF {
                proven.lock().unwrap().push(payload.len());
            }
            Action::Send
        });
    let ended = run(2, vec![(1, 0, listen)]);
    assert!(ended.iter().all(|ended| ended.outputs.is_ok()));
    let mut all = values.lock().unwrap().clone();
    assert_eq!(all.len(), CHUNKS);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), CHUNKS);
    assert_eq!(*proofs.lock().unwrap(), [16 * CHUNKS]);
}

/// Step 11: a masked value of any chunk that does not match its label. The garbler garbles no more
/// than what is already in progress, and proves nothing.
/// Cheat: 2, E | step 11 | another masked value of any chunk | `masked value label`, before more is
/// garbled than is under way, and no z is sent | always
#[test]
fn another_masked_value_of_any_chunk() {
    for chunk in LIED_ABOUT {
        let lie = message(VALUES, chunk, move |p| p[100 * chunk] ^= 4);
        let (count, [garbled, proven]) = counting([GARBLED, PROOF]);
        let ended = run(2, vec![(0, 1, lie), (1, 0, count)]);
        common::assert_caught(&ended[1], 0, LABEL_CHECK);
        assert!(ended.iter().all(|ended| ended.outputs.is_err()));
        let most = MESSAGES * (chunk + AHEAD).min(CHUNKS);
        assert_eq!(garbled.load(Ordering::SeqCst), most, "chunk {chunk}");
        assert_eq!(proven.load(Ordering::SeqCst), 0, "chunk {chunk}");
    }
}

/// As above, among three parties, towards one garbler: it sends nothing of its proof, and nobody
/// has an output.
/// Cheat: 3, E | step 11 | another masked value towards one of two garblers | `masked value label`,
/// and it sends no z | always
#[test]
fn another_masked_value_towards_one_of_two_garblers() {
    for chunk in [0, CHUNKS / 2, CHUNKS - 1] {
        let lie = message(VALUES, chunk, |p| p[CHUNK / 8 - 1] ^= 128);
        let (count, [_, proven]) = counting([GARBLED, PROOF]);
        let ended = run(3, vec![(0, 2, lie), (2, 0, count)]);
        assert!(ended.iter().all(|ended| ended.outputs.is_err()));
        assert_eq!(proven.load(Ordering::SeqCst), 0);
        common::endings(&ended, &[0]).assert_caught_by([2], &[LABEL_CHECK]);
    }
}

/// Step 11: the masked values of a chunk repeated in place of the next one's, with everything that
/// proves them.
/// Cheat: 2, E | step 11 | the masked values of the chunk before, with all that proves them |
/// `masked value label` | always
#[test]
fn the_masked_values_of_another_chunk() {
    for chunk in [1, AHEAD, CHUNKS - 1] {
        let mut before = Vec::new();
        let replay = FnAdversary::new().on_outgoing(move |kind, index, payload| {
            if kind == VALUES && index == chunk - 1 {
                before.clone_from(payload);
            } else if kind == VALUES && index == chunk {
                payload.clone_from(&before);
            }
            Action::Send
        });
        assert_caught(0, replay, LABEL_CHECK);
    }
}

/// Step 8: a garbler inverts a masked value of any chunk and stands by it. Step 12 always catches
/// it.
/// Cheat: 2, G | steps 8, 12 | a flipped masked value of any chunk, with z adapted to it | `circuit
/// authentication` | always
#[test]
fn a_turned_gate_of_any_chunk() {
    for chunk in LIED_ABOUT {
        // The bits b_γ come last.
        let turn = message(GARBLED, MESSAGES * chunk, |p| *p.last_mut().unwrap() ^= 1);
        assert_caught(1, careless(turn), PROOF);
    }
}

/// As above, by one of two garblers: the other one sees that its own label does not match, or the
/// evaluator sees that the gate is wrong.
/// Cheat: 3, G | steps 8, 12 | a flipped masked value, with z adapted to it, by one of two garblers
/// | `circuit authentication`, `masked value label` | always
#[test]
fn a_turned_gate_of_one_of_two_garblers() {
    for chunk in [0, CHUNKS - 1] {
        let turn = message(GARBLED, MESSAGES * chunk, |p| *p.last_mut().unwrap() ^= 1);
        let ended = run(3, vec![(1, 0, careless(turn))]);
        common::endings(&ended, &[1]).assert_caught(&[PROOF, LABEL_CHECK]);
    }
}

/// Step 12: a wrong z of any chunk, with two parties and with three.
/// Cheat: 2 and 3, G | step 12 | a wrong z of any chunk | `circuit authentication` | always
#[test]
fn a_wrong_z_of_any_chunk() {
    for chunk in LIED_ABOUT {
        assert_caught(1, message(PROOF, 0, move |p| p[16 * chunk + chunk] ^= 1), PROOF);
    }
    let ended = run(3, vec![(2, 0, message(PROOF, 0, |p| p[16 * CHUNKS - 1] ^= 128))]);
    common::endings(&ended, &[2]).assert_caught_by([0], &[PROOF]);
}

/// Step 12: errors in z of several chunks, by one garbler or by two, whose sum is zero; z in
/// another order, and one z twice.
/// Cheat: 2 and 3, G | step 12 | errors in z of several chunks that cancel, of one garbler or two;
/// z in another order, and one twice | `circuit authentication` | always
#[test]
fn errors_in_z_that_would_cancel() {
    let cancel = |(first, second): (usize, usize)| {
        message(PROOF, 0, move |p| {
            p[16 * first] ^= 1;
            p[16 * second] ^= 1;
        })
    };
    for chunks in [(0, 1), (0, CHUNKS - 1), (CHUNKS - 2, CHUNKS - 1)] {
        assert_caught(1, cancel(chunks), PROOF);
    }
    let swap = message(PROOF, 0, |p| p.rotate_left(16));
    let repeat = message(PROOF, 0, |p| p.copy_within(..16, 16 * (CHUNKS - 1)));
    for adversary in [swap, repeat] {
        assert_caught(1, adversary, PROOF);
    }
    let wrong = |chunk: usize| message(PROOF, 0, move |p| p[16 * chunk] ^= 1);
    let ended = run(3, vec![(1, 0, wrong(0)), (2, 0, wrong(1))]);
    common::endings(&ended, &[1, 2]).assert_caught_by([0], &[PROOF]);
}

/// Masked values, and z, for fewer or more gates or chunks than there are, and none.
/// Cheat: 2, E or G | steps 11, 12 | masked values and z too short, too long, none | `message
/// framing` | always
#[test]
fn short_and_long_messages() {
    for (cheater, kind, index) in [(0, VALUES, 0), (0, VALUES, CHUNKS - 1), (1, PROOF, 0)] {
        let len = |change: fn(usize) -> usize| {
            message(kind, index, move |p| p.resize(change(p.len()), 0))
        };
        for adversary in [len(|n| n - 16), len(|n| n - 1), len(|n| n + 16), len(|_| 0)] {
            assert_caught(cheater, adversary, "message framing");
        }
    }
}
