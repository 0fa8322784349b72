//! What the parties of a run on this machine have in common: choices, outputs, entries of a result.

use symbolon::PhaseReport;
use symbolon::circuit::{Circuit, PartyId};

use crate::args::tuning::Tuning;
use crate::common::error::{CliError, CliResult};
use crate::common::packed::Packed;
use crate::results::party::PartyResult;
use crate::results::{BatchOutputs, ChoiceJson, PartyJson};

/// Returns what was chosen, which must be the same for all parties.
///
/// # Errors
/// An internal failure when two parties differ.
pub fn chosen(played: &[PartyResult]) -> CliResult<ChoiceJson> {
    let choices = played.iter().map(|played| &played.choice);
    match played.first() {
        Some(first) if choices.clone().all(|choice| *choice == first.choice) => {
            Ok(first.choice.clone())
        }
        _ => Err(CliError::internal("the parties differ in what they chose")),
    }
}

/// Returns one entry for every party.
pub fn parties(
    tuning: &Tuning,
    played: &[PartyResult],
    phases: impl Fn(&PartyResult) -> Vec<PhaseReport>,
) -> Vec<PartyJson> {
    let entry = |(party, played): (PartyId, &PartyResult)| PartyJson {
        party,
        role: tuning.params.protocol.role(party).to_string(),
        phases: phases(played),
    };
    PartyId::all(played.len()).zip(played).map(entry).collect()
}

/// Combines the outputs that the parties learnt.
///
/// # Errors
/// An internal failure when a receiver has no value, another party has one, or two differ.
pub fn agreed(circuit: &Circuit, played: &[PartyResult]) -> CliResult<Vec<Option<Packed>>> {
    // Those of a batch are elsewhere.
    if played.iter().all(|played| played.outputs.is_empty()) {
        return Ok(Vec::new());
    }
    let mut outputs = Vec::with_capacity(circuit.outputs().len());
    for (place, declared) in circuit.outputs().iter().enumerate() {
        let wrong = |what: &str| CliError::internal(format!("output `{}`: {what}", declared.name));
        let mut merged: Option<&Packed> = None;
        for (party, played) in PartyId::all(played.len()).zip(played) {
            let learnt = played.outputs.get(place).ok_or_else(|| wrong("a party lacks it"))?;
            if declared.to.contains(party) != learnt.is_some() {
                return Err(wrong("the wrong parties learnt it"));
            }
            match (merged, learnt) {
                (Some(known), Some(new)) if known != new => {
                    return Err(wrong("its receivers learnt different values"));
                }
                (None, Some(new)) => merged = Some(new),
                _ => {}
            }
        }
        outputs.push(merged.cloned());
    }
    Ok(outputs)
}

/// Combines the outputs of many evaluations that the parties learnt.
///
/// # Errors
/// An internal failure when two parties differ.
pub fn agreed_batch(played: &[PartyResult]) -> CliResult<BatchOutputs> {
    let mut merged = played.first().map_or(Vec::new(), |first| first.batch.clone());
    for other in played.iter().skip(1) {
        let differ = || CliError::internal("the parties learnt different outputs");
        if other.batch.len() != merged.len() {
            return Err(differ());
        }
        for (merged, other) in merged.iter_mut().flatten().zip(other.batch.iter().flatten()) {
            match (&merged, other) {
                (Some(one), Some(other)) if one != other => return Err(differ()),
                (None, Some(_)) => merged.clone_from(other),
                _ => {}
            }
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use symbolon::circuit::{Receivers, read_circuit};

    use super::*;

    /// Returns a circuit with outputs of one bit to party 1, to both and to nobody.
    fn circuit() -> Circuit {
        let to = |parties: &[u16]| Receivers::only(parties.iter().copied());
        let receivers = vec![to(&[1]), Receivers::All, to(&[])];
        let text = "3 5\n2 1 1\n3 1 1 1\n\n2 1 0 1 2 AND\n2 1 0 1 3 XOR\n2 1 0 1 4 XOR\n";
        let (circuit, _) = read_circuit(text.as_bytes()).unwrap();
        circuit.with_receivers(receivers).unwrap()
    }

    /// Returns what a party learns.
    fn party(outputs: [Option<bool>; 3]) -> PartyResult {
        let outputs = outputs.map(|bit| bit.map(|bit| vec![bit].into())).into();
        PartyResult { outputs, ..PartyResult::empty() }
    }

    #[test]
    fn outputs_come_from_whoever_learns_them() {
        let zero = party([None, Some(true), None]);
        let one = party([Some(false), Some(true), None]);
        let outputs = agreed(&circuit(), &[zero, one]).unwrap();
        assert_eq!(outputs, party([Some(false), Some(true), None]).outputs);
    }

    #[test]
    fn disagreement_is_a_defect() {
        let right = || party([None, Some(true), None]);
        let short = PartyResult { outputs: vec![Some(vec![false].into())], ..PartyResult::empty() };
        for other in [
            party([Some(false), Some(false), None]),
            party([Some(false), None, None]),
            party([Some(false), Some(true), Some(true)]),
            party([None, Some(true), None]),
            short,
            PartyResult::empty(),
        ] {
            let failure = agreed(&circuit(), &[right(), other]).unwrap_err();
            assert_eq!(failure.class, crate::common::error::ErrorClass::Internal);
        }
    }
}
