//! Triples for a known circuit, on the gates' own masks.
//!
//! If nothing is to be stored, the function-dependent phase can make the triples itself, for the
//! actual gates. All masks are drawn first. Then the triple of each AND gate takes the mask of the
//! gate's right input wire as its right factor b = λ_b. That saves one of 3B authenticated bits per
//! gate, and one of the two openings in Beaver's trick, because λ_b ⊕ b is zero:
//!
//! ```text
//! d = λ_a ⊕ a,   λ_a·λ_b = a·λ_b ⊕ d·λ_b = c ⊕ d·b
//! ```
//!
//! Departure: triples of a known circuit | Katz, Ranellucci, Rosulek, Wang, CRYPTO 2018, §5.2: the
//! first triple of a bucket is on λ_α and λ_β | on λ_β alone | λ_α would leak with probability 1/2
//! (`docs/proofs/leaky-ands.md#only-the-right-factor-is-a-mask`)

use std::collections::VecDeque;
use std::vec;

use symbolon_circuit::Cursor;
use symbolon_engine::{Compiled, phases::small};
use symbolon_garbling::wires::WireStore;
use symbolon_preprocessing::{AuthShares, Broadcasts, Preprocessor, Triples, bucketing};
use symbolon_transport::{Channel, Error, Result};

use super::{
    correlations::Correlations,
    pipeline,
    triples::{BetaTriples, SolvedTriples},
    wire_shares::WireShares,
};

/// Makes the triples of a circuit batch by batch, in the order of the plan: draws the masks of the
/// AND gates' outputs, computes those of their inputs, and makes triples on these.
pub(crate) struct CircuitTriples<'p> {
    pass: InputPass<'p>,
    draws: Draws,
}

/// The batches that are still to be made, and their gates.
pub(crate) struct Draws {
    batches: vec::IntoIter<bucketing::Batch>,
    gates: usize,
    /// The masks of the first batch's gates, if they were drawn with those of the inputs.
    first: Option<AuthShares>,
}

/// Gates whose output masks are drawn. The batch is filled up with triples on shares of zero, which
/// are never used.
struct Drawn {
    batch: bucketing::Batch,
    lambda_c: AuthShares,
}

/// Returns the batches for all gates of a circuit. Parts of about `segment` gates are planned
/// separately by `plan_on`.
pub(crate) fn circuit_batches(
    gates: usize,
    segment: u64,
    plan_on: impl Fn(usize) -> Vec<bucketing::Batch>,
) -> Result<Vec<bucketing::Batch>> {
    let batches = plan_on(gates);
    // All gates together can be divided more evenly, into as many batches as needed.
    if batches.iter().all(|batch| batch.triples as u64 <= segment) {
        return Ok(batches);
    }
    let parts = small((gates as u64).div_ceil(segment.max(1)))?;
    let part = |i: usize| gates / parts + usize::from(i < gates % parts);
    Ok((0..parts).flat_map(|i| plan_on(part(i))).collect())
}

