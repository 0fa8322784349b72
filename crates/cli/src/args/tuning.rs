//! Parameters as given, checked and converted to the library's.

use std::time::Duration;

use symbolon::circuit::Circuit;
use symbolon::{Config, Protocol, SessionParams, SimulatedLink};

use crate::args::options::TuningArgs;
use crate::common::error::{CliError, CliResult};
use crate::common::interrupt;
use crate::common::output::tell;

/// The longest time-out, in seconds: a week.
const LONGEST_TIMEOUT: f64 = 604_800.0;

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
        let mut params = SessionParams::new(Protocol::for_parties(usize::from(parties)));
        args.given.apply(&mut params)?;
        let timeout = timeout(args)?;
        let link = match &args.link {
            None => None,
            Some(text) => Some((text.clone(), text.parse::<SimulatedLink>()?)),
        };
        check_parties(params.protocol, parties)?;
        if params.in_flight.is_some() && params.executions == 1 {
            return Err(CliError::usage("--in-flight is for --batch"));
        }
        Ok(Tuning { params, timeout, link })
    }

    /// Prints a warning if a choice is not secure enough.
    pub fn warn(&self) {
        for warning in self.params.warnings() {
            tell(&format!("warning: {warning}\n"));
        }
    }

    /// Refuses options that do not fit the circuit.
    ///
    /// # Errors
    /// A usage failure that says what the circuit does not have.
    pub fn check_circuit(&self, circuit: &Circuit) -> CliResult<()> {
        Ok(self.params.protocol.check_options(circuit, &self.params.options)?)
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

/// Refuses `--split-phases` for a protocol without work that is independent of the circuit.
///
/// # Errors
/// A usage failure that names the protocol.
pub fn can_split_phases(protocol: Protocol) -> CliResult<()> {
    if protocol.has_pools() || protocol.has_components() {
        return Ok(());
    }
    let name = protocol.name();
    Err(CliError::usage(format!("--split-phases does not go with {name}"))
        .with_hint(format!("{name} makes its material for a circuit that is known")))
}

#[cfg(test)]
mod tests {
    use symbolon::{GateForm, OptionSpec, OtExtension};

    use super::*;
    use crate::args::given::{OptionsJson, protocol_options};
    use crate::common::error::ErrorClass;

    /// Returns the arguments with these options, by name and value.
    fn args(options: &[(&'static str, &str)]) -> TuningArgs {
        let mut args = TuningArgs::default();
        options.iter().for_each(|(name, text)| args.given.set(name, vec![text.to_string()]));
        args
    }

    fn tuning(options: &[(&'static str, &str)]) -> CliResult<Tuning> {
        Tuning::new(&args(options), 2)
    }

    /// Returns the values of the protocol's options.
    fn values(options: &[(&'static str, &str)]) -> Vec<String> {
        let params = tuning(options).unwrap().params;
        let shown = OptionsJson::of(&params);
        let of = |spec: &OptionSpec| Some(spec.text(&shown.get(spec)?.value));
        protocol_options().filter_map(of).collect()
    }

    #[test]
    fn defaults_and_ranges() {
        let usual = tuning(&[]).unwrap();
        assert_eq!((usual.params.rho.bits(), usual.params.threads), (40, 1));
        assert_eq!((usual.params.form, usual.params.ot), (None, None));
        let auto = tuning(&[("form", "auto"), ("ot", "auto")]).unwrap();
        assert_eq!((auto.params.form, auto.params.ot), (None, None));
        for (form, ot) in [GateForm::FourRow, GateForm::HalfGates].into_iter().zip(OtExtension::ALL)
        {
            let told = tuning(&[("form", form.name()), ("ot", ot.name())]).unwrap();
            assert_eq!((told.params.form, told.params.ot), (Some(form), Some(ot)));
        }
        assert_eq!(usual.params.protocol, Protocol::Wrk);
        assert_eq!(Tuning::new(&TuningArgs::default(), 3).unwrap().params.protocol, Protocol::Ywz);
        let refused = Tuning::new(&args(&[("protocol", "wrk")]), 3).unwrap_err();
        assert!(refused.message.contains("wrk runs among 2 parties, not 3"));
        assert!(refused.hint.unwrap().contains("--protocol ywz"));
        assert!(Tuning::new(&TuningArgs::default(), 1).is_err());
        for timeout in [0.0, f64::NAN] {
            let args = TuningArgs { timeout: Some(timeout), ..TuningArgs::default() };
            assert_eq!(Tuning::new(&args, 2).unwrap_err().class, ErrorClass::Usage);
        }
        let args = TuningArgs { link: Some("moon".into()), ..TuningArgs::default() };
        assert_eq!(Tuning::new(&args, 2).unwrap_err().class, ErrorClass::Usage);
    }

    #[test]
    fn refusals_name_the_option_and_what_it_takes() {
        for (options, expected) in [
            (&[("components", "block")][..], "wrk takes no --component"),
            (&[("psi", "sync")], "wrk takes no --psi"),
            (&[("protocol", "dualex"), ("psi", "both")], "--psi takes sync or async"),
            (&[("kappa-b", "40")], "wrk takes no --kappa-b"),
            (&[("protocol", "dualex"), ("kappa-b", "20")], "--kappa-b takes 40, 64 or 80"),
            (&[("kappa-b-per", "preparation")], "wrk takes no --kappa-b-per"),
            (
                &[("protocol", "dualex"), ("kappa-b-per", "batch")],
                "--kappa-b-per takes preparation or execution",
            ),
            (&[("rho", "41")], "--rho takes 40, 64 or 80"),
            (&[("threads", "0")], "--threads takes 1 to 64"),
            (&[("threads", "65")], "--threads takes 1 to 64"),
            (&[("batch", "0")], "--batch takes 1 to 1099511627776"),
            (&[("segment-gates", "0")], "--segment-gates takes a number, at least 1"),
            (&[("protocol", "none")], "--protocol takes wrk, ywz, tinytable, duplo or dualex"),
            (&[("form", "round")], "--form takes auto, "),
            (&[("mac-bits", "64")], "wrk takes no --mac-bits"),
            (&[("protocol", "tinytable"), ("mac-bits", "40")], "--mac-bits takes 64 or 128"),
            (
                &[("protocol", "tinytable"), ("rho", "64"), ("mac-bits", "64")],
                "--mac-bits 64 is too short for rho = 64, which takes 128 at least",
            ),
            (&[("weak-mac-bits", "64")], "wrk takes no --mac-bits"),
            (
                &[("protocol", "tinytable"), ("weak-mac-bits", "65")],
                "--weak-mac-bits takes 32, 64 or 128",
            ),
            (
                &[("protocol", "tinytable"), ("mac-bits", "32 for comparisons only")],
                "--mac-bits takes 64 or 128",
            ),
            (&[("ot", "softspoken3")], "--ot takes auto, iknp, "),
            (&[("protocol", "ywz"), ("form", "four-row")], "ywz has no form four-row"),
            (
                &[("protocol", "duplo"), ("ot", "ferret")],
                "duplo has no OT ferret; it is for wrk, ywz, ",
            ),
            (&[("protocol", "dualex"), ("ot", "ferret")], "dualex has no OT ferret"),
            (&[("in-flight", "2"), ("batch", "3")], "wrk takes no --in-flight"),
            (&[("in-flight", "2"), ("protocol", "dualex")], "--in-flight is for --batch"),
        ] {
            let refused = tuning(options).unwrap_err();
            assert_eq!(refused.class, ErrorClass::Usage);
            assert!(refused.message.starts_with(expected), "{}", refused.message);
        }
        let refused = tuning(&[("kappa-b", "40")]).unwrap_err();
        assert_eq!(refused.hint.as_deref(), Some("--protocol dualex does"));
    }

    #[test]
    fn options_follow_rho_or_are_given() {
        let dualex = ("protocol", "dualex");
        assert_eq!(values(&[dualex]), ["sync", "40", "preparation"]);
        assert_eq!(values(&[dualex, ("rho", "80")]), ["sync", "80", "preparation"]);
        let all = [dualex, ("rho", "80"), ("kappa-b", "40"), ("kappa-b-per", "execution")];
        assert_eq!(values(&all), ["sync", "40", "execution"]);
        let table = ("protocol", "tinytable");
        for (rho, bits) in [("40", "64"), ("64", "128"), ("80", "128")] {
            assert_eq!(values(&[table, ("rho", rho)]), [bits, "bits"]);
            assert_eq!(values(&[table, ("rho", rho), ("mac", "code")]), [bits, "code"]);
            assert_eq!(values(&[table, ("rho", rho), ("mac-bits", "128")]), ["128", "bits"]);
            let weak = tuning(&[table, ("rho", rho), ("weak-mac-bits", "32")]);
            let params = weak.unwrap().params;
            assert!(params.values().contains(&("mac-bits", "32 for comparisons only".to_string())));
            assert_eq!(params.warnings().len(), 1);
        }
        assert_eq!(values(&[("protocol", "duplo"), ("components", "a")]), ["a"]);
    }
}
