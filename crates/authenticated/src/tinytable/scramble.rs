//! Phase 2: the masks of all wires, the products of the AND gates' input masks, and the tables of
//! the look-ups (Fig. 8), for all executions side by side.
//!
//! AND gates are processed in chunks whose openings run ahead of the rest of the work. Look-ups of
//! one table are collected, and processed a thousand at a time.
//!
//! Timing: one-hot vectors, masks | tables are public; so in `one_hot`, `products` and `flat`

use std::collections::VecDeque;
use std::sync::Arc;

use symbolon_circuit::Layer;
use symbolon_engine::{Compiled, Network, Prepared};
use symbolon_garbling::wires::WireStore;
use symbolon_preprocessing::{AuthShares, Triples};
use symbolon_primitives::HugeBuf;
use symbolon_transport::{Channel, Result};

use super::{
    entries::{self, Tables},
    flat::{self, MaskSlices, Side},
    one_hot::one_hot,
    prepared::{Gates, Rows, ScrambledCircuit},
    products::Products,
    program::{Program, units_of},
    tag::Tag,
};
use crate::gates::{
    correlations::{Correlations, RandomCorrelations},
    triples::{RandomTriples, TripleQueue},
};

/// The number of AND gates in a chunk, over all executions.
pub(super) const CHUNK: usize = 8192;

/// How many chunks the openings run ahead.
pub(super) const LOOKAHEAD: usize = 6;

/// The number of look-ups that are processed together, over all executions.
pub(super) const LOOKUPS: usize = 1024;

/// Binds correlations to a circuit, for this many executions.
pub(super) fn prepare<T: Tag>(
    correlations: RandomCorrelations,
    net: &mut Network,
    circuit: &Compiled,
    executions: usize,
) -> Result<Box<dyn Prepared>> {
    Ok(Box::new(scramble::<T>(correlations, net, circuit, executions)?))
}

/// Scrambles the tables of a circuit, for this many executions.
pub(super) fn scramble<T: Tag>(
    correlations: RandomCorrelations,
    net: &mut Network,
    circuit: &Compiled,
    executions: usize,
) -> Result<ScrambledCircuit<T>> {
    let program = circuit.derived::<Program>()?;
    program.check(T::LENGTH)?;
    let side = Side { me: net.me, delta: correlations.secrets.delta.clone() };
    let masks = input_masks(&program, &correlations, &side, executions);
    let Correlations { secrets, mut triples, .. } = correlations;
    let mut walk = Walk::<T> {
        masks,
        triples: &mut triples,
        channels: net.peers(),
        side,
        executions,
        ands: Chunk::new(),
        pending: VecDeque::new(),
        lookups: (0..program.layered.tables().len()).map(|_| Vec::new()).collect(),
        gates: [(); 3].map(|()| Rows::with_room(program.ands() * executions)),
        tables: Tables::new(HugeBuf::zeroed(Tables::<T>::bytes_before(program.end) * executions)),
        program: program.clone(),
    };
    for layer in program.layered.layers() {
        walk.layer(layer)?;
    }
    let (gates, tables, outputs) = walk.finish()?;
    let own_masks = secrets.own_masks.slice(0..program.input_bits(net.me) * executions);
    let (me, delta, shared) = (net.me, secrets.delta.clone(), false);
    let digest = circuit.digest();
    Ok(ScrambledCircuit {
        me,
        executions,
        delta,
        program,
        digest,
        own_masks,
        gates,
        tables,
        outputs,
        shared,
    })
}

/// Puts the masks of the input wires in their slots.
///
/// Paper: DNNR17, Fig. 8, 1–2 | triples, masks
fn input_masks(
    program: &Program,
    correlations: &RandomCorrelations,
    side: &Side,
    executions: usize,
) -> MaskSlices {
    let mut masks = MaskSlices::zeros(program.layered.slots(), executions);
    let mut taken = [0; 2];
    for (slot, owner) in program.layered.input_slots().zip(&program.owners) {
        let range = taken[usize::from(*owner)]..taken[usize::from(*owner)] + executions;
        taken[usize::from(*owner)] = range.end;
        let mut shares = AuthShares::zeros(executions, 1);
        if *owner == side.me {
            shares.bits = correlations.secrets.own_masks.slice(range.clone());
            shares.towards[0].macs.copy_from_slice(&correlations.inputs.macs[0][range]);
        } else {
            shares.towards[0].keys.copy_from_slice(&correlations.inputs.keys[0][range]);
        }
        masks.set(slot, &shares);
    }
    masks
}

