//! Forecasts of runs, from the circuit alone: which components are garbled, how many copies and
//! buckets there are, and how many bytes each phase sends.

use symbolon_circuit::Circuit;
use symbolon_circuit::components::{Kind, Slot};
use symbolon_cutchoose::{Sizes, hcom};
use symbolon_engine::{Components, OtExtension, Rho, RunTerms};
use symbolon_ot::cot::MAX_DRAW;
use symbolon_ot::draw_bytes;
use symbolon_primitives::Block;
use symbolon_transport::Result;

use super::assemble::returned;
use super::buckets::GarbledCopy;
use super::garble::{self, HalfGates};
use super::layout::Layout;
use super::options;
use super::params::{Games, Params};
use super::program::{Program, Task};
use super::shelf;
use super::state;

use super::windows::Windows;

/// A planned run.
#[derive(Clone, Copy, Debug)]
pub struct Plans<'a> {
    /// How many executions run together.
    pub executions: usize,
    /// How many such batches are prepared together; each runs by itself.
    pub count: usize,
    /// Statistical security.
    pub rho: Rho,
    /// Names of the components to garble; if there are none, the cost decides.
    pub components: &'a [String],
    /// What makes the oblivious transfers.
    pub ot: OtExtension,
}

impl Default for Plans<'_> {
    /// One execution at ρ = 40, with the components that cost least.
    fn default() -> Self {
        let ot = OtExtension::default();
        Plans { executions: 1, count: 1, rho: Rho::Bits40, components: &[], ot }
    }
}

impl<'a> Plans<'a> {
    /// Plans `count` batches on these terms.
    pub fn of(terms: RunTerms<'a>, count: usize) -> Plans<'a> {
        let RunTerms { rho, executions, options } = terms;
        let components = options::components(options);
        Plans { executions, count, rho, components, ..Plans::default() }
    }
}

/// The sizes of one cut-and-choose game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameSizes {
    /// Buckets: places to fill, in all executions together.
    pub buckets: u64,
    /// Objects in each bucket, α.
    pub bucket: u64,
    /// Objects made, L.
    pub made: u64,
}

impl From<&Sizes> for GameSizes {
    fn from(sizes: &Sizes) -> GameSizes {
        GameSizes { buckets: sizes.buckets, bucket: sizes.bucket, made: sizes.objects }
    }
}

/// A component that is garbled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentForecast {
    /// Its name in the circuit, or "leftover gates".
    pub name: String,
    /// AND gates.
    pub and_gates: u64,
    /// Input bits.
    pub inputs: u64,
    /// Output bits.
    pub outputs: u64,
    /// Its copies.
    pub sizes: GameSizes,
    /// Bytes that party 0 sends for it before the slots are connected, commitments included.
    pub bytes: u64,
}

/// Bytes that each party sends, without message headers, proofs and coins. These take 8 bytes a
/// message and a few hundred bytes a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseBytes {
    /// Bytes sent by party 0.
    pub garbler: u64,
    /// Bytes sent by party 1.
    pub evaluator: u64,
}

/// What a run is made of and sends, for all executions together, without the set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The components that are garbled.
    pub components: Vec<ComponentForecast>,
    /// The authenticators: a bucket for each bundle of wires.
    pub authenticators: GameSizes,
    /// Wires in a bundle.
    pub bundle: u64,
    /// Solderings between components: one for each input of a component, and one for each output of
    /// party 0 that is a sum.
    pub solderings: u64,
    /// Bytes of the cut-and-choose and the buckets.
    pub made: PhaseBytes,
    /// Bytes of connecting the components.
    pub connected: PhaseBytes,
    /// Bytes of the online phase.
    pub online: PhaseBytes,
    /// Peak memory of party 1 in bytes, accurate to about a fifth; party 0 needs less.
    pub memory: u64,
    /// How many cut-and-chooses run one after another; memory depends on one of them only. If a
    /// program alone takes several, this is the number for each program.
    pub windows: u64,
}

