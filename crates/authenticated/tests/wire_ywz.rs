//! Bytes of every phase of `ywz`, as counted by the meter: message by message, exactly, and against
//! Table 2 of Yang–Wang–Zhang 2020.

use crate::common::{self, Setting, assert_runs};
use symbolon_authenticated::ywz;
use symbolon_circuit::{Circuit, Plan, Receivers};
use symbolon_engine::{GateForm, Rho};
use symbolon_ot::cot::MAX_DRAW;
use symbolon_preprocessing::bucketing::{self, Batch};
use symbolon_preprocessing::{ashare_check, laand};
use symbolon_transport::PhaseReport;

/// The size of a message's header in bytes.
const HEADER: u64 = 8;

/// The minimum number of gates in every chunk but the last: batches of the plan are not split.
const CHUNK: u64 = 8192;

/// The bytes and messages that one party sends to one peer.
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
    /// 128 more rows that are discarded; then 128 column hashes and x̃.
    fn draw(&mut self, n: u64) {
        self.message(16 * (n.next_multiple_of(128) + 128));
        self.message(16 * (128 + 1));
    }

    /// Counts `n` authenticated bits; among several parties with the digests of the other peers'
    /// corrections.
    fn bits(&mut self, parties: u64, n: u64) {
        for start in (0..n).step_by(MAX_DRAW) {
            self.draw((n - start).min(MAX_DRAW as u64));
            if parties > 2 {
                self.message(32 * (parties - 2));
            }
        }
    }

    /// Counts the echo of broadcasts.
    fn echo(&mut self, parties: u64) {
        if parties > 2 {
            self.message(32);
        }
    }

    /// Counts a commitment, its echo, then nonce and value.
    fn committed(&mut self, parties: u64, value: u64) {
        self.message(32);
        self.echo(parties);
        self.message(32 + value);
    }

    /// Counts packed bits, and one digest of all their MACs.
    fn opened(&mut self, bits: u64) {
        self.message(bits.div_ceil(8) + 32);
    }

    /// Counts a batch of triples (Figs. 14 and 16).
    fn triples(&mut self, parties: u64, batch: Batch, known: bool) {
        let leaky = batch.leaky();
        let given = if known { batch.triples } else { 0 };
        for start in (0..leaky).step_by(laand::CHUNK) {
            let chunk = (leaky - start).min(laand::CHUNK);
            let given = given.saturating_sub(start).min(chunk);
            let chunk = chunk as u64;
            self.bits(parties, 3 * chunk - given as u64);
            self.message(laand::ULength::for_rho(RHO.bits()).bytes() as u64 * chunk);
        }
        // The bits of ρ, and the messages for them.
        let width = laand::ULength::for_rho(RHO.bits()).width();
        let bits = laand::zero_test_bits(width) as u64;
        self.bits(parties, bits);
        self.message(bits * width.bytes() as u64);
        self.echo(parties);
        self.committed(parties, (leaky as u64).div_ceil(8) + 32);
        self.message(width.bytes() as u64);
        self.committed(parties, 16);
        // The openings of bucketing: bits, and later one sum of all their MACs.
        self.message(((leaky - batch.triples) as u64).div_ceil(8));
        self.message(16);
    }
}

const RHO: Rho = Rho::Bits40;

/// The parameters of a run: |C|, and each party's parts of |I| and |O|.
struct Run {
    parties: u64,
    ands: u64,
    inputs: u64,
    outputs: u64,
    /// Whether the triples are made for the circuit.
    known: bool,
}

impl Run {
    fn peers(&self, party: u64) -> impl Iterator<Item = u64> {
        (0..self.parties).filter(move |&peer| peer != party)
    }

    /// Returns what a party sends to all its peers, given what it sends to one.
    fn sum(&self, party: u64, to: impl Fn(&mut Traffic, u64)) -> Traffic {
        let mut all = Traffic::default();
        self.peers(party).for_each(|peer| to(&mut all, peer));
        all
    }

    /// Base OTs in one direction of every pair, and the draw from which the other direction starts;
    /// with more than two parties the check that everybody has one Δ (Fig. 5).
    fn setup(&self, party: u64) -> Traffic {
        let n = self.parties;
        self.sum(party, |traffic, peer| {
            if party < peer {
                traffic.message(32);
                traffic.draw(128);
            } else {
                traffic.message(128 * (32 + 48));
            }
            if n > 2 {
                traffic.bits(n, ashare_check::SHARES as u64);
                traffic.echo(n);
                traffic.message(16);
                traffic.message(16);
                traffic.echo(n);
                traffic.committed(n, 16 * n);
            }
        })
    }

