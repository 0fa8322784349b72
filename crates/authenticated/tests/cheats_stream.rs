//! Cheats in the middle of a circuit that is evaluated segment by segment: the check of one segment
//! covers its gates as the check of a whole circuit does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{self, Ended, Setting, careless, message};
use symbolon_authenticated::{wrk, ywz};
use symbolon_circuit::{Circuit, Receivers};
use symbolon_engine::{GateForm, Network, ProtocolSpec};
use symbolon_transport::adversary::{
    Action, Adversary, CheckName, FnAdversary, Outcome, assert_noticed,
};
use symbolon_transport::{Error, Result};

/// Input bits of each party, and gates of each of the two layers.
const WIDTH: usize = 24;

/// AND gates of a segment; the plan's batches divide them.
const SEGMENT_GATES: usize = 12;

/// The number of segments.
const SEGMENTS: usize = 2 * WIDTH / SEGMENT_GATES;

/// Bytes of a MAC in a row at ρ = 40.
const MAC: usize = 5;

const TABLE: &str = "garbled table";
const GARBLED: &str = "garbled gates";
const VALUES: &str = "masked values, label digest, chi";
const AUTHENTICATION: &str = "circuit authentication";
const OUTPUTS: &str = "output masks";

fn setting(protocol: &'static ProtocolSpec, parties: u16) -> Setting {
    Setting { protocol, parties, segment_gates: Some(SEGMENT_GATES as u64), ..Setting::default() }
}

fn wrk() -> Setting {
    setting(&wrk::SPEC, 2)
}

/// Returns settings with half-gates, each with a garbler that sends the bits b_γ, and the
/// evaluator.
fn half_gates() -> [(Setting, u16, u16); 3] {
    let wrk = Setting { form: GateForm::HalfGates, ..wrk() };
    [(setting(&ywz::SPEC, 2), 1, 0), (setting(&ywz::SPEC, 3), 1, 0), (wrk, 0, 1)]
}

/// Returns the setting in which each segment is made on the second lane while the one before it is
/// garbled.
fn meanwhile(setting: Setting) -> Setting {
    Setting { lanes: 2, ..setting }
}

/// Returns the lane on which triples are made.
fn makers_lane(setting: Setting) -> usize {
    setting.lanes - 1
}

fn circuit(parties: u16) -> Circuit {
    match parties {
        2 => common::two_layers(WIDTH as u32, Receivers::All),
        n => common::circuit_of(WIDTH as u32, n),
    }
}

fn inputs(parties: u16) -> Vec<Vec<bool>> {
    let bits = |party: usize| (0..WIDTH).map(|i| (i * i + party * i + i / 3) % 5 < 3).collect();
    (0..usize::from(parties)).map(bits).collect()
}

/// Runs with these adversaries on the first lane: from whom, to whom.
fn run(setting: Setting, adversaries: Vec<(u16, u16, FnAdversary)>) -> Vec<Ended> {
    run_on(
        setting,
        adversaries.into_iter().map(|(from, to, adversary)| (0, from, to, adversary)).collect(),
    )
}

/// Runs with these adversaries: on which lane, from whom, to whom.
fn run_on(setting: Setting, adversaries: Vec<(usize, u16, u16, FnAdversary)>) -> Vec<Ended> {
    let parties = setting.parties;
    common::run_all(setting, &circuit(parties), &inputs(parties), |nets| {
        for (lane, from, to, adversary) in adversaries {
            let peers = &mut nets[usize::from(from)].lanes[lane];
            let channel = peers.iter_mut().find(|channel| channel.peer() == to).unwrap();
            channel.set_adversary(Box::new(adversary));
        }
    })
}

/// Asserts that the other party catches `cheater` at this check.
#[track_caller]
fn assert_caught(setting: Setting, cheater: u16, adversary: FnAdversary, check: impl CheckName) {
    let ended = run(setting, vec![(cheater, 1 - cheater, adversary)]);
    common::assert_caught(&ended[usize::from(1 - cheater)], cheater, check);
}

