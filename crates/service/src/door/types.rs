//! What the door sends.

use serde::{Deserialize, Serialize};
use symbolon::{OutputJson, Outputs};
use utoipa::ToSchema;
use zeroize::Zeroize;

use crate::clients::SubmitError;
use crate::error::CallError;
use crate::name::Name;
use crate::outcome::Answer;

/// What has become of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It waits, or runs.
    Waiting,
    /// It has an answer.
    Done,
    /// It has no answer.
    Failed,
}

/// A call.
#[derive(Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CallReply {
    /// Its name.
    #[schema(value_type = String)]
    pub call: Name,
    /// What has become of it.
    pub state: State,
    /// The outputs, each as `symbolon run --json` writes it; null without an answer.
    #[schema(value_type = Option<Vec<Object>>)]
    pub outputs: Option<Vec<OutputJson>>,
    /// The assert of the program that failed, if one did. Then no output is a result.
    pub failure: Option<FailureReply>,
    /// Why there is no answer.
    pub error: Option<ErrorReply>,
}

/// An assert that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailureReply {
    /// Its text.
    pub text: String,
    /// The file of the program.
    pub file: String,
    /// The line in the file.
    pub line: u32,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorReply {
    /// Whose turn it is to act, as with the command: `usage`, `peer`, `misbehaved`, …
    pub class: String,
    /// What went wrong, a stable name.
    pub code: String,
    /// The same as a sentence.
    pub message: String,
    /// The party that it names, accused or not, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub party: Option<u16>,
    /// The check that failed, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

impl ErrorReply {
    pub(super) fn new(error: &CallError) -> ErrorReply {
        ErrorReply {
            class: error.class().name().to_string(),
            code: error.code().to_string(),
            message: error.to_string(),
            party: error.party().map(|party| party.number()),
            check: error.check().map(|check| check.to_string()),
        }
    }
}

impl From<&SubmitError> for ErrorReply {
    fn from(error: &SubmitError) -> ErrorReply {
        let class = symbolon::ErrorClass::Usage.name().to_string();
        let (code, message) = (error.code().to_string(), error.to_string());
        ErrorReply { class, code, message, party: None, check: None }
    }
}

impl CallReply {
    pub(super) fn new(call: Name, answer: Option<&Answer>, parties: u16) -> CallReply {
        let (state, outputs, failure, error) = match answer.map(|answer| &**answer) {
            None => (State::Waiting, None, None, None),
            Some(Err(error)) => (State::Failed, None, None, Some(ErrorReply::new(error))),
            Some(Ok(outputs)) => match failure(outputs) {
                Some(failure) => (State::Done, None, Some(failure), None),
                None => (State::Done, Some(OutputJson::all(outputs, parties)), None, None),
            },
        };
        CallReply { call, state, outputs, failure, error }
    }
}

impl Drop for CallReply {
    fn drop(&mut self) {
        self.outputs.iter_mut().flatten().for_each(Zeroize::zeroize);
    }
}

fn failure(outputs: &Outputs) -> Option<FailureReply> {
    let failure = outputs.failure()?;
    Some(FailureReply {
        text: failure.text.clone(),
        file: failure.file.clone(),
        line: failure.line,
    })
}
