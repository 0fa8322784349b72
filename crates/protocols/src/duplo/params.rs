//! How many copies of everything are made: the functions L and α of Appendix A.
//!
//! All games of a preparation share 2^-ρ (`docs/proofs/several-checks.md`): one for each kind of
//! component (one good copy in every bucket), and one for the authenticators (a majority of good
//! ones in every bucket). Opened bad objects are always noticed in all of them, since every
//! authenticator has a Δ of its own.
//!
//! Of all sizes that are safe, those are taken that cost the least time, with bytes counted as on a
//! link of 1 Gbit/s. Times were measured with 512-bit registers, of both parties together; both
//! parties must have the same, so they are no settings.
//!
//! An authenticator is for a bundle of wires. With more wires in a bundle there are fewer buckets,
//! which are larger; but Δ of an authenticator and its difference serve all of them.

use symbolon_cutchoose::{Costs, Game, Goal, Sizes};
use symbolon_transport::{Error, Result};

use super::components::{ComponentGraph, Kind};

/// Nanoseconds for a byte on the wire.
const BYTE: u64 = 8;

/// Nanoseconds to garble an AND gate with the free gates around it, or to evaluate one.
const GATE: u64 = 14;

/// Nanoseconds to take the digest of a gate's half-gates.
const DIGEST: u64 = 6;

/// Nanoseconds for a commitment at both parties, its bytes included.
const COMMITMENT: u64 = 110;

/// Nanoseconds for an opened sum of commitments at both parties, its bytes not included.
const SUM: u64 = 90;

/// Nanoseconds for a hash.
const HASH: u64 = 15;

/// How many wires share an authenticator: one of these numbers, the cheapest. One is never much
/// cheaper than two.
const BUNDLES: [usize; 3] = [2, 4, 8];

/// The same where a rough cost is enough.
const ROUGH: [usize; 1] = [4];

/// The most wires of a bundle.
pub(super) const MOST_WIRES: usize = 8;

/// Commitments that are made at a time. At ρ = 40 each takes 72 bytes at both parties, 604 MB in
/// all. Fewer would save memory, but smaller games need more copies.
const MOST_COMMITMENTS: usize = 1 << 23;

/// What the sizes are computed from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Games {
    /// ρ.
    pub rho: u32,
    /// How many cut-and-chooses share 2^-ρ.
    pub windows: u32,
    /// How many commitments may be made at a time ([`Windows`](super::windows::Windows)).
    pub most: usize,
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
            windows: 1,
            most: MOST_COMMITMENTS,
            #[cfg(test)]
            small: None,
        }
    }

    /// As many cut-and-chooses as before for each of so many things, which all share 2^-ρ.
    ///
    /// # Errors
    /// `InvalidInput` when these are too many.
    pub fn shared_by(self, things: usize) -> Result<Games> {
        let windows = u32::try_from(things).ok().and_then(|n| self.windows.checked_mul(n));
        let too_many = || Error::invalid_input("too many executions at a time");
        Ok(Games { windows: windows.ok_or_else(too_many)?, ..self })
    }

    /// The numbers of wires that a bundle may have.
    fn bundles(&self) -> &'static [usize] {
        #[cfg(test)]
        if self.small.is_some() {
            // The wires of the tests' circuit do not fill the last one.
            return &[4];
        }
        &BUNDLES
    }

    /// How many games share 2^-ρ: in each cut-and-choose one for each kind and one for the
    /// authenticators.
    fn in_all(&self, graph: &ComponentGraph) -> u64 {
        u64::from(self.windows) * (graph.kinds.len() as u64 + 1)
    }

    /// As many objects as buckets of this size take.
    fn with_bucket(&self, goal: Goal, buckets: u64, games: u64, bucket: u64) -> Result<Sizes> {
        if buckets == 0 {
            return Ok(Sizes { buckets, bucket: 1, objects: 0 });
        }
        #[cfg(test)]
        if self.small.is_some() {
            return self.best(goal, buckets as usize, games, Costs::FEWEST_OBJECTS);
        }
        let game = Game::new(goal, buckets, self.rho)?.among(games)?;
        let too_many = || Error::invalid_input("cut-and-choose takes too many objects");
        game.fewest_objects(bucket)?.ok_or_else(too_many)
    }

    /// Paper: KNRTT17, App. A, L and α
    fn best(&self, goal: Goal, buckets: usize, games: u64, costs: Costs) -> Result<Sizes> {
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
        Game::new(goal, buckets, self.rho)?.among(games)?.best(costs)
    }
}

