//! Names of functions and calls.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The maximum length of a name, in bytes.
pub const MAX_NAME: usize = 64;

/// The name of a function or of a call: 1 to [`MAX_NAME`] letters, digits, `.`, `_` and `-` of
/// ASCII. Names are public: they are logged, and peers see them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String)]
pub struct Name(Box<str>);

/// A text is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoName;

impl fmt::Display for NoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a name has 1 to {MAX_NAME} of the characters A-Z, a-z, 0-9, `.`, `_` and `-`")
    }
}

impl std::error::Error for NoName {}

impl Name {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NoName;

    fn from_str(text: &str) -> Result<Name, NoName> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        match (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(allowed) {
            true => Ok(Name(text.into())),
            false => Err(NoName),
        }
    }
}

impl TryFrom<String> for Name {
    type Error = NoName;

    fn try_from(text: String) -> Result<Name, NoName> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0.into()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for good in ["a", "Order-17.b_2", &"x".repeat(64)] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        for bad in ["", "a b", "é", "a/b", "a\n", &"x".repeat(65)] {
            assert_eq!(bad.parse::<Name>(), Err(NoName), "{bad:?}");
        }
        assert!(serde_json::from_str::<Name>("\"a/b\"").is_err());
    }
}