impl Forecast {
    /// Forecasts a run of `circuit`.
    ///
    /// # Errors
    /// `InvalidInput` when the protocol cannot run this circuit, or this number of executions of
    /// it, or the circuit has no component with a given name.
    pub fn new(circuit: &Circuit, plans: Plans<'_>) -> Result<Forecast> {
        let Plans { executions, count: preparations, rho, components, ot } = plans;
        let games = Games::new(rho.bits());
        let program = Program::new(
            circuit,
            Task { executions, preparations, games, components, linked: &[] },
        )?;
        let (made, windows, windows_of_one) = Made::program(&program, (games, ot), components)?;
        let preparations = preparations as u64;
        let [own, theirs] =
            [&program.inputs[0], &program.inputs[1]].map(|wires| wires.len() as u64 * preparations);
        let outputs = program.to_evaluator.len() as u64 * preparations;
        let solderings = (program.graph.sums.len() + program.out_gates.len()) as u64 * preparations;
        let back = returned(&program).count() as u64 * preparations;
        Ok(Forecast {
            components: made.components,
            authenticators: made.authenticators,
            bundle: windows.largest().bundle as u64,
            solderings,
            made: made.bytes,
            connected: PhaseBytes { garbler: 16 * solderings, evaluator: 0 },
            online: PhaseBytes {
                garbler: 16 * (own + theirs + outputs),
                evaluator: bits(theirs) + 16 * back,
            },
            memory: memory(&program, &windows, (games.rho, windows_of_one))?,
            windows: windows.number() as u64,
        })
    }

    /// Returns the bytes that both parties send, without the set-up.
    pub fn bytes(&self) -> u64 {
        let both = |phase: &PhaseBytes| phase.garbler + phase.evaluator;
        both(&self.made) + both(&self.connected) + both(&self.online)
    }
}

/// What windows are made of, and what they send before the slots are connected.
#[derive(Default)]
pub(super) struct Made {
    ot: OtExtension,
    components: Vec<ComponentForecast>,
    authenticators: GameSizes,
    pub bytes: PhaseBytes,
}

impl Made {
    /// Forecasts all preparations of a program; `names` are the components that were asked for.
    /// Also returns the windows, and whether they are those of a single preparation.
    fn program(
        program: &Program,
        (games, ot): (Games, OtExtension),
        names: &[String],
    ) -> Result<(Made, Windows, bool)> {
        let made = Made { ot, ..Made::default() };
        let (mut made, windows) = (made, Windows::of_program(program, games)?);
        if let Some(components) = windows.as_pool(program, names)? {
            let windows = Windows::of_pool(&components, games.shared_by(program.preparations)?)?;
            (0..program.preparations).try_for_each(|_| made.add_pool(&components, &windows))?;
            return Ok((made, windows, true));
        }
        for window in windows.preparations(program) {
            let (preparations, params) = window?;
            made.add(program, preparations, &params, games.rho)?;
        }
        Ok((made, windows, false))
    }

    /// Adds the windows of a pool.
    pub fn add_pool(&mut self, components: &Components, windows: &Windows) -> Result<()> {
        for window in windows.programs(components) {
            let (program, params) = window?;
            self.add(&program, 1, &params, windows.rho())?;
        }
        Ok(())
    }

    /// Adds a window that has this number of preparations.
    fn add(
        &mut self,
        program: &Program,
        preparations: usize,
        params: &Params,
        rho: u32,
    ) -> Result<()> {
        let commitments = state::commitments(rho)?;
        let all = Layout::new((program, preparations), params, rho, 0).total;
        let committed = hcom::random_bytes(&commitments, all) as u64;
        // The bytes of `n` commitments, to report those of each component.
        let share = |n: u64| (committed as u128 * u128::from(n) / all.max(1) as u128) as u64;
        let rho = u64::from(rho);
        let transfers = (program.inputs[1].len() * preparations) as u64 + rho;
        let masks = (program.to_evaluator.len() * preparations) as u64 + rho;
        let mut made = committed + 16 * (transfers + 1) + bits(masks) + 16 * rho;
        made += authenticators((program, preparations), params);
        for (number, (kind, sizes)) in program.graph.kinds.iter().zip(&params.kinds).enumerate() {
            let (bytes, ports) = (component(kind, sizes), (kind.inputs() + kind.outputs()) as u64);
            made += bytes;
            let bytes = bytes + share((1 + ports) * sizes.objects);
            match self.components.get_mut(number) {
                Some(known) => {
                    known.sizes.add(sizes);
                    known.bytes += bytes;
                }
                None => self.components.push(ComponentForecast {
                    name: kind.name.clone(),
                    and_gates: kind.ands() as u64,
                    inputs: kind.inputs() as u64,
                    outputs: kind.outputs() as u64,
                    sizes: sizes.into(),
                    bytes,
                }),
            }
        }
        self.authenticators.add(&params.authenticators);
        self.bytes.garbler += made;
        self.bytes.evaluator += bits(rho) + 16 * rho + draws(self.ot, transfers);
        Ok(())
    }
}

