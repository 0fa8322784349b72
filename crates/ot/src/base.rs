//! Base OT: McQuoid, Rosulek and Roy (ASIACRYPT 2021), from a Diffie–Hellman key agreement over
//! ristretto255 and their programmable-once public function, a Feistel network of two rounds.
//!
//! One of 128 OTs, with choice bit c:
//!
//! ```text
//! sender                                   receiver
//! a ← Z_q,  A = a·G          ──── A ───▶   b ← Z_q,  u ← {0,1}^3κ
//!                                          s = b·G − H_c(u),  t = u ⊕ H'_c(s)
//!                            ◀── s, t ──
//! P_j = s + H_j(t ⊕ H'_j(s))
//! k_j = KDF(a·P_j)                         k_c = KDF(b·A)
//! ```
//!
//! The receiver's messages are uniform whatever c is, because b·G makes s uniform and u makes t
//! uniform, so a cheating sender learns nothing. A cheating receiver can know the discrete
//! logarithm of only one of the two points. It controls P_j if it queries H_j(u_j) before s is
//! fixed, and then sets t = u_j ⊕ H'_j(s). To control both points this way, it needs
//! u_0 ⊕ H'_0(s) = u_1 ⊕ H'_1(s) for values that it chose before it knew either H'. With q queries
//! of each kind it succeeds with probability q³/2^3κ. The other point is s, which is known by then,
//! plus a uniform answer of the oracle: there a proof embeds a point X whose product with A it
//! wants. One A serves all OTs: every oracle call and every KDF call includes the index of its OT.
//!
//! Departure: base OT: oracles | oracles without names; any oracle into the group | bound to
//! session and parties; twice a hash to the group | relayed messages are useless; doubling permutes
//! a group of odd order
//!
//! Timing: scalars, choice bits | constant-time products; the choice is hashed as a byte; `decode`
//! branches on the peer's points
//!
//! # Security
//! Security against a cheating receiver assumes gap Diffie–Hellman; security against a cheating
//! sender needs no assumption. `docs/proofs/base-ot.md` has both proofs, and says what the oracles
//! are bound to.
//!
//! # Work
//! Most of a session's set-up time is spent here, on one side while the other waits, so the 128 OTs
//! are split into parts for all of the machine's threads. Points are encoded in batches, with one
//! inversion for each. The library encodes the doubles of its inputs, so everything is computed as
//! halves: scalars are halved, and H is twice a random point, which is as random in a group of odd
//! order.
//!
//! Every point is decoded canonically. Ristretto has prime order, so the only low-order point is
//! the identity; it is refused as A and as any s.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use blake3::Hasher;
use curve25519_dalek::{
    ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint},
    scalar::Scalar,
    traits::IsIdentity,
};
use symbolon_primitives::{BitVec, Block, Prg, Secret, stack, watch};
use symbolon_transport::{Channel, Error, PartyId, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::checks::BASE_OT_POINT;
use crate::messages::{BASE_OT_A, BASE_OT_REPLIES};
use crate::oracle::Oracle;

const POINT: usize = 32;

/// t: 3κ bits.
type Shift = [u8; 48];

/// s and t of one OT.
const REPLY: usize = POINT + size_of::<Shift>();

/// A sender that has sent A. Neither side's first message waits for the other's, so all pairs of
/// parties can begin before any of them continues.
///
/// Paper: MRR21 | base OT
pub struct Sender {
    instance: [u8; 32],
    secret: Secret<Scalar>,
    public: CompressedRistretto,
}

impl Sender {
    /// Chooses a and sends A.
    ///
    /// # Errors
    /// `Transport` when the receiver is gone.
    pub fn begin(channel: &mut Channel, session: &[u8; 32], prg: &mut Prg) -> Result<Self> {
        let instance = instance(session, channel.me(), channel.peer());
        let secret = Secret::new(random_scalar(prg));
        watch::tell("base OT scalar", secret.as_bytes());
        let public = RistrettoPoint::mul_base(&secret).compress();
        channel.send(BASE_OT_A, public.as_bytes())?;
        Ok(Sender { instance, secret, public })
    }

    /// Receives the points of `n` OTs and computes the pairs of keys.
    ///
    /// # Errors
    /// `PeerMisbehaved` when the receiver sends a malformed point or the identity; `Transport` when
    /// it is gone.
    pub fn finish(self, channel: &mut Channel, n: usize) -> Result<Zeroizing<Vec<[Block; 2]>>> {
        let Sender { instance, secret, public } = self;
        let bytes = channel.recv(BASE_OT_REPLIES, REPLY * n)?;
        let transcript = transcript(&instance, &public, &bytes);
        let half = Zeroizing::new(secret.div_by_2());
        let peer = channel.peer();
        let keys = in_parts(n, |part| {
            let mut oracles = Oracles::new(&instance);
            let mut halves = Zeroizing::new(Vec::with_capacity(2 * part.len()));
            for index in part.clone() {
                let (s, t) = bytes[REPLY * index..][..REPLY].split_at(POINT);
                let point = decode(peer, s)?;
                for slot in [0, 1] {
                    let mut shift = oracles.shift((index, slot), s);
                    add(&mut shift, t);
                    let mask = oracles.half_mask((index, slot), &shift);
                    halves.push(*half * (point + mask + mask));
                }
            }
            let shared = Zeroizing::new(RistrettoPoint::double_and_compress_batch(&*halves));
            let pairs = part.zip(shared.chunks_exact(2));
            let mut oracle = Oracle::new(KEY);
            let derived = |(index, pair): (usize, &[CompressedRistretto])| {
                [0, 1].map(|slot| derive(&mut oracle, &transcript, (index, slot), &pair[slot]))
            };
            Ok(Zeroizing::new(pairs.map(derived).collect::<Vec<_>>()))
        });
        let keys = joined(&keys?);
        watch::tell("base OT key", Block::as_bytes(keys.as_flattened()));
        Ok(keys)
    }
}

/// A receiver that has sent s and t.
///
/// Paper: MRR21
pub struct Receiver<'a> {
    instance: [u8; 32],
    choices: &'a BitVec,
    scalars: Zeroizing<Vec<Scalar>>,
    replies: Vec<u8>,
}

