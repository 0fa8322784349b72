//! What `wrk` with four rows sends and computes.

use symbolon_circuit::PartyId;
use symbolon_engine::forecast::{Forecast, Way};
use symbolon_engine::{Compiled, Rho};
use symbolon_transport::Result;
use symbolon_transport::script::{Script, Unit};

use super::{EVALUATOR, rows};
use crate::gates::script::{self, GarblingScript, Ports, packed};

/// A gate from its masks to its garbled rows, at either party.
const GARBLE: Unit = Unit::new("four-row gate", 210.0);

/// A gate online, at the evaluator.
const EVALUATE: Unit = Unit::new("four-row gate online", 145.0);

/// The kinds of work here.
pub(super) const UNITS: &[Unit] = &[GARBLE, EVALUATE];

struct FourRows {
    me: PartyId,
    rho: Rho,
    ports: Ports,
    gates: u64,
}

/// Forecasts a run.
pub(super) fn forecast(circuit: &Compiled, way: &Way<'_>) -> Result<Forecast> {
    let rho = way.terms.rho;
    script::forecast(circuit, way, |me, ports, gates| FourRows { me, rho, ports, gates })
}

impl FourRows {
    fn peer(&self) -> PartyId {
        self.me.other_of_two()
    }

    /// Returns the bytes of the garbler's masked inputs and all labels.
    fn inputs_and_labels(&self) -> u64 {
        packed(self.ports.inputs[0]) + 16 * (self.ports.inputs[0] + self.ports.inputs[1])
    }

    /// Adds what the garbler learns from the evaluator.
    fn garbler_outputs(&self, script: &mut Script) {
        let outputs = self.ports.outputs[0];
        match self.evaluates() {
            _ if outputs == 0 => {}
            true => script.send(self.peer(), 2 * packed(outputs) + 32),
            false => script.receive(self.peer()),
        }
    }
}

impl GarblingScript for FourRows {
    fn evaluates(&self) -> bool {
        self.me == EVALUATOR
    }

    fn gates(&self, script: &mut Script, gates: u64) {
        script.work(GARBLE, gates as f64);
        if self.evaluates() {
            script.receive(self.peer());
        } else {
            script.send(self.peer(), gates * (48 + 4 * rows::mac_bytes(self.rho) as u64));
        }
    }

    fn online(&self, script: &mut Script) {
        if self.evaluates() {
            script.send(self.peer(), packed(self.ports.inputs[1]));
            script.receive(self.peer());
            script.work(EVALUATE, self.gates as f64);
        } else {
            script.receive(self.peer());
            let outputs = packed(self.ports.outputs[1]) + 32;
            script.send(self.peer(), self.inputs_and_labels() + outputs);
        }
        self.garbler_outputs(script);
    }

    fn streamed_inputs(&self, script: &mut Script) {
        if self.evaluates() {
            script.send(self.peer(), packed(self.ports.inputs[1]));
            script.receive(self.peer());
        } else {
            script.receive(self.peer());
            script.send(self.peer(), self.inputs_and_labels());
        }
    }

    fn streamed_values(&self, script: &mut Script, gates: u64) {
        if self.evaluates() {
            script.work(EVALUATE, gates as f64);
        }
    }

    fn segment_end(&self, _: &mut Script, _: u64) {}

    fn streamed_outputs(&self, script: &mut Script) {
        let outputs = self.ports.outputs[1];
        if !self.evaluates() && outputs > 0 {
            script.send(self.peer(), packed(outputs) + 32);
        }
        self.garbler_outputs(script);
        if self.evaluates() && outputs > 0 {
            script.receive(self.peer());
        }
    }
}
