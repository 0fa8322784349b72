//! Derives the number of circuits, the bucket size and the length of reconciliation values from κ_b
//! and κ_s.
//!
//! The paper splits the statistical parameter. With probability 2^-κ_b an execution leaks one bit
//! of the honest party's input (§3, Fig. 2). Any other attack (a wrong output, probing the input)
//! succeeds with probability 2^-κ_s. κ_s is ρ, and so is κ_b unless another value is chosen
//! ([`DualExOptions::kappa_b`]). `docs/proofs/dual-execution.md` argues that only
//! the one bit depends on κ_b.
//!
//! * κ_b: N̂ circuits for N buckets of B, such that *any* bucket has no good circuit with
//!   probability at most 2^-κ_b, for any number of bad circuits, in all preparations of a session
//!   together. With [`KappaBPer::Execution`] only *a given* bucket of one preparation counts, as in
//!   the paper (Lemma 1, whose binomials are misprinted; `symbolon_cutchoose::games` has the exact
//!   form). A cheater can choose which of N executions is run, and with which inputs, so that is
//!   less than a user expects of κ_b.
//! * κ_s: the probe resistance of the input encoding (`probe_matrix`), and the length ℓ of the
//!   values in the private set intersection. The paper requires ℓ ≥ κ_s. In each of the two
//!   directions there are B² pairs of values that may match by chance, so 2B² ≤ 2^(ℓ−κ_s) here. In
//!   the asynchronous form a receiver tests ℓ + 1 values with each of its own (`psi`), so
//!   B²(ℓ + 2) ≤ 2^(ℓ−κ_s).
//!
//! Each bound is for one event. In one execution three events bounded by κ_s can help a cheater:
//! the matrix resists fewer probes than it should, all probes pass, or a value of the intersection
//! is hit. Together they have probability at most 3·2^-κ_s.
//!
//! Departure: `dualex`: κ_b | a bound for a given execution | one for all executions of a session,
//! unless `--kappa-b-per execution` asks for the paper's | counts every bucket and all tries
//! (`docs/proofs/cut-and-choose.md`)
//!
//! Of all safe N̂ and B, the fastest are chosen, with bytes counted as on a 1 Gbit/s link. Times
//! were measured with 512-bit registers (`times_of_one_circuit`). They are not settings, because
//! both parties must use the same ones.

use symbolon_cutchoose::games::{Costs, Game, Goal, Sizes};
use symbolon_engine::Rho;
use symbolon_transport::{Error, Result};

use super::{
    function::Function,
    options::{DualExOptions, KappaBPer, PsiForm},
    probe_matrix::encoded_bits,
};

/// Nanoseconds for a byte on the wire.
const BYTE: u64 = 8;

/// Nanoseconds to garble an AND gate with the free gates around it, and to mask and hash its
/// half-gates.
const GATE: u64 = 25;

/// Nanoseconds to evaluate an AND gate with the free gates around it.
const EVALUATE: u64 = 25;

/// Nanoseconds to send and receive the half-gates of an AND gate, check them against the commitment
/// and keep them.
const KEEP: u64 = 35;

/// Nanoseconds for both labels of an input, an encoded bit or an output, and for the values against
/// which the evaluator checks them.
const WIRE: u64 = 40;

/// Nanoseconds for the rest of a garbled circuit: its generators and the commitment.
const CIRCUIT: u64 = 10_000;

/// Nanoseconds for a random OT, without its bytes.
const OT: u64 = 40;

/// Nanoseconds to fetch a label of the encoding with aggregated OTs, and to check it, without its
/// bytes.
const FETCH: u64 = 200;

/// Bytes of a correlated OT, those of `softspoken4`.
const OT_BYTES: u64 = 4;

/// The longest message in bytes: lengths have 32 bits on the wire.
const LONGEST: u128 = u32::MAX as u128;

/// The most executions that are prepared together.
pub(super) const MAX_EXECUTIONS: usize = 1 << 15;

/// Both statistical parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kappas {
    /// κ_b: for one bit.
    pub bit: Rho,
    /// Whether κ_b bounds leaks of any execution, or of a given one.
    pub per: KappaBPer,
    /// κ_s: for everything else.
    pub rest: Rho,
}

