//! LaAND and aAND in straightforward form, for all parties at once and without messages. The fused
//! versions in [`crate::laand`] and [`crate::aand::combine`] are tested against them.

use std::ops::BitXor;

use symbolon_primitives::Block;

/// One party's part of an authenticated share. MACs and keys are indexed by party; the party's own
/// entries are zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    pub bit: bool,
    /// `macs[j]` is M_j[x^i], on this party's bit.
    pub macs: Vec<Block>,
    /// `keys[j]` is K_i[x^j], for the bit of party j.
    pub keys: Vec<Block>,
}

/// An authenticated share: every party's part of it.
pub(crate) type Shared = Vec<Share>;

impl BitXor<&Share> for &Share {
    type Output = Share;

    fn bitxor(self, other: &Share) -> Share {
        let add = |a: &[Block], b: &[Block]| a.iter().zip(b).map(|(a, b)| *a ^ *b).collect();
        Share {
            bit: self.bit ^ other.bit,
            macs: add(&self.macs, &other.macs),
            keys: add(&self.keys, &other.keys),
        }
    }
}

pub(crate) fn xor(a: &Shared, b: &Shared) -> Shared {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// Returns the share of x ⊕ `constant`: party 0 flips its bit, and the others change their keys for
/// it.
fn xor_constant(mut x: Shared, constant: bool, deltas: &[Block]) -> Shared {
    x[0].bit ^= constant;
    for i in 1..x.len() {
        x[i].keys[0] ^= deltas[i].select(constant);
    }
    x
}

/// Returns the value of a share; asserts that every MAC is right.
pub(crate) fn open(x: &Shared, deltas: &[Block]) -> bool {
    for (i, j) in pairs(x.len()) {
        assert_eq!(x[i].macs[j], x[j].keys[i] ^ deltas[j].select(x[i].bit), "M_{j}[x^{i}]");
    }
    x.iter().fold(false, |value, share| value ^ share.bit)
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (0..n).filter(move |&j| j != i).map(move |j| (i, j)))
}

/// The result of [`laand`].
pub(crate) struct LeakyAnd {
    /// S_i of each party.
    pub s: Vec<Block>,
    /// The share of x ∧ y.
    pub z: Shared,
}

/// Π_LaAND, Yang–Wang–Zhang 2020, Fig. 14, of one triple; `hash(i, j, k)` is H(k, ij‖t).
///
/// Paper: YWZ20, Fig. 14 | Π_LaAND in plain lines
pub(crate) fn laand(
    [x, y, r]: [&Shared; 3],
    deltas: &[Block],
    hash: impl Fn(usize, usize, Block) -> Block,
) -> LeakyAnd {
    let n = deltas.len();
    let others = |i| (0..n).filter(move |&j| j != i);
    let sum = |blocks: &mut dyn Iterator<Item = Block>| blocks.fold(Block::ZERO, |a, b| a ^ b);
    // 2. Φ_i = y^i·Δ_i ⊕ Σ_j (K_i[y^j] ⊕ M_j[y^i])
    let tied = |v: &Shared, i: usize| {
        let auths = sum(&mut others(i).map(|j| v[i].keys[j] ^ v[i].macs[j]));
        deltas[i].select(v[i].bit) ^ auths
    };
    let phi: Vec<Block> = (0..n).map(|i| tied(y, i)).collect();
    // 3. P_i sends U_ij to P_j, which computes M_i[x^j]_Φ = K_i[x^j]_Φ ⊕ x^j·Φ_i
    let k_phi = |i: usize, j: usize| hash(i, j, x[i].keys[j]);
    let u = |i: usize, j: usize| k_phi(i, j) ^ hash(i, j, x[i].keys[j] ^ deltas[i]) ^ phi[i];
    let m_phi = |i: usize, j: usize| u(i, j).select(x[j].bit) ^ hash(i, j, x[j].macs[i]);
    // 4. S_i; d is the sum of all lsb(S_i)
    let s = |i: usize| {
        let products = sum(&mut others(i).map(|j| k_phi(i, j) ^ m_phi(j, i)));
        phi[i].select(x[i].bit) ^ products ^ tied(r, i)
    };
    let s: Vec<Block> = (0..n).map(s).collect();
    let d = s.iter().fold(false, |d, s| d ^ s.lsb());
    // 5. Σ T_i = Σ S_i ⊕ d·Δ_i must be zero
    let t = s.iter().zip(deltas).map(|(s, delta)| *s ^ delta.select(d));
    assert_eq!(t.fold(Block::ZERO, |sum, t| sum ^ t), Block::ZERO, "Σ T_i");
    LeakyAnd { s, z: xor_constant(r.clone(), d, deltas) }
}

/// Π_aAND, Yang–Wang–Zhang 2020, Fig. 16: combines one bucket of leaky triples ⟨x⟩, ⟨y⟩, ⟨z⟩ into
/// one triple.
///
/// Paper: YWZ20, Fig. 16 | Π_aAND in plain lines
pub(crate) fn aand(bucket: &[[Shared; 3]], deltas: &[Block]) -> [Shared; 3] {
    let (first, others) = bucket.split_first().expect("a bucket has a triple");
    let [mut x, y, mut z] = first.clone();
    for [x_k, y_k, z_k] in others {
        let d = open(&xor(&y, y_k), deltas);
        x = xor(&x, x_k);
        z = xor(&z, z_k);
        if d {
            z = xor(&z, x_k);
        }
    }
    [x, y, z]
}
