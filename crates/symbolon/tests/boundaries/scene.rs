//! A complete session of all parties, with an interposer on every connection.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use symbolon::circuit::{Circuit, Receivers, Type, builder::Builder, reference};
use symbolon::store::{Protection, Store};
use symbolon::stored::StockedSession;
use symbolon::tinytable::{Commitment, TinyTableOptions};
use symbolon::{
    BitVec, Config, GateForm, Inputs, OtExtension, Outputs, Protocol, Result, SEGMENT_GATES,
    Session, Transport,
};
use symbolon_transport::adversary::{Tamper, Verdict, interposed_pair, tampers};
use symbolon_transport::{Channel, Meter};

use super::sweep::HANGING;

/// The kinds of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// `wrk`, four rows, two parties.
    FourRow,
    /// The same with two threads, and with enough gates for both.
    TwoThreads,
    /// The same with form and OT extension left to the link, which is measured.
    ByLink,
    /// `wrk`, half-gates, two parties.
    HalfGates,
    /// `ywz`, two parties.
    Pair,
    /// `ywz`, three parties.
    Three,
    /// `tinytable`, two parties.
    TinyTable,
    /// The same with tables under a code.
    TableCode,
    /// `duplo`, two parties.
    Duplo,
    /// `dualex`, two parties.
    DualEx,
    /// `wrk`, four rows, two parties, in segments.
    Streamed,
    /// `ywz`, two parties, in segments.
    StreamedPair,
    /// `wrk`, four rows, two parties, in segments, with two threads: the next one is made while one
    /// is garbled.
    StreamedMeanwhile,
    /// `wrk`, four rows, two parties: a session that takes over an execution from stores, makes
    /// another one, and runs both.
    Stocked,
}

/// One direction of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub from: u16,
    pub to: u16,
    pub lane: usize,
}

impl Scene {
    pub fn parties(self) -> u16 {
        if self == Scene::Three { 3 } else { 2 }
    }

    pub fn lanes(self) -> usize {
        match self {
            // Two for the material, one for the passes over the circuit.
            Scene::TwoThreads | Scene::StreamedMeanwhile => 3,
            _ => 1,
        }
    }

    /// Returns whether a party can compute the right output despite what a peer sent: with spare
    /// garbled circuits, and with an input that recovers what a bad one hides.
    pub fn has_spares(self) -> bool {
        matches!(self, Scene::Duplo | Scene::DualEx)
    }

    /// Returns all directions of all connections.
    pub fn ways(self) -> Vec<Way> {
        let all = || 0..self.parties();
        let pairs = all().flat_map(|from| all().map(move |to| (from, to)));
        let pairs = pairs.filter(|(from, to)| from != to);
        pairs
            .flat_map(|(from, to)| (0..self.lanes()).map(move |lane| Way { from, to, lane }))
            .collect()
    }

    /// Returns two layers of AND gates on everybody's inputs. All learn the outputs, so every
    /// message is needed by its receiver.
    fn circuit(self) -> Circuit {
        // Enough gates that the leaky triples fill more than a chunk, and both threads have work.
        let width = match self {
            Scene::TwoThreads => 1_400,
            Scene::StreamedMeanwhile => 1_000,
            // More than one batch of the plan in each segment.
            Scene::Streamed | Scene::StreamedPair => 400,
            _ => 8,
        };
        let mut b = Builder::new("two layers");
        let input = |party: u16| (format!("x{party}"), party);
        let inputs: Vec<_> = (0..self.parties())
            .map(input)
            .map(|(name, party)| b.input(name, Type::Uint(width), party))
            .collect();
        let first = b.and(&inputs[0], &inputs[1]);
        let turned = match inputs.get(2) {
            Some(third) => b.xor(&first, third),
            None => first.rotl(1),
        };
        let second = b.and(&first, &turned);
        let out = b.xor(&second, &inputs[0]);
        b.output("out", &out, Type::Uint(width), Receivers::All);
        b.finish().expect("a valid circuit")
    }

    fn config(self, party: u16, transport: Transport, timeout: Duration) -> Config {
        let config = Config::new(party, transport).timeout(timeout);
        let (protocol, form) = match self {
            Scene::ByLink => return config,
            Scene::FourRow | Scene::TwoThreads | Scene::Stocked => {
                (Protocol::Wrk, Some(GateForm::FourRow))
            }
            Scene::HalfGates => (Protocol::Wrk, Some(GateForm::HalfGates)),
            Scene::Pair | Scene::Three => (Protocol::Ywz, None),
            Scene::TinyTable | Scene::TableCode => (Protocol::TinyTable, None),
            Scene::Duplo => (Protocol::Duplo, None),
            Scene::DualEx => (Protocol::DualEx, None),
            Scene::Streamed | Scene::StreamedMeanwhile => (Protocol::Wrk, Some(GateForm::FourRow)),
            Scene::StreamedPair => (Protocol::Ywz, None),
        };
        let segment_gates = match self {
            Scene::Streamed | Scene::StreamedPair => 300,
            Scene::StreamedMeanwhile => 1_000,
            _ => SEGMENT_GATES,
        };
        let config = match self {
            Scene::TableCode => config.options(TinyTableOptions {
                commitment: Commitment::Code,
                ..TinyTableOptions::default()
            }),
            _ => config,
        };
        config.protocol(protocol).form(form).ot(OtExtension::Iknp).segment_gates(segment_gates)
    }

    fn bits(circuit: &Circuit, party: u16) -> Vec<bool> {
        let width = circuit.inputs()[usize::from(party)].ty.width() as usize;
        (0..width).map(|i| (i + usize::from(party)) % 3 != 1).collect()
    }

