//! How many objects a cut-and-choose needs: exact parameters.
//!
//! One party makes L objects (garbled circuits, components, authenticators). The other has a random
//! subset of fixed size opened and checks it. The U = α·n others are assigned at random to n
//! buckets of α. An adversary makes t bad objects, and wins if it is not caught and a bucket is bad
//! for it. For one game of several in a run that share 2^-ρ, its chance must be at most 2^-ρ /
//! games: each game gets ρ + log2(games) bits.
//!
//! # The chance of t bad objects
//! Let v of them be among the U. One bucket has at least m bad objects with probability
//!
//! ```text
//! H(v) = Σ_{j ≥ m} C(v, j)·C(U − v, α − j) / C(U, α)          g(v) = min(1, f·H(v))
//! ```
//!
//! and g bounds the chance that one of f buckets has (a union bound, which is exact for f = 1).
//!
//! | [`Goal`] | m | f | opened bad objects are noticed |
//! | --- | --- | --- | --- |
//! | [`OneGood`](Goal::OneGood): every bucket has a good object | α | n | always |
//! | [`OneGoodInGivenBucket`](Goal::OneGoodInGivenBucket) | α | 1 | always |
//! | [`MajorityGood`](Goal::MajorityGood): more good than bad in each | ⌈α/2⌉ | n | always |
//! | [`MajorityGoodHalfCaught`](Goal::MajorityGoodHalfCaught): the same | ⌈α/2⌉ | n | with 1/2 |
//!
//! If opened bad objects are always noticed, none of the t may be opened. If each is noticed with
//! probability 1/2, any number k = t − v of them may be, at a price of 2^-k:
//!
//! ```text
//! always:      P(t) = C(U, t)/C(L, t) · g(t)
//! with 1/2:    P(t) = Σ_v  C(U, v)·C(L − U, t − v)/C(L, t) · 2^-(t−v) · g(v)
//! ```
//!
//! A subset of fixed size is better than a coin for each object, for every n. A random permutation
//! must assign the buckets: in the order of their numbers, an adversary would know the neighbours
//! of a bad object.
//!
//! All P are log-concave in t (`docs/proofs/cut-and-choose.md`), so the maximum is where P stops
//! rising.
//!
//! # Exactness
//! Everything is decided by interval arithmetic (`bounds.rs`) on integers; where an interval does
//! not decide, by exact fractions. P falls when L grows, so for each α the smallest L is found by
//! bisection. Both parties compute the same, on any machine.
//!
//! # The trade
//! α decides what is sent, soldered and evaluated, L what is garbled and committed to. For each α
//! there is a smallest L ([`Game::choices`]); [`Costs`] choose between them ([`Game::best`]).

use symbolon_transport::{Error, Result};

use crate::chance::{BadBuckets, Chance};

/// What the cut-and-choose is for, and how well it catches.
///
/// Paper: KNRTT17, App. A, L and α | (L^1, α^1): one good component in each bucket; (L^2, α^2): a
/// good majority of authenticators
///
/// Paper: RR16, Lemma 1 | N̂ and B: a given bucket has a good circuit
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// Every bucket has a good object; an opened bad object is always noticed.
    OneGood,
    /// A bucket that was chosen beforehand has a good object, whatever the others have; an opened
    /// bad object is always noticed. For protocols in which each bucket is a security risk of its
    /// own (`dualex`: κ_b bits for each execution).
    OneGoodInGivenBucket,
    /// In every bucket more objects are good than bad; an opened bad object is always noticed.
    MajorityGood,
    /// In every bucket more objects are good than bad; an opened bad object is noticed with
    /// probability 1/2, independently of others.
    MajorityGoodHalfCaught,
}

impl Goal {
    /// All of them.
    pub const ALL: [Goal; 4] = [
        Goal::OneGood,
        Goal::OneGoodInGivenBucket,
        Goal::MajorityGood,
        Goal::MajorityGoodHalfCaught,
    ];

    /// m: how many bad objects make a bucket bad.
    fn spoil(self, bucket: u64) -> u64 {
        match self {
            Goal::OneGood | Goal::OneGoodInGivenBucket => bucket,
            Goal::MajorityGood | Goal::MajorityGoodHalfCaught => bucket.div_ceil(2),
        }
    }
}

/// What is to be made, and the chance that an adversary may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Game {
    goal: Goal,
    buckets: u64,
    rho: u32,
    games: u64,
}

/// How many objects are made, and what becomes of them.
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
    /// The most objects: their numbers have 32 bits.
    pub const MOST: u64 = u32::MAX as u64;

    /// U = α·n, the number of objects that go to buckets.
    pub fn bucketed(&self) -> u64 {
        self.bucket * self.buckets
    }

    /// The number of objects that are opened.
    pub fn opened(&self) -> u64 {
        self.objects - self.bucketed()
    }
}

/// What an object costs, in any unit: time, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Costs {
    /// For each of the L objects that are made; those that are opened cost no more.
    pub made: u64,
    /// For each of the α·n objects that go to buckets, on top of that.
    pub bucketed: u64,
}

impl Costs {
    /// As few objects as possible.
    pub const FEWEST_OBJECTS: Costs = Costs { made: 1, bucketed: 0 };

    /// What these sizes cost.
    pub fn of(&self, sizes: &Sizes) -> u128 {
        u128::from(self.made) * u128::from(sizes.objects)
            + u128::from(self.bucketed) * u128::from(sizes.bucketed())
    }
}

impl Game {
    /// The largest ρ that is computed for.
    pub const MAX_RHO: u32 = 256;

    /// A game for `buckets` buckets, the only one in its run, that an adversary wins with at most
    /// 2^-`rho`.
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

