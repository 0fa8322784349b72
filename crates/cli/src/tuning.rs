//! Parameters as given, checked and converted to the library's.

use std::collections::HashSet;
use std::str::FromStr;
use std::time::Duration;

use symbolon::circuit::{Circuit, lower_lookups};
use symbolon::{
    Config, GateForm, KappaBPer, MAX_THREADS, MacChoice, MacLength, OtExtension, Protocol, PsiForm,
    Rho, SessionParams, SimulatedLink,
};

use symbolon_lang::cost::component_costs;

use crate::error::{CliError, CliResult};
use crate::interrupt;
use crate::options::TuningArgs;
use crate::output::tell;

/// The longest time-out, in seconds: a week.
const LONGEST_TIMEOUT: f64 = 604_800.0;

/// The value that leaves a choice to the link.
const AUTO: &str = "auto";

/// Parameters of a session, checked.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// What all parties must share.
    pub params: SessionParams,
    /// How long to wait for the peer.
    pub timeout: Duration,
    /// The simulated link, as given and as understood.
    pub link: Option<(String, SimulatedLink)>,
}

impl Tuning {
    /// Checks what was given and fills in defaults, among `parties` parties.
    ///
    /// # Errors
    /// A usage failure that names the option and what it takes, or says among how many parties the
    /// protocol runs.
    pub fn new(args: &TuningArgs, parties: u16) -> CliResult<Tuning> {
        let protocol = match args.protocol.as_deref() {
            None => Protocol::for_parties(usize::from(parties)),
            Some(name) => Protocol::by_name(name).ok_or_else(|| {
                let known: Vec<&str> = Protocol::ALL.iter().map(|p| p.name()).collect();
                CliError::usage(format!("there is no such protocol: {}", name.escape_default()))
                    .with_hint(format!("the protocols are {}", known.join(", ")))
            })?,
        };
        let rho = Rho::from_bits(args.rho.unwrap_or(40))
            .ok_or_else(|| CliError::usage("--rho takes 40, 64 or 80"))?;
        let form = choice("--form", args.form.as_deref(), &GateForm::ALL.map(GateForm::name))?;
        if let Some(form) = form.filter(|form: &GateForm| !protocol.forms().contains(form)) {
            return Err(CliError::usage(format!("{} has no form {form}", protocol.name())));
        }
        let ot = choice("--ot", args.ot.as_deref(), &OtExtension::ALL.map(OtExtension::name))?;
        let mac = mac(args, protocol, rho)?;
        let psi = psi(args.psi.as_deref(), protocol)?;
        let kappa_b = kappa_b(args.kappa_b, protocol)?;
        let kappa_b_per = kappa_b_per(args.kappa_b_per.as_deref(), protocol)?;
        let threads = args.threads.unwrap_or(1);
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(CliError::usage(format!("--threads takes 1 to {MAX_THREADS}")));
        }
        let timeout = timeout(args)?;
        let link = match &args.link {
            None => None,
            Some(text) => Some((text.clone(), text.parse::<SimulatedLink>()?)),
        };
        check_parties(protocol, parties)?;
        let executions = args.batch.unwrap_or(1);
        let in_flight = in_flight(args, protocol)?;
        let usual = SessionParams::new(protocol);
        let segment_gates = args.segment_gates.unwrap_or(usual.segment_gates);
        if segment_gates == 0 {
            return Err(CliError::usage("--segment-gates takes a number of AND gates, at least 1"));
        }
        let components = args.components.clone();
        if !components.is_empty() && !protocol.has_components() {
            return Err(CliError::usage(format!("{} takes no --component", protocol.name())));
        }
        let params = SessionParams {
            rho,
            form,
            ot,
            threads,
            executions,
            in_flight,
            mac,
            psi,
            kappa_b,
            kappa_b_per,
            segment_gates,
            components,
            ..usual
        };
        Ok(Tuning { params, timeout, link })
    }

    /// Prints a warning if a choice is not secure enough.
    pub fn warn(&self) {
        if let Some(mac) = self.params.mac_length().filter(|_| self.params.has_weak_macs()) {
            tell(&format!(
                "warning: MACs of {mac} bits are for comparisons with published figures: a wrong bit is accepted with \
                 probability 2^-{mac}\n"
            ));
        }
    }

    /// Refuses names of components that the circuit does not have.
    ///
    /// # Errors
    /// A usage failure that lists some that it has.
    pub fn check_components(&self, circuit: &Circuit) -> CliResult<()> {
        check_components(circuit, &self.params.components)
    }

    /// Refuses a batch where none is possible.
    ///
    /// # Errors
    /// A usage failure that names the option with which it cannot be combined.
    pub fn one_at_a_time(&self, option: &str) -> CliResult<()> {
        match self.params.executions {
            1 => Ok(()),
            _ => Err(CliError::usage(format!("--batch does not go with {option}"))),
        }
    }

    /// Refuses evaluations in flight for a command that runs none.
    ///
    /// # Errors
    /// A usage failure that names the command.
    pub fn runs_nothing(&self, command: &str) -> CliResult<()> {
        match self.params.in_flight {
            None => Ok(()),
            Some(_) => Err(CliError::usage(format!("{command} takes no --in-flight"))
                .with_hint("what `prepare --count N` makes can be run in flight")),
        }
    }

    /// Returns the length of the MACs as an option takes it, if there is such an option.
    pub fn mac_bits(&self) -> Option<u32> {
        self.params.mac_length().map(MacLength::bits)
    }

    /// Returns how reconciliation values are intersected, as an option takes it, if there is a
    /// choice.
    pub fn psi_name(&self) -> Option<&'static str> {
        self.params.protocol.has_psi_form().then(|| self.params.psi.name())
    }

    /// Returns κ_b as an option takes it, if there is a choice.
    pub fn kappa_b_bits(&self) -> Option<u32> {
        self.params.leak_bound().map(Rho::bits)
    }

    /// Returns which leaks κ_b bounds, as an option takes it, if there is a choice.
    pub fn kappa_b_per(&self) -> Option<&'static str> {
        self.params.leak_bound_per().map(KappaBPer::name)
    }

    /// Sets everything but the link, which depends on the transport; signals cancel the session.
    ///
    /// # Errors
    /// Those of [`interrupt::handle`].
    pub fn apply(&self, config: Config) -> CliResult<Config> {
        let config = config.params(self.params.clone()).timeout(self.timeout);
        Ok(config.cancelled_by(interrupt::handle()?))
    }

    /// Sets everything, for TCP and TLS.
    ///
    /// # Errors
    /// Those of [`interrupt::handle`].
    pub fn apply_with_link(&self, config: Config) -> CliResult<Config> {
        let config = self.apply(config)?;
        Ok(match &self.link {
            Some((_, link)) => config.link(*link),
            None => config,
        })
    }
}

