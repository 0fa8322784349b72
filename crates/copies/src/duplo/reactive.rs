//! Reactive computation: outputs of one part are inputs of later ones, and nobody sees them in
//! between. Which part comes next may depend on what the parties have learnt.
//!
//! A part is a circuit that is garbled, connected and evaluated like any other. The engine keeps
//! its outputs: the garbler keeps the commitments to the wires of each output bit, the evaluator
//! the keys. A *linked* input of a later part belongs to neither party: no key is sent for it and
//! no transfer is used. Its wire has authenticators like any other input wire. The garbler solders
//! the output, a sum of wires, to the head of these authenticators, exactly as it solders sums to
//! the inputs of slots (`solder`):
//!
//! ```text
//! G                                                          E
//! solderings of the linked inputs, with a proof         ──▶  checks; takes the keys it holds to
//!                                                            the new wires; authenticators accept
//! ```
//!
//! The head of an input wire is the target of only one soldering, so its key hides the opened
//! value, however often an output is linked.
//!
//! **Recovery** extends to later parts. An evaluator that learnt Δ_ot in one part knows the outputs
//! of that part in the clear, but may hold the key of the wrong value. It then takes the right key
//! instead: it can tell which value a key on the new wire encodes, and the other key differs by
//! that wire's Δ. Later parts are recovered from the start. The evaluator takes the same steps when
//! nothing is recovered. `docs/proofs/duplo.md` has the proof.

use std::sync::Arc;

use symbolon_circuit::components::Wire;
use symbolon_circuit::{Circuit, Plan};
use symbolon_engine::{Compiled, InputBits, Link, Network, OutputBits, phases::check_inputs};
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

use super::buckets::View;
use super::commit::{Claims, Committed, Id, Opening, receive_blocks, send_blocks};
use super::evaluate::GarbledProgram;
use super::kept_outputs::{KeptKeys, KeptOutputs};
use super::messages;
use super::online::{Linked, Played};
use super::options;
use super::preprocess::{self, Window};
use super::program::{Program, Task};
use super::solder::{self, Target};
use super::state::{Duplo, Evaluator, Garbler, Role, peer};
use super::windows::Windows;

/// A linked bit: the wire to which it goes, and the output bit that it is.
pub(super) struct LinkedBit {
    wire: Wire,
    part: usize,
    bit: usize,
}

