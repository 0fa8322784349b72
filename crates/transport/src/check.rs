//! Checks as values: what fails if a peer deviates, and who is accused.

use std::fmt;

use symbolon_common::PartyId;

/// The number of the dealer where a channel or its preamble needs one. The dealer is a third
/// process that deals correlations to the parties and is not a party itself.
pub const DEALER: PartyId = PartyId::new(u16::MAX - 1);

/// A check of a peer's behaviour, named in [`Error::PeerMisbehaved`](crate::Error::PeerMisbehaved).
///
/// Each crate declares its checks with [`checks!`](crate::checks!), in a module `checks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Check {
    code: &'static str,
    name: &'static str,
    catches: &'static str,
}

impl Check {
    /// Declares a check with its code, its name, and the cheats that it catches.
    pub const fn new(code: &'static str, name: &'static str, catches: &'static str) -> Self {
        Check { code, name, catches }
    }

    /// Returns the stable name for programs, in kebab case: "garbled-table-mac".
    pub const fn code(self) -> &'static str {
        self.code
    }

    /// Returns the name for people, a noun: "garbled table MAC".
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the deviation that this check catches.
    pub const fn catches(self) -> &'static str {
        self.catches
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Only for tests: the program's checks are declared.
#[cfg(any(test, feature = "adversary"))]
impl From<&'static str> for Check {
    fn from(name: &'static str) -> Self {
        Check::new(name, name, "")
    }
}

/// Declares checks as constants, and a list of all of them:
///
/// ```
/// mod checks {
///     symbolon_transport::checks! {
///         pub OUTPUT_MASK = "output-mask-mac", "output mask MAC":
///             "a wrong share of an output mask";
///     }
/// }
/// assert_eq!(checks::OUTPUT_MASK.code(), "output-mask-mac");
/// assert_eq!(checks::ALL, [checks::OUTPUT_MASK]);
/// ```
#[macro_export]
macro_rules! checks {
    ($($vis:vis $check:ident = $code:literal, $name:literal: $catches:literal;)*) => {
        $(
            #[doc = concat!("The check \"", $name, "\". It catches ", $catches, ".")]
            $vis const $check: $crate::Check = $crate::Check::new($code, $name, $catches);
        )*
        /// All checks declared here.
        pub const ALL: &[$crate::Check] = &[$($check),*];
    };
}

/// Who deviated from the protocol, as far as the check can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Culprit {
    /// This party.
    Party(PartyId),
    /// The dealer, which is not one of the parties.
    Dealer,
    /// One of several peers.
    Unknown,
}

impl Culprit {
    /// Returns the number of the party if the culprit is a known party.
    pub const fn party(self) -> Option<PartyId> {
        match self {
            Culprit::Party(party) => Some(party),
            Culprit::Dealer | Culprit::Unknown => None,
        }
    }
}

/// Converts the number of a channel's peer: a party's, or [`DEALER`].
impl From<PartyId> for Culprit {
    fn from(number: PartyId) -> Self {
        if number == DEALER { Culprit::Dealer } else { Culprit::Party(number) }
    }
}

impl From<u16> for Culprit {
    fn from(number: u16) -> Self {
        PartyId::new(number).into()
    }
}

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Culprit::Party(party) => write!(f, "party {party}"),
            Culprit::Dealer => write!(f, "the dealer"),
            Culprit::Unknown => write!(f, "one of the other parties"),
        }
    }
}
