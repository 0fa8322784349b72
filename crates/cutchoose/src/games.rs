//! How many objects a cut-and-choose needs: exact parameters.
//!
//! One party makes L objects (garbled circuits, components, authenticators). The other party has a
//! random subset of fixed size opened, and checks it. The remaining U = α·n objects are assigned at
//! random to n buckets of α. An adversary makes t bad objects, and wins if it is not caught and a
//! bucket is bad. If several games in a run share 2^-ρ, the adversary's chance in each must be at
//! most 2^-ρ / games, so each game gets ρ + log2(games) bits.
//!
//! # The chance of t bad objects
//! Let v of the t bad objects be among the U. A bucket has at least m bad objects with probability
//!
//! ```text
//! H(v) = Σ_{j ≥ m} C(v, j)·C(U − v, α − j) / C(U, α)          g(v) = min(1, f·H(v))
//! ```
//!
//! and g bounds the chance that at least one of f buckets does (a union bound, exact for f = 1).
//!
//! | [`Goal`] | m | f | opened bad objects are noticed |
//! | --- | --- | --- | --- |
//! | [`OneGood`](Goal::OneGood): every bucket has a good object | α | n | always |
//! | [`OneGoodInGivenBucket`](Goal::OneGoodInGivenBucket) | α | 1 | always |
//! | [`MajorityGood`](Goal::MajorityGood): more good than bad in each | ⌈α/2⌉ | n | always |
//! | [`MajorityGoodHalfCaught`](Goal::MajorityGoodHalfCaught): the same | ⌈α/2⌉ | n | with 1/2 |
//!
//! If opened bad objects are always noticed, the adversary wins only if none of the t is opened. If
//! each is noticed with probability 1/2, any number k = t − v of them may be opened, and all go
//! unnoticed with probability 2^-k:
//!
//! ```text
//! always:      P(t) = C(U, t)/C(L, t) · g(t)
//! with 1/2:    P(t) = Σ_v  C(U, v)·C(L − U, t − v)/C(L, t) · 2^-(t−v) · g(v)
//! ```
//!
//! # All tries
//! An adversary that is neither caught nor wins may cheat again in the next cut-and-choose. Let
//! Q(t) be the chance that no bad object is noticed: C(U, t)/C(L, t), or the sum above without g.
//! Whatever the adversary does, in any number of cut-and-chooses, it wins with probability at most
//!
//! ```text
//! max over t of  W(t) = P(t) / (1 − (Q(t) − P(t)))
//! ```
//!
//! and this is what must be at most 2^-ρ / games. Only for
//! [`OneGoodInGivenBucket`](Goal::OneGoodInGivenBucket) it is P: a given bucket belongs to one
//! cut-and-choose.
//!
//! For every n, a subset of fixed size is better than an independent coin for each object. A random
//! permutation must assign the objects to buckets: if buckets were filled in the order of the
//! objects' numbers, an adversary would know the neighbours of a bad object.
//!
//! All P are log-concave in t, so the largest is where P stops rising. The largest W is there or
//! before; intervals of t are ruled out as a whole, and halved where that fails.
//! `docs/proofs/cut-and-choose.md` has the proofs, also that several games may share 2^-ρ.
//!
//! # Exactness
//! Interval arithmetic on integers (`bounds.rs`) decides everything; where an interval does not
//! decide, exact fractions do. P and W fall as L grows, so bisection finds the smallest L for each
//! α. Both parties compute the same, on any machine.
//!
//! # The trade-off
//! α determines how much is sent, soldered and evaluated, L how much is garbled and committed. For
//! each α there is a smallest L ([`Game::fewest_objects`]); [`Costs`] choose between them
//! ([`Game::best`]).

use symbolon_transport::{Error, Result};

use crate::chance::{BadBuckets, Chance, Limit};

