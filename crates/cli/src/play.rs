//! One party's part in a run, however it is connected.

use serde::{Deserialize, Serialize};
use symbolon::circuit::Circuit;
use symbolon::stored::RunPrepared;
use symbolon::{Config, DEPENDENT, INDEPENDENT, Inputs, ONLINE, Session};

use crate::failure::{Failure, Outcome};
use crate::results::{ChoiceJson, OutputJson, PhaseJson, phases};

/// How the phases of a circuit run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// How often, at least once.
    pub repeat: u32,
    /// Whether the function-independent phase runs apart, as if its material were to be kept for any
    /// circuit.
    pub apart: bool,
}

impl Course {
    /// All at once, once.
    pub const ONCE: Course = Course { repeat: 1, apart: false };
}

/// What a party has at the end.
#[derive(Debug, Serialize, Deserialize)]
pub struct Played {
    /// The outputs as this party learnt them.
    pub outputs: Vec<OutputJson>,
    /// What the phases cost in all.
    pub phases: Vec<PhaseJson>,
    /// What they cost in each run; without the set-up.
    pub runs: Vec<Vec<PhaseJson>>,
    /// How it was garbled, what made the correlated OTs, and why.
    pub choice: ChoiceJson,
    /// AND triples that were made, when triples were all that was asked for.
    pub triples: u64,
    /// The most memory that the party's process had at a time, in bytes, where the system tells.
    pub peak_memory: Option<u64>,
}

impl Played {
    /// A prepared circuit that was run.
    pub fn prepared(circuit: &Circuit, ran: &RunPrepared, parties: u16) -> Played {
        Played {
            outputs: OutputJson::all(circuit.outputs(), &ran.outputs, parties),
            phases: phases(&ran.report),
            runs: Vec::new(),
            // What was prepared says how it is garbled, and no OT is made.
            choice: ChoiceJson { ot: "none".to_string(), ..ChoiceJson::default() },
            triples: 0,
            peak_memory: peak_memory(),
        }
    }
}

/// Connects and runs the phases as `course` says, telling `stage` where it is.
///
/// # Errors
/// As the library has them; an internal failure when two runs do not give the same outputs.
pub fn play(
    config: Config,
    circuit: &Circuit,
    inputs: &Inputs,
    Course { repeat, apart }: Course,
    stage: &mut dyn FnMut(&str),
) -> Outcome<Played> {
    stage("connecting");
    let mut session = Session::connect(config, circuit)?;
    let parties = session.parties();
    let mut before = session.report();
    let mut outputs: Option<Vec<OutputJson>> = None;
    let mut runs = Vec::new();
    for run in 0..repeat.max(1) {
        let mut at = |phase: &str| match repeat {
            0 | 1 => stage(phase),
            _ => stage(&format!("{phase} {}/{repeat}", run + 1)),
        };
        let material = if apart {
            at(INDEPENDENT);
            session.preprocess()?
        } else {
            at(DEPENDENT);
            session.preprocess_circuit()?
        };
        at(DEPENDENT);
        let ready = session.prepare(material)?;
        at(ONLINE);
        let learnt = session.run(ready, inputs)?;
        let learnt = OutputJson::all(circuit.outputs(), &learnt, parties);
        if outputs.as_ref().is_some_and(|first| *first != learnt) {
            return Err(Failure::internal("two runs on the same inputs gave different outputs"));
        }
        outputs = Some(learnt);
        let now = session.report();
        runs.push(phases(&now.since(&before)));
        before = now;
    }
    let outputs = outputs.unwrap_or_default();
    let phases = phases(&before);
    let choice = ChoiceJson::of(session.choice());
    Ok(Played { outputs, phases, runs, choice, triples: 0, peak_memory: peak_memory() })
}

/// Connects and makes `count` triples.
///
/// # Errors
/// As the library has them.
pub fn play_triples(config: Config, count: u64, stage: &mut dyn FnMut(&str)) -> Outcome<Played> {
    stage("triples");
    let run = symbolon::make_triples(config, count)?;
    Ok(Played {
        outputs: Vec::new(),
        phases: phases(&run.report),
        runs: Vec::new(),
        choice: ChoiceJson { form: None, ..ChoiceJson::of(run.choice) },
        triples: run.made,
        peak_memory: peak_memory(),
    })
}

/// The most memory this process had at a time, in bytes; Linux tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