struct Walk<'a, T: Tag> {
    program: Arc<Program>,
    triples: &'a mut TripleQueue<RandomTriples>,
    channels: &'a mut [Channel],
    side: Side,
    executions: usize,
    masks: MaskSlices,
    /// AND gates whose openings are not sent yet.
    ands: Chunk,
    pending: VecDeque<Opened>,
    /// By table: look-ups that are not processed yet.
    lookups: Vec<Vec<Lookup>>,
    gates: Gates<T>,
    tables: Tables<T>,
}

/// AND gates in the order of their positions: masks of the inputs and the output, and triples.
struct Chunk {
    alpha: AuthShares,
    beta: AuthShares,
    out: AuthShares,
    triples: Triples,
}

/// A chunk whose products are in transit.
struct Opened {
    alpha: AuthShares,
    beta: AuthShares,
    out: AuthShares,
    products: Products,
}

/// One look-up gate in all executions.
struct Lookup {
    number: usize,
    /// The masks, by input and by output.
    inputs: Vec<AuthShares>,
    outputs: Vec<AuthShares>,
    triples: Triples,
}

impl Chunk {
    fn new() -> Chunk {
        let [alpha, beta, out] = [(); 3].map(|()| flat::empty(CHUNK));
        Chunk { alpha, beta, out, triples: no_triples(CHUNK) }
    }
}

fn no_triples(room: usize) -> Triples {
    let [a, b, c] = [(); 3].map(|()| flat::empty(room));
    Triples { a, b, c }
}

impl<T: Tag> Walk<'_, T> {
    /// Paper: DNNR17, Fig. 8, 3, AND | what the table's entries are made of
    fn layer(&mut self, layer: Layer<'_>) -> Result<()> {
        self.masks.free_gates(0, layer.linear);
        for and in layer.ands {
            self.masks.append_to(and.a as usize, &mut self.ands.alpha);
            self.masks.append_to(and.b as usize, &mut self.ands.beta);
            let mut masks = flat::empty(self.executions);
            take(self.triples, self.executions, &mut self.ands.triples, Some(&mut masks))?;
            flat::append(&mut self.ands.out, &masks);
            self.masks.set(and.out as usize, &masks);
            if self.ands.out.len() >= CHUNK {
                self.open()?;
            }
        }
        for (place, lookup) in layer.lookups.iter().enumerate() {
            let table = lookup.table as usize;
            let units = units_of(&self.program.layered.tables()[table]);
            let inputs = lookup.inputs.iter().map(|&slot| {
                let mut masks = flat::empty(self.executions);
                self.masks.append_to(slot as usize, &mut masks);
                masks
            });
            let inputs: Vec<AuthShares> = inputs.collect();
            let mut triples = no_triples(units * self.executions);
            let mut outputs = Vec::with_capacity(lookup.outputs.len());
            for unit in 0..units {
                let mut masks = flat::empty(self.executions);
                let slot = lookup.outputs.get(unit);
                take(self.triples, self.executions, &mut triples, slot.map(|_| &mut masks))?;
                if let Some(&slot) = slot {
                    self.masks.set(slot as usize, &masks);
                    outputs.push(masks);
                }
            }
            let number = layer.first_lookup as usize + place;
            self.lookups[table].push(Lookup { number, inputs, outputs, triples });
            if self.lookups[table].len() * self.executions >= LOOKUPS {
                self.process_lookups(table)?;
            }
        }
        Ok(())
    }

    /// Sends the openings of the collected AND gates, and finishes earlier chunks beyond the
    /// look-ahead.
    fn open(&mut self) -> Result<()> {
        let Chunk { alpha, beta, out, triples } = std::mem::replace(&mut self.ands, Chunk::new());
        let products = Products::open(self.channels, &alpha, &beta, triples)?;
        self.pending.push_back(Opened { alpha, beta, out, products });
        if self.pending.len() > LOOKAHEAD { self.receive() } else { Ok(()) }
    }

    /// Finishes the chunk that was opened first: computes r_u·r_v ⊕ r_o.
    fn receive(&mut self) -> Result<()> {
        let Some(Opened { alpha, beta, out, products }) = self.pending.pop_front() else {
            return Ok(());
        };
        let mut row = products.receive(self.channels, &self.side)?;
        flat::add(&mut row, &out);
        self.gates.iter_mut().zip([&row, &beta, &alpha]).for_each(|(to, from)| to.extend(from));
        Ok(())
    }

    /// Makes the tables of the collected look-ups of a table.
    fn process_lookups(&mut self, table: usize) -> Result<()> {
        // Openings arrive in the order in which they were sent.
        while !self.pending.is_empty() {
            self.receive()?;
        }
        let lookups = std::mem::take(&mut self.lookups[table]);
        let Some(first) = lookups.first() else {
            return Ok(());
        };
        let joined = |of: fn(&Lookup) -> &[AuthShares], bits: usize| -> Vec<AuthShares> {
            (0..bits)
                .map(|bit| {
                    let mut all = flat::empty(lookups.len() * self.executions);
                    lookups.iter().for_each(|lookup| flat::append(&mut all, &of(lookup)[bit]));
                    all
                })
                .collect()
        };
        let inputs = joined(|lookup| &lookup.inputs, first.inputs.len());
        let outputs = joined(|lookup| &lookup.outputs, first.outputs.len());
        let mut supply = Supply::new(&lookups);
        let vectors = one_hot(self.channels, inputs, &self.side, &mut |n| supply.take(n))?;
        let (program, executions) = (&self.program, self.executions);
        let place =
            |k: usize| program.place(lookups[k / executions].number, k % executions, executions);
        let table = &program.layered.tables()[table];
        entries::scramble(table, &vectors, &outputs, &mut self.tables, place);
        Ok(())
    }

    /// Finishes the rest; returns everything it made, and the masks of the output wires.
    ///
    /// Paper: DNNR17, Fig. 8, 3, AND
    fn finish(mut self) -> Result<(Gates<T>, Tables<T>, Rows<T>)> {
        if !self.ands.out.is_empty() {
            self.open()?;
        }
        (0..self.lookups.len()).try_for_each(|table| self.process_lookups(table))?;
        while !self.pending.is_empty() {
            self.receive()?;
        }
        let slots = self.program.layered.output_slots();
        let mut outputs = Rows::with_room(slots.len() * self.executions);
        for &slot in slots {
            let mut masks = flat::empty(self.executions);
            self.masks.append_to(slot as usize, &mut masks);
            outputs.extend(&masks);
        }
        Ok((self.gates, self.tables, outputs))
    }
}

