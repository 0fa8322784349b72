//! Every fault at every message: whatever one party's messages become, both parties end in time, without
//! a panic, and nobody with a wrong output.
//!
//! One party is faulty at one message, counted over all that it sends; a clean run says how many there
//! are. The party that needed the message must end in an error. The faulty party may have had all it
//! needed, and then ends with the right output.
#![allow(missing_docs)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{Ended, Setting, sweep};
use symbolon_circuit::{Circuit, Receivers};
use symbolon_primitives::{Block, Prg};
use symbolon_protocols::Network;
use symbolon_transport::Error;
use symbolon_transport::bend::{Action, FnBend};

/// How long a party waits for the other; a fault must not make it wait longer than a few times that.
const TIMEOUT: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The message is left out.
    Dropped,
    /// Its last byte is missing.
    CutShort,
    /// All of it but the header is missing.
    Emptied,
    /// A byte more.
    Extended,
    /// Sent twice.
    Doubled,
    /// Random bytes of the same length, not those of the message.
    Random,
    /// One bit of it, by this number modulo its bits.
    Flipped(u64),
    /// The connection ends in its stead.
    Closed,
    /// Neither it nor anything later comes; the connection stays open.
    Silence,
}

impl Fault {
    const ALL: [Fault; 8] = [
        Fault::Dropped,
        Fault::CutShort,
        Fault::Emptied,
        Fault::Extended,
        Fault::Doubled,
        Fault::Random,
        Fault::Closed,
        Fault::Silence,
    ];

    /// Whether the party that needs the message cannot end well. A message that is there twice was there;
    /// and there are bits that change nothing, as a guess that was right, or a label that nobody reads.
    fn must_be_noticed(self) -> bool {
        !matches!(self, Fault::Doubled | Fault::Flipped(_))
    }

    fn strike(self, payload: &mut Vec<u8>) -> Action {
        match self {
            Fault::Dropped => return Action::Drop,
            Fault::Doubled => return Action::Twice,
            Fault::Closed => return Action::Close,
            Fault::Silence => return Action::Stall,
            Fault::CutShort => drop(payload.pop()),
            Fault::Emptied => payload.clear(),
            Fault::Extended => payload.push(0x5a),
            Fault::Flipped(number) => {
                let bit = (number % (8 * payload.len() as u64)) as usize;
                payload[bit / 8] ^= 1 << (bit % 8);
            }
            Fault::Random => {
                let before = payload.clone();
                Prg::from_os().expect("the system has randomness").fill(payload);
                if *payload == before {
                    payload[0] ^= 1;
                }
            }
        }
        Action::Send
    }
}

/// A fault of one party at one of its messages.
#[derive(Clone, Copy, Debug)]
struct Case {
    party: u16,
    lane: usize,
    index: usize,
    fault: Fault,
}

/// A circuit of which both parties learn the output, so that each message is needed by its receiver;
/// with so many gates that triples are made on all lanes up to this one.
fn circuit(lane: usize) -> Circuit {
    let width = if lane == 0 { 8 } else { 1_400 };
    common::two_layers(width, Receivers::All)
}

fn inputs(circuit: &Circuit) -> [Vec<bool>; 2] {
    let width = circuit.main().inputs / 2;
    [(0..width).map(|i| i % 3 != 1).collect(), (0..width).map(|i| i != 5).collect()]
}

/// Runs with `strike` at every message of one party on one lane, by its number.
fn run(
    (party, lane): (u16, usize),
    timeout: Duration,
    mut strike: impl FnMut(usize, &mut Vec<u8>) -> Action + Send + 'static,
) -> [Ended; 2] {
    let mut index = 0;
    let bend = FnBend::new().on_outgoing(move |_, _, payload| {
        index += 1;
        strike(index - 1, payload)
    });
    let prepare = |nets: &mut [Network; 2]| {
        let lanes = nets.iter_mut().flat_map(|net| net.lanes.iter_mut().flatten());
        lanes.for_each(|lane| lane.set_timeout(timeout));
        nets[usize::from(party)].lanes[lane][0].set_bend(Box::new(bend));
    };
    let circuit = circuit(lane);
    let setting = Setting { lanes: lane + 1, ..Setting::default() };
    common::run_bent(setting, &circuit, &inputs(&circuit), prepare)
}

/// How many messages a party sends on a lane in a clean run.
fn messages(party: u16, lane: usize) -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let ended = run((party, lane), sweep::HANGING, move |_, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        Action::Send
    });
    assert!(ended.iter().all(|ended| ended.outputs.is_ok()), "the clean run");
    count.load(Ordering::Relaxed)
}

/// What is wrong with how a case ended, if anything is.
fn verdict(case: Case, ended: &[Ended; 2]) -> Result<(), String> {
    let circuit = circuit(case.lane);
    for (party, ended) in (0..).zip(ended) {
        let right = common::expected(&circuit, party, &inputs(&circuit));
        match &ended.outputs {
            Ok(outputs) if *outputs != right => return Err(format!("party {party}: wrong output")),
            Ok(_) if party != case.party && case.fault.must_be_noticed() => {
                return Err(format!("party {party}: an output without the message"));
            }
            Ok(_) => {}
            Err(Error::PeerMisbehaved { party: accused, .. }) if *accused == 1 - party => {}
            Err(Error::Transport { .. }) => {}
            Err(error) => return Err(format!("party {party}: {error}")),
        }
    }
    Ok(())
}

/// Runs one case; says what is wrong with how it ended.
fn attempt(case: Case) -> Result<(), String> {
    let ended = run((case.party, case.lane), TIMEOUT, move |index, payload| {
        if index == case.index { case.fault.strike(payload) } else { Action::Send }
    });
    verdict(case, &ended)
}

/// Tries every message of a party on a lane with the faults that `faults` gives for it.
fn every_message(party: u16, lane: usize, mut faults: impl FnMut() -> Vec<Fault>) {
    let messages = messages(party, lane);
    // At least a base OT, for each of three draws two messages, U, four commitments and openings, two
    // openings with MACs, one online; on another lane one draw and U. Fewer would try too little.
    let least = if lane == 0 { 19 } else { 3 };
    assert!(messages >= least, "party {party} sends {messages} messages only");
    let cases = (0..messages).flat_map(|index| {
        faults().into_iter().map(move |fault| Case { party, lane, index, fault })
    });
    sweep::try_all(cases.collect(), attempt);
}

#[test]
fn every_fault_of_the_garbler() {
    every_message(0, 0, || Fault::ALL.to_vec());
}

#[test]
fn every_fault_of_the_evaluator() {
    every_message(1, 0, || Fault::ALL.to_vec());
}

#[test]
fn every_fault_on_a_second_lane() {
    for party in [0, 1] {
        every_message(party, 1, || Fault::ALL.to_vec());
    }
}

/// Bits of every message of both parties: the first one, and some more.
#[test]
fn flipped_bits() {
    let mut prg = Prg::from_seed(Block(1));
    for party in [0, 1] {
        every_message(party, 0, || {
            let bits = (0..5).map(|_| prg.u64());
            bits.chain([0]).map(Fault::Flipped).collect()
        });
    }
}
