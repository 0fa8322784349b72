//! How many copies of everything are made: the functions L and α of Appendix A.
//!
//! All games of a run share 2^-ρ: one for each kind of component (one good copy in every bucket),
//! and one for the authenticators (a majority of good ones in every bucket). Opened bad objects are
//! always noticed in all of them, since every authenticator has a Δ of its own.
//!
//! Of all sizes that are safe, those are taken that cost the least time, with bytes counted as on a
//! link of 1 Gbit/s.

use symbolon_cutchoose::{Costs, Game, Goal, Sizes};
use symbolon_transport::Result;

use super::components::{ComponentGraph, Kind};
use super::program::Program;

/// Nanoseconds for a byte on the wire.
const BYTE: u64 = 8;

/// Nanoseconds to garble an AND gate, or to evaluate one.
const GATE: u64 = 25;

/// Nanoseconds for a commitment, its bytes included.
const COMMITMENT: u64 = 200;

/// Nanoseconds for a hash.
const HASH: u64 = 100;

/// What the sizes are computed from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Games {
    /// ρ.
    pub rho: u32,
    /// Sizes too small to be safe, for tests that measure how often a cheat is caught.
    #[cfg(test)]
    pub small: Option<Small>,
}

/// Sizes for tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Small {
    /// α, and how many are opened, of components.
    pub components: [u64; 2],
    /// The same of authenticators.
    pub authenticators: [u64; 2],
}

impl Games {
    /// Games that are lost with at most 2^-ρ.
    pub fn new(rho: u32) -> Games {
        Games {
            rho,
            #[cfg(test)]
            small: None,
        }
    }

    fn best(&self, goal: Goal, buckets: usize, games: usize, costs: Costs) -> Result<Sizes> {
        let buckets = buckets as u64;
        if buckets == 0 {
            return Ok(Sizes { buckets, bucket: 1, objects: 0 });
        }
        #[cfg(test)]
        if let Some(small) = self.small {
            let [bucket, opened] = match goal {
                Goal::OneGood => small.components,
                _ => small.authenticators,
            };
            return Ok(Sizes { buckets, bucket, objects: bucket * buckets + opened });
        }
        Game::new(goal, buckets, self.rho)?.among(games as u32)?.best(costs)
    }
}

/// The sizes of all games of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Params {
    /// For each kind of component.
    pub kinds: Vec<Sizes>,
    /// For the authenticators: a bucket for each wire.
    pub authenticators: Sizes,
}

/// How many objects are in the buckets of each sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BucketSizes {
    /// Of each kind of component.
    pub kinds: Vec<usize>,
    /// Of authenticators.
    pub authenticators: usize,
}

impl Params {
    /// The sizes of the buckets alone.
    pub fn buckets(&self) -> BucketSizes {
        BucketSizes {
            kinds: self.kinds.iter().map(|sizes| sizes.bucket as usize).collect(),
            authenticators: self.authenticators.bucket as usize,
        }
    }

    /// The cheapest safe sizes for a program and all that are prepared with it.
    ///
    /// # Errors
    /// `InvalidInput` when that takes too many copies.
    pub fn new(program: &Program, games: Games) -> Result<Params> {
        let wires = program.wires() * program.parts;
        Params::for_executions(&program.graph, program.parts, wires, games)
    }

    /// The same for a number of executions of a graph, and all their wires.
    ///
    /// # Errors
    /// As [`new`](Params::new).
    pub fn for_executions(
        graph: &ComponentGraph,
        executions: usize,
        wires: usize,
        games: Games,
    ) -> Result<Params> {
        let number = graph.kinds.len() + 1;
        let best = |(kind, count): (&Kind, usize)| {
            games.best(Goal::OneGood, count * executions, number, component_costs(kind))
        };
        let kinds = graph.kinds.iter().zip(graph.counts()).map(best).collect::<Result<_>>()?;
        let authenticators = games.best(Goal::MajorityGood, wires, number, AUTHENTICATOR)?;
        Ok(Params { kinds, authenticators })
    }

    /// About how many nanoseconds garbling, sending and evaluating take.
    pub fn cost(&self, graph: &ComponentGraph, executions: usize) -> u128 {
        let kinds = graph.kinds.iter().zip(&self.kinds);
        let components: u128 = kinds.map(|(kind, sizes)| component_costs(kind).of(sizes)).sum();
        let solderings = (graph.sums.len() * executions) as u128 * u128::from(SOLDERING);
        components + AUTHENTICATOR.of(&self.authenticators) + solderings
    }
}

const SOLDERING: u64 = 16 * BYTE + HASH;

const AUTHENTICATOR: Costs =
    Costs { made: 2 * COMMITMENT + 3 * HASH + 48 * BYTE, bucketed: 2 * SOLDERING + HASH };

fn component_costs(kind: &Kind) -> Costs {
    let (ands, ports) = (kind.ands() as u64, (kind.inputs() + kind.outputs()) as u64);
    // The garbler garbles each copy; the evaluator garbles the opened ones again, and evaluates the
    // others.
    Costs {
        made: 2 * GATE * ands + COMMITMENT * (1 + ports) + 16 * BYTE * kind.outputs() as u64,
        bucketed: (32 * BYTE + GATE) * ands + SOLDERING * (1 + ports),
    }
}
