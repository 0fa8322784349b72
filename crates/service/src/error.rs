//! Why a call has no answer.

use std::fmt;

use serde::{Deserialize, Serialize};
use symbolon::circuit::PartyId;
use symbolon::{Error, ErrorClass};
use utoipa::ToSchema;

/// Why a node takes no part in a call; its peers are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Its owner allows no more calls.
    Budget,
    /// Too many calls wait.
    Busy,
    /// The call is over.
    Finished,
    /// It does not have the function, or has another one of that name.
    Disabled,
    /// It is about to stop.
    Draining,
}

impl Reason {
    fn text(self) -> &'static str {
        match self {
            Reason::Budget => "its owner allows no more calls",
            Reason::Busy => "too many calls wait there",
            Reason::Finished => "the call is over there",
            Reason::Disabled => "the function is disabled there",
            Reason::Draining => "it is about to stop",
        }
    }
}

/// Why a call was refused or has no answer. It never holds a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The node has no function of this name.
    NoFunction,
    /// The function has no call of this name.
    NoCall,
    /// The inputs do not fit the function.
    Inputs(String),
    /// The name belongs to a call with other inputs.
    OtherInputs,
    /// This party may not start calls of the function, and no party that may has started this one.
    NotACaller,
    /// The owner of this node allows no more calls: in all, or in this hour.
    Budget,
    /// Too many calls of the function wait.
    Busy,
    /// The parties do not agree on the function.
    Disabled(String),
    /// This node is about to stop.
    Draining,
    /// These parties gave no inputs in time. Nothing was used up.
    NoInputFromPeer(Vec<PartyId>),
    /// All inputs were there, but no prepared execution in time. Nothing was used up.
    NotReady,
    /// A peer takes no part in the call.
    RefusedByPeer(PartyId, Reason),
    /// These parties see other clients of the call. Nothing was used up.
    OtherClients(Vec<PartyId>),
    /// The state of the node's budget cannot be written.
    State(String),
    /// The run failed.
    Run(Error),
}

impl CallError {
    /// Returns a stable name for programs, in kebab case.
    pub fn code(&self) -> &'static str {
        match self {
            CallError::NoFunction => "no-function",
            CallError::NoCall => "no-call",
            CallError::Inputs(_) => "inputs",
            CallError::OtherInputs => "other-inputs",
            CallError::NotACaller => "not-a-caller",
            CallError::Budget => "budget",
            CallError::Busy => "busy",
            CallError::Disabled(_) => "disabled",
            CallError::Draining => "draining",
            CallError::NoInputFromPeer(_) => "no-input-from-peer",
            CallError::NotReady => "not-ready",
            CallError::RefusedByPeer(_, Reason::Budget) => "peer-budget",
            CallError::RefusedByPeer(_, Reason::Busy) => "peer-busy",
            CallError::RefusedByPeer(_, Reason::Finished) => "peer-finished",
            CallError::RefusedByPeer(_, Reason::Disabled) => "peer-disabled",
            CallError::RefusedByPeer(_, Reason::Draining) => "peer-draining",
            CallError::OtherClients(_) => "other-clients",
            CallError::State(_) => "state",
            CallError::Run(error) => error.code(),
        }
    }

    /// Returns whose turn it is to act, which decides the command's exit code.
    pub fn class(&self) -> ErrorClass {
        match self {
            CallError::Disabled(_) => ErrorClass::Incompatible,
            CallError::NoInputFromPeer(_)
            | CallError::RefusedByPeer(..)
            | CallError::NotReady
            | CallError::OtherClients(_) => ErrorClass::Peer,
            CallError::Draining | CallError::Busy => ErrorClass::System,
            CallError::State(_) => ErrorClass::Store,
            CallError::Run(error) => error.class(),
            _ => ErrorClass::Usage,
        }
    }

    /// Returns the check that failed, if one did.
    pub fn check(&self) -> Option<symbolon::Check> {
        match self {
            CallError::Run(error) => error.check(),
            _ => None,
        }
    }

    /// Returns the party that the error names, accused or not, if it is one.
    pub fn party(&self) -> Option<PartyId> {
        match self {
            CallError::NoInputFromPeer(parties) | CallError::OtherClients(parties) => {
                match parties[..] {
                    [party] => Some(party),
                    _ => None,
                }
            }
            CallError::RefusedByPeer(party, _) => Some(*party),
            CallError::Run(error) => error.culprit().and_then(|culprit| culprit.party()),
            _ => None,
        }
    }

    /// Returns whether the call may have used up a prepared execution. If it did not, its name may
    /// be used again.
    pub fn used(&self) -> bool {
        matches!(self, CallError::Run(_))
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::NoFunction => f.write_str("the node has no function of this name"),
            CallError::NoCall => f.write_str("the function has no call of this name"),
            CallError::Inputs(why) => f.write_str(why),
            CallError::OtherInputs => {
                f.write_str("the name belongs to a call with other inputs; choose another name")
            }
            CallError::NotACaller => f.write_str(
                "this party may not start calls of the function: a party that may must give its \
                 inputs first",
            ),
            CallError::Budget => f.write_str("the owner of this node allows no more calls"),
            CallError::Busy => f.write_str("too many calls of the function wait; try again later"),
            CallError::Disabled(why) => write!(f, "the function is disabled: {why}"),
            CallError::Draining => f.write_str("this node is about to stop"),
            CallError::NoInputFromPeer(parties) => {
                write!(f, "no inputs from {} in time", listed(parties))
            }
            CallError::OtherClients(parties) => {
                write!(f, "the parties do not see the same clients: {} differs", listed(parties))
            }
            CallError::NotReady => f.write_str("no prepared execution in time"),
            CallError::RefusedByPeer(party, reason) => {
                write!(f, "party {party} takes no part: {}", reason.text())
            }
            CallError::State(why) => write!(f, "cannot write how many calls were made: {why}"),
            CallError::Run(error) => write!(f, "the run failed: {error}"),
        }
    }
}

fn listed(parties: &[PartyId]) -> String {
    let all: Vec<_> = parties.iter().map(ToString::to_string).collect();
    format!("{} {}", if all.len() == 1 { "party" } else { "parties" }, all.join(", "))
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Run(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_party_is_named_and_several_are_not() {
        let [one, two] = [1, 2].map(PartyId::new);
        assert_eq!(CallError::RefusedByPeer(two, Reason::Busy).party(), Some(two));
        assert_eq!(CallError::NoInputFromPeer(vec![one]).party(), Some(one));
        assert_eq!(CallError::NoInputFromPeer(vec![one, two]).party(), None);
        let check = crate::checks::CONTROL;
        let cheated = CallError::Run(Error::misbehaved(one, check));
        assert_eq!((cheated.party(), cheated.check()), (Some(one), Some(check)));
        assert_eq!((CallError::Busy.party(), CallError::Busy.check()), (None, None));
    }
}
