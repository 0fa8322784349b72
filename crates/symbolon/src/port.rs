//! How a caller names an input or output.

use std::fmt;

/// An input or output of a circuit, by name or index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port<'a> {
    /// The port with this name.
    Name(&'a str),
    /// The port with this index, from 0.
    Index(usize),
}

impl<'a> From<&'a str> for Port<'a> {
    fn from(name: &'a str) -> Self {
        Port::Name(name)
    }
}

impl<'a> From<&'a String> for Port<'a> {
    fn from(name: &'a String) -> Self {
        Port::Name(name)
    }
}

impl From<usize> for Port<'_> {
    fn from(index: usize) -> Self {
        Port::Index(index)
    }
}

impl fmt::Display for Port<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Port::Name(name) => write!(f, "`{name}`"),
            Port::Index(index) => write!(f, "number {index}"),
        }
    }
}

impl Port<'_> {
    /// Returns its index among ports with these names, if there is such a port.
    pub fn find<'n>(self, mut names: impl ExactSizeIterator<Item = &'n str>) -> Option<usize> {
        match self {
            Port::Name(wanted) => names.position(|name| name == wanted),
            Port::Index(index) => (index < names.len()).then_some(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_by_name_and_by_place() {
        let names = ["key", "0"];
        let find = |port: Port<'_>| port.find(names.iter().copied());
        assert_eq!(find("key".into()), Some(0));
        assert_eq!(find("0".into()), Some(1), "a name is only ever a name");
        assert_eq!(find(1.into()), Some(1));
        assert_eq!(find(2.into()), None);
        assert_eq!(find("Key".into()), None);
    }
}
