//! Bytes, messages and rounds of every phase of `wrk`, as counted by the meter, against formulas
//! from the papers.

use crate::common::{self, Setting, assert_runs};
use symbolon_circuit::{Circuit, Receivers};
use symbolon_engine::Rho;
use symbolon_preprocessing::bucketing::{self, Batch};
use symbolon_preprocessing::laand;
use symbolon_transport::PhaseReport;

/// The size of a message's header in bytes.
const HEADER: u64 = 8;

/// The bytes and messages that one party sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traffic {
    bytes: u64,
    messages: u64,
}

impl Traffic {
    fn message(&mut self, payload: u64) {
        self.bytes += HEADER + payload;
        self.messages += 1;
    }

    /// Counts `n` correlated OTs by IKNP: 128 columns of n bits, rounded up to whole blocks, and
    /// 128 more rows that are discarded; then 128 column hashes and x̃. That is 16 bytes per OT,
    /// and 4 KiB per draw.
    fn draw(&mut self, n: u64) {
        self.message(16 * (n.div_ceil(128) * 128 + 128));
        self.message(16 * (128 + 1));
    }

    /// Counts a commitment, then nonce and value.
    fn committed(&mut self, value: u64) {
        self.message(32);
        self.message(32 + value);
    }

    /// Counts packed bits, and one digest of all their MACs.
    fn opened(&mut self, bits: u64) {
        self.message(bits.div_ceil(8) + 32);
    }

    /// Counts a batch of triples (YWZ20 Figs. 14 and 16). Per leaky triple: three OTs, or two if
    /// its y is given, and U. Per triple: B − 1 opened bits. Per batch: a coin with d, and the test
    /// of V.
    fn triples(&mut self, batch: Batch, rho: u32, known: bool) {
        let leaky = batch.leaky();
        let given = if known { batch.triples } else { 0 };
        for start in (0..leaky).step_by(laand::CHUNK) {
            let chunk = (leaky - start).min(laand::CHUNK);
            let given = given.saturating_sub(start).min(chunk);
            let chunk = chunk as u64;
            self.draw(3 * chunk - given as u64);
            self.message(laand::ULength::for_rho(rho).bytes() as u64 * chunk);
        }
        // The bits of ρ, and the messages for them.
        let width = laand::ULength::for_rho(rho).width();
        let bits = laand::zero_test_bits(width) as u64;
        self.draw(bits);
        self.message(bits * width.bytes() as u64);
        self.committed((leaky as u64).div_ceil(8) + 32);
        self.message(width.bytes() as u64);
        self.committed(16);
        // The openings of bucketing: bits, and later one sum of all their MACs.
        self.message(((leaky - batch.triples) as u64).div_ceil(8));
        self.message(16);
    }
}

/// The parameters of a run.
struct Run {
    ands: u64,
    /// The number of input bits of each party.
    inputs: [u64; 2],
    /// The number of output bits that each party learns.
    outputs: [u64; 2],
    rho: Rho,
    /// Whether the triples are made for the circuit.
    known: bool,
}

impl Run {
    /// Base OTs in one direction (one point, then two points per OT), and the draw from which the
    /// other direction starts.
    fn setup(&self, party: usize) -> Traffic {
        let mut traffic = Traffic::default();
        if party == 0 {
            traffic.message(32);
            traffic.draw(128);
        } else {
            traffic.message(128 * (32 + 48));
        }
        traffic
    }

    /// Fig. 2, steps 1 and 2: the same for both parties except for the masks of their inputs.
    fn independent(&self, party: usize) -> Traffic {
        let mut traffic = Traffic::default();
        let (ands, rho) = (self.ands as usize, self.rho.bits());
        if self.known {
            let [batch] = bucketing::plan_on(ands, rho, 1)[..] else { panic!("one batch") };
            traffic.triples(batch, rho, self.known);
            // One draw for both kinds of masks.
            traffic.draw(self.inputs[party] + self.ands);
            return traffic;
        }
        if self.inputs[party] > 0 {
            traffic.draw(self.inputs[party]);
        }
        for batch in bucketing::plan(ands, rho, 1) {
            traffic.triples(batch, rho, self.known);
            traffic.draw(batch.triples as u64);
        }
        traffic
    }

    /// Fig. 2, steps 3 and 4: two opened bits per gate each way, or one, and from the garbler 3κ +
    /// 4ρ bits per gate.
    fn dependent(&self, party: usize) -> Traffic {
        let mut traffic = Traffic::default();
        traffic.opened(if self.known { self.ands } else { 2 * self.ands });
        if party == 0 {
            for first in (0..self.ands).step_by(1024) {
                let gates = (self.ands - first).min(1024);
                traffic.message(gates * (3 * 128 + 4 * u64::from(self.rho.bits())) / 8);
            }
        }
        traffic
    }

