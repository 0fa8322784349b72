//! Common parts of the tests of cheats.

use std::sync::{Arc, Mutex};

use symbolon_authenticated::ywz;
use symbolon_circuit::{Circuit, Plan};
use symbolon_engine::{GateForm, OutputBits};
use symbolon_transport::Error;
use symbolon_transport::adversary::{Action, Adversary, CheckName, Endings, FnAdversary, Outcome};

use crate::common::{self, Ended, Setting};
pub use crate::common::{careless, circuit_of};

/// Input bits of each party, and gates of each of the two layers.
pub const WIDTH: usize = 16;

/// The number of AND gates.
pub const GATES: usize = 2 * WIDTH;

/// The numbers of parties with which the cheats are tried.
pub const PARTIES: [u16; 3] = [2, 3, 5];

/// The garbler whose labels carry the masked values.
pub const POINTER: u16 = 1;

pub const MASKED: &str = "masked inputs";
pub const LABELS: &str = "input labels";
pub const GARBLED: &str = "garbled gates";
pub const VALUES: &str = "masked values, label digest, chi";
pub const AUTHENTICATION: &str = "circuit authentication";
pub const OUTPUTS: &str = "output masks";

pub const LABEL_CHECK: &str = "masked value label";
pub const AUTHENTICATION_CHECK: &str = "circuit authentication";
pub const OUTPUT_CHECK: &str = "output mask MAC";
pub const ECHO_CHECK: &str = "broadcast echo";
pub const FRAMING: &str = "message framing";
pub const PADDING: &str = "padding of packed bits";

/// The checks of the gates, at a garbler and at the evaluator.
pub const CHECKS: [&str; 2] = [LABEL_CHECK, AUTHENTICATION_CHECK];

/// Returns the circuit of most tests.
pub fn circuit(parties: u16) -> Circuit {
    circuit_of(WIDTH as u32, parties)
}

/// Returns everybody's inputs.
pub fn inputs(parties: u16) -> Vec<Vec<bool>> {
    let bits = |party: usize| (0..WIDTH).map(|i| (i * i + party * i + i / 3) % 5 < 3).collect();
    (0..usize::from(parties)).map(bits).collect()
}

/// Returns the right outputs of a party.
pub fn right(parties: u16, party: u16) -> OutputBits {
    common::expected(&circuit(parties), party, &inputs(parties))
}

/// Returns the peers of a party.
pub fn peers(parties: u16, party: u16) -> Vec<u16> {
    (0..parties).filter(|&peer| peer != party).collect()
}

/// One party's adversary on its channel to one peer.
pub type Cheat = (u16, u16, FnAdversary);

/// How a run with cheats ended.
pub struct Run {
    pub ended: Vec<Ended>,
    cheaters: Vec<u16>,
    sent: Vec<Sent>,
}

/// What a party sent.
#[derive(Clone, Default)]
struct Sent {
    /// Its masked inputs, to its last peer.
    masked: Vec<u8>,
    /// Whether it opened output masks to any peer.
    opened: bool,
}

/// Runs `parties` parties with these cheats.
pub fn run(parties: u16, cheats: Vec<Cheat>) -> Run {
    run_circuit(&circuit(parties), &inputs(parties), cheats)
}

/// Runs the half-gates form of `wrk`, in which party 1 is the evaluator.
pub fn run_wrk(cheats: Vec<Cheat>) -> Run {
    let setting = Setting { form: GateForm::HalfGates, ..Setting::default() };
    let circuit = circuit(2);
    run_setting(setting, &circuit, &|_| &circuit, &inputs(2), cheats)
}

/// Runs with cheaters that prepare another circuit, and then continue with the right one.
pub fn run_preparing(parties: u16, other: &Circuit, cheats: Vec<Cheat>) -> Run {
    let cheaters: Vec<u16> = cheats.iter().map(|(cheater, ..)| *cheater).collect();
    let circuit = circuit(parties);
    let prepared = |party| if cheaters.contains(&party) { other } else { &circuit };
    run_setting(ywz(parties), &circuit, &prepared, &inputs(parties), cheats)
}

/// Runs another circuit, among as many parties as have inputs.
pub fn run_circuit(circuit: &Circuit, inputs: &[Vec<bool>], cheats: Vec<Cheat>) -> Run {
    run_setting(ywz(inputs.len() as u16), circuit, &|_| circuit, inputs, cheats)
}

fn ywz(parties: u16) -> Setting {
    Setting { protocol: &ywz::SPEC, parties, ..Setting::default() }
}

fn run_setting<'a>(
    setting: Setting,
    circuit: &'a Circuit,
    prepared: &dyn Fn(u16) -> &'a Circuit,
    inputs: &[Vec<bool>],
    cheats: Vec<Cheat>,
) -> Run {
    let sent = Arc::new(Mutex::new(vec![Sent::default(); inputs.len()]));
    let mut cheaters: Vec<u16> = cheats.iter().map(|(cheater, ..)| *cheater).collect();
    cheaters.dedup();
    let ended = common::run_preparing(setting, circuit, prepared, inputs, |nets| {
        let mut cheats = cheats;
        for net in nets {
            for channel in net.lanes[0].iter_mut() {
                let at = |cheat: &Cheat| {
                    (cheat.0, cheat.1) == (net.me.number(), channel.peer().number())
                };
                let adversary = cheats.iter().position(at).map(|at| cheats.swap_remove(at).2);
                let adversary = adversary.unwrap_or_else(|| FnAdversary::new().listening());
                let tap = Tap { adversary, me: usize::from(net.me), sent: sent.clone() };
                channel.set_adversary(Box::new(tap));
            }
        }
        assert!(cheats.is_empty(), "a cheat without a channel");
    });
    let sent = sent.lock().unwrap().clone();
    Run { ended, cheaters, sent }
}

