//! Expands lists of options into one setting for each possible combination.

use std::collections::BTreeMap;
use std::rc::Rc;

use symbolon::circuit::{Circuit, Plan};

use super::args::{BenchArgs, REPEAT, TRIPLES};
use crate::args::given::Choice;
use crate::args::options::TuningArgs;
use crate::args::program::ProgramArgs;
use crate::args::tuning::Tuning;
use crate::args::tuning::can_split_phases;
use crate::common::error::{CliError, CliResult};
use crate::common::output::tell;
use crate::source::CircuitSpec;
use crate::source::program::is_program;
use crate::source::values::{Resolved, random_values};

/// The most combinations.
const MOST: usize = 1000;

/// The parameters whose lists change more slowly than those of parties and links.
const EARLY: [&str; 1] = ["protocol"];

/// One workload with one set of parameters.
pub struct Setting {
    /// The workload as it was named.
    pub name: String,
    /// What is computed.
    pub workload: Workload,
    /// How many parties.
    pub parties: u16,
    /// Parameters.
    pub tuning: Tuning,
    /// How often.
    pub repeat: u32,
    /// Whether every run has processes and a set-up of its own.
    pub fresh_session: bool,
}

impl Setting {
    /// Returns what distinguishes it from others, for people who wait for it.
    pub fn title(&self) -> String {
        let Setting { name, workload, parties, tuning, .. } = self;
        let mut title = format!("{name}, {parties} parties");
        if matches!(workload, Workload::Circuit(_)) {
            title.push_str(&format!(", {}", tuning.params.protocol.name()));
        }
        title.push_str(&format!(", {}", threads(tuning.params.threads)));
        if let Some((link, _)) = &tuning.link {
            title.push_str(&format!(", {link}"));
        }
        title
    }
}

/// What is computed.
pub enum Workload {
    /// At least this many triples.
    Triples(u64),
    /// A circuit.
    Circuit(Rc<Loaded>),
}

/// A circuit with inputs.
pub struct Loaded {
    /// The circuit.
    pub circuit: Circuit,
    /// Random inputs.
    pub inputs: Resolved,
    /// AND gates of one evaluation.
    pub gates: u64,
}

/// One choice out of every list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    workload: String,
    count: Option<u64>,
    parties: Option<u16>,
    link: Option<String>,
    /// By parameter.
    given: BTreeMap<&'static str, Choice>,
}

impl Wanted {
    /// Returns all combinations of the listed values: the last list changes fastest.
    fn all(args: &BenchArgs) -> Vec<Wanted> {
        fn each<T: Clone>(
            wanted: Vec<Wanted>,
            list: &[T],
            set: impl Fn(&mut Wanted, T),
        ) -> Vec<Wanted> {
            if list.is_empty() {
                return wanted;
            }
            let all = wanted.iter().flat_map(|base| {
                list.iter().map(|item| {
                    let mut one = base.clone();
                    set(&mut one, item.clone());
                    one
                })
            });
            // One more than the limit is enough to refuse them.
            all.take(MOST + 1).collect()
        }
        let tuning = &args.tuning;
        let links: Vec<Option<String>> = tuning.link.iter().flatten().cloned().collect();
        let all = each(vec![Wanted::default()], &args.workloads, |w, name| w.workload = name);
        let all = each(all, &args.count, |w, count| w.count = Some(count));
        let (early, late): (Vec<_>, Vec<_>) =
            tuning.given.lists().partition(|(name, _)| EARLY.contains(name));
        let choose = |all, lists: Vec<(&'static str, Vec<Choice>)>| {
            lists.into_iter().fold(all, |all, (name, choices)| {
                each(all, &choices, |w, choice| drop(w.given.insert(name, choice)))
            })
        };
        let all = choose(all, early);
        let all = each(all, &args.parties, |w, parties| w.parties = Some(parties));
        let all = each(all, &links, |w, link| w.link = link);
        choose(all, late)
    }

    /// Returns whether this one has a choice that none of the others has.
    fn has_what_none_has(&self, others: &[Wanted]) -> bool {
        let lacks = |same: &dyn Fn(&Wanted) -> bool| !others.iter().any(same);
        lacks(&|other| other.workload == self.workload)
            || lacks(&|other| other.count == self.count)
            || lacks(&|other| other.parties == self.parties)
            || lacks(&|other| other.link == self.link)
            || self
                .given
                .iter()
                .any(|(name, choice)| lacks(&|other| other.given.get(name) == Some(choice)))
    }

    /// Returns this choice as options, with the unlisted ones unchanged.
    pub fn tuning(&self, unlisted: &TuningArgs) -> TuningArgs {
        let mut tuning = TuningArgs { link: self.link.clone(), ..unlisted.clone() };
        for (name, text) in self.given.values() {
            tuning.given.set(name, vec![text.clone()]);
        }
        tuning
    }
}

