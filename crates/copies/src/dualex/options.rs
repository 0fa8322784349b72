//! The options of `dualex`.

use symbolon_engine::Rho;
use symbolon_engine::options::{OptionSpec, Options, ProtocolOption, Value, Values};
use symbolon_transport::{Error, Result};

/// How the parties' results are intersected.
pub static PSI: ProtocolOption = ProtocolOption::new(
    OptionSpec {
        name: "psi",
        value_name: "FORM",
        help: "How dualex intersects what the parties got: sync, with fewer bytes; or async, with \
               a message less",
        default: Some("sync"),
        values: Values::Words(|| PsiForm::ALL.map(PsiForm::name).to_vec()),
        place: 80,
    },
    "How reconciliation values were intersected; absent where there is no choice.",
    |_| Value::Word(PsiForm::default().name()),
);

/// κ_b.
pub static KAPPA_B: ProtocolOption = ProtocolOption::new(
    OptionSpec {
        name: "kappa-b",
        value_name: "BITS",
        help: "With dualex: bound by 2^-BITS that any evaluation prepared in a session leaks one \
               bit of an input, and all else by 2^-RHO; 40, 64 or 80, and the fewer, the fewer \
               circuits are garbled",
        default: Some("RHO"),
        values: Values::Numbers(&[40, 64, 80]),
        place: 90,
    },
    "κ_b, the bits that bound a leaked bit; absent where there is no choice.",
    |rho| Value::Number(rho.bits().into()),
);

/// Which leaks κ_b bounds.
pub static KAPPA_B_PER: ProtocolOption = ProtocolOption::new(
    OptionSpec {
        name: "kappa-b-per",
        value_name: "WHAT",
        help: "Which leaks --kappa-b bounds: preparation, those of any evaluation; or execution, \
               those of a given one, as in the paper, with fewer circuits: of N evaluations one \
               leaks a bit with up to N times that probability, and the peer can choose which one \
               is run",
        default: Some("preparation"),
        values: Values::Words(|| KappaBPer::ALL.map(KappaBPer::name).to_vec()),
        place: 100,
    },
    "Which leaks κ_b bounds, `preparation` or `execution`; absent where there is no choice.",
    |_| Value::Word(KappaBPer::default().name()),
);

/// All options.
pub(crate) static ALL: &[ProtocolOption] = &[PSI, KAPPA_B, KAPPA_B_PER];

/// The options of `dualex` as a program gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DualExOptions {
    /// How the parties' results are intersected: fewer bytes, or one message less.
    pub psi: PsiForm,
    /// κ_b, independently of ρ: a bit of an input leaks to a cheater with probability at most
    /// 2^-κ_b. All other failures, such as a wrong output, keep probability 2^-ρ. A smaller κ_b
    /// needs fewer garbled circuits. `None` means ρ.
    pub kappa_b: Option<Rho>,
    /// Whether κ_b bounds leaks of any evaluation that is prepared in a session, or of a given one.
    pub kappa_b_per: KappaBPer,
}

/// How the parties' reconciliation values are intersected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PsiForm {
    /// Three messages online, and fewer bytes.
    #[default]
    Synchronous,
    /// Two messages online.
    Asynchronous,
}

impl PsiForm {
    /// Both forms.
    pub const ALL: [PsiForm; 2] = [PsiForm::Synchronous, PsiForm::Asynchronous];

    /// Returns the name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        match self {
            PsiForm::Synchronous => "sync",
            PsiForm::Asynchronous => "async",
        }
    }
}

/// What 2^-κ_b bounds: the probability of which leak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KappaBPer {
    /// That any execution leaks a bit of an input, of all that are prepared in a session.
    #[default]
    Preparation,
    /// That a given execution does, as in the paper, which needs fewer garbled circuits. Of N
    /// executions that are prepared together, one does with probability up to N·2^-κ_b, and a
    /// cheater can choose which inputs it gets.
    Execution,
}

impl KappaBPer {
    /// Both choices.
    pub const ALL: [KappaBPer; 2] = [KappaBPer::Preparation, KappaBPer::Execution];

    /// Returns the name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        match self {
            KappaBPer::Preparation => "preparation",
            KappaBPer::Execution => "execution",
        }
    }
}

impl DualExOptions {
    /// Returns the options of a session.
    ///
    /// # Errors
    /// `InvalidInput` if one of them has no such value.
    pub fn of(options: &Options, rho: Rho) -> Result<DualExOptions> {
        let wrong = || Error::invalid_input("an option of dualex has no such value");
        let word = |option: &ProtocolOption| match option.value(options, rho) {
            Value::Word(word) => Ok(word),
            _ => Err(wrong()),
        };
        let (psi, per) = (word(&PSI)?, word(&KAPPA_B_PER)?);
        let bits = u32::try_from(KAPPA_B.number(options, rho)?).ok();
        Ok(DualExOptions {
            psi: PsiForm::ALL.into_iter().find(|form| form.name() == psi).ok_or_else(wrong)?,
            kappa_b: Some(bits.and_then(Rho::from_bits).ok_or_else(wrong)?),
            kappa_b_per: KappaBPer::ALL
                .into_iter()
                .find(|one| one.name() == per)
                .ok_or_else(wrong)?,
        })
    }
}

impl From<DualExOptions> for Options {
    fn from(options: DualExOptions) -> Options {
        let DualExOptions { psi, kappa_b, kappa_b_per } = options;
        let psi = (psi != PsiForm::default()).then(|| Value::Word(psi.name()));
        let per = (kappa_b_per != KappaBPer::default()).then(|| Value::Word(kappa_b_per.name()));
        Options::default()
            .with(&PSI, psi)
            .with(&KAPPA_B, kappa_b.map(|bits| Value::Number(bits.bits().into())))
            .with(&KAPPA_B_PER, per)
    }
}

/// Returns what tells prepared executions from others. They are told apart by ρ in any case, and
/// those from before there was a bound for whole preparations have the label of those that bound
/// each execution.
pub(super) fn label(options: &Options, rho: Rho) -> Result<String> {
    let DualExOptions { psi, kappa_b, kappa_b_per } = DualExOptions::of(options, rho)?;
    let bound = kappa_b.unwrap_or(rho);
    let kappa_b = match kappa_b_per {
        KappaBPer::Preparation => format!(", kappa_b {} per preparation", bound.bits()),
        KappaBPer::Execution if bound != rho => format!(", kappa_b {}", bound.bits()),
        KappaBPer::Execution => String::new(),
    };
    Ok(format!("{} intersection{kappa_b}", psi.name()))
}