/// Records what a party sends, whether or not anybody receives it.
struct Tap {
    adversary: FnAdversary,
    me: usize,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl Adversary for Tap {
    fn outgoing(&mut self, kind: &'static str, index: usize, payload: &mut Vec<u8>) -> Action {
        let action = self.adversary.outgoing(kind, index, payload);
        let mut sent = self.sent.lock().unwrap();
        let sent = &mut sent[self.me];
        if kind == MASKED {
            sent.masked.clone_from(payload);
        }
        sent.opened |= kind == OUTPUTS;
        action
    }

    fn incoming(&mut self, kind: &'static str, index: usize, payload: &[u8]) {
        self.adversary.incoming(kind, index, payload);
    }

    fn state(&mut self, point: &'static str, data: &mut [u8]) {
        self.adversary.state(point, data);
    }

    fn cheats(&self) -> bool {
        self.adversary.cheats()
    }
}

impl Run {
    /// Returns Λ_α and Λ_β of gate number `gate` of the first layer.
    pub fn masked_inputs(&self, gate: usize) -> [bool; 2] {
        [0, 1].map(|party| self.sent[party].masked[gate / 8] >> (gate % 8) & 1 == 1)
    }

    /// Returns how the honest parties ended.
    pub fn honest(&self) -> impl Iterator<Item = (u16, &Result<OutputBits, Error>)> {
        let all = (0..).zip(self.ended.iter().map(|ended| &ended.outputs));
        all.filter(|(party, _)| !self.cheaters.contains(party))
    }

    /// Asserts that every honest party ended in an error, at least one of them at this check.
    #[track_caller]
    pub fn assert_caught(&self, at: impl CheckName) {
        self.assert_caught_by_one_of(&[at]);
    }

    /// Asserts the same if honest parties may end at different checks. A party whose check of the
    /// gates fails has opened no output mask.
    #[track_caller]
    pub fn assert_caught_by_one_of(&self, checks: &[impl CheckName]) {
        self.endings().assert_caught(checks);
        for (party, ended) in self.honest() {
            let check = ended.as_ref().err().and_then(Error::check);
            if check.is_some_and(|check| CHECKS.contains(&check.name())) {
                let opened = self.sent[usize::from(party)].opened;
                assert!(!opened, "party {party} opened output masks before its check");
            }
        }
    }

    /// Asserts that the victim saw the check fail. For a cheat in the last messages: the others may
    /// have received everything they needed, and nobody has anything wrong.
    #[track_caller]
    pub fn assert_caught_at_the_end(&self, victim: u16, at: impl CheckName) {
        self.endings().assert_caught_by([victim], &[at]);
        for (party, ended) in self.honest() {
            if self.endings().of(party, &[at]) == Outcome::Finished {
                assert_eq!(ended.as_ref(), Ok(&right(self.ended.len() as u16, party)));
            }
        }
    }

    fn endings(&self) -> Endings<'_> {
        Endings::new(self.ended.iter().map(|ended| &ended.outputs), &self.cheaters)
    }

    /// Asserts that every honest party has the right outputs, and has opened its output masks.
    #[track_caller]
    pub fn assert_harmless(&self) {
        for (party, ended) in self.honest() {
            let outputs = ended.as_ref().unwrap_or_else(|error| panic!("party {party}: {error}"));
            assert_eq!(outputs, &right(self.ended.len() as u16, party));
            assert!(self.sent[usize::from(party)].opened, "party {party} opened nothing");
        }
    }

    /// Asserts that no honest party has outputs, and none accuses anybody.
    #[track_caller]
    pub fn assert_broken_off(&self) {
        for (party, ended) in self.honest() {
            assert!(matches!(ended, Err(Error::Transport { .. })), "party {party}: {ended:?}");
        }
    }
}

/// Changes the first message of one kind.
pub fn message(
    kind: &'static str,
    mut f: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> FnAdversary {
    FnAdversary::new().on_message(kind, 0, move |payload| {
        f(payload);
        Action::Send
    })
}

/// The first layer's gates come first, in order, and read the inputs of parties 0 and 1.
#[test]
fn the_first_layer_comes_first() {
    for parties in PARTIES {
        let circuit = circuit(parties);
        let plan = Plan::new(&circuit);
        assert_eq!(plan.and_count() as usize, GATES);
        let mut cursor = plan.cursor();
        let batch = cursor.next_batch().expect("there are gates");
        assert_eq!((batch.linear.len(), batch.ands.len()), (0, WIDTH));
        for (i, and) in batch.ands.iter().enumerate() {
            let wire = |slot: u32| slot as usize - plan.input_slots().start;
            assert_eq!((wire(and.a), wire(and.b)), (i, WIDTH + i));
        }
    }
}

/// Runs in which nobody cheats are right, and ignoring labels alone changes nothing.
#[test]
fn nobody_cheats() {
    for parties in PARTIES {
        run(parties, Vec::new()).assert_harmless();
        run(parties, vec![(POINTER, 0, careless(FnAdversary::new()))]).assert_harmless();
    }
}