/// Figure 2, step 4d: the MACs of all rows of the first or last gate of any segment. Always caught,
/// and the evaluator takes part in no further segment.
/// Cheat: `wrk`, G | step 4d | the MACs of all rows of a gate | `garbled table MAC`, before the
/// next segment | always
#[test]
fn flipped_macs_in_any_stretch() {
    let cases = |segment| {
        [false, true].map(|last| [(wrk(), segment, last), (meanwhile(wrk()), segment, last)])
    };
    for (setting, segment, last) in (0..SEGMENTS).flat_map(cases).flatten() {
        let flip = message(TABLE, segment, move |table| {
            let gates = table.len() / (48 + 4 * MAC);
            assert_eq!(gates, SEGMENT_GATES, "a segment is a table");
            let gate = if last { gates - 1 } else { 0 };
            for row in 0..4 {
                table[48 * gates + (4 * gate + row) * MAC] ^= 1;
            }
        });
        let sent = Arc::new(AtomicUsize::new(0));
        // Triples may have been made already, but they are not used.
        let next = if setting.lanes == 1 { "bucketing: d" } else { "Beaver: d, e" };
        let ended = run(setting, vec![(0, 1, flip), (1, 0, counting(next, &sent))]);
        common::assert_caught(&ended[1], 0, "garbled table MAC");
        assert_eq!(sent.load(Ordering::SeqCst), segment + 1, "the run went on");
    }
}

/// Step 5: a wrong label of an input, which hashes to wrong MACs. Always caught.
/// Cheat: `wrk`, G | step 5 | a wrong label of an input | `garbled table MAC` | always
#[test]
fn a_wrong_input_label() {
    for wire in [0, WIDTH, 2 * WIDTH - 1] {
        let wrong = message("masked inputs, labels", 0, move |p| p[WIDTH / 8 + 16 * wire] ^= 2);
        assert_caught(wrk(), 0, wrong, "garbled table MAC");
    }
}

/// Openings of Beaver's trick and of bucketing in any segment, by either party, whether triples are
/// made before they are used or concurrently.
/// Cheat: `wrk`, one | Beaver, Fig. 16 | a lie in an opened bit | `Beaver MAC`, `bucketing MAC` |
/// always
#[test]
fn lies_in_openings_of_any_stretch() {
    for setting in [wrk(), meanwhile(wrk())] {
        let openings = [
            ("Beaver: d, e", "Beaver MAC", 0),
            ("bucketing: d", "bucketing MAC", makers_lane(setting)),
        ];
        for (kind, check, lane) in openings {
            for cheater in [0, 1] {
                for segment in 0..SEGMENTS {
                    let lie = message(kind, segment, |p| p[0] ^= 2);
                    let ended = run_on(setting, vec![(lane, cheater, 1 - cheater, lie)]);
                    common::assert_caught(&ended[usize::from(1 - cheater)], cheater, check);
                }
            }
        }
    }
}

/// A party lies to one of two peers about a triple of any segment while another segment is garbled:
/// that peer catches it, and nobody has an output.
/// Cheat: `ywz` 3, one | Fig. 16, made meanwhile | a lie in an opened bit to one of two |
/// `bucketing MAC` | always
#[test]
fn lies_to_one_of_two_makers() {
    let setting = meanwhile(setting(&ywz::SPEC, 3));
    for (cheater, victim) in [(0, 2), (1, 0), (2, 1)] {
        for segment in 0..SEGMENTS {
            let lie = message("bucketing: d", segment, |p| p[0] ^= 2);
            let ended = run_on(setting, vec![(makers_lane(setting), cheater, victim, lie)]);
            common::assert_caught(&ended[usize::from(victim)], cheater, "bucketing MAC");
            assert!(ended.iter().all(|ended| ended.outputs.is_err()));
        }
    }
}

/// Step 8, and the evaluator's returned outputs: shares of output masks, and outputs, after the
/// last segment.
/// Cheat: 2, one | steps 8, 13 | shares of output masks, returned outputs | `output mask MAC`,
/// `returned output label and MAC` | always
#[test]
fn lies_about_outputs() {
    let lie = || message(OUTPUTS, 0, |p| p[1] ^= 1);
    assert_caught(wrk(), 0, lie(), "output mask MAC");
    for protocol in [&wrk::SPEC, &ywz::SPEC] {
        let half_gates = Setting { form: GateForm::HalfGates, ..setting(protocol, 2) };
        for cheater in [0, 1] {
            assert_caught(half_gates, cheater, lie(), "output mask MAC");
        }
    }
    for byte in [0, WIDTH / 8, 2 * WIDTH / 8] {
        let lie = message("outputs for the garbler", 0, move |p| p[byte] ^= 1);
        assert_caught(wrk(), 1, lie, "returned output label and MAC");
    }
}

