//! Messages as values: the kind in the header, and the facts for the documentation.

use std::fmt;

use crate::wire::tag;

/// The kind of a message: its name, and the tag that represents the name on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    name: &'static str,
    tag: u32,
}

impl Kind {
    /// Creates the kind with this name.
    pub const fn new(name: &'static str) -> Self {
        Kind { name, tag: tag(name) }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the tag in the header: 32-bit FNV-1a of the name.
    pub const fn tag(self) -> u32 {
        self.tag
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Only for tests: the program's messages are declared.
#[cfg(any(test, feature = "adversary"))]
impl From<&'static str> for Kind {
    #[inline]
    fn from(name: &'static str) -> Self {
        Kind::new(name)
    }
}

/// A message of a protocol. `docs/reference/wire.md` is generated from these.
///
/// Each crate declares its messages with [`messages!`](crate::messages!), in a module `messages`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The kind in its header.
    pub kind: Kind,
    /// The phase in which it is sent: "set-up", "function-independent", "any".
    pub phase: &'static str,
    /// The sender and the receiver.
    pub route: &'static str,
    /// The length of its payload in bytes, as a formula of public parameters.
    pub length: &'static str,
    /// The content of the payload.
    pub carries: &'static str,
    /// The step of a paper that it belongs to; empty if there is none.
    pub step: &'static str,
}

impl Message {
    /// Creates a message of a test, without documentation.
    #[cfg(any(test, feature = "adversary"))]
    pub const fn of_test(kind: &'static str) -> Self {
        let kind = Kind::new(kind);
        Message { kind, phase: "", route: "", length: "", carries: "", step: "" }
    }

    /// Returns the name of its kind.
    pub const fn name(&self) -> &'static str {
        self.kind.name()
    }
}

impl From<Message> for Kind {
    #[inline]
    fn from(message: Message) -> Self {
        message.kind
    }
}

impl From<&Message> for Kind {
    #[inline]
    fn from(message: &Message) -> Self {
        message.kind
    }
}

/// Compares a message with the name of a kind, for tests that see only names.
impl PartialEq<Message> for &str {
    fn eq(&self, message: &Message) -> bool {
        *self == message.name()
    }
}

/// Declares messages as constants, and a list of all of them:
///
/// ```
/// mod messages {
///     symbolon_transport::messages! {
///         pub SEED = "coin toss: seed" {
///             phase: "any",
///             route: "each party → each other",
///             length: "64",
///             carries: "the nonce of the commitment, the seed",
///             step: "YWZ App. A.1",
///         }
///     }
/// }
/// assert_eq!(messages::SEED.name(), "coin toss: seed");
/// assert_eq!(messages::ALL.len(), 1);
/// ```
#[macro_export]
macro_rules! messages {
    ($($vis:vis $message:ident = $kind:literal {
        phase: $phase:expr,
        route: $route:expr,
        length: $length:literal,
        carries: $carries:literal,
        step: $step:literal $(,)?
    })*) => {
        $(
            #[doc = concat!("`", $kind, "`: ", $carries, ". Length: ", $length, " bytes.")]
            $vis const $message: $crate::Message = $crate::Message {
                kind: $crate::Kind::new($kind),
                phase: $phase,
                route: $route,
                length: $length,
                carries: $carries,
                step: $step,
            };
        )*
        /// All messages declared here.
        pub const ALL: &[$crate::Message] = &[$($message),*];
    };
}
