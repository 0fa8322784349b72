//! Parameters as given, checked and turned into the library's.

use std::str::FromStr;
use std::time::Duration;

use symbolon::{
    Config, Form, Generator, MAX_THREADS, MacLength, Protocol, Rho, STRETCH, SimulatedLink,
};

use crate::args::TuningArgs;
use crate::failure::{Failure, Outcome};
use crate::results::tell;

/// The longest time-out, in seconds: a week.
const LONGEST_TIMEOUT: f64 = 604_800.0;

/// How a choice is left to the link.
const AUTO: &str = "auto";

/// Parameters of a session, checked.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The protocol.
    pub protocol: Protocol,
    /// Statistical security.
    pub rho: Rho,
    /// How gates are garbled; `None` leaves it to the link.
    pub form: Option<Form>,
    /// How correlated OTs are made; `None` leaves it to the link.
    pub ot: Option<Generator>,
    /// How many evaluations there are.
    pub executions: u64,
    /// The length of the MACs on opened bits.
    pub mac: MacLength,
    /// How many AND gates are garbled and evaluated at a time.
    pub stretch: u64,
    /// Lanes.
    pub threads: usize,
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
    pub fn new(args: &TuningArgs, parties: u16) -> Outcome<Tuning> {
        let protocol = match args.protocol.as_deref() {
            None if parties == 2 => Protocol::Wrk,
            None => Protocol::Ywz,
            Some(name) => Protocol::by_name(name).ok_or_else(|| {
                let known: Vec<&str> = Protocol::ALL.iter().map(|p| p.name()).collect();
                Failure::usage(format!("there is no such protocol: {}", name.escape_default()))
                    .with_hint(format!("the protocols are {}", known.join(", ")))
            })?,
        };
        let rho = Rho::from_bits(args.rho.unwrap_or(40))
            .ok_or_else(|| Failure::usage("--rho takes 40, 64 or 80"))?;
        let form = choice("--form", args.form.as_deref(), &Form::ALL.map(Form::name))?;
        if let Some(form) = form.filter(|form: &Form| !protocol.forms().contains(form)) {
            return Err(Failure::usage(format!("{} has no form {form}", protocol.name())));
        }
        let ot = choice("--ot", args.ot.as_deref(), &Generator::ALL.map(Generator::name))?;
        let mac = match args.mac_bits {
            None => MacLength::default(),
            Some(_) if !protocol.has_mac_length() => {
                return Err(Failure::usage(format!("{} takes no --mac-bits", protocol.name()))
                    .with_hint("its MACs follow from --rho"));
            }
            Some(bits) => bits
                .to_string()
                .parse()
                .map_err(|_| Failure::usage("--mac-bits takes 64 or 128, or 32 for comparisons"))?,
        };
        let threads = args.threads.unwrap_or(1);
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(Failure::usage(format!("--threads takes 1 to {MAX_THREADS}")));
        }
        let seconds = args.timeout.unwrap_or(symbolon::DEFAULT_TIMEOUT.as_secs_f64());
        if !(0.001..=LONGEST_TIMEOUT).contains(&seconds) {
            return Err(Failure::usage("--timeout takes seconds, from 0.001 to a week's"));
        }
        let link = match &args.link {
            None => None,
            Some(text) => Some((text.clone(), text.parse::<SimulatedLink>()?)),
        };
        check_parties(protocol, parties)?;
        let timeout = Duration::from_secs_f64(seconds);
        let executions = args.batch.unwrap_or(1);
        let stretch = args.stretch.unwrap_or(STRETCH);
        if stretch == 0 {
            return Err(Failure::usage("--stretch takes a number of AND gates, at least 1"));
        }
        Ok(Tuning { protocol, rho, form, ot, executions, mac, stretch, threads, timeout, link })
    }

    /// Says so when what was chosen is not secure enough.
    pub fn warn(&self) {
        if !self.mac.is_secure() {
            tell(&format!(
                "warning: MACs of {} bits are for comparisons with published figures: a wrong bit is accepted with \
                 probability 2^-{}\n",
                self.mac, self.mac
            ));
        }
    }

    /// Refuses a batch, where there can be none.
    ///
    /// # Errors
    /// A usage failure that names the option it does not go with.
    pub fn one_at_a_time(&self, option: &str) -> Outcome<()> {
        match self.executions {
            1 => Ok(()),
            _ => Err(Failure::usage(format!("--batch does not go with {option}"))),
        }
    }

    /// The length of the MACs as an option takes it, where there is such an option.
    pub fn mac_bits(&self) -> Option<u32> {
        self.protocol.has_mac_length().then(|| self.mac.bits())
    }

    /// The form as an option takes it.
    pub fn form_name(&self) -> String {
        self.form.map_or(AUTO, Form::name).to_string()
    }

    /// The generator as an option takes it.
    pub fn ot_name(&self) -> String {
        self.ot.map_or(AUTO, Generator::name).to_string()
    }

    /// Sets all of it but the link, which depends on the transport.
    pub fn apply(&self, config: Config) -> Config {
        config
            .protocol(self.protocol)
            .rho(self.rho)
            .form(self.form)
            .ot(self.ot)
            .executions(self.executions)
            .mac(self.mac)
            .stretch(self.stretch)
            .threads(self.threads)
            .timeout(self.timeout)
    }

    /// Sets all of it, for TCP and TLS.
    pub fn apply_with_link(&self, config: Config) -> Config {
        let config = self.apply(config);
        match &self.link {
            Some((_, link)) => config.link(*link),
            None => config,
        }
    }
}