/// What a party does in its role in a part.
pub(super) trait Continues: Role {
    /// Garbles, connects and evaluates a part with these links and this party's inputs; returns
    /// what this party learns, and what it keeps.
    fn part(
        engine: &mut Duplo<Self>,
        net: &mut Network,
        task: (Window<'_>, &Plan),
        from: (&[LinkedBit], &InputBits),
    ) -> Result<(OutputBits, KeptOutputs<Self::Keys>)>;
}

/// Evaluates a part and returns what this party learns.
///
/// Paper: KNRTT17, §1.1 | continuation with outputs that are not opened
///
/// # Errors
/// `InvalidInput` when the links do not fit, before anything is sent; otherwise as in the three
/// phases.
pub(super) fn evaluate<R: Continues>(
    engine: &mut Duplo<R>,
    net: &mut Network,
    compiled: &Compiled,
    links: &[Link],
    inputs: &InputBits,
) -> Result<OutputBits> {
    let (circuit, plan) = compiled.planned();
    if net.executions != 1 {
        return Err(Error::invalid_input("parts are evaluated once, not in batches"));
    }
    check_links(circuit, links, &engine.kept)?;
    check_own(circuit, net.me, links, inputs)?;
    let linked: Vec<usize> = links.iter().map(|link| link.input).collect();
    let task = Task {
        executions: 1,
        preparations: 1,
        games: engine.games,
        components: options::components(&net.options),
        linked: &linked,
    };
    let program = Arc::new(Program::new(circuit, task)?);
    let bits = linked_bits(circuit, links, &engine.kept);
    let params = Windows::of_program(&program, engine.games)?.largest().clone();
    let window = Window { digest: compiled.digest(), program: &program, preparations: 1, params };
    let (outputs, kept) = R::part(engine, net, (window, plan), (&bits, inputs))?;
    engine.kept.push(kept);
    Ok(outputs)
}

/// Refuses links to inputs or outputs that do not exist, and links between different widths.
fn check_links(circuit: &Circuit, links: &[Link], kept: &[KeptOutputs<impl Sized>]) -> Result<()> {
    for (place, &Link { input, part, output }) in links.iter().enumerate() {
        let refuse = |reason: &str| Err(Error::invalid_input(format!("link {place}: {reason}")));
        let Some(port) = circuit.inputs().get(input) else {
            return refuse("the circuit has no such input");
        };
        if links[..place].iter().any(|link| link.input == input) {
            return refuse("the input is linked already");
        }
        let Some(range) = kept.get(part).and_then(|kept| kept.ranges.get(output)) else {
            return refuse("there was no such output");
        };
        if range.len() as u64 != port.ty.width() {
            return refuse("the output has another width than the input");
        }
    }
    Ok(())
}

/// Checks that this party gives all of its inputs except for the linked ones.
fn check_own(circuit: &Circuit, me: PartyId, links: &[Link], inputs: &InputBits) -> Result<()> {
    let mut filled = Zeroizing::new(inputs.clone());
    for link in links {
        let port = &circuit.inputs()[link.input];
        match filled.get_mut(link.input) {
            Some(given @ None) if port.owner == me => {
                *given = Some(BitVec::zeros(port.ty.width() as usize));
            }
            Some(Some(_)) => {
                let text = format!("input `{}` is linked and takes no value", port.name);
                return Err(Error::invalid_input(text));
            }
            _ => {}
        }
    }
    check_inputs(circuit, me, &filled, 1)
}

/// Returns all linked bits, in the order of the wires to which they go.
fn linked_bits(
    circuit: &Circuit,
    links: &[Link],
    kept: &[KeptOutputs<impl Sized>],
) -> Vec<LinkedBit> {
    let mut bits = Vec::new();
    let mut wire = 0;
    for (place, input) in circuit.inputs().iter().enumerate() {
        if let Some(link) = links.iter().find(|link| link.input == place) {
            let range = kept[link.part].ranges[link.output].clone();
            let each = (wire..).zip(range);
            bits.extend(each.map(|(wire, bit)| LinkedBit { wire, part: link.part, bit }));
        }
        wire += input.ty.width() as Wire;
    }
    bits
}

/// Returns the commitments of a part that links and later parts need: those to the key and Δ of
/// each linked input wire, then the sum of wires of each output bit.
fn kept_sums(view: View<'_>) -> Vec<Vec<Id>> {
    let program = view.program;
    let targets = program.linked.iter().flat_map(|&wire| {
        let Target { key, offset } = view.head(wire as usize);
        [vec![key], vec![offset]]
    });
    let head = |wire: &Wire| view.head(*wire as usize).key;
    let outputs = program.graph.outputs.iter().map(|(terms, _)| terms.iter().map(head).collect());
    targets.chain(outputs).collect()
}

/// Returns the source and the target of each linked bit's soldering, in a list of the sources of
/// all linked bits followed by the key and Δ of each one's wire.
fn places(linked: usize) -> impl Iterator<Item = (Id, Target)> {
    let target = move |bit: usize| {
        let key = (linked + 2 * bit) as Id;
        Target { key, offset: key + 1 }
    };
    (0..linked).map(move |bit| (bit as Id, target(bit)))
}

impl Continues for Garbler {
    fn part(
        engine: &mut Duplo<Garbler>,
        net: &mut Network,
        (window, _): (Window<'_>, &Plan),
        (bits, inputs): (&[LinkedBit], &InputBits),
    ) -> Result<(OutputBits, KeptOutputs<Committed>)> {
        let threads = net.garbling_threads();
        let channel = peer(net)?;
        let copies = preprocess::garbler(engine, channel, threads, window)?;
        let committer = &mut engine.role.committer;
        copies.fill(channel, committer.opening(), 0)?;
        let (proof, online) = (committer.opening(), committer.later());
        let ready = copies.connect(channel, proof, 0, online)?;
        let view = View { program: &copies.program, drawn: &copies.drawn, preparation: 0 };
        let kept = copies.committed.sums(&kept_sums(view));
        let (targets, outputs) = kept.split(2 * bits.len());
        let kept = KeptOutputs::new(view.program, outputs);

        let sources = bits.iter().map(|bit| (&engine.kept[bit.part].keys, bit.bit));
        let sources: Vec<_> = sources.collect();
        let joined = targets.behind(&sources);
        let proof = engine.role.committer.opening();
        let mut opening: Opening<'_> = joined.opening(proof);
        let solderings = places(bits.len()).zip(bits).map(|((source, target), bit)| {
            let constant = engine.kept[bit.part].constants[bit.bit];
            solder::solder(&mut opening, [source].into_iter(), target, constant)
        });
        let mut solderings: Vec<Block> = solderings.collect();
        let channel = peer(net)?;
        channel.tamper_state("duplo: link", Block::as_bytes_mut(&mut solderings));
        send_blocks(channel, messages::LINKS, &solderings)?;
        opening.prove(channel)?;
        let outputs = ready.play(net, inputs)?;
        Ok((outputs, kept))
    }
}

impl Continues for Evaluator {
    fn part(
        engine: &mut Duplo<Evaluator>,
        net: &mut Network,
        (window, plan): (Window<'_>, &Plan),
        (bits, inputs): (&[LinkedBit], &InputBits),
    ) -> Result<(OutputBits, KeptOutputs<KeptKeys>)> {
        let threads = net.garbling_threads();
        let channel = peer(net)?;
        let mut copies = preprocess::evaluator(engine, channel, threads, window)?;
        let receiver = &mut engine.role.receiver;
        let buckets = copies.fill(channel, receiver.opening(), 0)?;
        let (proof, online) = (receiver.opening(), receiver.later());
        let ready = copies.connect(channel, proof, (0, buckets), online)?;
        let view = View { program: &copies.program, drawn: &copies.drawn, preparation: 0 };
        let kept = copies.received.sums(&kept_sums(view));
        let (targets, sums) = kept.split(2 * bits.len());

        let sources = bits.iter().map(|bit| (&engine.kept[bit.part].keys.sums, bit.bit));
        let sources: Vec<_> = sources.collect();
        let joined = targets.behind(&sources);
        let proof = engine.role.receiver.opening();
        let mut claims: Claims<'_> = joined.claims(proof);
        let solderings = receive_blocks(channel, messages::LINKS, bits.len())?;
        for (((source, target), bit), &soldering) in places(bits.len()).zip(bits).zip(&solderings) {
            let constant = engine.kept[bit.part].constants[bit.bit];
            solder::claim(&mut claims, [source].into_iter(), target, constant, soldering);
        }
        claims.check(channel)?;
        let linked = engine.linked_keys(&ready.garbled, bits, &solderings);
        let program = view.program;
        let linked = Linked { keys: &linked, common_offset: engine.role.recovered.clone() };
        let played = ready.play(net, plan, inputs, linked)?;
        let Played { outputs, evaluated, recovered } = played;
        engine.role.recovered = evaluated.common_offset;
        let kept = program.graph.outputs.iter().map(|(terms, _)| {
            terms.iter().fold([Block::ZERO; 2], |[sum, differences], &wire| {
                let key = evaluated.wires[wire as usize];
                let difference = evaluated.differences[wire as usize].select(key.lsb());
                [sum ^ key, differences ^ difference]
            })
        });
        let keys = KeptKeys { sums, bits: Zeroizing::new(kept.collect()), right: recovered };
        Ok((outputs, KeptOutputs::new(program, keys)))
    }
}

impl<K> KeptOutputs<K> {
    fn new(program: &Program, keys: K) -> KeptOutputs<K> {
        let mut first = 0;
        let ranges = program.circuit.outputs().iter().map(|output| {
            let start = first;
            first += output.ty.width() as usize;
            start..first
        });
        let ranges = ranges.collect();
        let constants = program.graph.outputs.iter().map(|(_, constant)| constant).collect();
        KeptOutputs { ranges, constants, keys }
    }
}

impl Duplo<Evaluator> {
    /// EvSold for the linked inputs: returns the keys on their wires. Where the values were
    /// recovered, these are the keys of the right values.
    ///
    /// Paper: KNRTT17, §1.1
    fn linked_keys(
        &self,
        garbled: &GarbledProgram,
        bits: &[LinkedBit],
        solderings: &[Block],
    ) -> Zeroizing<Vec<(Wire, Block)>> {
        let authenticators = &garbled.authenticators;
        let common = self.role.recovered.value();
        let one = |(bit, &soldering): (&LinkedBit, &Block)| {
            let kept = &self.kept[bit.part].keys;
            let wire = bit.wire as usize;
            let difference = authenticators.difference(wire);
            let [sum, differences] = kept.bits[bit.bit];
            let key = sum ^ differences ^ soldering ^ difference.select(sum.lsb());
            let value = authenticators.value(wire, key, common);
            // Does not branch on whether anything was recovered.
            let turned = kept.right.known & (value ^ kept.right.outputs[bit.bit]);
            (bit.wire, key ^ (difference ^ common).select(turned))
        };
        // Full capacity from the start: what a growing vector leaves behind would not be wiped.
        let mut keys = Zeroizing::new(Vec::with_capacity(bits.len()));
        keys.extend(bits.iter().zip(solderings).map(one));
        keys
    }
}