/// What the cut-and-choose must guarantee, and how often it catches a bad object.
///
/// Paper: KNRTT17, App. A, L and α | (L^1, α^1): one good component in each bucket; (L^2, α^2): a
/// good majority of authenticators
///
/// Paper: RR16, Lemma 1 | N̂ and B: a given bucket has a good circuit
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// Every bucket has a good object; an opened bad object is always noticed.
    OneGood,
    /// A bucket that was chosen in advance has a good object, whatever the other buckets have; an
    /// opened bad object is always noticed. Counts a single try, as Lemma 1 of RR16 does.
    OneGoodInGivenBucket,
    /// In every bucket more objects are good than bad; an opened bad object is always noticed.
    MajorityGood,
    /// In every bucket more objects are good than bad; an opened bad object is noticed with
    /// probability 1/2, independently of others.
    MajorityGoodHalfCaught,
}

impl Goal {
    /// All goals.
    pub const ALL: [Goal; 4] = [
        Goal::OneGood,
        Goal::OneGoodInGivenBucket,
        Goal::MajorityGood,
        Goal::MajorityGoodHalfCaught,
    ];

    /// Returns m: how many bad objects make a bucket bad.
    fn spoil(self, bucket: u64) -> u64 {
        match self {
            Goal::OneGood | Goal::OneGoodInGivenBucket => bucket,
            Goal::MajorityGood | Goal::MajorityGoodHalfCaught => bucket.div_ceil(2),
        }
    }

    /// Returns f: the number of buckets of which one bad bucket is enough.
    fn watched(self, buckets: u64) -> u64 {
        if self == Goal::OneGoodInGivenBucket { 1 } else { buckets }
    }
}

/// The goal and size of a cut-and-choose, and the chance that an adversary may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Game {
    goal: Goal,
    buckets: u64,
    rho: u32,
    games: u64,
}

/// How many objects are made, and how they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// n, the number of buckets.
    pub buckets: u64,
    /// α, the number of objects in each.
    pub bucket: u64,
    /// L, the number of objects that are made.
    pub objects: u64,
}

impl Sizes {
    /// The largest number of objects: their numbers have 32 bits.
    pub const MOST: u64 = u32::MAX as u64;

    /// Returns U = α·n, the number of objects that go to buckets.
    pub fn bucketed(&self) -> u64 {
        self.bucket * self.buckets
    }

    /// Returns the number of objects that are opened.
    pub fn opened(&self) -> u64 {
        self.objects - self.bucketed()
    }
}

/// What an object costs, in any unit: time, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Costs {
    /// For each of the L objects that are made; an opened object costs no more.
    pub made: u64,
    /// For each of the α·n objects that go to buckets, in addition.
    pub bucketed: u64,
}

impl Costs {
    /// Costs for which the fewest objects are best.
    pub const FEWEST_OBJECTS: Costs = Costs { made: 1, bucketed: 0 };

    /// Returns the cost of these sizes.
    pub fn of(&self, sizes: &Sizes) -> u128 {
        u128::from(self.made) * u128::from(sizes.objects)
            + u128::from(self.bucketed) * u128::from(sizes.bucketed())
    }
}

impl Game {
    /// The largest supported ρ.
    pub const MAX_RHO: u32 = 256;

    /// Returns a game for `buckets` buckets, the only game in its run. An adversary wins it with
    /// probability at most 2^-`rho`.
    ///
    /// # Errors
    /// `InvalidInput` for no bucket or more than [`Sizes::MOST`], or a ρ that is 0 or above
    /// [`Game::MAX_RHO`].
    pub fn new(goal: Goal, buckets: u64, rho: u32) -> Result<Game> {
        if buckets == 0 || buckets > Sizes::MOST {
            return Err(invalid(format!("cut-and-choose for {buckets} buckets")));
        }
        if rho == 0 || rho > Game::MAX_RHO {
            return Err(invalid(format!("cut-and-choose at a statistical security of {rho} bits")));
        }
        Ok(Game { goal, buckets, rho, games: 1 })
    }

    /// Returns the same game as one of `games` games that share ρ: an adversary wins it with
    /// probability at most 2^-ρ / `games`.
    ///
    /// # Errors
    /// `InvalidInput` when `games` is 0.
    pub fn among(self, games: u64) -> Result<Game> {
        if games == 0 {
            return Err(invalid("cut-and-choose as one of no games".into()));
        }
        Ok(Game { games, ..self })
    }