impl<'a> Receiver<'a> {
    /// Makes s and t of one OT per choice and sends them.
    ///
    /// # Errors
    /// `Transport` when the sender is gone.
    pub fn begin(
        channel: &mut Channel,
        session: &[u8; 32],
        choices: &'a BitVec,
        prg: &mut Prg,
    ) -> Result<Self> {
        let instance = instance(session, channel.peer(), channel.me());
        let n = choices.len();
        let scalars = Zeroizing::new((0..n).map(|_| random_scalar(prg)).collect::<Vec<_>>());
        scalars.iter().for_each(|scalar| watch::tell("base OT scalar", scalar.as_bytes()));
        // The values u.
        let mut shifts: Zeroizing<Vec<Shift>> = Zeroizing::new(vec![[0; 48]; n]);
        prg.fill(shifts.as_flattened_mut());
        let replies = in_parts(n, |part| {
            // The choice is only data here: hashed as a byte, never branched on.
            let place = |index| (index, usize::from(choices.get(index)));
            let mut oracles = Oracles::new(&instance);
            let of_index = part.clone().map(|index| {
                let mask = oracles.half_mask(place(index), &shifts[index]);
                RistrettoPoint::mul_base(&Zeroizing::new(scalars[index].div_by_2())) - mask
            });
            let halves = Zeroizing::new(of_index.collect::<Vec<_>>());
            let points = RistrettoPoint::double_and_compress_batch(&*halves);
            let of_index = part.zip(&points).map(|(index, s)| {
                let mut t = oracles.shift(place(index), s.as_bytes());
                add(&mut t, &shifts[index]);
                let mut reply = [0; REPLY];
                reply[..POINT].copy_from_slice(s.as_bytes());
                reply[POINT..].copy_from_slice(&t);
                reply
            });
            Ok(of_index.collect::<Vec<_>>())
        });
        let replies = replies?.concat().into_flattened();
        channel.send(BASE_OT_REPLIES, &replies)?;
        Ok(Receiver { instance, choices, scalars, replies })
    }