/// Returns how long a peer may take.
///
/// # Errors
/// A usage failure when it is out of range.
pub fn timeout(args: &TuningArgs) -> CliResult<Duration> {
    let seconds = args.timeout.unwrap_or(symbolon::DEFAULT_TIMEOUT.as_secs_f64());
    match (0.001..=LONGEST_TIMEOUT).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(CliError::usage("--timeout takes seconds, from 0.001 to a week's")),
    }
}

/// Returns the requested length of MACs, which is long enough or for comparisons only.
fn mac(args: &TuningArgs, protocol: Protocol, rho: Rho) -> CliResult<MacChoice> {
    let (option, bits) = match (args.mac_bits, args.weak_mac_bits) {
        (None, None) => return Ok(MacChoice::ByRho),
        (Some(bits), _) => ("--mac-bits", bits),
        (None, Some(bits)) => ("--weak-mac-bits", bits),
    };
    if !protocol.has_mac_length() {
        return Err(CliError::usage(format!("{} takes no {option}", protocol.name()))
            .with_hint("its MACs follow from --rho"));
    }
    let known = MacLength::ALL.into_iter().find(|length| length.bits() == bits);
    match (known, option) {
        (Some(length), "--weak-mac-bits") => Ok(MacChoice::ComparisonOnly(length)),
        (Some(length), _) if length.suffices(rho) => Ok(MacChoice::Length(length)),
        (Some(length), _) => Err(CliError::usage(format!(
            "--mac-bits {length} is too short for --rho {}, which takes {} at least",
            rho.bits(),
            MacLength::for_rho(rho)
        ))
        .with_hint("`bench --weak-mac-bits` measures shorter ones, for comparisons")),
        (None, "--weak-mac-bits") => Err(CliError::usage("--weak-mac-bits takes 32, 64 or 128")),
        (None, _) => Err(CliError::usage("--mac-bits takes 64 or 128")),
    }
}

