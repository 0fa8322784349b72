//! The sizes of the cut-and-choose games: the functions L and α of Appendix A.
//!
//! All games of a preparation share 2^-ρ (`docs/proofs/several-checks.md`). There is one game for
//! each kind of component, which needs a good copy in every bucket, and one for the authenticators,
//! which needs a good majority in every bucket. In all of them an opened bad object is always
//! detected, since every authenticator has its own Δ.
//!
//! Among the safe sizes, those that take the least time are chosen; bytes are counted as on a 1
//! Gbit/s link. The times were measured with 512-bit registers and are those of both parties
//! together. Both parties must use the same times, so they are constants and not settings.
//!
//! An authenticator serves a bundle of wires. Larger bundles mean fewer but larger buckets; the
//! wires of a bundle share the authenticator's Δ and its difference.

use symbolon_circuit::components::{ComponentGraph, Kind};
use symbolon_cutchoose::{Costs, Game, Goal, Sizes};
use symbolon_transport::{Error, Result};

/// Nanoseconds for a byte on the wire.
const BYTE: u64 = 8;

/// Nanoseconds to garble an AND gate with the free gates around it, or to evaluate one.
const GATE: u64 = 14;

/// Nanoseconds to hash a gate's half-gates.
const DIGEST: u64 = 6;

/// Nanoseconds for a commitment, at both parties together, its bytes included.
const COMMITMENT: u64 = 110;

/// Nanoseconds to open a sum of commitments, at both parties together, without its bytes.
const SUM: u64 = 90;

/// Nanoseconds for a hash.
const HASH: u64 = 15;

/// How many wires may share an authenticator; the cheapest of these numbers is chosen. One wire is
/// never much cheaper than two.
const BUNDLES: [usize; 3] = [2, 4, 8];

/// The only bundle size that is tried where a rough cost is enough.
const ROUGH: [usize; 1] = [4];

/// The most wires in a bundle.
pub(super) const MOST_WIRES: usize = 8;

/// How many commitments are made at a time. At ρ = 40 each takes 72 bytes at each party, 604 MB in
/// all. A lower limit would save memory, but smaller games need more copies.
const MOST_COMMITMENTS: usize = 1 << 23;

/// The parameters from which the sizes are computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Games {
    /// ρ.
    pub rho: u32,
    /// How many cut-and-chooses share 2^-ρ.
    pub windows: u32,
    /// How many commitments may be made at a time ([`Windows`](super::windows::Windows)).
    pub most: usize,
    /// How their sizes are computed.
    pub sizing: &'static dyn Sizing,
}

/// How the sizes of a game are computed: for a number of buckets, at least one, and a number of
/// games that share 2^-ρ.
pub(super) trait Sizing: std::fmt::Debug + Sync {
    /// Returns the bundle sizes to try.
    fn bundles(&self) -> &'static [usize];

    /// Returns the sizes that cost least.
    fn best(&self, goal: Goal, buckets: u64, among: (u32, u64), costs: Costs) -> Result<Sizes>;

    /// Returns sizes with the fewest objects for buckets of this size.
    fn with_bucket(
        &self,
        goal: Goal,
        buckets: u64,
        among: (u32, u64),
        bucket: u64,
    ) -> Result<Sizes>;
}

/// Sizes with which all games together are lost with probability at most 2^-ρ.
#[derive(Debug)]
struct Safe;

impl Sizing for Safe {
    fn bundles(&self) -> &'static [usize] {
        &BUNDLES
    }

    /// Paper: KNRTT17, App. A, L and α
    fn best(
        &self,
        goal: Goal,
        buckets: u64,
        (rho, games): (u32, u64),
        costs: Costs,
    ) -> Result<Sizes> {
        Game::new(goal, buckets, rho)?.among(games)?.best(costs)
    }

    fn with_bucket(
        &self,
        goal: Goal,
        buckets: u64,
        (rho, games): (u32, u64),
        bucket: u64,
    ) -> Result<Sizes> {
        let game = Game::new(goal, buckets, rho)?.among(games)?;
        let too_many = || Error::invalid_input("cut-and-choose takes too many objects");
        game.fewest_objects(bucket)?.ok_or_else(too_many)
    }
}

impl Games {
    /// Returns games that are lost with probability at most 2^-ρ.
    pub fn new(rho: u32) -> Games {
        Games { rho, windows: 1, most: MOST_COMMITMENTS, sizing: &Safe }
    }