    /// Receives A and computes the key of each chosen slot.
    ///
    /// # Errors
    /// `PeerMisbehaved` when the sender's point is malformed or the identity; `Transport` when it
    /// is gone.
    pub fn finish(self, channel: &mut Channel) -> Result<Zeroizing<Vec<Block>>> {
        let Receiver { instance, choices, scalars, replies } = self;
        let public: [u8; POINT] = channel.recv_array(BASE_OT_A)?;
        let a = Factor::new(decode(channel.peer(), &public)?);
        let transcript = transcript(&instance, &CompressedRistretto(public), &replies);
        let keys = in_parts(scalars.len(), |part| {
            let product = |b: &Scalar| a.times(&Zeroizing::new(b.div_by_2()));
            let halves: Vec<_> = scalars[part.clone()].iter().map(product).collect();
            let halves = Zeroizing::new(halves);
            let shared = Zeroizing::new(RistrettoPoint::double_and_compress_batch(&*halves));
            let mut oracle = Oracle::new(KEY);
            let derived = |(index, shared): (usize, &CompressedRistretto)| {
                let slot = usize::from(choices.get(index));
                derive(&mut oracle, &transcript, (index, slot), shared)
            };
            Ok(Zeroizing::new(part.zip(shared.iter()).map(derived).collect::<Vec<_>>()))
        });
        let keys = joined(&keys?);
        watch::tell("base OT key", Block::as_bytes(&keys));
        Ok(keys)
    }
}

/// A point that is multiplied by many scalars.
enum Factor {
    /// Used if a product with any point costs little more than one with a table.
    Point(RistrettoPoint),
    /// Making the table takes as long as eighty products.
    Table(Box<RistrettoBasepointTable>),
}

impl Factor {
    fn new(point: RistrettoPoint) -> Self {
        if wide_products() {
            Factor::Point(point)
        } else {
            Factor::Table(Box::new(RistrettoBasepointTable::create(&point)))
        }
    }

    fn times(&self, scalar: &Scalar) -> RistrettoPoint {
        match self {
            Factor::Point(point) => point * scalar,
            Factor::Table(table) => &**table * scalar,
        }
    }
}

/// Whether the library multiplies with AVX-512: it must be built for that (see
/// `.cargo/config.toml`), and the processor must support it.
fn wide_products() -> bool {
    #[cfg(all(target_arch = "x86_64", curve25519_dalek_backend = "avx512"))]
    return is_x86_feature_detected!("avx512ifma") && is_x86_feature_detected!("avx512vl");
    #[cfg(not(all(target_arch = "x86_64", curve25519_dalek_backend = "avx512")))]
    false
}

/// How many OTs a thread takes at a time. Parties on one machine compete for its cores: each thread
/// that runs takes the next part, so none waits for a thread that does not.
const PART: usize = 16;

/// The most threads that one call uses.
pub(crate) const THREADS: usize = 8;

/// Returns how many threads to use. The system is asked only once, because it reads files for the
/// answer.
fn threads() -> usize {
    static THREADS_HERE: OnceLock<usize> = OnceLock::new();
    *THREADS_HERE
        .get_or_init(|| thread::available_parallelism().map_or(1, usize::from).min(THREADS))
}

/// Applies `work` to 0..n, part by part, in as many of the machine's threads as the system gives.
/// Returns the results in order, or the error of the first part that has one.
fn in_parts<T: Send>(n: usize, work: impl Fn(Range<usize>) -> Result<T> + Sync) -> Result<Vec<T>> {
    let parts = n.div_ceil(PART);
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut made = Vec::new();
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                return made;
            }
            made.push((part, work(part * PART..((part + 1) * PART).min(n))));
        }
    };
    let mut made = thread::scope(|scope| {
        let start = |_| {
            let thread = thread::Builder::new().name("symbolon-worker".to_string());
            thread.spawn_scoped(scope, || stack::wiped(worker)).ok()
        };
        let others: Vec<_> = (1..threads().min(parts)).map_while(start).collect();
        let mut made = worker();
        for other in others {
            let panicked = |_| Error::Internal("a thread of the base OTs panicked".into());
            made.append(&mut other.join().map_err(panicked)?);
        }
        Ok::<_, Error>(made)
    })?;
    made.sort_unstable_by_key(|(part, _)| *part);
    made.into_iter().map(|(_, made)| made).collect()
}

