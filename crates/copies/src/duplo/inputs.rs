//! InputG and InputE of Appendix A: how the evaluator gets the keys of both parties' inputs.
//!
//! * **Garbler's inputs:** the garbler sends the key, and the wire's authenticators accept or
//!   reject it.
//! * **Evaluator's inputs:** the wire's key has a commitment of its own, with base key B and
//!   indicator bit σ, and its Δ is Δ_ot. From a transfer with the random choice b the evaluator has
//!   M = R ⊕ b·Δ_ot. It sends f = x ⊕ b. With e = f ⊕ σ, the garbler opens D = B ⊕ R ⊕ e·Δ_ot and
//!   sends e. D ⊕ M is B ⊕ (x ⊕ σ)·Δ_ot, the key for x.
//!
//! These wires have no authenticators. In Appendix A authenticators accept these keys, too. But the
//! opening already shows that the key is the committed B or B ⊕ Δ_ot, and which of the two: a
//! garbler cannot cause any other key. And the evaluator need not recover its own inputs.
//!
//! The last bit of the opened value is σ ⊕ lsb(R) ⊕ e, which is lsb(R) ⊕ f if e is right. The
//! evaluator knows this bit as lsb(M) ⊕ x, so e is sent in its place. A garbler that lies about e
//! fails the opening for either value of x, since lsb(M) ⊕ x is lsb(R) ⊕ f, which the garbler
//! knows.

use symbolon_circuit::components::Wire;
use symbolon_engine::receive_bits;
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::assemble::GarblerKeys;
use super::authenticators::Authenticators;
use super::commit::{Claims, Id, Opening, receive_blocks, send_blocks};
use super::layout::COMMON_OFFSET;
use super::messages;
use super::oblivious::Transfers;
use super::program::Program;

/// The first of the evaluator's inputs among the commitments that are opened online.
const FIRST: Id = COMMON_OFFSET + 1;

/// The evaluator sends its inputs, masked by the choices of its transfers.
///
/// Paper: KNRTT17, InputG, InputE | keys of inputs
pub(super) fn mask(channel: &mut Channel, transfers: &Transfers, bits: &[bool]) -> Result<()> {
    let mut turned = BitVec::zeros(bits.len());
    for (i, &bit) in bits.iter().enumerate() {
        turned.set(i, bit ^ transfers.choices.get(i));
    }
    channel.send(messages::MASKED_INPUTS, &turned.to_bytes())?;
    channel.flush()
}

/// The garbler sends the keys of its inputs `bits`, and opens the evaluator's.
///
/// Paper: KNRTT17, InputG, InputE
pub(super) fn give(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    keys: &GarblerKeys,
    bits: &[bool],
) -> Result<()> {
    let turned = receive_bits(channel, messages::MASKED_INPUTS, keys.indicators.len())?;
    let own = keys.inputs.iter().zip(bits);
    let own = own.map(|(&[zero, offset], &bit)| zero ^ offset.select(bit));
    let mut own: Zeroizing<Vec<Block>> = Zeroizing::new(own.collect());
    channel.tamper_state("duplo: own input keys", Block::as_bytes_mut(&mut own));
    send_blocks(channel, messages::INPUT_KEYS, &own)?;
    let open = |i: usize| {
        let turn = turned.get(i) ^ keys.indicators.get(i);
        let id = FIRST + i as Id;
        opening.open([id].into_iter().chain(turn.then_some(COMMON_OFFSET))).with_lsb(turn)
    };
    let opened = (0..turned.len()).map(open).collect();
    let mut opened: Zeroizing<Vec<Block>> = Zeroizing::new(opened);
    channel.tamper_state("duplo: opened inputs", Block::as_bytes_mut(&mut opened));
    send_blocks(channel, messages::OPENED_INPUTS, &opened)
}

/// Keys of input wires before they are authenticated.
pub(super) struct InputKeys {
    garbler: Zeroizing<Vec<Block>>,
    evaluator: Zeroizing<Vec<Block>>,
}

/// The evaluator receives the keys and records what was opened.
///
/// Paper: KNRTT17, InputG, InputE
pub(super) fn get(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    program: &Program,
    transfers: &Transfers,
    bits: &[bool],
) -> Result<InputKeys> {
    let garbler = receive_blocks(channel, messages::INPUT_KEYS, program.inputs[0].len())?;
    let garbler = Zeroizing::new(garbler);
    let opened = receive_blocks(channel, messages::OPENED_INPUTS, bits.len())?;
    let mut evaluator = Zeroizing::new(Vec::with_capacity(bits.len()));
    for (i, (&opened, &bit)) in opened.iter().zip(bits).enumerate() {
        let (result, turn) = (transfers.results[i], opened.lsb());
        let id = FIRST + i as Id;
        let ids = [id].into_iter().chain(turn.then_some(COMMON_OFFSET));
        claims.claim(ids, opened.with_lsb(result.lsb() ^ bit));
        // x ⊕ σ, with σ = e ⊕ f and f = x ⊕ b.
        let colour = turn ^ transfers.choices.get(i);
        evaluator.push((opened ^ result).with_lsb(colour));
    }
    Ok(InputKeys { garbler, evaluator })
}

impl InputKeys {
    /// Returns the keys with their wires.
    pub fn on_wires(&self, program: &Program) -> impl Iterator<Item = (Wire, Block)> {
        let garbler = program.inputs[0].iter().zip(self.garbler.iter());
        let evaluator = program.inputs[1].iter().zip(self.evaluator.iter());
        garbler.chain(evaluator).map(|(&wire, &key)| (wire, key))
    }
}

/// Puts keys on their wires, and checks that authenticators accept those on wires that have some.
///
/// Paper: KNRTT17, InputG, InputE
///
/// Check: `duplo`: inputs | garbler's: `input key`: authenticators; evaluator's: `commitment
/// opening` | a key of no value, or of another one | 2^-ρ
pub(super) fn accept(
    channel: &Channel,
    authenticators: &Authenticators,
    keys: impl Iterator<Item = (Wire, Block)>,
    wires: &mut [Block],
) -> Result<()> {
    // All keys are checked before the verdict.
    let mut accepted = true;
    for (wire, key) in keys {
        accepted &= authenticators.is_open(wire as usize)
            || authenticators.accept(wire as usize, &[key])[0];
        wires[wire as usize] = key;
    }
    if accepted { Ok(()) } else { Err(Error::misbehaved(channel.peer(), super::checks::INPUT_KEY)) }
}