/// The sizes of all games of a run.
///
/// Paper: KNRTT17, App. A, L and α | sizes of games
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Params {
    /// For each kind of component.
    pub kinds: Vec<Sizes>,
    /// For the authenticators: a bucket for each bundle of wires.
    pub authenticators: Sizes,
    /// Wires in a bundle.
    pub bundle: usize,
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

    /// The cheapest safe sizes for `executions` executions of a graph, prepared together, each with
    /// `wires` wires that have authenticators.
    ///
    /// # Errors
    /// `InvalidInput` when that takes too many copies.
    pub fn new(
        graph: &ComponentGraph,
        executions: usize,
        wires: usize,
        games: Games,
    ) -> Result<Params> {
        Params::of(graph, executions, (wires, games.bundles()), games)
    }

    /// The same for a smaller number of everything, with buckets of the same sizes as these.
    ///
    /// # Errors
    /// `InvalidInput` when that takes too many copies.
    pub fn smaller(
        &self,
        graph: &ComponentGraph,
        executions: usize,
        wires: usize,
        games: Games,
    ) -> Result<Params> {
        let number = games.in_all(graph);
        let sizes = |(sizes, count): (&Sizes, usize)| {
            let buckets = (count * executions) as u64;
            if buckets == sizes.buckets {
                return Ok(*sizes);
            }
            games.with_bucket(Goal::OneGood, buckets, number, sizes.bucket)
        };
        let kinds = self.kinds.iter().zip(graph.counts()).map(sizes).collect::<Result<_>>()?;
        let all = &self.authenticators;
        let buckets = (wires.div_ceil(self.bundle).max(1) * executions) as u64;
        let authenticators = if buckets == all.buckets {
            *all
        } else {
            games.with_bucket(Goal::MajorityGood, buckets, number, all.bucket)?
        };
        Ok(Params { kinds, authenticators, bundle: self.bundle })
    }

    /// About the same for `executions` executions, as if all inputs were the garbler's.
    ///
    /// # Errors
    /// As [`new`](Params::new).
    pub fn rough(graph: &ComponentGraph, executions: usize, games: Games) -> Result<Params> {
        Params::of(graph, executions, (graph.wires, &ROUGH), games)
    }

    /// For so many executions of a graph, each of which has so many wires with authenticators, in
    /// bundles of the cheapest of these sizes.
    fn of(
        graph: &ComponentGraph,
        executions: usize,
        (wires, bundles): (usize, &[usize]),
        games: Games,
    ) -> Result<Params> {
        let number = games.in_all(graph);
        let best = |(kind, count): (&Kind, usize)| {
            games.best(Goal::OneGood, count * executions, number, component_costs(kind))
        };
        let kinds = graph.kinds.iter().zip(graph.counts()).map(best).collect::<Result<_>>()?;
        let mut choices = Vec::with_capacity(bundles.len());
        for bundle in bundles {
            // One at least: that there is a good one makes the offset of the transfers end in 1.
            let buckets = wires.div_ceil(*bundle).max(1) * executions;
            let costs = authenticator_costs(*bundle);
            let sizes = games.best(Goal::MajorityGood, buckets, number, costs)?;
            choices.push((costs.of(&sizes), *bundle, sizes));
        }
        let (_, bundle, authenticators) = choices
            .into_iter()
            .min_by_key(|&(cost, bundle, _)| (cost, bundle))
            .ok_or_else(|| Error::internal("no bundles"))?;
        Ok(Params { kinds, authenticators, bundle })
    }

    /// About how many nanoseconds garbling, sending and evaluating take.
    pub fn cost(&self, graph: &ComponentGraph, executions: usize) -> u128 {
        let kinds = graph.kinds.iter().zip(&self.kinds);
        let components: u128 = kinds.map(|(kind, sizes)| component_costs(kind).of(sizes)).sum();
        let solderings = (graph.sums.len() * executions) as u128 * u128::from(SOLDERING);
        let authenticators = authenticator_costs(self.bundle).of(&self.authenticators);
        components + authenticators + solderings
    }
}

/// Of one more soldering, or difference of Δ.
const SOLDERING: u64 = 16 * BYTE + SUM;

fn authenticator_costs(bundle: usize) -> Costs {
    let keys = bundle as u64;
    Costs {
        made: (1 + keys) * COMMITMENT + keys * (3 * HASH + 48 * BYTE),
        bucketed: (1 + keys) * SOLDERING + keys * HASH,
    }
}

fn component_costs(kind: &Kind) -> Costs {
    let (ands, ports) = (kind.ands() as u64, (kind.inputs() + kind.outputs()) as u64);
    // The garbler garbles each copy; the evaluator garbles the opened ones again, and the garbler
    // the others, which it then sends. Each copy has its digest taken twice.
    Costs {
        made: 2 * (GATE + DIGEST) * ands
            + COMMITMENT * (1 + ports)
            + 16 * BYTE * kind.outputs() as u64,
        bucketed: (32 * BYTE + GATE) * ands + SOLDERING * (1 + ports),
    }
}