/// Joins the keys of all parts in memory that is allocated once, because growing would leave copies
/// behind.
fn joined<T: Copy>(parts: &[Zeroizing<Vec<T>>]) -> Zeroizing<Vec<T>>
where
    Vec<T>: Zeroize,
{
    let room = parts.iter().map(|part| part.len()).sum();
    let mut all = Zeroizing::new(Vec::with_capacity(room));
    parts.iter().for_each(|part| all.extend_from_slice(part));
    all
}

/// Check: base OT | `base OT point decoding` | malformed and low-order points | –
fn decode(party: PartyId, bytes: &[u8]) -> Result<RistrettoPoint> {
    CompressedRistretto::from_slice(bytes)
        .ok()
        .and_then(|point| point.decompress())
        .filter(|point| !point.is_identity())
        .ok_or_else(|| Error::misbehaved(party, BASE_OT_POINT))
}

/// Returns what all oracles are bound to: the session, and which parties are its sender and
/// receiver.
fn instance(session: &[u8; 32], sender: PartyId, receiver: PartyId) -> [u8; 32] {
    let mut hasher = Hasher::new_derive_key("symbolon base OT 3: instance");
    hasher.update(session).update(&sender.to_le_bytes()).update(&receiver.to_le_bytes());
    *hasher.finalize().as_bytes()
}

/// The context of the KDF.
const KEY: &str = "symbolon base OT 3: key";

/// The two rounds of the Feistel network. An OT and its slot are given by `index` and `slot`.
struct Oracles<'a> {
    instance: &'a [u8; 32],
    /// H.
    masks: Oracle,
    /// H'.
    shifts: Oracle,
}

impl<'a> Oracles<'a> {
    fn new(instance: &'a [u8; 32]) -> Self {
        let [masks, shifts] = ["symbolon base OT 3: mask", "symbolon base OT 3: shift"];
        Oracles { instance, masks: Oracle::new(masks), shifts: Oracle::new(shifts) }
    }
}

impl Oracles<'_> {
    /// Returns half of H_slot(u), which is a point.
    fn half_mask(&mut self, (index, slot): (usize, usize), u: &Shift) -> RistrettoPoint {
        let mut wide = Zeroizing::new([0u8; 64]);
        let index = (index as u64).to_le_bytes();
        self.masks.fill(&[self.instance, &index, &[slot as u8], u], &mut *wide);
        RistrettoPoint::from_uniform_bytes(&wide)
    }

    /// Returns H'_slot(s).
    fn shift(&mut self, (index, slot): (usize, usize), s: &[u8]) -> Shift {
        let mut shift = [0; 48];
        let index = (index as u64).to_le_bytes();
        self.shifts.fill(&[self.instance, &index, &[slot as u8], s], &mut shift);
        shift
    }
}

/// XORs `from` into `to`.
fn add(to: &mut Shift, from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from;
    }
}

fn transcript(instance: &[u8; 32], public: &CompressedRistretto, replies: &[u8]) -> [u8; 32] {
    let mut hasher = Hasher::new_derive_key("symbolon base OT 3: transcript");
    hasher.update(instance).update(public.as_bytes()).update(replies);
    *hasher.finalize().as_bytes()
}

fn derive(
    oracle: &mut Oracle,
    transcript: &[u8; 32],
    (index, slot): (usize, usize),
    shared: &CompressedRistretto,
) -> Block {
    let index = (index as u64).to_le_bytes();
    let digest = oracle.digest(&[transcript, &index, &[slot as u8], shared.as_bytes()]);
    Block::from_bytes(digest[..16].try_into().expect("16 of 32 bytes"))
}