    /// Fig. 6, steps 1 to 4.
    fn independent(&self, party: u64) -> Traffic {
        let n = self.parties;
        self.sum(party, |traffic, _| {
            let plan = if self.known { bucketing::plan_on } else { bucketing::plan };
            let batches = plan(self.ands as usize, 40, n as usize - 1);
            // The masks of a known circuit's inputs and AND outputs are drawn together.
            let masks = if self.known { self.ands } else { 0 };
            traffic.bits(n, self.inputs + masks);
            if !self.known {
                traffic.echo(n);
            }
            for batch in batches {
                traffic.triples(n, batch, self.known);
                if !self.known {
                    traffic.bits(n, batch.triples as u64);
                    traffic.echo(n);
                }
            }
        })
    }

    /// Fig. 6, steps 5 to 8: two opened bits per gate to everybody, or one, and from each garbler
    /// to the evaluator two half-gates and four rows for each other garbler; from the first garbler
    /// also one bit.
    fn dependent(&self, party: u64) -> Traffic {
        let chunks = self.chunks();
        self.sum(party, |traffic, peer| {
            for &gates in &chunks {
                traffic.opened(if self.known { gates } else { 2 * gates });
                for first in (0..gates).step_by(1024).filter(|_| peer == 0) {
                    let gates = (gates - first).min(1024);
                    let pointers = if party == 1 { gates.div_ceil(8) } else { 0 };
                    traffic.message(16 * gates * (2 + 4 * (self.parties - 2)) + pointers);
                }
            }
        })
    }

    /// Returns the number of gates in each chunk of the pass.
    fn chunks(&self) -> Vec<u64> {
        let circuit = self.circuit();
        let plan = Plan::new(&circuit);
        let mut cursor = plan.cursor();
        let mut chunks = vec![0];
        while let Some(batch) = cursor.next_batch() {
            if chunks.last().is_some_and(|&gates| gates >= CHUNK) {
                chunks.push(0);
            }
            *chunks.last_mut().expect("there is one") += batch.ands.len() as u64;
        }
        chunks.retain(|&gates| gates > 0);
        assert_eq!(chunks.iter().sum::<u64>(), self.ands);
        chunks
    }

    /// Fig. 7, steps 9 to 13: Λ of the inputs to everybody; labels, z and output masks from the
    /// garblers; Λ of all gates and their proof from the evaluator, and its output masks.
    fn online(&self, party: u64) -> Traffic {
        self.sum(party, |traffic, peer| {
            traffic.message(self.inputs.div_ceil(8));
            traffic.echo(self.parties);
            if party == 0 {
                traffic.message(self.ands.div_ceil(8) + 32 + 16);
            } else if peer == 0 {
                traffic.message(16 * self.inputs * self.parties);
                traffic.message(16);
            }
            traffic.opened(self.outputs);
        })
    }

    /// Returns AND gates in layers, each as wide as a party's inputs; the last wires are the
    /// outputs.
    fn circuit(&self) -> Circuit {
        let width = self.inputs as u32;
        let all = width * self.parties as u32;
        // Each gate reads a gate of the previous layer, or an input, and another input.
        let step = |k: u32| (0, all + k - width, (k * 7 + k / width) % all);
        let steps: Vec<(u8, u32, u32)> = (0..self.ands as u32).map(step).collect();
        let wires = all + steps.len() as u32;
        let outputs = (wires - self.outputs as u32..wires).collect();
        let widths = vec![width; self.parties as usize];
        common::circuit(&widths, &steps, vec![(outputs, Receivers::All)])
    }
}

fn phase<'a>(reports: &'a [PhaseReport], name: &str) -> &'a PhaseReport {
    reports.iter().find(|report| report.phase == name).expect("every phase is reported")
}

/// Runs, and compares every phase of every party.
fn assert_wire(run: &Run) -> Vec<Vec<PhaseReport>> {
    let all: Vec<Vec<bool>> =
        (0..run.parties).map(|p| (0..run.inputs).map(|i| (i + p) % 3 == 0).collect()).collect();
    let setting = Setting {
        protocol: &ywz::SPEC,
        parties: run.parties as u16,
        rho: RHO,
        known: run.known,
        ..Setting::default()
    };
    let ended = assert_runs(setting, &run.circuit(), &all);
    let reports: Vec<Vec<PhaseReport>> = ended.into_iter().map(|ended| ended.phases).collect();
    for (party, reports) in (0..).zip(&reports) {
        for (name, formula) in [
            ("setup", run.setup(party)),
            ("independent", run.independent(party)),
            ("dependent", run.dependent(party)),
            ("online", run.online(party)),
        ] {
            let report = phase(reports, name);
            let sent = Traffic { bytes: report.bytes_sent, messages: report.messages_sent };
            assert_eq!(sent, formula, "party {party} of {}, {name}", run.parties);
        }
    }
    reports
}