    /// Returns the sizes with the fewest objects for buckets of `bucket`; `None` if [`Sizes::MOST`]
    /// objects are not enough.
    ///
    /// Paper: RR16, Lemma 1
    ///
    /// # Errors
    /// `InvalidInput` for empty buckets.
    pub fn fewest_objects(&self, bucket: u64) -> Result<Option<Sizes>> {
        if bucket == 0 {
            return Err(invalid("cut-and-choose with empty buckets".into()));
        }
        Ok(self.fewest_up_to(bucket, Sizes::MOST))
    }

    /// Returns the cheapest sizes; of equally cheap ones, those with the smallest buckets.
    ///
    /// Paper: KNRTT17, App. A, L and α
    ///
    /// # Errors
    /// `InvalidInput` if the buckets need more than [`Sizes::MOST`] objects.
    pub fn best(&self, costs: Costs) -> Result<Sizes> {
        let mut best: Option<(u128, Sizes)> = None;
        for bucket in 1.. {
            // The most objects that are cheaper than the best sizes so far, and fewer than those
            // have: as many objects in larger buckets cannot be cheaper.
            let mut most = Sizes::MOST;
            if let Some((cost, sizes)) = best {
                most = sizes.objects - 1;
                let fixed = u128::from(costs.bucketed) * u128::from(bucket * self.buckets);
                let Some(rest) = (cost - 1).checked_sub(fixed) else { break };
                if let Some(affordable) = rest.checked_div(costs.made.into()) {
                    most = most.min(u64::try_from(affordable).unwrap_or(u64::MAX));
                }
            }
            if bucket * self.buckets >= most {
                break;
            }
            if let Some(sizes) = self.fewest_up_to(bucket, most) {
                best = Some((costs.of(&sizes), sizes));
            }
        }
        best.map(|(_, sizes)| sizes).ok_or_else(|| self.too_many())
    }

    fn too_many(&self) -> Error {
        let Game { buckets, rho, .. } = self;
        invalid(format!("cut-and-choose for {buckets} buckets at ρ = {rho}: too many objects"))
    }

    fn bad_buckets(&self, bucket: u64) -> BadBuckets {
        let watched = self.goal.watched(self.buckets);
        BadBuckets::new(bucket, self.goal.spoil(bucket), bucket * self.buckets, watched)
    }

    fn chance<'a>(&self, buckets: &'a mut BadBuckets, objects: u64) -> Chance<'a> {
        Chance { buckets, objects, half: self.goal == Goal::MajorityGoodHalfCaught }
    }

    /// Whether this many objects are enough. `worst` is a hint for the adversary's best t, and is
    /// set to the t that was found.
    fn holds_from(&self, buckets: &mut BadBuckets, objects: u64, worst: &mut u64) -> bool {
        let Game { goal, rho, games, .. } = *self;
        let limit = Limit { games, rho, all_tries: goal != Goal::OneGoodInGivenBucket };
        // A t found for other sizes often refutes already.
        let above = self.chance(buckets, objects).above(limit, *worst);
        *worst = above.unwrap_or(*worst);
        above.is_none()
    }

    /// Returns the sizes with the fewest objects for these buckets, if `most` are enough.
    fn fewest_up_to(&self, bucket: u64, most: u64) -> Option<Sizes> {
        let kept = bucket.checked_mul(self.buckets).filter(|kept| *kept < most)?;
        let mut buckets = self.bad_buckets(bucket);
        let mut worst = 0;
        // `low` objects are not enough: initially none is opened, and the adversary makes all of
        // them bad.
        let (mut low, mut step) = (kept, (kept / 4).max(1));
        let mut high = loop {
            let next = (low + step).min(most);
            if self.holds_from(&mut buckets, next, &mut worst) {
                break next;
            }
            if next == most {
                return None;
            }
            (low, step) = (next, step * 2);
        };
        while high - low > 1 {
            let middle = low.midpoint(high);
            let enough = self.holds_from(&mut buckets, middle, &mut worst);
            *(if enough { &mut high } else { &mut low }) = middle;
        }
        Some(Sizes { buckets: self.buckets, bucket, objects: high })
    }
}

fn invalid(text: String) -> Error {
    Error::InvalidInput(text)
}

#[cfg(test)]
#[path = "games/tests.rs"]
mod tests;
