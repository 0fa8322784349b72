//! Where a circuit comes from, and how a command line changes its owners and receivers.

pub mod cache;
mod clients;
pub mod program;
pub mod values;

use std::path::{Path, PathBuf};

use symbolon::circuit::{Circuit, CircuitError, PartyId, Receivers, builtin, read_circuit_file};
use symbolon::escape::one_line;
use symbolon_lang::source::read_source;

use crate::args::PortArgs;
use crate::args::labels::Labels;
use crate::args::owners::{Audience, Owner};
use crate::args::program::ProgramArgs;
use crate::common::error::{CliError, CliResult};
use crate::common::output::tell;
use crate::common::reading::{CIRCUIT, read};
use crate::common::words::loose_elements;
use crate::progress::live;

/// A circuit as a command names it: what it is, who owns its inputs, who learns its outputs, and
/// the names and types of both.
#[derive(Clone, Debug, Default)]
pub struct CircuitSpec {
    /// The name of a built-in, or the path of a file.
    pub circuit: String,
    /// Input (name or index) and owner, in the order given.
    pub owners: Vec<(String, Owner)>,
    /// Output (name or index) and receivers, in the order given.
    pub outputs: Vec<(String, Audience)>,
    /// Types and names of ports; owners and outputs refer to these names.
    pub labels: Labels,
    /// What a `.sym` program is compiled with.
    pub program: ProgramArgs,
    /// Whether a program is compiled anew, and not kept.
    pub no_cache: bool,
}

/// Returns whether `text` can only be a file's name: it has a `/` or an extension, and does not
/// begin like a built-in with parameters, such as `random:1024/64`.
pub fn looks_like_file(text: &str) -> bool {
    let built_in = text
        .split_once(':')
        .is_some_and(|(name, _)| builtin::catalogue().iter().any(|entry| entry.name == name));
    !built_in && (text.contains(['/', '\\']) || Path::new(text).extension().is_some())
}

/// Returns whether `text` names a file and not a built-in: it exists, or has a `/` or an extension.
pub fn is_file(text: &str) -> bool {
    looks_like_file(text) || Path::new(text).exists()
}

/// Returns the place of a port that a user gave by name or index; a name takes precedence.
///
/// # Errors
/// A usage failure that lists the existing names.
pub fn place(kind: &str, wanted: &str, names: &[&str]) -> CliResult<usize> {
    if let Some(index) = names.iter().position(|name| *name == wanted) {
        return Ok(index);
    }
    match wanted.parse::<usize>() {
        Ok(index) if index < names.len() => Ok(index),
        _ => {
            let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            Err(CliError::usage(format!("the circuit has no {kind} of that name"))
                .with_hint(format!("its {kind}s are {}", known.join(", "))))
        }
    }
}

impl CircuitSpec {
    /// Creates the circuit that a command line names.
    pub fn new(circuit: &str, ports: &PortArgs) -> CircuitSpec {
        CircuitSpec {
            circuit: circuit.to_string(),
            owners: ports.owners.clone(),
            outputs: ports.outputs.clone(),
            labels: ports.labels(),
            program: ports.program.clone(),
            no_cache: ports.no_cache,
        }
    }

    /// Builds or reads the circuit and assigns its inputs and outputs as the user said, among
    /// `parties` parties.
    ///
    /// # Errors
    /// A usage failure when there is no such circuit, the file is unreadable, or an owner or a
    /// receiver is not a party.
    pub fn load(&self, parties: u16) -> CliResult<Loaded> {
        self.give_out(self.open(Some(parties))?, parties)
    }

    /// Loads like [`CircuitSpec::load`], among `parties` parties or, by default, as many as the
    /// circuit and the user name, at least 2; also returns their number.
    ///
    /// # Errors
    /// Those of [`CircuitSpec::load`].
    pub fn load_for_all(&self, parties: Option<u16>) -> CliResult<(Loaded, u16)> {
        if let Some(parties) = parties {
            return Ok((self.load(parties)?, parties));
        }
        self.give_out_for_all(self.open(None)?)
    }

