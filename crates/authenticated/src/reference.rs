//! Circuit authentication and TinyTable's tables in straightforward form, gate by gate. The fused
//! versions are tested against them.

use symbolon_primitives::{Block, gf128};

/// One party's part of an AND gate: its bits and MACs of λ_α, λ_β and λ_αβ ⊕ λ_γ, and its keys for
/// the other's.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub bits: [bool; 3],
    pub macs: [Block; 3],
    pub keys: [Block; 3],
}

/// The masked values Λ_α, Λ_β and Λ_γ of an AND gate.
pub(crate) type Masked = [bool; 3];

/// Λ_α·\[λ_β\] ⊕ Λ_β·\[λ_α\] ⊕ \[λ_αβ ⊕ λ_γ\].
fn combine([alpha, beta, row0]: [Block; 3], [a, b, _]: Masked) -> Block {
    beta.select(a) ^ alpha.select(b) ^ row0
}

/// Returns H(t_1, t_2, …) = Σ χ^k·t_k.
fn hash(chi: Block, ts: impl Iterator<Item = Block>) -> Block {
    let mut power = Block::ONE;
    ts.fold(Block::ZERO, |sum, t| {
        power = gf128::mul(power, chi);
        sum ^ gf128::mul(power, t)
    })
}

/// Yang–Wang–Zhang 2020, Fig. 7, steps 12(a) and (c): returns the garbler's z.
///
/// Paper: YWZ20, Fig. 7, 12; §2.6 | circuit authentication in plain lines
pub(crate) fn garblers_z(gates: &[(Masked, Part)], chi: Block) -> Block {
    hash(chi, gates.iter().map(|(masked, part)| combine(part.macs, *masked)))
}

/// Steps 12(b) and (d) between two parties: returns the z that is expected.
///
/// Paper: YWZ20, Fig. 7, 12; §2.6
pub(crate) fn evaluators_z(gates: &[(Masked, Part)], delta: Block, chi: Block) -> Block {
    let mac = |(masked, part): &(Masked, Part)| {
        let [a, b, c] = *masked;
        let [alpha, beta, row0] = part.bits;
        let t = (a & b) ^ c ^ (a & beta) ^ (b & alpha) ^ row0;
        combine(part.keys, *masked) ^ delta.select(t)
    };
    hash(chi, gates.iter().map(mac))
}

/// One party's shares of the masks r_u, r_v of an AND gate's inputs and of r_u·r_v ⊕ r_o.
#[derive(Clone, Copy)]
pub(crate) struct GateShares {
    pub r_u: bool,
    pub r_v: bool,
    pub row0: bool,
}

/// Damgård et al. 2017, Fig. 8, step 3: returns one party's shares of all t_cd = (r_u ⊕ c)·(r_v ⊕
/// d) ⊕ r_o. The `first` party adds constants.
///
/// Paper: DNNR17, Figs. 5, 8 | an AND gate's table and its use in plain lines
pub(crate) fn table(shares: GateShares, first: bool) -> [[bool; 2]; 2] {
    let GateShares { r_u, r_v, row0 } = shares;
    [false, true].map(|c| [false, true].map(|d| row0 ^ (c & r_v) ^ (d & r_u) ^ (c & d & first)))
}

/// Fig. 5, step 4: returns e_o from both tables and the masked inputs.
///
/// Paper: DNNR17, Figs. 5, 8
pub(crate) fn look_up(tables: [[[bool; 2]; 2]; 2], e_u: bool, e_v: bool) -> bool {
    let [a, b] = tables.map(|table| table[usize::from(e_u)][usize::from(e_v)]);
    a ^ b
}

#[test]
fn tables_hold_masked_products() {
    for case in 0u32..64 {
        let bit = |place: u32| case >> place & 1 == 1;
        let (r_u, r_v, r_o) = (bit(0), bit(1), bit(2));
        let a = GateShares { r_u: bit(3), r_v: bit(4), row0: bit(5) };
        let b = GateShares { r_u: a.r_u ^ r_u, r_v: a.r_v ^ r_v, row0: a.row0 ^ (r_u & r_v) ^ r_o };
        let tables = [table(a, true), table(b, false)];
        for (u, v) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(look_up(tables, u ^ r_u, v ^ r_v), (u & v) ^ r_o);
        }
    }
}