    /// Fig. 2, steps 5 to 8: Λ of the inputs; from the garbler a label for each input wire, and the
    /// openings of the evaluator's outputs; from the evaluator the garbler's outputs with their
    /// proof.
    fn online(&self, party: usize) -> Traffic {
        let packed = |bits: u64| bits.div_ceil(8);
        let mut traffic = Traffic::default();
        if party == 0 {
            let labels = 16 * (self.inputs[0] + self.inputs[1]);
            traffic.message(packed(self.inputs[0]) + labels + packed(self.outputs[1]) + 32);
        } else {
            traffic.message(packed(self.inputs[1]));
            if self.outputs[0] > 0 {
                traffic.message(2 * packed(self.outputs[0]) + 32);
            }
        }
        traffic
    }
}

fn phase<'a>(reports: &'a [PhaseReport], name: &str) -> &'a PhaseReport {
    reports.iter().find(|report| report.phase == name).expect("every phase is reported")
}

/// Runs, and compares every phase of both parties.
fn assert_wire(run: &Run, circuit: &Circuit) -> [Vec<PhaseReport>; 2] {
    let all = run.inputs.map(|bits| (0..bits).map(|i| i % 3 == 0).collect());
    let setting = Setting { rho: run.rho, known: run.known, ..Setting::default() };
    let ended = assert_runs(setting, circuit, &all);
    let reports: Vec<_> = ended.into_iter().map(|ended| ended.phases).collect();
    let reports: [Vec<PhaseReport>; 2] = reports.try_into().expect("two parties");
    for party in [0, 1] {
        for (name, formula) in [
            ("setup", run.setup(party)),
            ("independent", run.independent(party)),
            ("dependent", run.dependent(party)),
            ("online", run.online(party)),
        ] {
            let report = phase(&reports[party], name);
            let sent = Traffic { bytes: report.bytes_sent, messages: report.messages_sent };
            assert_eq!(sent, formula, "party {party}, {name}");
            let received = phase(&reports[1 - party], name);
            assert_eq!(
                (received.bytes_received, received.messages_received),
                (formula.bytes, formula.messages),
                "from party {party}, {name}"
            );
        }
    }
    reports
}

#[test]
fn every_phase_is_as_long_as_the_formulas_say() {
    for (width, rho) in [
        (1, Rho::Bits40),
        (9, Rho::Bits40),
        (200, Rho::Bits40),
        (30, Rho::Bits64),
        (30, Rho::Bits80),
    ] {
        for (to, outputs) in [
            (Receivers::All, [width, width]),
            (Receivers::only([0]), [width, 0]),
            (Receivers::only([1]), [0, width]),
        ] {
            let circuit = common::two_layers(width as u32, to);
            for known in [false, true] {
                let run = Run { ands: 2 * width, inputs: [width, width], outputs, rho, known };
                assert_wire(&run, &circuit);
            }
        }
    }
}

/// Leaky triples that take several chunks.
#[test]
fn many_gates() {
    let (known, rho) = (false, Rho::Bits40);
    let run = Run { ands: 6_000, inputs: [3_000; 2], outputs: [3_000; 2], rho, known };
    let leaky: usize = bucketing::plan(6_000, 40, 1).iter().map(|batch| batch.leaky()).sum();
    assert!(leaky > 2 * laand::CHUNK);
    let circuit = common::two_layers(3_000, Receivers::All);
    let [garbler, _] = assert_wire(&run, &circuit);
    // §6 of the paper: 3κ + 4ρ bits per gate are 68 bytes at ρ = 40; besides these, only two bits
    // per gate grow with the circuit.
    let per_gate = phase(&garbler, "dependent").bytes_sent as f64 / 6_000.0;
    assert!((68.25..68.27).contains(&per_gate), "{per_gate} bytes a gate");

    // If made for the circuit: one bit per gate less here, and before that one correlated OT per
    // gate less, out of 17 including the U, and one check of a draw.
    let [saving, _] = assert_wire(&Run { known: true, ..run }, &circuit);
    let bytes = |reports: &[PhaseReport], name| phase(reports, name).bytes_sent as f64;
    assert_eq!(bytes(&garbler, "dependent") - bytes(&saving, "dependent"), 6_000.0 / 8.0);
    let ratio = bytes(&saving, "independent") / bytes(&garbler, "independent");
    assert!((ratio - 16.0 / 17.0).abs() < 0.01, "{ratio}");
}

/// §6 of the paper, with mask openings moved before the inputs: online is one message each way, and
/// one more to the garbler if it learns an output. A run of sends and a run of receives make one
/// round.
#[test]
fn online_is_one_message_each_way() {
    for (to, outputs, rounds) in
        [(Receivers::only([1]), [0, 8], [1, 1]), (Receivers::All, [8, 8], [2, 2])]
    {
        let run = Run { ands: 16, inputs: [8, 8], outputs, rho: Rho::Bits40, known: true };
        let reports = assert_wire(&run, &common::two_layers(8, to));
        let online = reports.map(|reports| phase(&reports, "online").rounds);
        assert_eq!(online, rounds);
    }
}