/// Yang–Wang–Zhang, step 11: a masked value in any segment that does not match its label. Always
/// caught, before the next segment and before any output mask is opened.
/// Cheat: 2 and 3, E | step 11 | another masked value | `masked value label` | always
#[test]
fn another_masked_value_in_any_stretch() {
    for (setting, garbler, evaluator) in half_gates() {
        for segment in 0..SEGMENTS {
            let lie = message(VALUES, segment, |p| p[0] ^= 4);
            let opened = Arc::new(AtomicUsize::new(0));
            let listen = counting(OUTPUTS, &opened);
            let ended = run(setting, vec![(evaluator, garbler, lie), (garbler, evaluator, listen)]);
            assert!(ended.iter().all(|ended| ended.outputs.is_err()));
            common::endings(&ended, &[evaluator])
                .assert_caught_by([garbler], &["masked value label"]);
            assert_eq!(opened.load(Ordering::SeqCst), 0, "output masks were opened");
        }
    }
}

/// Yang–Wang–Zhang, step 8: a garbler inverts a masked value and stands by it; or its z is wrong.
/// Step 12 always catches it. The evaluator takes part in no further segment and opens no output
/// mask.
/// Cheat: 2 and 3, G | steps 8, 12 | a flipped masked value, with z adapted to it; a wrong z |
/// `circuit authentication`, `masked value label`, before the next segment | always
#[test]
fn a_turned_gate_or_a_wrong_z_in_any_stretch() {
    for (setting, garbler, evaluator) in half_gates() {
        for segment in 0..SEGMENTS {
            for kind in [GARBLED, AUTHENTICATION] {
                // The bits b_γ come last.
                let lie = careless(message(kind, segment, |p| *p.last_mut().unwrap() ^= 1));
                let sent = Arc::new(Mutex::new(Vec::new()));
                let listen = recording(&sent);
                let ended =
                    run(setting, vec![(garbler, evaluator, lie), (evaluator, garbler, listen)]);
                // An honest garbler sees that its own label does not match, perhaps before it
                // learns the evaluator's error.
                let checks = ["circuit authentication", "masked value label"];
                let known = if setting.parties == 2 { &checks[..1] } else { &checks };
                common::endings(&ended, &[garbler]).assert_caught(known);
                let sent = sent.lock().unwrap();
                let begun = sent.iter().filter(|kind| **kind == "bucketing: d").count();
                assert_eq!(begun, segment + 1, "the run went on");
                assert!(!sent.contains(&OUTPUTS), "output masks were opened");
            }
        }
    }
}

/// A cheater that sees the masked inputs before it garbles.
struct Watching {
    adversary: FnAdversary,
    masked: Arc<Mutex<Vec<u8>>>,
}

impl Adversary for Watching {
    fn outgoing(&mut self, kind: &'static str, index: usize, payload: &mut Vec<u8>) -> Action {
        self.adversary.outgoing(kind, index, payload)
    }

    fn incoming(&mut self, kind: &'static str, index: usize, payload: &[u8]) {
        if kind == "masked inputs" {
            *self.masked.lock().unwrap() = payload.to_vec();
        }
        self.adversary.incoming(kind, index, payload);
    }

    fn state(&mut self, point: &'static str, data: &mut [u8]) {
        self.adversary.state(point, data);
    }
}

/// Step 8, with inputs masked first: a garbler corrupts a half-gate that it chooses by the masked
/// inputs. One that they make the evaluator use is always caught. One that they do not is never
/// caught, and harms nobody: the garbler learns only what it knew from the masked inputs.
/// Cheat: 2, G, adapts | step 8 | a half-gate that it chooses by the masked inputs: one that is
/// used, one that is not | `circuit authentication`; nobody, and outputs are right | always; never
#[test]
fn half_gates_chosen_by_the_masked_inputs() {
    let setting = setting(&ywz::SPEC, 2);
    for (used, _) in [true, false].into_iter().flat_map(|used| (0..4).map(move |run| (used, run))) {
        let (masked, spoiled) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (seen, count) = (masked.clone(), spoiled.clone());
        // 𝒢_0 of a gate of the first layer is used where the masked input of the evaluator is 1.
        let spoil = message(GARBLED, 0, move |half_gates| {
            let seen: Vec<u8> = seen.lock().unwrap().clone();
            let chosen =
                (0..SEGMENT_GATES).find(|gate| (seen[gate / 8] >> (gate % 8) & 1 == 1) == used);
            if let Some(gate) = chosen {
                half_gates[32 * gate] ^= 1;
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let ended = common::run_all(setting, &circuit(2), &inputs(2), |nets| {
            let adversary = Watching { adversary: careless(spoil), masked };
            nets[1].lanes[0][0].set_adversary(Box::new(adversary));
        });
        if used && spoiled.load(Ordering::SeqCst) > 0 {
            common::assert_caught(&ended[0], 1, "circuit authentication");
        } else {
            let expected = common::expected(&circuit(2), 0, &inputs(2));
            assert_eq!(ended[0].outputs.as_ref(), Ok(&expected));
        }
    }
}

/// Counts the messages of a kind.
fn counting(kind: &'static str, seen: &Arc<AtomicUsize>) -> FnAdversary {
    let seen = seen.clone();
    let count = FnAdversary::new().on_outgoing(move |sent, _, _| {
        seen.fetch_add(usize::from(sent == kind), Ordering::SeqCst);
        Action::Send
    });
    count.listening()
}

/// Records the kinds of the messages of an honest party.
fn recording(sent: &Arc<Mutex<Vec<&'static str>>>) -> FnAdversary {
    let sent = sent.clone();
    let record = FnAdversary::new().on_outgoing(move |kind, _, _| {
        sent.lock().unwrap().push(kind);
        Action::Send
    });
    record.listening()
}

/// Step 12: every segment has its own χ, which earlier messages do not reveal.
/// Cheat: 2, G | step 12 | nothing: G looks for a χ that it has seen | every segment's χ is fresh |
/// always
#[test]
fn no_two_stretches_share_their_chi() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let listener = seen.clone();
    let listen = FnAdversary::new().on_incoming(move |kind, _, payload| {
        if kind == VALUES {
            listener.lock().unwrap().push(payload[payload.len() - 16..].to_vec());
        }
    });
    let ended = run(setting(&ywz::SPEC, 2), vec![(1, 0, listen)]);
    assert!(ended.iter().all(|ended| ended.outputs.is_ok()));
    let mut all = seen.lock().unwrap().clone();
    assert_eq!(all.len(), SEGMENTS);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), SEGMENTS);
}