impl Kappas {
    /// Returns the parameters of a session.
    pub fn of(rho: Rho, options: DualExOptions) -> Kappas {
        let DualExOptions { kappa_b, kappa_b_per, .. } = options;
        Kappas { bit: kappa_b.unwrap_or(rho), per: kappa_b_per, rest: rho }
    }

    fn goal(self) -> Goal {
        match self.per {
            KappaBPer::Preparation => Goal::OneGood,
            KappaBPer::Execution => Goal::OneGoodInGivenBucket,
        }
    }
}

/// The parameters of a batch of executions.
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
    /// Returns the cheapest safe parameters for a number of executions of a function.
    ///
    /// # Errors
    /// `InvalidInput` when there are no executions, or too many.
    pub fn new(
        executions: usize,
        kappas: Kappas,
        psi: PsiForm,
        function: &Function,
    ) -> Result<Params> {
        if executions == 0 || executions > MAX_EXECUTIONS {
            return Err(Error::invalid_input(format!(
                "dualex prepares 1 to {MAX_EXECUTIONS} executions together, not {executions}"
            )));
        }
        let game = Game::new(kappas.goal(), executions as u64, kappas.bit.bits())?;
        let kappa_s = kappas.rest.bits();
        Ok(Params { sizes: game.best(costs(function, kappa_s))?, kappa_s, psi })
    }

    /// Refuses a batch with a message longer than the format allows. `inputs` are the input bits of
    /// both parties, `outputs` the output bits.
    ///
    /// # Errors
    /// `InvalidInput`, whose text says what to reduce.
    pub fn check_messages(&self, inputs: [usize; 2], outputs: usize) -> Result<()> {
        let encoded = inputs.map(|bits| encoded_bits(bits, self.kappa_s));
        for party in [0, 1] {
            let of = |both: [usize; 2]| [both[party] as u128, both[1 - party] as u128];
            let [per_batch, per_execution] =
                self.longest_messages(of(inputs), of(encoded), outputs as u128);
            let why = if per_execution > LONGEST {
                format!(
                    "a message of dualex for this circuit would have {per_execution} bytes, and \
                     messages have {LONGEST} at most: it has too many input and output bits"
                )
            } else if per_batch > LONGEST {
                format!(
                    "a message of dualex for {} executions of this circuit would have {per_batch} \
                     bytes, and messages have {LONGEST} at most: prepare fewer together (--batch, \
                     --count)",
                    self.executions()
                )
            } else {
                continue;
            };
            return Err(Error::invalid_input(why));
        }
        Ok(())
    }

    /// Returns the length in bytes of the longest message for all executions together, and of the
    /// longest one for a single execution. Only the messages that grow with inputs and outputs
    /// count. The sender has `own` input bits and `own_encoded` encoded bits.
    fn longest_messages(
        &self,
        [own, peer]: [u128; 2],
        [own_encoded, peer_encoded]: [u128; 2],
        outputs: u128,
    ) -> [u128; 2] {
        let Sizes { buckets, bucket, .. } = self.sizes;
        let [n, b, opened] = [buckets, bucket, self.sizes.opened()].map(u128::from);
        let per_batch = [
            (16 + own_encoded.div_ceil(8)) * opened + 32,
            (n * (b - 1) * own_encoded).div_ceil(8),
            (n * own).div_ceil(8),
        ];
        let per_execution = [
            16 * outputs.div_ceil(128) + 32 * (outputs + own + peer + peer_encoded) + 160,
            32 * outputs * b + 32,
            32 * b * peer_encoded,
            16 * b * (own + peer + 1),
        ];
        let longest = |messages: &[u128]| messages.iter().copied().max().unwrap_or_default();
        [longest(&per_batch), longest(&per_execution)]
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

    /// Returns ℓ, the bits of a reconciliation value; at most 128.
    ///
    /// Paper: RR16, Lemma 1
    pub fn item_bits(&self) -> usize {
        item_bits(self.bucket(), self.kappa_s, self.psi)
    }
}