    /// Returns the games for `things` things that share 2^-ρ, each of which takes as many
    /// cut-and-chooses as `self`.
    ///
    /// # Errors
    /// `InvalidInput` when there are too many of them.
    pub fn shared_by(self, things: usize) -> Result<Games> {
        let windows = u32::try_from(things).ok().and_then(|n| self.windows.checked_mul(n));
        let too_many = || Error::invalid_input("too many executions at a time");
        Ok(Games { windows: windows.ok_or_else(too_many)?, ..self })
    }

    /// Returns how many games share 2^-ρ: each cut-and-choose has one for each kind of component
    /// and one for the authenticators.
    fn in_all(&self, graph: &ComponentGraph) -> u64 {
        u64::from(self.windows) * (graph.kinds.len() as u64 + 1)
    }

    /// Returns sizes with the fewest objects for buckets of this size.
    fn with_bucket(&self, goal: Goal, buckets: u64, games: u64, bucket: u64) -> Result<Sizes> {
        if buckets == 0 {
            return Ok(Sizes { buckets, bucket: 1, objects: 0 });
        }
        self.sizing.with_bucket(goal, buckets, (self.rho, games), bucket)
    }

    fn best(&self, goal: Goal, buckets: usize, games: u64, costs: Costs) -> Result<Sizes> {
        let buckets = buckets as u64;
        if buckets == 0 {
            return Ok(Sizes { buckets, bucket: 1, objects: 0 });
        }
        self.sizing.best(goal, buckets, (self.rho, games), costs)
    }
}

/// The sizes of all games of a run.
///
/// Paper: KNRTT17, App. A, L and α | sizes of games
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Params {
    /// The sizes for each kind of component.
    pub kinds: Vec<Sizes>,
    /// The sizes for the authenticators: one bucket for each bundle of wires.
    pub authenticators: Sizes,
    /// Wires in a bundle.
    pub bundle: usize,
}

/// How many objects each bucket has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BucketSizes {
    /// Copies in a bucket, for each kind of component.
    pub kinds: Vec<usize>,
    /// Authenticators in a bucket.
    pub authenticators: usize,
}

impl Params {
    /// Returns the bucket sizes alone.
    pub fn buckets(&self) -> BucketSizes {
        BucketSizes {
            kinds: self.kinds.iter().map(|sizes| sizes.bucket as usize).collect(),
            authenticators: self.authenticators.bucket as usize,
        }
    }

    /// Returns the cheapest safe sizes for `executions` executions of a graph that are prepared
    /// together. Each has `wires` wires with authenticators.
    ///
    /// # Errors
    /// `InvalidInput` when that takes too many copies.
    pub fn new(
        graph: &ComponentGraph,
        executions: usize,
        wires: usize,
        games: Games,
    ) -> Result<Params> {
        Params::of(graph, executions, (wires, games.sizing.bundles()), games)
    }

    /// Returns the sizes for smaller numbers of executions and wires, with the bucket sizes of
    /// `self`.
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

    /// Returns approximate sizes: takes all inputs to be the garbler's, and tries one bundle size
    /// only.
    ///
    /// # Errors
    /// As [`new`](Params::new).
    pub fn rough(graph: &ComponentGraph, executions: usize, games: Games) -> Result<Params> {
        Params::of(graph, executions, (graph.wires, &ROUGH), games)
    }

    /// Returns the sizes for `executions` executions of a graph, each with `wires` wires that have
    /// authenticators. Takes the cheapest of the bundle sizes `bundles`.
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
            // At least one bucket: its good authenticators ensure that the offset of the transfers
            // ends in 1.
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

    /// Returns roughly how many nanoseconds garbling, sending and evaluating take.
    pub fn cost(&self, graph: &ComponentGraph, executions: usize) -> u128 {
        let kinds = graph.kinds.iter().zip(&self.kinds);
        let components: u128 = kinds.map(|(kind, sizes)| component_costs(kind).of(sizes)).sum();
        let solderings = (graph.sums.len() * executions) as u128 * u128::from(SOLDERING);
        let authenticators = authenticator_costs(self.bundle).of(&self.authenticators);
        components + authenticators + solderings
    }
}

/// Nanoseconds for one soldering, or one difference of Δ.
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
    // The garbler garbles every copy. The evaluator garbles the opened copies again; the garbler
    // garbles the others again and sends them. So each copy is hashed twice.
    Costs {
        made: 2 * (GATE + DIGEST) * ands
            + COMMITMENT * (1 + ports)
            + 16 * BYTE * kind.outputs() as u64,
        bucketed: (32 * BYTE + GATE) * ands + SOLDERING * (1 + ports),
    }
}