/// After a failed check in a segment the set-up is dead.
/// Cheat: 2 | after a failed check | another evaluation | the engine refuses | always
#[test]
fn after_a_failed_check_everything_is_refused() {
    assert_refuses_everything_after(wrk(), 0, "Beaver: d, e", "Beaver MAC");
    let setting = meanwhile(wrk());
    assert_refuses_everything_after(setting, 0, "Beaver: d, e", "Beaver MAC");
    assert_refuses_everything_after(setting, 1, "bucketing: d", "bucketing MAC");
}

fn assert_refuses_everything_after(
    setting: Setting,
    lane: usize,
    kind: &'static str,
    check: &'static str,
) {
    let lie = message(kind, 1, |p| p[0] ^= 2);
    let again = |mut net: Network| -> (Result<()>, Result<()>) {
        let circuit = circuit(2);
        let compiled = common::compiled(setting, &circuit);
        let inputs = common::inputs_of(&circuit, net.me.number(), &inputs(2));
        let mut engine = setting.protocol.set_up(&mut net).unwrap();
        let first = engine.stream(&mut net, &compiled, &inputs).map(drop);
        let second = engine.stream(&mut net, &compiled, &inputs).map(drop);
        (first, second)
    };
    let [mut cheater, honest] = common::networks(setting);
    cheater.lanes[lane][0].set_adversary(Box::new(lie));
    let (first, second) = std::thread::scope(|scope| {
        scope.spawn(|| again(cheater));
        scope.spawn(|| again(honest)).join().unwrap()
    });
    assert_noticed(&first, 0, check);
    assert!(matches!(second, Err(Error::InvalidInput(_))), "{second:?}");
}

/// A party keeps the whole circuit, or has other segments: the messages do not match.
/// Cheat: 2 | any | other segments, or none | `message framing` | always
#[test]
fn other_stretches_than_the_peer_s() {
    for other in [None, Some(SEGMENT_GATES as u64 / 2)] {
        for protocol in [&wrk::SPEC, &ywz::SPEC] {
            let circuit = circuit(2);
            let setting = setting(protocol, 2);
            let compiled = common::compiled(setting, &circuit);
            let [a, mut b] = common::networks(setting);
            b.segment_gates = other.unwrap_or(b.segment_gates);
            let part = |net: Network, segment_gates: Option<u64>| {
                let inputs = common::inputs_of(&circuit, net.me.number(), &inputs(2));
                let setting = Setting { segment_gates, known: true, ..setting };
                common::party(setting, net, [&compiled; 2], &inputs)
            };
            let ended = std::thread::scope(|scope| {
                let b = scope.spawn(|| part(b, other));
                [part(a, setting.segment_gates), b.join().unwrap()]
            });
            // Party 1 may still be waiting for a message when party 0 ends.
            let checks = ["message framing"];
            common::endings(&ended, &[1]).assert_caught_by([0], &checks);
            assert_ne!(common::endings(&ended, &[0]).of(1, &checks), Outcome::Finished);
        }
    }
}
