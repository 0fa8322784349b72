//! Cheats while the masks' openings and the garbled gates of a circuit use two lanes at once: a
//! failure on either of them ends both, and the party reports it. Also cheats while a batch's masks
//! are drawn before the triples of the previous batch.

use std::sync::{Arc, Mutex};

use crate::common::{self, Ended, Setting, careless, message};
use symbolon_authenticated::{wrk, ywz};
use symbolon_circuit::Receivers;
use symbolon_engine::ProtocolSpec;
use symbolon_transport::adversary::{Action, FnAdversary};

/// Input bits of each party, and gates of each of the two layers: four chunks.
const WIDTH: usize = 14_000;
const CHUNKS: usize = 4;

/// Returns one of a chunk's messages of garbled gates; the first chunks have 8, 9 and 8.
fn in_chunk(chunk: usize) -> usize {
    8 * chunk + 1
}

/// The number of AND gates in a batch of material, if it is made for the circuit: four batches.
const BATCH: u64 = 20;
const BATCHES: usize = 4;

/// A byte less, and a byte more.
const CHANGES: [fn(&mut Vec<u8>); 2] = [|p| p.truncate(p.len() - 1), |p| p.push(0)];

const OPENING: &str = "Beaver: d, e";

const FIRST: usize = 0;
const SECOND: usize = 1;

/// Runs with these adversaries: on which lane, by whom.
fn run(protocol: &'static ProtocolSpec, adversaries: Vec<(usize, u16, FnAdversary)>) -> Vec<Ended> {
    let setting = Setting { protocol, lanes: 2, ..Setting::default() };
    let circuit = common::two_layers(WIDTH as u32, Receivers::All);
    let bits = |party| (0..WIDTH).map(|i| (i * i + party * i + i / 3) % 5 < 3).collect();
    common::run_all(setting, &circuit, &[bits(0), bits(1)], |nets| {
        for (lane, by, adversary) in adversaries {
            nets[usize::from(by)].lanes[lane][0].set_adversary(Box::new(adversary));
        }
    })
}

/// Beaver's openings of any chunk, by either party, and their digest. Always caught, and nobody has
/// an output.
/// Cheat: 2, one | Beaver | a lie in an opened bit of any chunk, or in the digest | `Beaver MAC` |
/// always
#[test]
fn lies_in_openings_of_any_chunk() {
    for protocol in [&wrk::SPEC, &ywz::SPEC] {
        for (chunk, cheater) in (0..CHUNKS).flat_map(|chunk| [(chunk, 0), (chunk, 1)]) {
            let lie = message(OPENING, chunk, move |payload| {
                let at = if chunk % 2 == 0 { 0 } else { payload.len() - 1 };
                payload[at] ^= 1;
            });
            let ended = run(protocol, vec![(SECOND, cheater, lie)]);
            common::assert_caught(&ended[usize::from(1 - cheater)], cheater, "Beaver MAC");
            assert!(ended.iter().all(|ended| ended.outputs.is_err()));
        }
    }
}

/// A party lies to one of two peers about a mask of any chunk: that peer catches it, and nobody has
/// an output.
/// Cheat: `ywz` 3, one | Beaver | a lie in an opened bit of any chunk, to one of two | `Beaver MAC`
/// | always
#[test]
fn lies_to_one_of_two_peers() {
    let setting = Setting { protocol: &ywz::SPEC, parties: 3, lanes: 2, ..Setting::default() };
    let circuit = common::circuit_of(WIDTH as u32, 3);
    let bits = |party| (0..WIDTH).map(|i| (i * i + party * i + i / 3) % 5 < 3).collect();
    let inputs = [bits(0), bits(1), bits(2)];
    for (chunk, cheater, victim) in [(0, 0, 2), (1, 1, 0), (2, 2, 1), (3, 0, 1)] {
        let lie = message(OPENING, chunk, |payload| payload[0] ^= 2);
        let ended = common::run_all(setting, &circuit, &inputs, |nets| {
            let peers = &mut nets[usize::from(cheater)].lanes[SECOND];
            let to_victim = peers.iter_mut().find(|channel| channel.peer() == victim).unwrap();
            to_victim.set_adversary(Box::new(lie));
        });
        common::assert_caught(&ended[usize::from(victim)], cheater, "Beaver MAC");
        assert!(ended.iter().all(|ended| ended.outputs.is_err()));
    }
}