/// What an option that can be `auto` chooses by name.
fn choice<T: FromStr>(option: &str, name: Option<&str>, known: &[&str]) -> Outcome<Option<T>> {
    match name {
        None | Some(AUTO) => Ok(None),
        Some(name) => name
            .parse()
            .map(Some)
            .map_err(|_| Failure::usage(format!("{option} takes {AUTO}, {}", known.join(", ")))),
    }
}

fn check_parties(protocol: Protocol, parties: u16) -> Outcome<()> {
    let possible = protocol.parties();
    if possible.contains(&parties) {
        return Ok(());
    }
    let (least, most) = (possible.start(), possible.end());
    let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let refused =
        Failure::usage(format!("{} runs among {range} parties, not {parties}", protocol.name()));
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
        assert_eq!((tuning.rho.bits(), tuning.threads), (40, 1));
        assert_eq!((tuning.form, tuning.ot), (None, None));
        let auto = TuningArgs {
            form: Some("auto".into()),
            ot: Some("auto".into()),
            ..TuningArgs::default()
        };
        let auto = Tuning::new(&auto, 2).unwrap();
        assert_eq!((auto.form_name(), auto.ot_name()), ("auto".to_string(), "auto".to_string()));
        for (form, ot) in [Form::FourRow, Form::HalfGates].into_iter().zip(Generator::ALL) {
            let (form, ot) = (form.name().to_string(), ot.name().to_string());
            let args = TuningArgs {
                form: Some(form.clone()),
                ot: Some(ot.clone()),
                ..TuningArgs::default()
            };
            let told = Tuning::new(&args, 2).unwrap();
            assert_eq!((told.form_name(), told.ot_name()), (form, ot));
        }
        assert_eq!(tuning.protocol, Protocol::Wrk);
        assert_eq!(Tuning::new(&TuningArgs::default(), 3).unwrap().protocol, Protocol::Ywz);
        let wrk = TuningArgs { protocol: Some("wrk".into()), ..TuningArgs::default() };
        let refused = Tuning::new(&wrk, 3).unwrap_err();
        assert!(refused.message.contains("wrk runs among 2 parties, not 3"));
        assert!(refused.hint.unwrap().contains("--protocol ywz"));
        assert!(Tuning::new(&TuningArgs::default(), 1).is_err());
        let refused: [fn(&mut TuningArgs); 12] = [
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
            |args| args.ot = Some("softspoken3".into()),
            |args| {
                args.protocol = Some("ywz".into());
                args.form = Some("four-row".into());
            },
        ];
        for change in refused {
            let mut args = TuningArgs::default();
            change(&mut args);
            assert_eq!(Tuning::new(&args, 2).unwrap_err().class, crate::failure::Class::Usage);
        }
    }
}
