//! What half-gates among any number of parties send and compute.

use symbolon_circuit::PartyId;
use symbolon_engine::Compiled;
use symbolon_engine::forecast::{Forecast, Way};
use symbolon_preprocessing::script::echo;
use symbolon_transport::Result;
use symbolon_transport::script::{Script, Unit};

use crate::gates::script::{self, GarblingScript, Ports, packed};

/// A gate from its masks to its half-gates, at any party, for each of its peers.
const GARBLE: Unit = Unit::new("half-gate", 150.0);

/// A gate online, at the evaluator, for each garbler.
const EVALUATE: Unit = Unit::new("half-gate online", 210.0);

/// The proof of a gate, at a garbler.
const PROVE: Unit = Unit::new("half-gate proof", 80.0);

/// The kinds of work here.
pub(crate) const UNITS: &[Unit] = &[GARBLE, EVALUATE, PROVE];

struct Half {
    me: PartyId,
    evaluator: PartyId,
    ports: Ports,
    gates: u64,
}

/// Forecasts a run in which `evaluator` evaluates.
pub(crate) fn forecast(circuit: &Compiled, way: &Way<'_>, evaluator: PartyId) -> Result<Forecast> {
    script::forecast(circuit, way, |me, ports, gates| Half { me, evaluator, ports, gates })
}

impl Half {
    /// Returns whether this is the garbler that sends the bits b_γ.
    fn is_first_garbler(&self, script: &Script) -> bool {
        PartyId::all(script.parties()).find(|party| *party != self.evaluator) == Some(self.me)
    }

    fn evaluate(&self, script: &mut Script, gates: u64) {
        script.work(EVALUATE, gates as f64 * f64::from(script.parties() - 1));
        script.send_all(packed(gates) + 32 + 16);
    }

    fn prove(&self, script: &mut Script, gates: u64) {
        script.receive(self.evaluator);
        script.work(PROVE, gates as f64);
    }

    fn open_outputs(&self, script: &mut Script) {
        for peer in script.peers() {
            match self.ports.outputs[peer.index()] {
                0 => {}
                bits => script.send(peer, packed(bits) + 32),
            }
        }
        if self.ports.outputs[self.me.index()] > 0 {
            script.receive_all();
        }
    }
}

impl GarblingScript for Half {
    fn evaluates(&self) -> bool {
        self.me == self.evaluator
    }

    fn gates(&self, script: &mut Script, gates: u64) {
        let parties = u64::from(script.parties());
        script.work(GARBLE, (gates * (parties - 1)) as f64);
        if self.evaluates() {
            script.receive_all();
        } else {
            let pointers = if self.is_first_garbler(script) { packed(gates) } else { 0 };
            script.send(self.evaluator, 16 * gates * (2 + 4 * (parties - 2)) + pointers);
        }
    }

    fn online(&self, script: &mut Script) {
        self.streamed_inputs(script);
        match self.evaluates() {
            true => self.evaluate(script, self.gates),
            false => self.prove(script, self.gates),
        }
        self.segment_end(script, 1);
        self.open_outputs(script);
    }

    fn streamed_inputs(&self, script: &mut Script) {
        script.exchange(packed(self.ports.inputs[self.me.index()]));
        echo(script);
        match self.evaluates() {
            true => script.receive_all(),
            false => script.send(self.evaluator, 16 * self.ports.inputs.iter().sum::<u64>()),
        }
    }

    fn streamed_values(&self, script: &mut Script, gates: u64) {
        match self.evaluates() {
            true => self.evaluate(script, gates),
            false => self.prove(script, gates),
        }
    }

    fn segment_end(&self, script: &mut Script, chunks: u64) {
        match self.evaluates() {
            true => script.receive_all(),
            false => script.send(self.evaluator, 16 * chunks),
        }
    }

    fn streamed_outputs(&self, script: &mut Script) {
        self.open_outputs(script);
    }
}
