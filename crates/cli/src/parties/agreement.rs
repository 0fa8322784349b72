//! What the parties of a run on this machine have in common: choices, outputs, entries of a result.

use symbolon::PhaseReport;
use symbolon::circuit::PartyId;

use crate::args::tuning::Tuning;
use crate::common::error::{CliError, CliResult};
use crate::results::party::PartyResult;
use crate::results::{BatchOutputs, ChoiceJson, OutputJson, PartyJson};

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
pub fn agreed(played: &[PartyResult]) -> CliResult<Vec<OutputJson>> {
    let Some(first) = played.first() else {
        return Err(CliError::internal("there are no parties"));
    };
    let mut outputs = Vec::with_capacity(first.outputs.len());
    for (place, declared) in first.outputs.iter().enumerate() {
        let wrong = |what: &str| CliError::internal(format!("output `{}`: {what}", declared.name));
        let mut merged: Option<&OutputJson> = None;
        for (party, played) in played.iter().enumerate() {
            let output = played.outputs.get(place).ok_or_else(|| wrong("a party lacks it"))?;
            let receives = declared.receivers.iter().any(|to| usize::from(*to) == party);
            if receives != output.bits.is_some() {
                return Err(wrong("the wrong parties learnt it"));
            }
            match merged {
                Some(known) if receives && known != output => {
                    return Err(wrong("its receivers learnt different values"));
                }
                None if receives => merged = Some(output),
                _ => {}
            }
        }
        outputs.push(merged.unwrap_or(declared).clone());
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
    use super::*;

    fn party(outputs: &[(&[PartyId], Option<&str>)]) -> PartyResult {
        let outputs = outputs.iter().map(|(receivers, bits)| OutputJson {
            name: "x".into(),
            ty: "uint1".into(),
            receivers: receivers.to_vec(),
            bits: bits.map(String::from),
            hex: None,
            value: None,
        });
        let outputs = outputs.collect();
        let choice = ChoiceJson::default();
        PartyResult { outputs, choice, ..PartyResult::empty() }
    }

    #[test]
    fn outputs_come_from_whoever_learns_them() {
        let zero = party(&[(&[1.into()], None), (&[0.into(), 1.into()], Some("1")), (&[], None)]);
        let one =
            party(&[(&[1.into()], Some("0")), (&[0.into(), 1.into()], Some("1")), (&[], None)]);
        let outputs = agreed(&[zero, one]).unwrap();
        let bits: Vec<_> = outputs.iter().map(|output| output.bits.as_deref()).collect();
        assert_eq!(bits, [Some("0"), Some("1"), None]);
    }

    #[test]
    fn disagreement_is_a_defect() {
        let differ = [
            party(&[(&[0.into(), 1.into()], Some("0"))]),
            party(&[(&[0.into(), 1.into()], Some("1"))]),
        ];
        let lacking =
            [party(&[(&[0.into(), 1.into()], Some("0"))]), party(&[(&[0.into(), 1.into()], None)])];
        let leaked = [party(&[(&[0.into()], Some("0"))]), party(&[(&[0.into()], Some("0"))])];
        for played in [differ, lacking, leaked] {
            let failure = agreed(&played).unwrap_err();
            assert_eq!(failure.class, crate::common::error::ErrorClass::Internal);
        }
    }
}