/// Returns the cost of one circuit of each party, in nanoseconds of both parties. It depends only
/// on what both know.
fn costs(function: &Function, kappa_s: u32) -> Costs {
    let [first, second] = function.inputs.map(|bits| encoded_bits(bits, kappa_s) as u64);
    let encoded = first + second;
    // Each party's input has labels in both circuits.
    let inputs = 2 * (function.inputs[0] + function.inputs[1]) as u64;
    let (gates, outputs) = (2 * function.plan.and_count(), 2 * function.outputs as u64);
    let garbled = GATE * gates + WIRE * (inputs + encoded + outputs) + 2 * CIRCUIT;
    let made = garbled + (OT + OT_BYTES * BYTE) * encoded + 2 * 32 * BYTE;
    let opened = garbled + BYTE * (encoded.div_ceil(8) + 2 * 16);
    // The garbler garbles an evaluation circuit again, as the other party does with an opened one.
    // It also sends the leaf XORs, labels, the output translations of the circuit and of its
    // bucket, and both masked labels of each encoded bit.
    let sent = garbled
        + (32 * BYTE + KEEP + EVALUATE) * gates
        + (32 + 16) * BYTE * inputs
        + 64 * BYTE * outputs
        + ((32 + 32) * BYTE + FETCH) * encoded
        + 2 * 160 * BYTE;
    // Every circuit is made, and opened unless it is sent.
    Costs { made: made + opened, bucketed: sent.saturating_sub(opened) }
}