/// A chunk's opening repeated in place of the next one's: as long, with right MACs, but for other
/// gates. Always caught.
/// Cheat: `wrk`, G | Beaver | a chunk's opening in the place of a later one's | `Beaver MAC` |
/// always
#[test]
fn an_opening_sent_twice() {
    let first = Arc::new(Mutex::new(Vec::new()));
    let twice = FnAdversary::new().on_outgoing(move |kind, index, payload| {
        let mut first = first.lock().unwrap();
        match index {
            0 if kind == OPENING => first.clone_from(payload),
            2 if kind == OPENING => payload.clone_from(&first),
            _ => {}
        }
        Action::Send
    });
    let ended = run(&wrk::SPEC, vec![(SECOND, 0, twice)]);
    common::assert_caught(&ended[1], 0, "Beaver MAC");
    assert!(ended.iter().all(|ended| ended.outputs.is_err()));
}

/// Openings and garbled gates of any chunk that are too short or too long. Always caught at once,
/// while the other lane continues.
/// Cheat: 2, one | Beaver, steps 4d, 8 | a byte less or more of an opening or of garbled gates of
/// any chunk | `message framing` | always
#[test]
fn short_and_long_messages_of_any_chunk() {
    for (chunk, change) in (0..CHUNKS).flat_map(|chunk| CHANGES.map(|change| (chunk, change))) {
        let ended = run(&wrk::SPEC, vec![(SECOND, 1, message(OPENING, chunk, change))]);
        common::assert_caught(&ended[0], 1, "message framing");
        assert!(ended.iter().all(|ended| ended.outputs.is_err()));
    }
    for (protocol, kind, garbler) in
        [(&wrk::SPEC, "garbled table", 0), (&ywz::SPEC, "garbled gates", 1)]
    {
        for chunk in 0..CHUNKS - 1 {
            for change in CHANGES {
                let adversary = message(kind, in_chunk(chunk), change);
                let ended = run(protocol, vec![(FIRST, garbler, careless(adversary))]);
                common::assert_caught(&ended[usize::from(1 - garbler)], garbler, "message framing");
                assert!(ended.iter().all(|ended| ended.outputs.is_err()));
            }
        }
    }
}

/// A MAC in the rows of any chunk. Always caught, when the gate is evaluated.
/// Cheat: `wrk`, G | step 4d | MACs of all rows of a gate of any chunk | `garbled table MAC` |
/// always
#[test]
fn flipped_macs_of_any_chunk() {
    for chunk in 0..CHUNKS - 1 {
        let flip = message("garbled table", in_chunk(chunk), |table| {
            let labels = table.len() / 68 * 48;
            for row in 0..4 {
                table[labels + 5 * row] ^= 1;
            }
        });
        let ended = run(&wrk::SPEC, vec![(FIRST, 0, flip)]);
        common::assert_caught(&ended[1], 0, "garbled table MAC");
    }
}

/// A lie in the openings of one chunk, and a message of garbled gates that is too short in the
/// chunk before. Whichever comes first, the party reports a failed check, not an error that follows
/// from it.
/// Cheat: `wrk`, G | Beaver, step 4d | a lie in an opening and wrong MACs at once, in neighbouring
/// chunks | `Beaver MAC` or `message framing`, and nothing else is reported | always
#[test]
fn lies_on_both_lanes() {
    for chunk in 1..CHUNKS {
        let lie = message(OPENING, chunk, |payload| payload[0] ^= 1);
        let short = message("garbled table", in_chunk(chunk - 1), |payload| payload.truncate(9));
        let ended = run(&wrk::SPEC, vec![(SECOND, 0, lie), (FIRST, 0, short)]);
        let Err(symbolon_transport::Error::PeerMisbehaved { culprit, check, .. }) =
            ended[1].outputs
        else {
            panic!("the cheat was not named: {:?}", ended[1].outputs.as_ref().err());
        };
        assert_eq!(culprit, 0.into());
        assert!(["Beaver MAC", "message framing"].contains(&check.name()), "{check}");
        symbolon_transport::adversary::note_caught();
    }
}