    /// The same as one of `games` games that share ρ: this one is lost with at most 2^-ρ / `games`.
    ///
    /// # Errors
    /// `InvalidInput` for no games.
    pub fn among(self, games: u64) -> Result<Game> {
        if games == 0 {
            return Err(invalid("cut-and-choose as one of no games".into()));
        }
        Ok(Game { games, ..self })
    }

    /// Whether buckets of `bucket` out of `objects` objects are enough.
    ///
    /// # Errors
    /// `InvalidInput` for empty buckets, fewer objects than go to buckets, or more than
    /// [`Sizes::MOST`].
    pub fn holds(&self, bucket: u64, objects: u64) -> Result<bool> {
        self.check(bucket, objects)?;
        let mut buckets = self.bad_buckets(bucket);
        Ok(self.holds_from(&mut buckets, objects, &mut 0))
    }

    /// The fewest objects for buckets of `bucket`; `None` if [`Sizes::MOST`] are not enough.
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

    /// For each size of buckets the fewest objects, as long as larger buckets save objects: in
    /// ascending order of the former, and descending order of the latter.
    ///
    /// Paper: KNRTT17, App. A, L and α
    ///
    /// # Errors
    /// `InvalidInput` if the buckets need more than [`Sizes::MOST`] objects.
    pub fn choices(&self) -> Result<Vec<Sizes>> {
        let mut choices = Vec::new();
        let mut most = Sizes::MOST;
        for bucket in 1.. {
            if bucket * self.buckets >= most {
                break;
            }
            if let Some(sizes) = self.fewest_up_to(bucket, most) {
                most = sizes.objects - 1;
                choices.push(sizes);
            }
        }
        if choices.is_empty() {
            return Err(self.too_many());
        }
        Ok(choices)
    }

    /// The cheapest sizes; of equally cheap ones those with the smallest buckets.
    ///
    /// Paper: KNRTT17, App. A, L and α
    ///
    /// # Errors
    /// `InvalidInput` if the buckets need more than [`Sizes::MOST`] objects.
    pub fn best(&self, costs: Costs) -> Result<Sizes> {
        let mut best: Option<(u128, Sizes)> = None;
        for bucket in 1.. {
            // The most objects that are cheaper than the best so far, and no more than it has:
            // larger buckets never need be more than they save.
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

    /// log2 of the chance of an adversary that makes as many bad objects as is best for it, in this
    /// game alone.
    ///
    /// # Errors
    /// As [`Game::holds`].
    pub fn log2_chance(&self, bucket: u64, objects: u64) -> Result<f64> {
        self.check(bucket, objects)?;
        let mut buckets = self.bad_buckets(bucket);
        let mut chance = self.chance(&mut buckets, objects);
        let worst = chance.peak(0);
        Ok(chance.bounds(worst).log2())
    }

    /// How many bad objects are best for the adversary.
    ///
    /// # Errors
    /// As [`Game::holds`].
    pub fn worst(&self, bucket: u64, objects: u64) -> Result<u64> {
        self.check(bucket, objects)?;
        Ok(self.chance(&mut self.bad_buckets(bucket), objects).peak(0))
    }

    /// log2 of the chance of an adversary that makes `bad` bad objects.
    ///
    /// # Errors
    /// As [`Game::holds`].
    pub fn log2_chance_of(&self, bucket: u64, objects: u64, bad: u64) -> Result<f64> {
        self.check(bucket, objects)?;
        Ok(self.chance(&mut self.bad_buckets(bucket), objects).bounds(bad).log2())
    }

    fn check(&self, bucket: u64, objects: u64) -> Result<()> {
        let kept = bucket.checked_mul(self.buckets);
        if bucket == 0 || kept.is_none_or(|kept| kept > objects) || objects > Sizes::MOST {
            let Game { buckets, .. } = self;
            let text =
                format!("cut-and-choose of {objects} objects for {buckets} buckets of {bucket}");
            return Err(invalid(text));
        }
        Ok(())
    }

    fn too_many(&self) -> Error {
        let Game { buckets, rho, .. } = self;
        invalid(format!("cut-and-choose for {buckets} buckets at ρ = {rho}: too many objects"))
    }

    fn bad_buckets(&self, bucket: u64) -> BadBuckets {
        let factor = if self.goal == Goal::OneGoodInGivenBucket { 1 } else { self.buckets };
        BadBuckets::new(bucket, self.goal.spoil(bucket), bucket * self.buckets, factor)
    }

    fn chance<'a>(&self, buckets: &'a mut BadBuckets, objects: u64) -> Chance<'a> {
        Chance { buckets, objects, half: self.goal == Goal::MajorityGoodHalfCaught }
    }

    /// Whether this many objects are enough. `worst` is where to look for the adversary's best t,
    /// and becomes where it was found.
    fn holds_from(&self, buckets: &mut BadBuckets, objects: u64, worst: &mut u64) -> bool {
        let mut chance = self.chance(buckets, objects);
        // A t from elsewhere often refutes already.
        if *worst > 0 && !chance.is_small(*worst, self.games, self.rho) {
            return false;
        }
        *worst = chance.peak(*worst);
        chance.is_small(*worst, self.games, self.rho)
    }

    /// The fewest objects for such buckets, if `most` are enough.
    fn fewest_up_to(&self, bucket: u64, most: u64) -> Option<Sizes> {
        let kept = bucket.checked_mul(self.buckets).filter(|kept| *kept < most)?;
        let mut buckets = self.bad_buckets(bucket);
        let mut worst = 0;
        // `low` are not enough: without opening any, the adversary makes all bad.
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
