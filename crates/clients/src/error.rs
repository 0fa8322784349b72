//! What can be wrong with a submission or an answer.

use symbolon_common::{Classified, ErrorClass};

/// An error of a client, or of a party that deals with clients.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// A value is missing, given twice, unknown, or not of its type. Never contains the value.
    #[error("{0}")]
    Value(String),
    /// A layout that is none.
    #[error("this is no layout of clients: {0}")]
    Layout(String),
    /// Bytes of another length than this layout's.
    #[error("a {what} has {expected} bytes, not {given}")]
    Length {
        /// A share, hashes, a receipt or an answer.
        what: &'static str,
        /// How many bytes it has.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// A share that is not the one that the client made.
    #[error("the share does not fit its hash")]
    Hash,
    /// A party or client with this number does not exist.
    #[error("there is no {what} {number}")]
    Number {
        /// A party or a client.
        what: &'static str,
        /// Its number.
        number: usize,
    },
    /// The answer says that the client's values were not counted. Any party can make it say so.
    #[error("the values were not counted, or a party hides the answer")]
    NotCounted,
    /// The answer is not what the circuit gave.
    #[error("the answer was changed")]
    Changed,
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    Random,
}

impl Classified for ClientError {
    fn class(&self) -> ErrorClass {
        match self {
            ClientError::NotCounted | ClientError::Changed => ErrorClass::Misbehaved,
            ClientError::Random => ErrorClass::System,
            _ => ErrorClass::Usage,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            ClientError::Value(_) => "invalid-value",
            ClientError::Layout(_) => "invalid-layout",
            ClientError::Length { .. } => "client-length",
            ClientError::Hash => "client-share-hash",
            ClientError::Number { .. } => "client-number",
            ClientError::NotCounted => "client-not-counted",
            ClientError::Changed => "client-answer-changed",
            ClientError::Random => "no-random",
        }
    }
}