/// A masked value of any part of the gates, the labels' digest, and the garbler's proof of its
/// gates, which two threads check and make. Always caught.
/// Cheat: `ywz`, E or G | Fig. 7, steps 11, 12, by two threads | a masked value of any part, the
/// labels' digest; the proof of the gates | `masked value label`, `circuit authentication` | always
#[test]
fn lies_in_masked_values_that_two_threads_prove() {
    const VALUES: &str = "masked values, label digest, chi";
    let bits = 2 * WIDTH / 8;
    for place in [0, bits / 2, bits - 1, bits, bits + 31] {
        let lie = message(VALUES, 0, move |payload| payload[place] ^= 4);
        let ended = run(&ywz::SPEC, vec![(FIRST, 0, lie)]);
        common::assert_caught(&ended[1], 0, "masked value label");
        assert!(ended.iter().all(|ended| ended.outputs.is_err()));
    }
    for place in [0, 15] {
        let lie = message("circuit authentication", 0, move |payload| payload[place] ^= 1);
        let ended = run(&ywz::SPEC, vec![(FIRST, 1, lie)]);
        common::assert_caught(&ended[0], 1, "circuit authentication");
        assert!(ended[0].outputs.is_err());
    }
}

/// Runs with material in batches, and this adversary on the lane where it is made.
fn run_in_batches(
    protocol: &'static ProtocolSpec,
    cheater: u16,
    adversary: FnAdversary,
) -> Vec<Ended> {
    let setting = Setting { protocol, known: true, lanes: 2, ..Setting::default() };
    let width = BATCHES * BATCH as usize / 2;
    let circuit = common::two_layers(width as u32, Receivers::All);
    let bits = |party| (0..width).map(|i| (i * i + party * i + i / 3) % 5 < 3).collect();
    common::run_all(setting, &circuit, &[bits(0), bits(1)], |nets| {
        nets.iter_mut().for_each(|net| net.segment_gates = BATCH);
        nets[usize::from(cheater)].makers()[0][0].set_adversary(Box::new(adversary));
    })
}

/// Every U of a batch's leaky triples, d of any batch, and an opening of its buckets. Always
/// caught, and nobody has an output.
/// Cheat: `ywz` 2, one | Fig. 14, 16; material in four batches | all of a batch's U, a bit of its
/// d, a bit opened for its buckets | `leaky AND`, `leaky AND d commitment`, `bucketing MAC` |
/// always
#[test]
fn lies_in_triples_of_any_batch() {
    for (batch, cheater) in (0..BATCHES).flat_map(|batch| [(batch, 0), (batch, 1)]) {
        let all = |payload: &mut Vec<u8>| payload.iter_mut().for_each(|byte| *byte ^= 1);
        let last = |payload: &mut Vec<u8>| *payload.last_mut().expect("not empty") ^= 1;
        let first = |payload: &mut Vec<u8>| payload[0] ^= 1;
        for (adversary, check) in [
            (message("leaky AND: U", batch, all), "leaky AND"),
            (message("leaky AND: d", batch, last), "leaky AND d commitment"),
            (message("bucketing: d", batch, first), "bucketing MAC"),
        ] {
            let ended = run_in_batches(&ywz::SPEC, cheater, adversary);
            common::assert_caught(&ended[usize::from(1 - cheater)], cheater, check);
            assert!(ended.iter().all(|ended| ended.outputs.is_err()));
        }
    }
}

/// Choice bits that fail the check of correlated OTs, in any draw: of the inputs' masks, then of
/// the gates' masks or leaky triples of any batch. Always caught, and nobody has an output.
/// Cheat: `wrk`, E | correlated OT; material in four batches | the corrections of any draw | `OT
/// extension consistency` | always
#[test]
fn lies_in_any_draw_of_correlated_ots() {
    for draw in 0..1 + 2 * BATCHES {
        let lie = message("iknp: u", draw, |payload| {
            payload.iter_mut().for_each(|byte| *byte ^= 0xff);
        });
        let ended = run_in_batches(&wrk::SPEC, 1, lie);
        common::assert_caught(&ended[0], 1, "OT extension consistency");
        assert!(ended.iter().all(|ended| ended.outputs.is_err()));
    }
}
