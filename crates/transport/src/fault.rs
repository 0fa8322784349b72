//! Failures of the operating system or a file, with their causes.

use std::fmt;
use std::io;
use std::sync::Arc;

/// Why a file, a disk or the operating system failed: a sentence, a code, and the underlying error.
///
/// Two faults are equal if their codes and sentences are equal.
#[derive(Clone)]
pub struct Fault {
    code: &'static str,
    text: String,
    cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Fault {
    /// Creates a fault with its stable code, in kebab case, and a sentence.
    pub fn new(code: &'static str, text: impl Into<String>) -> Self {
        Fault { code, text: text.into(), cause: None }
    }

    /// Adds the error that caused it.
    pub fn caused_by(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }

    /// Adds a borrowed error of the operating system as the cause.
    pub fn caused_by_io(self, error: &io::Error) -> Self {
        self.caused_by(match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        })
    }

    /// Returns the stable name for programs.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the sentence.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({}: {:?})", self.code, self.text)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

impl PartialEq for Fault {
    fn eq(&self, other: &Self) -> bool {
        (self.code, &self.text) == (other.code, &other.text)
    }
}

impl Eq for Fault {}