    /// Assigns the inputs and outputs of a circuit as the user said, among as many parties as both
    /// name, at least 2; also returns their number.
    fn give_out_for_all(&self, circuit: Circuit) -> CliResult<(Loaded, u16)> {
        let owners = self.owners.iter().filter_map(|(_, owner)| match owner {
            Owner::Party(party) => Some(*party),
            Owner::Share => None,
        });
        let receivers = self.outputs.iter().flat_map(|(_, audience)| match audience {
            Audience::All => &[][..],
            Audience::Only(parties) => &parties[..],
        });
        let said =
            owners.chain(receivers.copied()).map(|party| party.number().saturating_add(1)).max();
        let parties = parties_of(&circuit).max(said.unwrap_or(0));
        Ok((self.give_out(circuit, parties)?, parties))
    }

    /// Loads like [`CircuitSpec::load`], among `parties` parties or, by default, as many as the
    /// circuit itself has owners and receivers, at least 2; also returns their number.
    ///
    /// # Errors
    /// Those of [`CircuitSpec::load`].
    pub fn load_among(&self, parties: Option<u16>) -> CliResult<(Loaded, u16)> {
        let circuit = self.open(parties)?;
        let parties = parties.unwrap_or_else(|| parties_of(&circuit));
        Ok((self.give_out(circuit, parties)?, parties))
    }

    /// Assigns the inputs of a compiled program as `owners` says, among `parties` parties or as
    /// many as are named; also returns their number.
    ///
    /// # Errors
    /// A usage failure when there is no such input, or an owner is not a party.
    pub fn give(
        owners: &[(String, Owner)],
        circuit: Circuit,
        parties: Option<u16>,
    ) -> CliResult<(Loaded, u16)> {
        let spec = CircuitSpec { owners: owners.to_vec(), ..CircuitSpec::default() };
        match parties {
            Some(parties) => Ok((spec.give_out(circuit, parties)?, parties)),
            None => spec.give_out_for_all(circuit),
        }
    }

    /// Returns the constant of a program that is the length of an input, if one is.
    pub fn length_constant(&self, input: &str) -> Option<String> {
        if !program::is_program(&self.circuit) {
            return None;
        }
        let text = read_source(Path::new(&self.circuit)).ok()?;
        symbolon_lang::length_constant(&text, self.program.entry.as_deref(), input)
    }

    /// Returns the names of the inputs of which every party gives a share: those of `loaded`, and
    /// those that the program itself has.
    pub fn wholes(&self, loaded: &Loaded) -> Vec<String> {
        let inputs = loaded.plain.inputs().iter().zip(&loaded.shared);
        let mut names: Vec<String> =
            inputs.filter(|(_, shared)| **shared).map(|(input, _)| input.name.clone()).collect();
        if program::is_program(&self.circuit)
            && let Ok(text) = read_source(Path::new(&self.circuit))
        {
            names.extend(symbolon_lang::shared_inputs(&text, self.program.entry.as_deref()));
        }
        names
    }

    fn open(&self, parties: Option<u16>) -> CliResult<Circuit> {
        if program::is_program(&self.circuit) {
            let circuit = program::compile(&self.circuit, &self.program, parties, self.no_cache)?;
            return self.labels.apply(circuit);
        }
        self.program.refuse_for(&self.circuit)?;
        live::doing(&format!("Making the circuit {}", one_line(&self.circuit)));
        self.labels.apply(open(&self.circuit)?)
    }