fn random_scalar(prg: &mut Prg) -> Scalar {
    let mut wide = Zeroizing::new([0u8; 64]);
    prg.fill(&mut *wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

#[cfg(test)]
mod tests {
    use symbolon_transport::{Meter, memory_pair};

    use super::*;

    /// A change to any one of an oracle's inputs changes its output.
    #[test]
    fn oracles_depend_on_all_they_are_given() {
        let all_differ =
            |outputs: &[[u8; 32]]| (1..outputs.len()).all(|i| !outputs[..i].contains(&outputs[i]));
        let instances =
            [([1; 32], 0, 1), ([2; 32], 0, 1), ([1; 32], 2, 1), ([1; 32], 0, 2), ([1; 32], 1, 0)];
        let instances =
            instances.map(|(session, from, to)| instance(&session, from.into(), to.into()));
        assert!(all_differ(&instances));

        let [a, b, ..] = instances;
        let inputs = [(&a, (0, 0), 3), (&b, (0, 0), 3), (&a, (1, 0), 3), (&a, (0, 1), 3)];
        let inputs = inputs.into_iter().chain([(&a, (0, 0), 4)]);
        let outputs = inputs.flat_map(|(instance, place, byte)| {
            let mut oracles = Oracles::new(instance);
            let mask = oracles.half_mask(place, &[byte; 48]).compress().to_bytes();
            let shift = oracles.shift(place, &[byte; 32]);
            [mask, *shift.first_chunk().expect("48 bytes")]
        });
        assert!(all_differ(&outputs.collect::<Vec<_>>()));

        let shared = [[3; 32], [4; 32]].map(CompressedRistretto);
        let mut oracle = Oracle::new(KEY);
        let mut derive = |transcript, index, slot, shared| {
            derive(&mut oracle, transcript, (index, slot), shared)
        };
        let keys = [
            derive(&a, 0, 0, &shared[0]),
            derive(&b, 0, 0, &shared[0]),
            derive(&a, 1, 0, &shared[0]),
            derive(&a, 0, 1, &shared[0]),
            derive(&a, 0, 0, &shared[1]),
        ];
        assert!((1..keys.len()).all(|i| !keys[..i].contains(&keys[i])));

        let replies = [[5; 64], [6; 64]];
        let transcripts = [
            transcript(&a, &shared[0], &replies[0]),
            transcript(&b, &shared[0], &replies[0]),
            transcript(&a, &shared[1], &replies[0]),
            transcript(&a, &shared[0], &replies[1]),
        ];
        assert!(all_differ(&transcripts));
    }

    /// Returns the replies of OTs in order, made from these numbers.
    fn replies(numbers: &[u64]) -> Vec<u8> {
        let reply = |&n: &u64| {
            let s = RistrettoPoint::mul_base(&Scalar::from(n)).compress().to_bytes();
            [&s[..], &[n as u8; 48]].concat()
        };
        numbers.iter().flat_map(reply).collect()
    }

    /// Returns the keys of a sender whose a is known.
    fn keys_of(channel: &mut Channel, n: usize) -> Zeroizing<Vec<[Block; 2]>> {
        let prg = &mut Prg::from_seed(Block(9));
        Sender::begin(channel, &[1; 32], prg).unwrap().finish(channel, n).unwrap()
    }

    /// The keys of a sender with a known a, by the formula: KDF(a·(s + H_j(t ⊕ H'_j(s)))).
    #[test]
    fn keys_are_those_of_the_formula() {
        let (mut a, mut b) = memory_pair(Meter::new(), Meter::new());
        let reply = replies(&[2]);
        b.send(BASE_OT_REPLIES, &reply).unwrap();
        b.flush().unwrap();
        let [keys] = keys_of(&mut a, 1)[..] else { panic!("one OT") };
        let secret = random_scalar(&mut Prg::from_seed(Block(9)));
        let instance = instance(&[1; 32], 0.into(), 1.into());
        let public = RistrettoPoint::mul_base(&secret).compress();
        assert_eq!(b.recv_array(BASE_OT_A).unwrap(), public.to_bytes());
        let transcript = transcript(&instance, &public, &reply);
        for slot in [0, 1] {
            let (place, mut oracles) = ((0, slot), Oracles::new(&instance));
            let shift = oracles.shift(place, &reply[..32]);
            let half = oracles.half_mask(place, &shift.map(|byte| byte ^ 2));
            let shared = secret * (RistrettoPoint::mul_base(&Scalar::from(2u64)) + half + half);
            let key = derive(&mut Oracle::new(KEY), &transcript, place, &shared.compress());
            assert_eq!(keys[slot], key);
        }
    }

    /// A receiver's s and t do not reveal its choice: under the oracles of its choice they give
    /// b·G, and under those of the other choice another point, whose logarithm nobody knows.
    #[test]
    fn replies_are_those_of_the_formula() {
        for choice in [false, true] {
            let (mut a, mut b) = memory_pair(Meter::new(), Meter::new());
            let choices = BitVec::from_bools(&[choice]);
            Receiver::begin(&mut b, &[1; 32], &choices, &mut Prg::from_seed(Block(9))).unwrap();
            b.flush().unwrap();
            let reply = a.recv(BASE_OT_REPLIES, REPLY).unwrap();
            let (s, t) = reply.split_at(POINT);
            let scalar = random_scalar(&mut Prg::from_seed(Block(9)));
            let instance = instance(&[1; 32], 0.into(), 1.into());
            let point = |slot| {
                let mut oracles = Oracles::new(&instance);
                let mut u = oracles.shift((0, slot), s);
                add(&mut u, t);
                let half = oracles.half_mask((0, slot), &u);
                decode(1.into(), s).unwrap() + half + half
            };
            let (own, other) = (usize::from(choice), usize::from(!choice));
            assert_eq!(point(own), RistrettoPoint::mul_base(&scalar));
            assert_ne!(point(other), RistrettoPoint::mul_base(&scalar));
        }
    }

    /// Compares the library's fastest code, which is chosen at run time, with its portable code,
    /// which tables use.
    #[test]
    fn products_with_a_point_and_with_its_table_are_the_same() {
        let mut prg = Prg::from_seed(Block(4));
        let mut scalars: Vec<Scalar> = (0..200).map(|_| random_scalar(&mut prg)).collect();
        let edges = [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::ONE.div_by_2()];
        scalars.extend(edges);
        scalars.extend((1..250).step_by(7).map(|bit| {
            let mut bytes = [0; 32];
            bytes[bit / 8] = 1 << (bit % 8);
            Scalar::from_bytes_mod_order(bytes)
        }));
        for seed in 1..=3u64 {
            let point = RistrettoPoint::mul_base(&(Scalar::from(seed) * scalars[seed as usize]));
            let table = Factor::Table(Box::new(RistrettoBasepointTable::create(&point)));
            let [point, chosen] = [Factor::Point(point), Factor::new(point)];
            for scalar in &scalars {
                let product = table.times(scalar);
                assert_eq!(point.times(scalar), product);
                assert_eq!(chosen.times(scalar), product);
            }
        }
    }

    /// Whichever part ends first, the results come in order, and the error of the first failed part
    /// is returned.
    #[test]
    fn parts_come_in_order() {
        for n in [0, 1, PART, PART + 1, 128, 20 * PART - 1] {
            let all = in_parts(n, |part| Ok(part.collect::<Vec<_>>())).unwrap().concat();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
        let failed = in_parts(9 * PART, |part| match part.start / PART {
            6 | 3 | 8 => Err(Error::misbehaved(part.start as u16, BASE_OT_POINT)),
            _ => Ok(()),
        });
        assert_eq!(failed, Err(Error::misbehaved(3 * PART as u16, BASE_OT_POINT)));
    }

    /// Another reply for the last OT changes the keys of all others, too.
    #[test]
    fn every_key_depends_on_every_reply() {
        let keys = |last: u64| {
            let (mut a, mut b) = memory_pair(Meter::new(), Meter::new());
            b.send(BASE_OT_REPLIES, &replies(&[2, last])).unwrap();
            b.flush().unwrap();
            keys_of(&mut a, 2)
        };
        assert_eq!(keys(5), keys(5));
        let (one, other) = (keys(5), keys(6));
        assert!(
            one.iter()
                .zip(other.iter())
                .all(|(one, other)| one[0] != other[0] && one[1] != other[1])
        );
    }
}
