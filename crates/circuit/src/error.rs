//! What can be wrong with a circuit, a circuit file or a value.

use symbolon_common::{Classified, ErrorClass};

/// An error in a circuit, a circuit file, or a value for one of its inputs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CircuitError {
    /// A file that cannot be read as a circuit; names the line and the reason.
    #[error("line {line}: {reason}")]
    Parse {
        /// 1-based line number in the file.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A program that breaks a rule of the IR.
    #[error("invalid circuit: {0}")]
    Invalid(String),
    /// A value that does not fit its input.
    #[error("input `{input}` ({ty}): {reason}")]
    Value {
        /// The input's name.
        input: String,
        /// The input's type.
        ty: String,
        /// What is wrong with the value. Never contains the value itself.
        reason: String,
    },
    /// A list that is longer or shorter than its input.
    #[error("input `{input}` ({ty}): {reason}")]
    Length {
        /// The input's name.
        input: String,
        /// The input's type.
        ty: String,
        /// How many elements are expected and given.
        reason: String,
        /// How many elements are given.
        given: u64,
    },
    /// No built-in circuit has this name, or its parameters are out of range.
    #[error("{0}")]
    Unknown(String),
}

impl Classified for CircuitError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Usage
    }

    fn code(&self) -> &'static str {
        match self {
            CircuitError::Parse { .. } => "circuit-file",
            CircuitError::Invalid(_) => "invalid-circuit",
            CircuitError::Value { .. } | CircuitError::Length { .. } => "invalid-value",
            CircuitError::Unknown(_) => "unknown-circuit",
        }
    }
}

impl CircuitError {
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        CircuitError::Invalid(reason.into())
    }
}