impl GameSizes {
    /// Adds the sizes of a later window, whose buckets are no larger.
    fn add(&mut self, sizes: &Sizes) {
        self.buckets += sizes.buckets;
        self.bucket = self.bucket.max(sizes.bucket);
        self.made += sizes.objects;
    }
}

/// Returns how many bytes the evaluator holds. For a window, these are the rows and corrections of
/// the commitments, and the hashes that the authenticators accept; or, if this is more, the
/// commitments that connect a program that was made in windows. For one preparation, these are its
/// slots, unless they are in a file, and some blocks for each wire and sum.
fn memory(program: &Program, windows: &Windows, (rho, alone): (u32, bool)) -> Result<u64> {
    let (graph, params) = (&program.graph, windows.largest());
    let accepted = params.bundle as u64 * params.authenticators.objects;
    let commitment = 8 * state::commitments(rho)?.row_words() as u64 + 16;
    let mut window = commitment * windows.commitments as u64;
    window += size_of::<[Block; 2]>() as u64 * accepted;
    if alone {
        let of_slot = |slot: &Slot| {
            let kind = &graph.kinds[slot.kind];
            (1 + kind.inputs() + 2 * kind.outputs()) as u64
        };
        let connected = graph.slots.iter().map(of_slot).sum::<u64>() + 2 * program.unbound() as u64;
        window = window.max(commitment * connected);
    }
    let copies = graph.slots.iter().map(|slot| params.kinds[slot.kind].bucket).sum::<u64>();
    let slots = match shelf::bytes_in_memory(graph, &params.buckets()) {
        // The tables in flight: of the copy that is received, and of the copies that are evaluated.
        0 => graph.kinds.iter().map(in_flight).max().unwrap_or_default(),
        bytes => bytes + size_of::<GarbledCopy>() as u64 * copies,
    };
    let wires = 3 * size_of::<Block>() as u64 * (program.wires() + graph.sums.len()) as u64;
    Ok(window + slots + wires)
}

fn in_flight(kind: &Kind) -> u64 {
    2 * (garble::side_by_side(kind) * kind.ands() * size_of::<HalfGates>()) as u64
}

fn bits(n: u64) -> u64 {
    n.div_ceil(8)
}

/// Returns the bytes of `n` correlated OTs, in draws of at most [`MAX_DRAW`].
fn draws(ot: OtExtension, n: u64) -> u64 {
    let [whole, rest] = [n / MAX_DRAW as u64, n % MAX_DRAW as u64];
    let rest = if rest > 0 { draw_bytes(ot, rest as usize) } else { 0 };
    whole * draw_bytes(ot, MAX_DRAW) as u64 + rest as u64
}

/// Returns the bytes of the authenticators, without their commitments.
fn authenticators((program, preparations): (&Program, usize), params: &Params) -> u64 {
    let (sizes, keys) =
        (&params.authenticators, params.bundle as u64 * params.authenticators.objects);
    let wires = (program.authenticated() * preparations) as u64;
    bits(sizes.objects)
        + 48 * keys
        + 16 * (sizes.opened() + sizes.bucketed() + (sizes.bucket - 1) * wires)
}

/// Returns the bytes of all copies of a component, without their commitments.
fn component(kind: &Kind, sizes: &Sizes) -> u64 {
    let [gates, inputs, outputs] = [kind.ands(), kind.inputs(), kind.outputs()].map(|n| n as u64);
    bits(sizes.objects)
        + (16 * outputs + 32) * sizes.objects
        + 16 * (1 + inputs) * sizes.opened()
        + (32 * gates + 16 * (1 + outputs)) * sizes.bucketed()
        + 16 * inputs * (sizes.bucketed() - sizes.buckets)
}