#[test]
fn every_phase_is_as_long_as_the_formulas_say() {
    for (parties, ands, inputs, outputs) in
        [(2, 1, 1, 1), (2, 330, 9, 17), (3, 70, 8, 1), (3, 500, 130, 200), (5, 33, 3, 9)]
    {
        for known in [false, true] {
            assert_wire(&Run { parties, ands, inputs, outputs, known });
        }
    }
}

/// The half-gates form of `wrk` sends the same, with the roles exchanged.
#[test]
fn half_gates_of_wrk_are_as_long() {
    let run = Run { parties: 2, ands: 330, inputs: 9, outputs: 17, known: false };
    let setting = Setting { form: GateForm::HalfGates, ..Setting::default() };
    let ended = assert_runs(setting, &run.circuit(), &[vec![true; 9], vec![false; 9]]);
    for (party, role) in [(0, 1), (1, 0)] {
        let formulas = [("dependent", run.dependent(role)), ("online", run.online(role))];
        for (name, formula) in formulas {
            let report = phase(&ended[party].phases, name);
            let sent = Traffic { bytes: report.bytes_sent, messages: report.messages_sent };
            assert_eq!(sent, formula, "party {party}, {name}");
        }
    }
}

/// More gates than one chunk of the pass, and more masks than one draw; the last chunk is a short
/// one.
#[test]
fn several_chunks_are_as_long_as_the_formulas_say() {
    for (parties, ands, inputs, chunks) in [(2, 33_000, 250, 5), (3, 17_000, 130, 3)] {
        let run = Run { parties, ands, inputs, outputs: 20, known: true };
        assert_eq!(run.chunks().len(), chunks);
        assert_wire(&run);
    }
}

/// Asserts that `bytes` is at most 5 % above `table` bits plus `constant` bytes.
#[track_caller]
fn assert_near(what: &str, bytes: u64, table: u64, constant: u64) {
    let table = table as f64 / 8.0;
    let (low, high) = (table, 1.05 * table + constant as f64);
    assert!((low..high).contains(&(bytes as f64)), "{what}: {bytes} bytes, by the table {table}");
}

/// Table 2, "this paper", the maximum that one party sends: with IKNP's κ bits per correlated OT.
/// Constants do not grow with the circuit: headers, digests, coins, sacrificed rows and column
/// hashes.
#[test]
fn table_2() {
    const KAPPA: u64 = 128;
    for parties in [2, 3, 5] {
        // As many gates as a batch yields, so that no unused triples are made.
        let run = Run { parties, ands: 4_186, inputs: 200, outputs: 128, known: false };
        let [batch] = bucketing::plan(run.ands as usize, 40, parties as usize - 1)[..] else {
            panic!("one batch");
        };
        assert_eq!(batch.triples as u64, run.ands);
        let reports = assert_wire(&run);
        let sent = |name| reports.iter().map(|r| phase(r, name).bytes_sent).max().unwrap();

        let (bucket, ands, peers) = (batch.bucket as u64, run.ands, parties - 1);
        let (inputs, outputs) = (run.inputs * parties, run.outputs);
        // (4B + 1)(n − 1)|C|κ + (1 − 1/n)|I|κ, except that U has 64 bits, so one of the 4B counts
        // half. A leaky triple's d and the bits opened in bucketing, 2 bits in 3.5κ, are not in the
        // table. To each peer: four draws of 128 + 129 rows, and a few hundred bytes.
        let table = (3 * bucket + 1) * peers * ands * KAPPA
            + bucket * peers * ands * 64
            + inputs * KAPPA * (parties - 1) / parties;
        let draws = 2 + leaky_chunks(batch);
        assert_near("independent", sent("independent"), table, peers * (draws * 6_144 + 2_048));

        // (4n − 6)|C|κ + (2n − 1)|C|: one party sends all its rows, and 2(n − 1)|C| bits.
        let table = (4 * parties - 6) * ands * KAPPA + (2 * parties - 1) * ands;
        assert_near("dependent", sent("dependent"), table, peers * 64);

        // max{|I|κ, |C|} + |I|/n + |O|. The table counts data for all peers once; here they count
        // for each peer.
        let own = run.inputs + outputs;
        let evaluator = peers * (ands + own);
        let garbler = inputs * KAPPA + peers * own;
        assert_near("online", sent("online"), evaluator.max(garbler), peers * 192);
    }
}

fn leaky_chunks(batch: Batch) -> u64 {
    batch.leaky().div_ceil(laand::CHUNK) as u64
}