impl<'p> CircuitTriples<'p> {
    /// Starts with the masks of the inputs.
    pub fn new<T>(
        circuit: &'p Compiled,
        correlations: &Correlations<T>,
        draws: Draws,
    ) -> CircuitTriples<'p> {
        let plan = circuit.plan();
        let pass = InputPass {
            cursor: plan.cursor(),
            outputs: plan.output_slots(),
            slots: correlations.input_wires(circuit),
            ready: Vec::new(),
            taken: 0,
        };
        CircuitTriples { pass, draws }
    }

    /// Returns the next gates' triples, in the memory of a used batch if there is one; `None` after
    /// the last.
    ///
    /// Paper: WRK17, Fig. 2, 4(a)
    pub fn next_solved(
        &mut self,
        open: &mut Preprocessor,
        lanes: &mut [Vec<Channel>],
        spent: Option<SolvedTriples>,
    ) -> Result<Option<SolvedTriples>> {
        let (mut lambda_a, mut lambda_b, mut memory) = Default::default();
        if let Some(spent) = spent {
            let Triples { a, b, c } = spent.abc;
            (lambda_a, lambda_b, memory) = (spent.lambda_a, b, c);
            open.recycle(Triples { a, b: AuthShares::default(), c: AuthShares::default() });
        }
        let Some(Drawn { batch, mut lambda_c }) = self.draws.next(open, lanes, memory)? else {
            return Ok(None);
        };
        lambda_a.make_room(lambda_c.len(), self.pass.slots.peers());
        self.pass.find(&lambda_c, batch.triples, &mut lambda_b, Some(&mut lambda_a))?;
        lambda_c.fill_up(batch.triples);
        let abc = open.triples_on(lanes, batch, lambda_b, Some(lambda_c))?;
        Ok(Some(SolvedTriples { lambda_a, abc }))
    }

    /// Returns the masks of the circuit's outputs, after the last batch.
    pub fn outputs(self) -> WireShares {
        self.pass.outputs()
    }

    /// Makes the triples of all gates, without the masks that another pass computes again. With
    /// several lanes this pass has its own thread: it computes the input masks of one batch while
    /// the previous batch's triples are made, or the second batch's masks drawn.
    ///
    /// So a batch's masks are drawn before the triples of the previous batch. These are on other
    /// masks, and no message of either depends on the other. The order only determines which of
    /// their checks comes first; a failed check is the last under its Δ in any case.
    ///
    /// Paper: WRK17, Fig. 2, 4(a) | the same with triples on the gates' own masks
    pub fn beta_triples(
        self,
        open: &mut Preprocessor,
        lanes: &mut [Vec<Channel>],
        beside: bool,
    ) -> Result<VecDeque<BetaTriples>> {
        let CircuitTriples { mut pass, mut draws } = self;
        let mut all = VecDeque::new();
        // Of the masks λ_b, only the memory is kept, for the next batch.
        let mut memory = AuthShares::default();
        if !beside {
            while let Some(drawn) = draws.next(open, lanes, AuthShares::default())? {
                pass.find(&drawn.lambda_c, drawn.batch.triples, &mut memory, None)?;
                all.push_back(drawn.multiply(open, lanes, &mut memory)?);
            }
            return Ok(all);
        }
        let mut drawn = draws.next(open, lanes, AuthShares::default())?;
        let mut found: Option<(Drawn, AuthShares)> = None;
        while drawn.is_some() || found.is_some() {
            let mut lambda_b = std::mem::take(&mut memory);
            let mut multiply_and_draw = || {
                if let Some((found, mut lambda_b)) = found.take() {
                    all.push_back(found.multiply(open, lanes, &mut lambda_b)?);
                    memory = lambda_b;
                }
                draws.next(open, lanes, AuthShares::default())
            };
            let next = match &drawn {
                None => multiply_and_draw()?,
                Some(Drawn { batch, lambda_c }) => pipeline::beside(
                    || pass.find(lambda_c, batch.triples, &mut lambda_b, None),
                    multiply_and_draw,
                )?,
            };
            found = std::mem::replace(&mut drawn, next).map(|drawn| (drawn, lambda_b));
        }
        Ok(all)
    }
}

impl Draws {
    /// Plans the batches of a circuit. Parts of about `segment` gates are planned separately.
    pub fn plan(open: &Preprocessor, circuit: &Compiled, segment: u64) -> Result<Draws> {
        let gates = small(circuit.plan().and_count())?;
        let batches = circuit_batches(gates, segment, |n| open.plan_on(n))?;
        Ok(Draws { batches: batches.into_iter(), gates, first: None })
    }

    /// Returns how many gates the first batch has.
    pub fn first(&self) -> usize {
        let first = self.batches.as_slice().first();
        first.map_or(0, |batch| batch.triples.min(self.gates))
    }

    /// Returns when the broadcasts of the first batch's masks may be compared, if its triples are
    /// made next.
    pub fn broadcasts(&self) -> Broadcasts {
        if self.first() == 0 { Broadcasts::Compared } else { Broadcasts::LeftToTriples }
    }