/// Returns how many evaluations of a batch are online at a time.
fn in_flight(args: &TuningArgs, protocol: Protocol) -> CliResult<Option<usize>> {
    match args.in_flight {
        Some(_) if !protocol.runs_in_flight() => {
            Err(CliError::usage(format!("{} takes no --in-flight", protocol.name())))
        }
        Some(_) if args.batch.is_none_or(|executions| executions == 1) => {
            Err(CliError::usage("--in-flight is for --batch"))
        }
        // A settings file may say what the option refuses.
        Some(limit) if !(1..=1 << 16).contains(&limit) => {
            Err(CliError::usage("--in-flight takes 1 to 65536"))
        }
        limit => Ok(limit.map(|limit| limit as usize)),
    }
}

/// Returns how reconciliation values are intersected.
///
/// # Errors
/// A usage failure if there is no such form, or the protocol has no choice.
pub fn psi(name: Option<&str>, protocol: Protocol) -> CliResult<PsiForm> {
    let Some(name) = name else { return Ok(PsiForm::default()) };
    if !protocol.has_psi_form() {
        return Err(CliError::usage(format!("{} takes no --psi", protocol.name())));
    }
    let known = PsiForm::ALL.map(PsiForm::name).join(" or ");
    PsiForm::by_name(name).ok_or_else(|| CliError::usage(format!("--psi takes {known}")))
}

/// Returns what bounds leaked bits, if not ρ.
///
/// # Errors
/// A usage failure if it can be no such number, or the protocol has no choice.
pub fn kappa_b(bits: Option<u32>, protocol: Protocol) -> CliResult<Option<Rho>> {
    let Some(bits) = bits else { return Ok(None) };
    if !protocol.has_kappa_b() {
        return Err(CliError::usage(format!("{} takes no --kappa-b", protocol.name())));
    }
    let known = Rho::from_bits(bits);
    known.map(Some).ok_or_else(|| CliError::usage("--kappa-b takes 40, 64 or 80"))
}

/// Returns which leaks κ_b bounds.
///
/// # Errors
/// A usage failure if there is no such choice, or the protocol has none.
pub fn kappa_b_per(name: Option<&str>, protocol: Protocol) -> CliResult<KappaBPer> {
    let Some(name) = name else { return Ok(KappaBPer::default()) };
    if !protocol.has_kappa_b() {
        return Err(CliError::usage(format!("{} takes no --kappa-b-per", protocol.name())));
    }
    let known = KappaBPer::ALL.map(KappaBPer::name).join(" or ");
    KappaBPer::by_name(name).ok_or_else(|| CliError::usage(format!("--kappa-b-per takes {known}")))
}

/// Returns what an option that can be `auto` chooses by name.
///
/// # Errors
/// A usage failure that lists what it takes.
pub fn choice<T: FromStr>(
    option: &str,
    name: Option<&str>,
    known: &[&str],
) -> CliResult<Option<T>> {
    match name {
        None | Some(AUTO) => Ok(None),
        Some(name) => name
            .parse()
            .map(Some)
            .map_err(|_| CliError::usage(format!("{option} takes {AUTO}, {}", known.join(", ")))),
    }
}