/// Returns ℓ for buckets of this size: the smallest length at which the values that B² pairs can
/// hit are at most a fraction of 2^-κ_s of all values.
pub(super) fn item_bits(bucket: usize, kappa_s: u32, psi: PsiForm) -> usize {
    let values = |bits: u32| match psi {
        PsiForm::Synchronous => 2,
        PsiForm::Asynchronous => u128::from(bits) + 2,
    };
    let pairs = (bucket as u128).pow(2);
    let enough = |bits: &u32| pairs * values(*bits) <= 1 << (bits - kappa_s);
    (kappa_s..128).find(enough).unwrap_or(128) as usize
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::builder::Builder;
    use symbolon_circuit::{Receivers, Type, builtin};

    use super::*;

    fn function(name: &str) -> Function {
        Function::of(&builtin::by_name(name).unwrap()).unwrap()
    }

    use KappaBPer::{Execution, Preparation};

    /// Returns whether this number of circuits is enough for a game.
    fn holds(game: &Game, bucket: u64, circuits: u64) -> bool {
        let fewest = game.fewest_objects(bucket).unwrap();
        fewest.is_some_and(|fewest| fewest.objects <= circuits)
    }

    fn kappas(bit: Rho, rest: Rho) -> Kappas {
        Kappas { bit, per: Preparation, rest }
    }

    /// Returns the parameters for AES-128, with κ_b = ρ.
    fn params_per(per: KappaBPer, n: usize, rho: Rho) -> Result<Params> {
        let kappas = Kappas { per, ..kappas(rho, rho) };
        Params::new(n, kappas, PsiForm::Synchronous, &function("aes128"))
    }

    fn params(n: usize, rho: Rho) -> Result<Params> {
        params_per(Preparation, n, rho)
    }

    fn sizes(per: KappaBPer, n: usize, rho: Rho) -> (u64, u64) {
        let Sizes { bucket, objects, .. } = params_per(per, n, rho).unwrap().sizes;
        (bucket, objects)
    }

    /// Another program, with exact fractions, computed the same.
    #[test]
    fn sizes_are_those_of_the_exact_bound() {
        for (n, per, expected) in [
            (1, Preparation, (12, 59)),
            (2, Preparation, (10, 86)),
            (8, Preparation, (8, 192)),
            (32, Preparation, (6, 633)),
            (128, Preparation, (6, 1292)),
            (1024, Preparation, (5, 7064)),
            (1, Execution, (12, 59)),
            (32, Execution, (6, 430)),
            (128, Execution, (5, 1137)),
            (1024, Execution, (4, 5664)),
        ] {
            assert_eq!(sizes(per, n, Rho::Bits40), expected, "{n}, {per:?}");
        }
        for (n, per) in [1, 32, 1024].into_iter().flat_map(|n| KappaBPer::ALL.map(|per| (n, per))) {
            let [a, b, c] = [Rho::Bits40, Rho::Bits64, Rho::Bits80].map(|rho| sizes(per, n, rho).1);
            assert!(a < b && b < c, "{n}: {a} {b} {c}");
        }
        assert!(params(0, Rho::Bits40).is_err());
        assert!(params(MAX_EXECUTIONS + 1, Rho::Bits40).is_err());
    }

    /// A bound for each execution alone, which was the default, is none for all: of 128 executions
    /// one leaks a bit with probability 2^-33.
    #[test]
    fn the_default_bounds_leaks_of_all_executions_together() {
        assert_eq!(KappaBPer::default(), Preparation);
        for n in [1, 2, 8, 32, 128, 1024, 4096] {
            let all = Game::new(Goal::OneGood, n as u64, 40).unwrap();
            let (bucket, circuits) = sizes(Preparation, n, Rho::Bits40);
            assert!(holds(&all, bucket, circuits), "{n}");
            let (bucket, circuits) = sizes(Execution, n, Rho::Bits40);
            assert_eq!(holds(&all, bucket, circuits), n == 1);
        }
        let (bucket, circuits) = sizes(Execution, 128, Rho::Bits40);
        let all = |rho| Game::new(Goal::OneGood, 128, rho).unwrap();
        assert!(holds(&all(32), bucket, circuits) && !holds(&all(34), bucket, circuits));
    }

    /// κ_b alone decides how many circuits there are for a bucket, and κ_s alone how long values
    /// of the intersection and encodings are.
    #[test]
    fn circuits_follow_kappa_b_and_lengths_kappa_s() {
        let aes = function("aes128");
        let all = [Rho::Bits40, Rho::Bits64, Rho::Bits80];
        for (n, bucket, circuits) in [(32, 6, 633), (128, 6, 1292), (1024, 5, 7064)] {
            for rest in all {
                let kappas = kappas(Rho::Bits40, rest);
                let params = Params::new(n, kappas, PsiForm::Synchronous, &aes).unwrap();
                assert_eq!((params.bucket(), params.circuits()), (bucket, circuits), "{rest:?}");
            }
        }
        for (bit, rest) in all.into_iter().flat_map(|bit| all.map(|rest| (bit, rest))) {
            for psi in PsiForm::ALL {
                let params = Params::new(32, kappas(bit, rest), psi, &aes).unwrap();
                assert_eq!(params.kappa_s, rest.bits());
                assert_eq!(params.item_bits(), item_bits(params.bucket(), rest.bits(), psi));
                let game = Game::new(Goal::OneGood, 32, bit.bits()).unwrap();
                let Sizes { bucket, objects, .. } = params.sizes;
                assert!(holds(&game, bucket, objects));
                assert!(!holds(&game, bucket, objects - 1));
            }
        }
        // For κ_s = 40 and buckets of 6: 2·6² ≤ 2^(47 − 40).
        let bits =
            |rest, psi| Params::new(32, kappas(Rho::Bits40, rest), psi, &aes).unwrap().item_bits();
        assert_eq!(all.map(|rest| bits(rest, PsiForm::Synchronous)), [47, 71, 87]);
        assert_eq!(all.map(|rest| bits(rest, PsiForm::Asynchronous)), [51, 76, 92]);
        assert_eq!(all.map(|rest| encoded_bits(128, rest.bits())), [339, 452, 525]);
    }

    /// Whatever a circuit costs, the sizes are safe, and both parties' inputs count alike.
    #[test]
    fn sizes_are_safe_for_any_function() {
        let wires = |bits: [u32; 2]| {
            let mut b = Builder::new("wires");
            let [x, y] = [0, 1].map(|p| b.input(["x", "y"][p], Type::Uint(bits[p]), p as u16));
            let bit = b.and(&x[..1], &y[..1]);
            b.output("and", &bit, Type::Bool, Receivers::All);
            Function::of(&b.finish().unwrap()).unwrap()
        };
        let functions = [
            wires([1, 1]),
            wires([1, 5000]),
            wires([5000, 1]),
            function("aes128"),
            function("mult:256"),
        ];
        for n in [1, 8, 24, 100] {
            let sizes = functions.each_ref().map(|function| {
                let kappas = kappas(Rho::Bits40, Rho::Bits40);
                let params = Params::new(n, kappas, PsiForm::Synchronous, function).unwrap();
                let game = Game::new(Goal::OneGood, n as u64, 40).unwrap();
                assert!(holds(&game, params.sizes.bucket, params.sizes.objects));
                params.sizes
            });
            assert_eq!(sizes[1], sizes[2]);
        }
        // Sending a circuit takes longer than making it.
        let costs = functions.each_ref().map(|function| costs(function, 40));
        assert!(costs.iter().all(|costs| costs.bucketed > costs.made), "{costs:?}");
    }

    /// The table in `docs/protocols.md`, for AES-128.
    #[test]
    fn the_page_has_these_sizes() {
        let page = include_str!("../../../../docs/protocols.md");
        for per in KappaBPer::ALL {
            let cells = [1, 2, 8, 32, 128, 1024].map(|n| {
                let (bucket, circuits) = sizes(per, n, Rho::Bits40);
                let circuits = circuits.to_string();
                let (thousands, rest) = circuits.split_at(circuits.len().saturating_sub(3));
                let space = if thousands.is_empty() { "" } else { " " };
                format!("{bucket}, {thousands}{space}{rest}")
            });
            let row = format!("| {} |\n", cells.join(" | "));
            assert!(page.contains(&row), "docs/protocols.md should have {row}");
        }
    }

    /// The limit is exact to the byte, and each refusal gives the right reason.
    #[test]
    fn executions_with_too_long_messages_are_refused() {
        let params = |n| params(n, Rho::Bits40).unwrap();
        let refused = |n: usize, inputs, outputs| -> String {
            params(n).check_messages(inputs, outputs).unwrap_err().to_string()
        };
        for (n, inputs, outputs) in [(1, [128, 128], 128), (1024, [512, 256], 256)] {
            params(n).check_messages(inputs, outputs).unwrap();
        }
        let b = params(1).bucket();
        // Labels of outputs: 32·m·B + 32 bytes.
        let most = (u32::MAX as usize - 32) / (32 * b);
        params(1).check_messages([8, 8], most).unwrap();
        for n in [1, 7] {
            assert!(refused(n, [8, 8], 16 * most).contains("too many input and output bits"));
        }
        let error = refused(1, [8, 8], most + 1);
        assert!(error.contains(&(32 * (most + 1) * b + 32).to_string()), "{error}");
        assert!(error.contains("4294967295"), "{error}");
        // The differences for all executions, with the long input on either side.
        for inputs in [[600_000, 8], [8, 600_000]] {
            let error = refused(MAX_EXECUTIONS, inputs, 8);
            assert!(error.contains("--batch") && error.contains("4294967295"), "{error}");
            params(64).check_messages(inputs, 8).unwrap();
        }
    }

    #[test]
    fn items_are_long_enough_for_all_pairs() {
        let lengths = |psi| [1, 2, 4, 5, 19].map(|bucket| item_bits(bucket, 40, psi));
        assert_eq!(lengths(PsiForm::Synchronous), [41, 43, 45, 46, 50]);
        assert_eq!(lengths(PsiForm::Asynchronous), [46, 48, 50, 51, 55]);
        for (bucket, rho) in (1..60).flat_map(|bucket| [40, 64, 80].map(|rho| (bucket, rho))) {
            let pairs = (bucket * bucket) as f64;
            let [one, other] = PsiForm::ALL.map(|psi| item_bits(bucket, rho, psi) as f64);
            assert!((2.0 * pairs).log2() + f64::from(rho) <= one);
            assert!((pairs * (other + 2.0)).log2() + f64::from(rho) <= other && other < 128.0);
        }
    }
}