    fn give_out(&self, circuit: Circuit, parties: u16) -> CliResult<Loaded> {
        let names: Vec<&str> = circuit.inputs().iter().map(|i| i.name.as_str()).collect();
        let mut owners: Vec<PartyId> = circuit.inputs().iter().map(|i| i.owner).collect();
        let mut shared = vec![false; owners.len()];
        for (input, owner) in &self.owners {
            let place = place("input", input, &names)?;
            match owner {
                Owner::Party(party) => (owners[place], shared[place]) = (*party, false),
                Owner::Share => shared[place] = true,
            }
        }
        // A shared input's owner does not matter, so it need not be one of the parties.
        let whose = owners.iter_mut().zip(&shared).filter(|(_, shared)| **shared);
        whose.for_each(|(owner, _)| *owner = PartyId::new(0));
        let names: Vec<&str> = circuit.outputs().iter().map(|o| o.name.as_str()).collect();
        let mut receivers: Vec<Receivers> =
            circuit.outputs().iter().map(|o| o.to.clone()).collect();
        for (output, audience) in &self.outputs {
            receivers[place("output", output, &names)?] = audience.clone().into();
        }
        check_parties(&owners, &receivers, parties)?;
        let plain = circuit.with_owners(&owners)?.with_receivers(receivers)?;
        self.check_report(&plain)?;
        let circuit = plain.clone().with_shared_inputs(&shared, parties)?;
        Ok(Loaded { plain, shared, circuit, parties })
    }
}

impl CircuitSpec {
    /// Refuses to tell fewer parties of failed asserts than learn an output.
    fn check_report(&self, circuit: &Circuit) -> CliResult<()> {
        let names: Vec<&str> = circuit.outputs().iter().map(|o| o.name.as_str()).collect();
        for (output, audience) in &self.outputs {
            let output = &circuit.outputs()[place("output", output, &names)?];
            let asked = match audience {
                Audience::All => Receivers::All,
                Audience::Only(parties) => Receivers::only(parties.iter().copied()),
            };
            let reports = output.name == Circuit::FAILURE && !circuit.failures().is_empty();
            if reports && output.to != asked {
                return Err(CliError::usage(format!(
                    "every party that learns an output learns of failed asserts, too: leave out \
                     --output {}=…",
                    output.name
                )));
            }
        }
        Ok(())
    }
}

/// Returns how many parties a circuit itself names, at least 2.
pub fn parties_of(circuit: &Circuit) -> u16 {
    let owners = circuit.inputs().iter().map(|input| input.owner);
    let receivers = circuit.outputs().iter().flat_map(|output| match &output.to {
        Receivers::All => &[][..],
        Receivers::Only(parties) => &parties[..],
    });
    owners.chain(receivers.copied()).max().map_or(2, |last| last.number().saturating_add(1).max(2))
}

/// A circuit with its owners and receivers, as the user names its inputs and as the parties compute
/// it.
#[derive(Debug)]
pub struct Loaded {
    /// With every input in one piece.
    pub plain: Circuit,
    /// For each input of `plain`, whether every party gives a share of it.
    pub shared: Vec<bool>,
    /// What the parties compute: shared inputs are replaced by a share of each party.
    pub circuit: Circuit,
    parties: u16,
}

impl Loaded {
    /// Returns the place in `circuit` of input `place` of `plain`, or of `party`'s share if it is
    /// shared.
    pub fn place(&self, place: usize, party: impl Into<PartyId>) -> usize {
        let shares = |shared: &bool| if *shared { usize::from(self.parties) } else { 1 };
        let before: usize = self.shared[..place].iter().map(shares).sum();
        before + if self.shared[place] { party.into().index() } else { 0 }
    }

    /// Returns how many parties there are.
    pub fn parties(&self) -> u16 {
        self.parties
    }
}

fn check_parties(owners: &[PartyId], receivers: &[Receivers], parties: u16) -> CliResult<()> {
    let named = receivers.iter().flat_map(|to| match to {
        Receivers::All => &[][..],
        Receivers::Only(parties) => &parties[..],
    });
    match owners.iter().chain(named).find(|party| party.number() >= parties) {
        None => Ok(()),
        Some(party) => Err(CliError::usage(format!(
            "there is no party {party}: the {parties} parties are numbered from 0"
        ))
        .with_hint(format!(
            "--owner INPUT=PARTY and --output OUTPUT=PARTIES say whose they are; `local` has so \
             many parties with `--parties {}`, and `run` as many as its settings list",
            u32::from(party.number()) + 1
        ))),
    }
}

