//! How many circuits, how large a bucket, how long a reconciliation value: all from ρ.
//!
//! The paper splits the statistical parameter. With probability 2^-κ_b a given execution leaks one
//! bit of the honest party's input (§3, Fig. 2); everything else that a cheater may hope for
//! (a wrong output, probing the input) has probability 2^-κ_s. Both are ρ here.
//!
//! * κ_b: N̂ circuits for N buckets of B, such that *a given* bucket has no good circuit with
//!   probability at most 2^-κ_b, however many bad ones there are (Lemma 1, the binomials of which
//!   are misprinted; `symbolon_cutchoose::games` has the exact form).
//! * κ_s: the probe resistance of the input encoding (`probe_matrix`), and the length ℓ of the
//!   values in the private set intersection. The paper asks for ℓ ≥ κ_s. The two sets make B²
//!   pairs, each of which a cheater may hope to hit, so ℓ = κ_s + 2⌈log₂ B⌉ here.
//!
//! Each bound is for one event. A cheater can hope for three of the second kind in one execution:
//! that the matrix resists fewer probes than it should, that all its probes pass, and that it hits
//! a value of the intersection. Together they have probability at most 3·2^-κ_s.

use symbolon_cutchoose::games::{Costs, Game, Goal, Sizes};
use symbolon_transport::{Error, Result};

use super::psi::PsiForm;
use crate::Rho;

/// What garbling and checking a circuit costs, and what a circuit in a bucket costs in addition: it
/// is garbled again to be sent, sent, kept and evaluated.
const COSTS: Costs = Costs { made: 1, bucketed: 3 };

/// The most executions that are prepared together.
pub(super) const MAX_EXECUTIONS: usize = 1 << 15;

/// The numbers of a batch of executions.
///
/// Paper: RR16, Lemma 1 | N̂ and B
#[derive(Clone, Copy, Debug)]
pub(super) struct Params {
    /// N, B and N̂.
    pub sizes: Sizes,
    /// κ_s.
    pub kappa_s: u32,
    /// How reconciliation values are intersected.
    pub psi: PsiForm,
}

impl Params {
    /// The numbers for a number of executions.
    ///
    /// # Errors
    /// `InvalidInput` when there are none, or too many.
    pub fn new(executions: usize, rho: Rho, psi: PsiForm) -> Result<Params> {
        if executions == 0 || executions > MAX_EXECUTIONS {
            return Err(Error::invalid_input(format!(
                "dualex prepares 1 to {MAX_EXECUTIONS} executions together, not {executions}"
            )));
        }
        let game = Game::new(Goal::OneGoodInGivenBucket, executions as u64, rho.bits())?;
        Ok(Params { sizes: game.best(COSTS)?, kappa_s: rho.bits(), psi })
    }

    /// N.
    pub fn executions(&self) -> usize {
        self.sizes.buckets as usize
    }

    /// B.
    pub fn bucket(&self) -> usize {
        self.sizes.bucket as usize
    }

    /// N̂.
    pub fn circuits(&self) -> usize {
        self.sizes.objects as usize
    }

    /// ℓ, the bits of a reconciliation value; at most 128.
    ///
    /// Paper: RR16, Lemma 1
    pub fn item_bits(&self) -> usize {
        item_bits(self.bucket(), self.kappa_s)
    }
}

/// ℓ for buckets of this size.
pub(super) fn item_bits(bucket: usize, kappa_s: u32) -> usize {
    let log2 = bucket.next_power_of_two().trailing_zeros();
    ((kappa_s + 2 * log2) as usize).min(128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_exact_bound() {
        let sizes = |n, rho| {
            let Sizes { bucket, objects, .. } =
                Params::new(n, rho, PsiForm::Synchronous).unwrap().sizes;
            (bucket, objects)
        };
        assert_eq!(sizes(32, Rho::Bits40), (6, 430));
        assert_eq!(sizes(128, Rho::Bits40), (5, 1137));
        assert_eq!(sizes(1024, Rho::Bits40), (4, 5664));
        for n in [1, 32, 1024] {
            let [a, b, c] = [Rho::Bits40, Rho::Bits64, Rho::Bits80].map(|rho| sizes(n, rho).1);
            assert!(a < b && b < c, "{n}: {a} {b} {c}");
        }
        assert!(Params::new(0, Rho::Bits40, PsiForm::Synchronous).is_err());
        assert!(Params::new(MAX_EXECUTIONS + 1, Rho::Bits40, PsiForm::Synchronous).is_err());
    }

    /// The table in `docs/protocols.md`.
    #[test]
    fn the_page_has_these_sizes() {
        let cells = [1, 2, 8, 32, 128, 1024].map(|n| {
            let params = Params::new(n, Rho::Bits40, PsiForm::Synchronous).unwrap();
            let circuits = params.circuits().to_string();
            let (thousands, rest) = circuits.split_at(circuits.len().saturating_sub(3));
            let space = if thousands.is_empty() { "" } else { " " };
            format!("{}, {thousands}{space}{rest}", params.bucket())
        });
        let row = format!("| B, N̂ | {} |\n", cells.join(" | "));
        let page = include_str!("../../../../docs/protocols.md");
        assert!(page.contains(&row), "docs/protocols.md should have {row}");
    }

    #[test]
    fn items_are_long_enough_for_all_pairs() {
        assert_eq!([1, 2, 4, 5, 19].map(|b| item_bits(b, 40)), [40, 42, 44, 46, 50]);
        for bucket in 1..60 {
            let pairs = (bucket * bucket) as f64;
            assert!(pairs.log2() + 40.0 <= item_bits(bucket, 40) as f64);
        }
    }
}
