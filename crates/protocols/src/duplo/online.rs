//! A program made ready, and its online phase (MAIN of Appendix A).
//!
//! ```text
//! G                                                          E
//!                                                       ◀──  masked inputs
//! own keys, the evaluator's inputs and the indicator
//! bits of its outputs opened                            ──▶  checks, evaluates
//!                                                       ◀──  keys of the garbler's outputs
//! ```

use std::io::Write;

use symbolon_circuit::{Circuit, Plan};
use symbolon_cutchoose::hcom::{OwnLater, TheirLater};
use symbolon_primitives::Block;
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::assemble::{self, GarblerKeys};
use super::commit::{Committed, Received};
use super::engine::{commitments, peer};
use super::evaluate::GarbledProgram;
use super::inputs;
use super::oblivious::Transfers;
use super::outputs;
use super::params::{Games, Params};
use super::preprocess::{EvaluatorMaterial, GarblerMaterial};
use super::program::{EVALUATOR, GARBLER, Program, ToGarbler};
use super::recover;
use super::store;
use crate::codec::{Reader, Writer};
use crate::{InputBits, Network, OutputBits, Prepared, phases::check_inputs};

/// The garbler before the inputs are known.
pub(super) struct GarblerReady {
    digest: [u8; 32],
    program: Program,
    keys: GarblerKeys,
    online: OwnLater,
}

/// The evaluator before the inputs are known.
pub(super) struct EvaluatorReady {
    digest: [u8; 32],
    program: Program,
    garbled: GarbledProgram,
    transfers: Transfers,
    received: Received,
    online: TheirLater,
}

impl GarblerMaterial {
    /// The function-dependent phase.
    pub fn prepare(self, channel: &mut Channel, digest: [u8; 32]) -> Result<GarblerReady> {
        let GarblerMaterial { program, places, committed, proofs: [proof, online] } = self;
        let mut opening = committed.opening(proof.opening());
        assemble::open(channel, &mut opening, &program, &places)?;
        opening.prove(channel)?;
        channel.flush()?;
        let keys = GarblerKeys::new(&program, &places, &committed);
        Ok(GarblerReady { digest, program, keys, online })
    }
}

impl EvaluatorMaterial {
    /// The function-dependent phase.
    pub fn prepare(self, channel: &mut Channel, digest: [u8; 32]) -> Result<EvaluatorReady> {
        let EvaluatorMaterial { program, places, received, transfers, .. } = self;
        let (authenticators, slots, [check, online]) =
            (self.authenticators, self.slots, self.proofs);
        let mut claims = received.claims(check.opening());
        let solderings = assemble::claim(channel, &mut claims, &program, &places)?;
        claims.check(channel)?;
        let received = assemble::online(&program, &places, &received);
        let garbled = GarbledProgram { slots, solderings, authenticators };
        Ok(EvaluatorReady { digest, program, garbled, transfers, received, online })
    }
}

fn same_circuit(digest: &[u8; 32], circuit: &Circuit) -> Result<()> {
    if *digest == circuit.digest() {
        return Ok(());
    }
    Err(Error::invalid_input("the components were soldered for another circuit"))
}

impl Prepared for GarblerReady {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        _: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        let GarblerReady { digest, program, keys, online } = *self;
        same_circuit(&digest, circuit)?;
        check_inputs(circuit, net.me, inputs, program.executions)?;
        let channel = peer(net)?;
        let mut opening = keys.online.opening(online.opening());
        let bits = program.input_bits(inputs);
        inputs::give(channel, &mut opening, &keys, &bits)?;
        outputs::open_indicators(channel, &mut opening, &program)?;
        opening.prove(channel)?;
        channel.flush()?;
        let bits = outputs::take_back(channel, &program, &keys)?;
        let numbers = program.to_garbler.iter().map(|&(number, _): &(usize, ToGarbler)| number);
        Ok(program.output_bits(GARBLER, numbers, &bits))
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut to = Writer(out);
        store::write_keys(&mut to, &self.keys)?;
        self.keys.online.save(&mut to)?;
        to.bytes(&self.online.to_bytes())
    }
}

impl Prepared for EvaluatorReady {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        let EvaluatorReady { digest, program, garbled, transfers, received, online } = *self;
        same_circuit(&digest, circuit)?;
        check_inputs(circuit, net.me, inputs, program.executions)?;
        let channel = peer(net)?;
        let bits = program.input_bits(inputs);
        inputs::mask(channel, &transfers, &bits)?;
        let authenticators = &garbled.authenticators;
        let mut claims = received.claims(online.opening());
        let what = (&transfers, authenticators);
        let keys = inputs::get(channel, &mut claims, &program, what, &bits)?;
        let indicators = outputs::get_indicators(channel, &mut claims, &program)?;
        claims.check(channel)?;
        let mut wires = vec![Block::ZERO; program.wires()];
        inputs::accept(channel, &program, authenticators, &keys, &mut wires)?;
        let evaluated = garbled.evaluate(&program, channel.peer(), wires)?;
        let recovered = recover::recover((&program, plan), authenticators, &evaluated, &bits);
        let values = outputs::values(&program, &evaluated.wires, &indicators, recovered.as_ref());
        outputs::give_back(channel, &program, &evaluated.wires, recovered)?;
        let numbers = program.to_evaluator.iter().copied();
        Ok(program.output_bits(EVALUATOR, numbers, &values))
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut to = Writer(out);
        store::write_garbled(&mut to, &self.garbled, &self.transfers)?;
        self.received.save(&mut to)?;
        to.bytes(&self.online.to_bytes())
    }
}

/// Reads back what a party saved.
pub(super) fn load(
    net: &Network,
    circuit: &Circuit,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let games = Games::new(net.rho.bits());
    let program = Program::new(circuit, net.batch.executions, games)?;
    let digest = circuit.digest();
    let params = commitments(net.rho.bits())?;
    let sums = 1 + program.inputs[1].len() + program.to_evaluator.len();
    if net.me == GARBLER {
        let (inputs, indicators, outputs) = store::read_keys(&mut from, &program)?;
        let online = Committed::load(&mut from, params, sums)?;
        let keys = GarblerKeys { inputs, indicators, outputs, online };
        let online = OwnLater::from_bytes(from.array()?);
        Ok(Box::new(GarblerReady { digest, program, keys, online }))
    } else {
        let sizes = Params::new(&program.graph, program.wires(), games)?;
        let (garbled, transfers) = store::read_garbled(&mut from, &program, &sizes)?;
        let received = Received::load(&mut from, params.clone(), sums)?;
        let online = Zeroizing::new(from.bytes(TheirLater::bytes(&params))?);
        let online = TheirLater::from_bytes(&params, &online)
            .ok_or_else(|| Error::internal("a record of another length than was read"))?;
        Ok(Box::new(EvaluatorReady { digest, program, garbled, transfers, received, online }))
    }
}