    /// Returns the output, which is the same for everybody.
    pub fn right(self) -> Vec<bool> {
        let circuit = self.circuit();
        let all = (0..self.parties()).flat_map(|party| Scene::bits(&circuit, party));
        reference::eval(&circuit, &all.collect::<Vec<_>>())
    }

    /// Runs a session in which `tamper` makes an interposer for each direction.
    pub fn run(
        self,
        timeout: Duration,
        tamper: impl FnMut(Way) -> Box<dyn Tamper>,
    ) -> Vec<Result<Outputs>> {
        let circuit = self.circuit();
        let inputs = |me: u16| {
            let place = usize::from(me);
            Inputs::builder(&circuit, me).bits(place, Scene::bits(&circuit, me))?.finish()
        };
        if self == Scene::Stocked {
            return self.run_stocked(&circuit, inputs, timeout, self.transports(tamper));
        }
        together(self.transports(tamper), |me, transport| {
            let config = self.config(me, transport, timeout);
            Session::connect(config, &circuit)?.evaluate(&inputs(me)?)
        })
    }

    fn run_stocked(
        self,
        circuit: &Circuit,
        inputs: impl Fn(u16) -> Result<Inputs> + Sync,
        timeout: Duration,
        tampered: Vec<Transport>,
    ) -> Vec<Result<Outputs>> {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let make =
            |party: u16| Store::create(folder.path().join(party.to_string()), &Protection::None);
        let stores = [0, 1].map(|party| make(party).unwrap());
        let connect = |me: u16, transport, timeout| {
            let config = self.config(me, transport, timeout);
            StockedSession::connect(config, &stores[usize::from(me)], circuit)
        };
        let honest = self.transports(|_| tampers::honest());
        let filled = together(honest, |me, transport| connect(me, transport, HANGING)?.fill(1));
        assert!(filled.into_iter().all(|filled| filled.is_ok_and(|filled| filled.made == 1)));
        together(tampered, |me, transport| {
            let mut session = connect(me, transport, timeout)?;
            let filled = session.fill(2)?;
            assert_eq!((filled.kept, filled.made), (1, 1), "a fault went unnoticed");
            session.load(2)?;
            session.run_named(&inputs(me)?, &[1; 32])?;
            session.run_named(&inputs(me)?, &[2; 32])
        })
    }

    fn transports(self, mut tamper: impl FnMut(Way) -> Box<dyn Tamper>) -> Vec<Transport> {
        let parties = self.parties();
        let meters: Vec<Arc<Meter>> = (0..parties).map(|_| Meter::new()).collect();
        let end = |party: u16| (party, meters[usize::from(party)].clone());
        let none = || (0..self.lanes()).map(|_| Vec::new()).collect();
        let mut lanes: Vec<Vec<Vec<Channel>>> = (0..parties).map(|_| none()).collect();
        for a in 0..parties {
            for b in a + 1..parties {
                for lane in 0..self.lanes() {
                    let mut way = |from, to| tamper(Way { from, to, lane });
                    let (there, back) = (way(a, b), way(b, a));
                    let (low, high) = interposed_pair(end(a), end(b), there, back);
                    // In this order everybody's peers are ascending.
                    lanes[usize::from(a)][lane].push(low);
                    lanes[usize::from(b)][lane].push(high);
                }
            }
        }
        let ends = lanes.into_iter().zip(meters);
        ends.map(|(lanes, meter)| Transport::mesh_channels(lanes, meter)).collect()
    }

    /// Returns how many messages each direction carries in a clean session.
    pub fn messages(self) -> Vec<(Way, usize)> {
        let seen: Vec<(Way, Arc<AtomicUsize>)> =
            self.ways().into_iter().map(|way| (way, Arc::default())).collect();
        let ended = self.run(HANGING, |way| {
            let (_, seen) = seen.iter().find(|(other, _)| *other == way).expect("a way");
            let seen = seen.clone();
            Box::new(move |_, bytes: Vec<u8>| {
                seen.fetch_add(1, Ordering::Relaxed);
                Verdict::GoOn(vec![bytes])
            })
        });
        for (party, ended) in ended.into_iter().enumerate() {
            let outputs = ended.unwrap_or_else(|error| panic!("party {party}: {error}"));
            assert!(is_right(self, &outputs), "party {party}");
        }
        seen.into_iter().map(|(way, seen)| (way, seen.load(Ordering::Relaxed))).collect()
    }
}

/// Runs `party` for all parties.
fn together<T: Send>(
    transports: Vec<Transport>,
    party: impl Fn(u16, Transport) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let party = &party;
    std::thread::scope(|scope| {
        let start = |(me, transport)| scope.spawn(move || party(me, transport));
        let threads: Vec<_> = (0..).zip(transports).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("a party panicked")).collect()
    })
}

/// Returns whether a party's outputs are right.
pub fn is_right(scene: Scene, outputs: &Outputs) -> bool {
    static RIGHT: Mutex<Vec<(Scene, Vec<bool>)>> = Mutex::new(Vec::new());
    let mut known = RIGHT.lock().unwrap();
    if !known.iter().any(|(other, _)| *other == scene) {
        known.push((scene, scene.right()));
    }
    let right = known.iter().find(|(other, _)| *other == scene).map(|(_, right)| right);
    let learnt = outputs.get(0).and_then(|output| output.bits.as_ref());
    learnt.map(BitVec::to_bools).as_ref() == right
}