    /// Takes the masks of the first batch's gates, which were drawn with others.
    pub fn after(self, first: AuthShares) -> Draws {
        Draws { first: Some(first), ..self }
    }

    /// Draws the masks of the next gates, in reused memory; returns `None` after the last.
    fn next(
        &mut self,
        open: &mut Preprocessor,
        lanes: &mut [Vec<Channel>],
        mut memory: AuthShares,
    ) -> Result<Option<Drawn>> {
        if self.gates == 0 {
            // The plans of all parts together may round up to more batches than the gates need.
            return Ok(None);
        }
        let Some(batch) = self.batches.next() else {
            return Ok(None);
        };
        let gates = batch.triples.min(self.gates);
        self.gates -= gates;
        if let Some(lambda_c) = self.first.take() {
            return Ok(Some(Drawn { batch, lambda_c }));
        }
        // There must be as many shares as triples, because the products are added to them.
        memory.make_room(batch.triples, lanes[0].len());
        let lambda_c = open.shares_in(lanes, gates, memory)?;
        Ok(Some(Drawn { batch, lambda_c }))
    }
}

impl Drawn {
    /// Makes triples on these masks λ_b, whose memory is returned.
    fn multiply(
        self,
        open: &mut Preprocessor,
        lanes: &mut [Vec<Channel>],
        lambda_b: &mut AuthShares,
    ) -> Result<BetaTriples> {
        let Drawn { batch, lambda_c } = self;
        let Triples { a, b, c } = open.triples_on(lanes, batch, std::mem::take(lambda_b), None)?;
        *lambda_b = b;
        Ok(BetaTriples { lambda_c, a, c })
    }
}

/// A pass over the circuit that computes the masks of the AND gates' inputs, as far as the masks of
/// the outputs are known.
struct InputPass<'p> {
    cursor: Cursor<'p>,
    outputs: &'p [u32],
    slots: WireShares,
    /// Inputs and outputs of the gates in a batch of the plan whose free gates are done, and how
    /// many of these gates are taken.
    ready: Vec<[usize; 3]>,
    taken: usize,
}

impl InputPass<'_> {
    /// Assigns these output masks to the next gates, and computes the masks of their inputs: those
    /// of the right inputs, filled up with shares of zero to `room`, and on request those of the
    /// left inputs.
    fn find(
        &mut self,
        lambda_c: &AuthShares,
        room: usize,
        lambda_b: &mut AuthShares,
        mut lambda_a: Option<&mut AuthShares>,
    ) -> Result<()> {
        lambda_b.make_room(room, self.slots.peers());
        lambda_b.clear_auths(lambda_c.len());
        let mut done = 0;
        loop {
            let ready = &self.ready[self.taken..];
            let gates = &ready[..ready.len().min(lambda_c.len() - done)];
            // None of these gates has another one's output as an input.
            if let Some(lambda_a) = &mut lambda_a {
                self.slots.gather(gates.iter().map(|gate| gate[0]), lambda_a, done);
            }
            self.slots.gather(gates.iter().map(|gate| gate[1]), lambda_b, done);
            self.slots.put(gates.iter().map(|gate| gate[2]), lambda_c, done);
            self.taken += gates.len();
            done += gates.len();
            if done == lambda_c.len() {
                return Ok(());
            }
            self.make_ready()?;
        }
    }

    /// Computes the free gates before the next AND gates.
    fn make_ready(&mut self) -> Result<()> {
        let batch = self.cursor.next_batch();
        let batch =
            batch.ok_or_else(|| Error::internal("the plan has fewer gates than it says"))?;
        self.slots.free_gates(batch.base, batch.linear);
        let wires = |slot: u32| batch.base + slot as usize;
        self.ready.clear();
        self.ready.extend(batch.ands.iter().map(|and| [and.a, and.b, and.out].map(wires)));
        self.taken = 0;
        Ok(())
    }

    /// Returns the masks of the circuit's outputs, after the last AND gate.
    fn outputs(self) -> WireShares {
        let InputPass { cursor, mut slots, outputs, .. } = self;
        slots.finish(cursor);
        slots.select(outputs)
    }
}