/// Builds the built-in or reads the file that `text` names.
///
/// An unknown name may be an input for which --input was forgotten, so it is not quoted.
fn open(text: &str) -> CliResult<Circuit> {
    if !is_file(text) {
        return builtin::by_name(text).map_err(|error| {
            CliError::from(error).with_hint(loose_elements().unwrap_or_else(|| {
                "`symbolon circuit list` shows the built-in circuits; a file is named by a path \
                 with a `/` or an extension; an input's value stands after --input NAME="
                    .to_string()
            }))
        });
    }
    let path = Path::new(text);
    if !path.exists() {
        return Err(CliError::usage("the circuit file that was named does not exist").with_hint(
            "a path with a `/` or an extension names a file; `symbolon circuit list` shows the built-in circuits",
        ));
    }
    let bytes = read(path, CIRCUIT)?;
    let file = read_circuit_file(&bytes).map_err(|error: CircuitError| {
        CliError::usage(format!("{text} is not a circuit file: {error}"))
    })?;
    file.notes.iter().for_each(|note| tell(&format!("warning: {text}: {note}\n")));
    Ok(file.circuit)
}

/// Returns `path`, relative to the folder `base` if it is not absolute.
pub fn from_folder(base: Option<&Path>, path: &str) -> PathBuf {
    match base {
        Some(base) => base.join(path),
        None => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_built_ins() {
        assert!(!is_file("sort:4096x32"));
        assert!(!is_file("random:1024/64"));
        assert!(is_file("./random:1024/64"));
        assert!(is_file("random/1024"));
        assert!(is_file("./aes128"));
        assert!(is_file("adder.txt"));
    }

    #[test]
    fn a_name_wins_over_an_index() {
        let names = ["1", "b"];
        assert_eq!(place("input", "1", &names).unwrap(), 0);
        assert_eq!(place("input", "0", &names).unwrap(), 0);
        assert_eq!(place("input", "b", &names).unwrap(), 1);
        assert!(place("input", "2", &names).unwrap_err().hint.unwrap().contains("`b`"));
    }

    #[test]
    fn owners_and_receivers_outside_the_parties_are_refused() {
        let mut spec = CircuitSpec { circuit: "add:8".into(), ..CircuitSpec::default() };
        assert!(spec.load(2).is_ok());
        spec.owners = vec![("0".into(), Owner::Party(2.into()))];
        assert!(spec.load(2).unwrap_err().message.contains("no party 2"));
        spec.owners.clear();
        spec.outputs = vec![("0".into(), Audience::Only(vec![0.into(), 7.into()]))];
        assert!(spec.load(2).unwrap_err().message.contains("no party 7"));
        assert_eq!(spec.load_for_all(None).unwrap().1, 8);
    }

    #[test]
    fn shares_have_places_of_their_own() {
        let owners = vec![("x".into(), Owner::Share)];
        let spec = CircuitSpec { circuit: "add:8".into(), owners, ..CircuitSpec::default() };
        let loaded = spec.load(3).unwrap();
        let names: Vec<_> = loaded.circuit.inputs().iter().map(|i| i.name.as_str()).collect();
        assert_eq!(names, ["x.0", "x.1", "x.2", "y"]);
        assert_eq!((loaded.place(0, 2), loaded.place(1, 2)), (2, 3));
        assert_eq!("share".parse(), Ok(Owner::Share));
        assert!("sharing".parse::<Owner>().is_err());
    }

    #[test]
    fn a_circuit_knows_how_many_parties_it_has() {
        let spec = |name: &str| CircuitSpec { circuit: name.into(), ..CircuitSpec::default() };
        assert_eq!(spec("add:8").load_among(None).unwrap().1, 2);
        assert_eq!(spec("auction:5x8").load_among(None).unwrap().1, 5);
        assert!(spec("auction:5x8").load_among(Some(4)).is_err());
    }
}