/// Takes a triple for each execution, and the masks that come with them.
fn take(
    queue: &mut TripleQueue<RandomTriples>,
    executions: usize,
    triples: &mut Triples,
    mut masks: Option<&mut AuthShares>,
) -> Result<()> {
    queue.take(executions, |RandomTriples { lambda_c, abc }, range| {
        let from = [&abc.a, &abc.b, &abc.c];
        let into = [&mut triples.a, &mut triples.b, &mut triples.c];
        for (into, from) in into.into_iter().zip(from) {
            flat::append_range(into, from, range.clone());
        }
        if let Some(masks) = masks.as_deref_mut() {
            flat::append_range(masks, lambda_c, range);
        }
    })
}

/// The triples of several look-ups, one after the other.
struct Supply<'a> {
    lookups: std::slice::Iter<'a, Lookup>,
    current: Option<(&'a Triples, usize)>,
}

impl<'a> Supply<'a> {
    fn new(lookups: &'a [Lookup]) -> Self {
        Supply { lookups: lookups.iter(), current: None }
    }

    /// Returns the next `n` triples, which must exist.
    fn take(&mut self, n: usize) -> Triples {
        let mut out = no_triples(n);
        while out.len() < n {
            let (triples, start) = match self.current.take() {
                Some((triples, start)) if start < triples.len() => (triples, start),
                _ => (&self.lookups.next().expect("a triple for each product").triples, 0),
            };
            let end = triples.len().min(start + n - out.len());
            let from = [&triples.a, &triples.b, &triples.c];
            let into = [&mut out.a, &mut out.b, &mut out.c];
            for (into, from) in into.into_iter().zip(from) {
                flat::append(into, &from.slice(start..end));
            }
            self.current = Some((triples, end));
        }
        out
    }
}