/// The most names of components that a message lists.
const MOST_NAMES: usize = 12;

/// Refuses names of components that the circuit does not have.
///
/// # Errors
/// A usage failure that lists some that it has.
pub fn check_components(circuit: &Circuit, names: &[String]) -> CliResult<()> {
    if names.is_empty() {
        return Ok(());
    }
    // Where gates replace look-ups, tables become components, too.
    let circuit = lower_lookups(circuit);
    let mut known: Vec<String> =
        component_costs(&circuit).into_iter().map(|component| component.name).collect();
    let Some(unknown) = names.iter().find(|name| !known.contains(name)) else { return Ok(()) };
    let mut listed = HashSet::new();
    known.retain(|name| listed.insert(name.clone()));
    let more = known.len().saturating_sub(MOST_NAMES);
    let known: Vec<String> = known.iter().take(MOST_NAMES).map(|n| format!("`{n}`")).collect();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Err(CliError::usage(format!("the circuit has no component `{unknown}`"))
        .with_hint(format!("its components are {}{more}", known.join(", "))))
}

/// Refuses a protocol that does not run among this many parties.
///
/// # Errors
/// A usage failure that names one that does.
pub fn check_parties(protocol: Protocol, parties: u16) -> CliResult<()> {
    let possible = protocol.parties();
    if possible.contains(&parties) {
        return Ok(());
    }
    let (least, most) = (possible.start(), possible.end());
    let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let refused =
        CliError::usage(format!("{} runs among {range} parties, not {parties}", protocol.name()));
    let other = Protocol::ALL.iter().find(|other| other.parties().contains(&parties));
    Err(match other {
        Some(other) => refused.with_hint(format!("--protocol {} does", other.name())),
        None => refused,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_ranges() {
        let tuning = Tuning::new(&TuningArgs::default(), 2).unwrap();
        assert_eq!((tuning.params.rho.bits(), tuning.params.threads), (40, 1));
        assert_eq!((tuning.params.form, tuning.params.ot), (None, None));
        let auto = TuningArgs {
            form: Some("auto".into()),
            ot: Some("auto".into()),
            ..TuningArgs::default()
        };
        let auto = Tuning::new(&auto, 2).unwrap();
        assert_eq!((auto.params.form, auto.params.ot), (None, None));
        for (form, ot) in [GateForm::FourRow, GateForm::HalfGates].into_iter().zip(OtExtension::ALL)
        {
            let args = TuningArgs {
                form: Some(form.name().to_string()),
                ot: Some(ot.name().to_string()),
                ..TuningArgs::default()
            };
            let told = Tuning::new(&args, 2).unwrap();
            assert_eq!((told.params.form, told.params.ot), (Some(form), Some(ot)));
        }
        assert_eq!(tuning.params.protocol, Protocol::Wrk);
        assert_eq!(Tuning::new(&TuningArgs::default(), 3).unwrap().params.protocol, Protocol::Ywz);
        let wrk = TuningArgs { protocol: Some("wrk".into()), ..TuningArgs::default() };
        let refused = Tuning::new(&wrk, 3).unwrap_err();
        assert!(refused.message.contains("wrk runs among 2 parties, not 3"));
        assert!(refused.hint.unwrap().contains("--protocol ywz"));
        assert!(Tuning::new(&TuningArgs::default(), 1).is_err());
        let refused: [fn(&mut TuningArgs); 22] = [
            |args| args.components = vec!["block".into()],
            |args| args.psi = Some("sync".into()),
            |args| {
                args.protocol = Some("dualex".into());
                args.psi = Some("both".into());
            },
            |args| args.kappa_b = Some(40),
            |args| {
                args.protocol = Some("dualex".into());
                args.kappa_b = Some(20);
            },
            |args| args.kappa_b_per = Some("preparation".into()),
            |args| {
                args.protocol = Some("dualex".into());
                args.kappa_b_per = Some("batch".into());
            },
            |args| args.rho = Some(41),
            |args| args.threads = Some(0),
            |args| args.threads = Some(65),
            |args| args.timeout = Some(0.0),
            |args| args.timeout = Some(f64::NAN),
            |args| args.link = Some("moon".into()),
            |args| args.protocol = Some("none".into()),
            |args| args.form = Some("round".into()),
            |args| args.mac_bits = Some(64),
            |args| {
                args.protocol = Some("tinytable".into());
                args.mac_bits = Some(40);
            },
            |args| {
                args.protocol = Some("tinytable".into());
                args.mac_bits = Some(32);
            },
            |args| {
                args.protocol = Some("tinytable".into());
                args.rho = Some(64);
                args.mac_bits = Some(64);
            },
            |args| args.weak_mac_bits = Some(64),
            |args| args.ot = Some("softspoken3".into()),
            |args| {
                args.protocol = Some("ywz".into());
                args.form = Some("four-row".into());
            },
        ];
        for change in refused {
            let mut args = TuningArgs::default();
            change(&mut args);
            assert_eq!(Tuning::new(&args, 2).unwrap_err().class, crate::error::ExitKind::Usage);
        }
    }

    #[test]
    fn kappa_b_follows_rho_or_is_given_to_dualex_alone() {
        let args = |protocol: &str, rho, kappa_b| TuningArgs {
            protocol: Some(protocol.to_string()),
            rho,
            kappa_b,
            ..TuningArgs::default()
        };
        let bits = |rho, kappa_b| {
            let tuning = Tuning::new(&args("dualex", rho, kappa_b), 2).unwrap();
            (tuning.params.rho.bits(), tuning.kappa_b_bits())
        };
        assert_eq!(bits(None, None), (40, Some(40)));
        assert_eq!(bits(Some(80), None), (80, Some(80)));
        assert_eq!(bits(Some(80), Some(40)), (80, Some(40)));
        assert_eq!(bits(None, Some(64)), (40, Some(64)));
        for protocol in ["wrk", "ywz", "tinytable", "duplo"] {
            assert_eq!(Tuning::new(&args(protocol, None, None), 2).unwrap().kappa_b_bits(), None);
            let refused = Tuning::new(&args(protocol, None, Some(40)), 2).unwrap_err();
            assert_eq!(refused.message, format!("{protocol} takes no --kappa-b"));
        }
        let refused = Tuning::new(&args("dualex", None, Some(39)), 2).unwrap_err();
        assert_eq!(refused.message, "--kappa-b takes 40, 64 or 80");
        let per = |kappa_b_per: Option<&str>| {
            let kappa_b_per = kappa_b_per.map(str::to_string);
            Tuning::new(&TuningArgs { kappa_b_per, ..args("dualex", None, None) }, 2)
        };
        for (given, name) in [(None, "preparation"), (Some("execution"), "execution")] {
            assert_eq!(per(given).unwrap().kappa_b_per(), Some(name));
        }
        let refused = per(Some("bucket")).unwrap_err();
        assert_eq!(refused.message, "--kappa-b-per takes preparation or execution");
    }

    #[test]
    fn macs_follow_rho_and_shorter_ones_are_weak_by_name() {
        let table = |rho, mac_bits, weak_mac_bits| {
            let protocol = Some("tinytable".to_string());
            let rho = Some(rho);
            let args =
                TuningArgs { protocol, rho, mac_bits, weak_mac_bits, ..TuningArgs::default() };
            let tuning = Tuning::new(&args, 2).unwrap();
            (tuning.mac_bits(), tuning.params.has_weak_macs())
        };
        for (rho, bits) in [(40, 64), (64, 128), (80, 128)] {
            assert_eq!(table(rho, None, None), (Some(bits), false));
            assert_eq!(table(rho, Some(128), None), (Some(128), false));
            assert_eq!(table(rho, None, Some(32)), (Some(32), true));
        }
        assert_eq!(table(40, Some(64), None), (Some(64), false));
    }
}
