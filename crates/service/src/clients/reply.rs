//! What a node says about the clients of a call.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use symbolon::Outputs;
use symbolon::circuit::ClientPorts;
use symbolon_clients::Layout;
use utoipa::ToSchema;

use super::round::{Round, Taking};
use super::set::{LeftOut, Set, Why};
use crate::error::CallError;
use crate::name::Name;
use crate::outcome::Answer;

/// Whether a call takes submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundState {
    /// It does.
    Open,
    /// No more; it waits or runs.
    Closed,
    /// It has run.
    Over,
}

/// The clients of a call, for this party's application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ClientsReply {
    /// Whether submissions are taken.
    pub state: RoundState,
    /// How many clients have given values to this party.
    pub submissions: usize,
    /// The clients who take part, by their places; null before the parties have compared.
    #[schema(value_type = Option<Vec<String>>)]
    pub places: Option<Vec<Name>>,
    /// The clients who do not, although a party has a submission of them.
    pub left_out: Vec<LeftOut>,
    /// The clients whose values the run refused, because a share of them was changed.
    #[schema(value_type = Vec<String>)]
    pub refused: Vec<Name>,
}

/// What a client learns of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClientAnswer {
    /// Whether the call takes submissions, waits, or has run.
    pub state: RoundState,
    /// The client's place among those who take part.
    pub place: Option<usize>,
    /// Why the client is left out: `differs`, `missing` at these parties, or `none` has it.
    pub left_out: Option<String>,
    /// Whether the client's values counted; null before the run.
    pub counted: Option<bool>,
    /// The client's protected answer, as base64. Only the client can read it.
    pub answer: Option<String>,
    /// Why there is no answer, a stable name.
    pub error: Option<String>,
}

impl RoundState {
    pub(crate) fn of(round: &Round) -> Option<RoundState> {
        match round.taking {
            Taking::No => None,
            Taking::Open { .. } => Some(RoundState::Open),
            Taking::Closed { .. } => Some(RoundState::Closed),
            Taking::Over => Some(RoundState::Over),
        }
    }
}

/// Returns whether the values of the client at a place counted.
fn is_counted(outputs: &Outputs, place: usize) -> Option<bool> {
    let counted = outputs.bits(ClientPorts::COUNTED).ok()?;
    (place < counted.len()).then(|| counted.get(place))
}

impl ClientsReply {
    pub(crate) fn new(round: &Round, answer: Option<Answer>) -> Option<ClientsReply> {
        let set: Option<&Arc<Set>> = round.set.as_ref();
        let outputs = answer.as_ref().and_then(|answer| (**answer).as_ref().ok());
        let refused = |(set, outputs): (&Arc<Set>, &Outputs)| {
            let all = set.places.iter().enumerate();
            let refused = all.filter(|(place, _)| is_counted(outputs, *place) == Some(false));
            refused.map(|(_, (client, _))| client.clone()).collect()
        };
        Some(ClientsReply {
            state: RoundState::of(round)?,
            submissions: round.count(),
            places: set.map(|set| set.places.iter().map(|(client, _)| client.clone()).collect()),
            left_out: set.map(|set| set.left_out.clone()).unwrap_or_default(),
            refused: set.zip(outputs).map(refused).unwrap_or_default(),
        })
    }
}

impl ClientAnswer {
    pub(crate) fn new(
        round: &Round,
        client: &Name,
        answer: Option<Answer>,
        layout: &Layout,
    ) -> Option<ClientAnswer> {
        let state = RoundState::of(round)?;
        let none = ClientAnswer {
            state,
            place: None,
            left_out: None,
            counted: None,
            answer: None,
            error: None,
        };
        let error = answer.as_ref().and_then(|answer| (**answer).as_ref().err());
        let error = error.map(|error: &CallError| error.code().to_string());
        let Some(set) = &round.set else { return Some(ClientAnswer { error, ..none }) };
        let Some(place) = set.place(client) else {
            let why = match set.why(client) {
                Some(Why::Differs) => "differs".to_string(),
                Some(Why::Missing { parties }) => {
                    let parties: Vec<_> = parties.iter().map(ToString::to_string).collect();
                    format!("missing at {}", parties.join(", "))
                }
                None => "none".to_string(),
            };
            return Some(ClientAnswer { left_out: Some(why), error, ..none });
        };
        let outputs = answer.as_ref().and_then(|answer| (**answer).as_ref().ok());
        let protected = outputs.and_then(|outputs| {
            let all = outputs.get(ClientPorts::ANSWERS)?.bits.as_ref()?;
            Some(STANDARD.encode(layout.answer(all, place).ok()?))
        });
        Some(ClientAnswer {
            place: Some(place),
            counted: outputs.and_then(|outputs| is_counted(outputs, place)),
            answer: protected,
            error,
            ..none
        })
    }
}
