//! Text that may be somebody's input.

use std::fmt;

use serde::{Deserialize, Serialize};
use symbolon::zeroize::{Zeroize, Zeroizing};

/// Text that is an input, or is in a place where one may have been written.
///
/// It cannot be printed, not even for debugging, and is wiped when dropped: an error can only name
/// its place.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputText(Hidden);

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Hidden(String);

impl Drop for Hidden {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl InputText {
    /// Returns the text itself. It must not get into a message.
    pub fn expose(&self) -> &str {
        &self.0.0
    }
}

impl From<String> for InputText {
    fn from(text: String) -> Self {
        InputText(Hidden(text))
    }
}

impl From<&str> for InputText {
    fn from(text: &str) -> Self {
        text.to_string().into()
    }
}

impl From<Zeroizing<String>> for InputText {
    fn from(mut text: Zeroizing<String>) -> Self {
        std::mem::take(&mut *text).into()
    }
}

impl fmt::Debug for InputText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_it_is_shown() {
        let text = InputText::from("5ec4e7");
        assert_eq!(format!("{text:?} {:#?}", [&text]), "… [\n    …,\n]");
        assert_eq!(text.expose(), "5ec4e7");
    }
}