/// Returns all requested settings.
///
/// # Errors
/// A usage failure when an option does not go with a workload, or when a listed value is possible
/// in no combination.
pub fn settings(args: &BenchArgs) -> CliResult<Vec<Setting>> {
    if !args.workloads.iter().any(|name| is_program(name)) {
        args.program.refuse_for(&args.workloads.join(" "))?;
    }
    let mut loads = Vec::new();
    combined(args, |wanted| setting(args, wanted, &mut loads))
}

/// Returns what `make` makes of all combinations that it accepts.
///
/// # Errors
/// A usage failure when there are too many; that of `make` for a value that is possible in no
/// combination.
pub fn combined<T>(
    args: &BenchArgs,
    mut make: impl FnMut(&Wanted) -> CliResult<T>,
) -> CliResult<Vec<T>> {
    let wanted = Wanted::all(args);
    if wanted.len() > MOST {
        return Err(CliError::usage(format!("more than {MOST} combinations")));
    }
    let (mut settings, mut possible, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for wanted in wanted {
        match make(&wanted) {
            Ok(setting) => {
                settings.push(setting);
                possible.push(wanted);
            }
            Err(failure) => refused.push((wanted, failure)),
        }
    }
    for (wanted, failure) in refused {
        if wanted.has_what_none_has(&possible) {
            return Err(failure);
        }
        tell(&format!("left out: {}: {}\n", wanted.workload, failure.message));
    }
    Ok(settings)
}

/// The loaded circuits, by name and number of parties.
type Loads = Vec<(String, Option<u16>, Rc<Loaded>, u16)>;

fn setting(args: &BenchArgs, wanted: &Wanted, loads: &mut Loads) -> CliResult<Setting> {
    let tuning = wanted.tuning(&args.tuning.unlisted());
    let repeat = args.repeat.unwrap_or(REPEAT);
    let name = wanted.workload.clone();
    if name == TRIPLES {
        let is_given = |name| wanted.given.contains_key(name);
        let refused = is_given("protocol") || is_given("form") || args.one_by_one;
        let refused = refused || !args.owners.owners.is_empty();
        if refused || args.split_phases || args.dealer {
            return Err(CliError::usage(
                "`bench triples` takes no --owner, --protocol, --form, --split-phases, --one-by-one \
                 or --dealer",
            )
            .with_hint("--count says how many triples are made"));
        }
        let parties = wanted.parties.unwrap_or(2);
        let tuning = Tuning::new(&tuning, parties)?;
        tuning.one_at_a_time("triples")?;
        let workload = Workload::Triples(wanted.count.unwrap_or(1_000_000));
        return Ok(Setting { name, workload, parties, tuning, repeat, fresh_session: true });
    }
    if wanted.count.is_some() {
        return Err(CliError::usage("--count is for `bench triples`")
            .with_hint("--repeat runs a circuit several times"));
    }
    let (loaded, parties) = load(&name, wanted.parties, args, loads)?;
    let tuning = Tuning::new(&tuning, parties)?;
    tuning.check_circuit(&loaded.circuit)?;
    if args.split_phases {
        tuning.one_at_a_time("--split-phases")?;
        can_split_phases(tuning.params.protocol)?;
    }
    if args.one_by_one && tuning.params.executions == 1 {
        return Err(CliError::usage("--one-by-one takes --batch")
            .with_hint("--batch says how many evaluations are prepared together"));
    }
    let fresh_session = args.fresh_session || tuning.params.executions > 1;
    let workload = Workload::Circuit(loaded);
    Ok(Setting { name, workload, parties, tuning, repeat, fresh_session })
}

/// Returns a circuit, which may have been loaded before.
fn load(
    name: &str,
    parties: Option<u16>,
    args: &BenchArgs,
    loads: &mut Loads,
) -> CliResult<(Rc<Loaded>, u16)> {
    let known = loads.iter().find(|(known, among, ..)| known == name && *among == parties);
    if let Some((_, _, loaded, parties)) = known {
        return Ok((loaded.clone(), *parties));
    }
    let program = if is_program(name) { args.program.clone() } else { ProgramArgs::default() };
    let owners = args.owners.owners.clone();
    let spec = CircuitSpec { circuit: name.to_string(), owners, program, ..CircuitSpec::default() };
    let (loaded, count) = spec.load_among(parties)?;
    let circuit = loaded.circuit;
    let inputs = random_values(&circuit)?;
    let gates = Plan::new(&circuit).and_count();
    let loaded = Rc::new(Loaded { circuit, inputs, gates });
    loads.push((name.to_string(), parties, loaded.clone(), count));
    Ok((loaded, count))
}

/// Returns a number of threads, in words.
pub fn threads(n: usize) -> String {
    if n == 1 { "1 thread".to_string() } else { format!("{n} threads") }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::command_line::{Cli, Command};

    fn plan(words: &str) -> CliResult<Vec<String>> {
        let words = ["symbolon", "bench"].into_iter().chain(words.split(' '));
        let Command::Bench(args) = Cli::try_parse_from(words).expect("it parses").command else {
            panic!("another command");
        };
        let show = |setting: Setting| {
            let Setting { name, parties, tuning, fresh_session, .. } = setting;
            let link = tuning.link.map_or("local".to_string(), |(name, _)| name);
            let protocol = tuning.params.protocol.name();
            format!("{name} {protocol} {parties} {} {link} {fresh_session}", tuning.params.threads)
        };
        Ok(settings(&args)?.into_iter().map(show).collect())
    }

    #[test]
    fn lists_are_combined() {
        let told = plan("add:8 triples --parties 2,3 --threads 1,4").unwrap();
        assert_eq!(told.len(), 8);
        assert_eq!(told[0], "add:8 wrk 2 1 local false");
        assert_eq!(told[3], "add:8 ywz 3 4 local false");
        assert_eq!(told[4], "triples wrk 2 1 local true");
        let told = plan("add:8 --link local,wan --link 3ms,1gbit --batch 4").unwrap();
        assert_eq!(told.len(), 3);
        assert_eq!(told[1], "add:8 wrk 2 1 wan true");
        assert_eq!(told[2], "add:8 wrk 2 1 3ms,1gbit true");
        assert_eq!(plan("add:8 --protocol wrk,tinytable").unwrap().len(), 2);
        let table = "add:8 --protocol tinytable";
        assert_eq!(plan(&format!("{table} --mac-bits 64,128")).unwrap().len(), 2);
        assert_eq!(plan("add:8 --protocol dualex --psi sync,async").unwrap().len(), 2);
        let kappas = "add:8 --protocol dualex --rho 40,80 --kappa-b 40,64";
        assert_eq!(plan(kappas).unwrap().len(), 4);
        let both = "add:8 --protocol dualex --kappa-b-per preparation,execution";
        assert_eq!(plan(both).unwrap().len(), 2);
        // Lengths that are too short for a ρ are left out; weak ones are requested by another
        // option.
        assert_eq!(plan(&format!("{table} --rho 40,80 --mac-bits 64,128")).unwrap().len(), 3);
        assert_eq!(plan(&format!("{table} --mac-bits 64 --weak-mac-bits 32")).unwrap().len(), 2);
    }

    #[test]
    fn what_is_impossible_with_some_is_left_out_and_with_all_refused() {
        // `wrk` is for two parties, and the auction names three.
        assert_eq!(plan("add:8 --protocol wrk,ywz --parties 2,3").unwrap().len(), 3);
        assert_eq!(plan("add:8 auction:3x8 --parties 2,3").unwrap().len(), 3);
        assert_eq!(plan("add:8 --protocol duplo --split-phases").unwrap().len(), 1);
        for words in [
            "add:8 --protocol wrk,wrkk",
            "add:8 --protocol wrk --parties 3",
            "add:8 --parties 2,3 --protocol wrk",
            "add:8 no-such",
            "add:8 --threads 1,65",
            "add:8 --link local,moon",
            "add:8 --rho 40,41",
            "add:8 --mac-bits 64,128",
            "add:8 --psi sync,async",
            "add:8 --kappa-b 40,64",
            "add:8 --kappa-b-per preparation,execution",
            "add:8 --protocol dualex --kappa-b-per execution,batch",
            "add:8 --protocol dualex --kappa-b 20,40",
            "add:8 --protocol dualex --split-phases",
            "add:8 --protocol wrk --component block",
            "cbcmac:2 --protocol duplo --component no-such",
            "add:8 --protocol dualex --psi sync,other",
            "add:8 --protocol tinytable --mac-bits 64,65",
            "add:8 --protocol tinytable --mac-bits 32,64",
            "add:8 --protocol tinytable --weak-mac-bits 33",
            "add:8 --form four-row,round",
            "add:8 --ot iknp,softspoken3",
            "triples --protocol wrk",
            "triples --batch 2",
            "add:8 --batch 2 --split-phases",
            "add:8 --one-by-one",
            "triples --one-by-one",
        ] {
            let failure = plan(words).unwrap_err();
            assert_eq!(failure.class, crate::common::error::ErrorClass::Usage, "{words}");
        }
        let many: Vec<String> = (1..=64).map(|threads| threads.to_string()).collect();
        let many = format!("add:8 --threads {0} --parties {0}", many[1..].join(","));
        assert!(plan(&many).is_err());
    }
}
