//! What nodes tell each other, besides the messages of sessions.
//!
//! Every connection begins with an [`Opening`], which says what it is for. Two control connections
//! join each pair of nodes, one for each direction, so that each has one thread that sends and one
//! that receives. A control message is one JSON object of at most [`MAX_MESSAGE`] bytes. None holds
//! a secret.

use serde::{Deserialize, Serialize};
use utoipa::{PartialSchema, ToSchema};

use crate::clients::Digest;
use crate::error::Reason;
use crate::name::Name;

/// The version of these messages. Nodes with different versions reject each other.
pub const VERSION: u32 = 4;

/// The maximum length of a control message, in bytes.
pub const MAX_MESSAGE: usize = 64 << 10;

/// The maximum number of functions of a node.
pub const MAX_FUNCTIONS: usize = 256;

/// Messages, as those of sessions are declared.
pub mod messages {
    symbolon_transport::messages! {
        pub OPENING = "service: opening" {
            phase: "service",
            route: "the node that dials → the other",
            length: "1 + 16 + 2",
            carries: "what the connection is for, a tag, the lane",
            step: "",
        }
        pub CONTROL = "service: control" {
            phase: "service",
            route: "each node → each other",
            length: "at most 64 KiB",
            carries: "functions, calls, sessions: a JSON object",
            step: "",
        }
    }
}

/// Names a session, or the two control connections that belong together. Drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String)]
pub struct Tag(pub [u8; 16]);

impl Tag {
    /// Draws a tag.
    ///
    /// # Errors
    /// [`symbolon::Error::Internal`] if the system has no randomness.
    pub fn draw() -> symbolon::Result<Tag> {
        let mut tag = [0; 16];
        getrandom::fill(&mut tag).map_err(|error| {
            symbolon::Error::Internal(format!("the system gives no randomness: {error}"))
        })?;
        Ok(Tag(tag))
    }
}

impl TryFrom<String> for Tag {
    type Error = hex::FromHexError;

    fn try_from(text: String) -> Result<Tag, hex::FromHexError> {
        let mut tag = [0; 16];
        hex::decode_to_slice(text, &mut tag)?;
        Ok(Tag(tag))
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> String {
        hex::encode(tag.0)
    }
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Control messages of the node that dialled.
    FromDialler,
    /// Control messages of the other node.
    ToDialler,
    /// A lane of a session.
    Lane(u16),
}

/// The first message of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// What it is for.
    pub purpose: Purpose,
    /// The session, or the pair of control connections.
    pub tag: Tag,
}

impl Opening {
    /// The length of an opening, in bytes.
    pub const BYTES: usize = 19;

    /// Encodes the opening.
    pub fn encode(&self) -> [u8; Opening::BYTES] {
        let (purpose, lane) = match self.purpose {
            Purpose::FromDialler => (0, 0),
            Purpose::ToDialler => (1, 0),
            Purpose::Lane(lane) => (2, lane),
        };
        let mut bytes = [0; Opening::BYTES];
        bytes[0] = purpose;
        bytes[1..17].copy_from_slice(&self.tag.0);
        bytes[17..].copy_from_slice(&lane.to_le_bytes());
        bytes
    }

    /// Decodes an opening; `None` if the bytes are none.
    pub fn decode(bytes: &[u8; Opening::BYTES]) -> Option<Opening> {
        let lane = u16::from_le_bytes([bytes[17], bytes[18]]);
        let purpose = match (bytes[0], lane) {
            (0, 0) => Purpose::FromDialler,
            (1, 0) => Purpose::ToDialler,
            (2, lane) => Purpose::Lane(lane),
            _ => return None,
        };
        let mut tag = [0; 16];
        tag.copy_from_slice(&bytes[1..17]);
        Some(Opening { purpose, tag: Tag(tag) })
    }
}

/// The relations with a peer that a node knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Drawn for the proof, and for a new relation if there is none in common.
    pub drawn: Tag,
    /// Their names, the latest first.
    pub names: Vec<String>,
}

/// A control message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Message {
    /// The first message.
    Hello {
        /// The sender's version of these messages.
        version: u32,
        /// How many functions follow.
        functions: usize,
        /// The relations with the receiver that the sender knows, if it has a store.
        #[serde(default)]
        relation: Option<Claim>,
    },
    /// The sender knows the relation that follows from what both claimed.
    Proof {
        /// The proof.
        proof: Digest,
    },
    /// The sender has other functions than before: they follow.
    Functions {
        /// How many.
        functions: usize,
    },
    /// A function of the sender.
    Function {
        /// Its name.
        name: Name,
        /// Everything on which the parties must agree, as names and values.
        terms: Vec<(String, String)>,
    },
    /// The sender is alive.
    Ping {},
    /// The sender has inputs for a call.
    Have {
        /// The function.
        function: Name,
        /// The call.
        call: Name,
    },
    /// A part of the list of clients whose values the sender has for a call, in the order of their
    /// names.
    Clients {
        /// The function.
        function: Name,
        /// The call.
        call: Name,
        /// How many clients earlier parts had.
        before: usize,
        /// Clients, and the digests of their submissions.
        clients: Vec<(Name, Digest)>,
        /// Whether this is the last part.
        last: bool,
    },
    /// The sender has the lists of all parties.
    Agreed {
        /// The function.
        function: Name,
        /// The call.
        call: Name,
        /// The digest of the clients that follow from the lists.
        set: Digest,
    },
    /// The sender takes no part in a call that the receiver has inputs for.
    Refused {
        /// The function.
        function: Name,
        /// The call.
        call: Name,
        /// Why.
        reason: Reason,
    },
    /// The sender takes its inputs for a call back, unless party 0 has assigned it already.
    Withdraw {
        /// The function.
        function: Name,
        /// The call.
        call: Name,
    },
    /// Party 0 has not assigned the call that the receiver took back, and will not.
    Withdrawn {
        /// The function.
        function: Name,
        /// The call.
        call: Name,
    },
    /// Party 0 opens a session.
    Open {
        /// The function.
        function: Name,
        /// The session.
        session: Tag,
    },
    /// Party 0 prepares executions.
    Fill {
        /// The session.
        session: Tag,
        /// How many.
        count: usize,
    },
    /// Party 0 gives the session's next prepared execution to a call.
    Assign {
        /// The function.
        function: Name,
        /// The call.
        call: Name,
        /// The session.
        session: Tag,
    },
    /// A session ended at the sender.
    Closed {
        /// The session.
        session: Tag,
    },
    /// The sender is about to stop: it takes part in no call that is not assigned yet.
    Draining {},
}

/// Returns the JSON schemas of a control message, a claim and a reason, from which the page of
/// messages is generated.
pub fn schemas() -> [serde_json::Value; 3] {
    [Message::schema(), Claim::schema(), Reason::schema()]
        .map(|schema| serde_json::to_value(schema).expect("a schema can be written as JSON"))
}

/// Why bytes are no control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMessage;

impl Message {
    /// Encodes the message.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("names and numbers can be written as JSON")
    }

    /// Decodes a message of a peer.
    ///
    /// # Errors
    /// The bytes are too long, or no message.
    pub fn decode(bytes: &[u8]) -> Result<Message, NoMessage> {
        if bytes.len() > MAX_MESSAGE {
            return Err(NoMessage);
        }
        serde_json::from_slice(bytes).map_err(|_| NoMessage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back() {
        let name = |text: &str| text.parse::<Name>().unwrap();
        let (function, call, session) = (name("f"), name("c"), Tag([7; 16]));
        let terms = vec![("protocol".to_string(), "wrk".to_string())];
        let all = [
            Message::Hello { version: 1, functions: 2, relation: None },
            Message::Hello {
                version: 1,
                functions: 2,
                relation: Some(Claim { drawn: session, names: vec!["relation 07".to_string()] }),
            },
            Message::Proof { proof: Digest([5; 32]) },
            Message::Functions { functions: 3 },
            Message::Function { name: function.clone(), terms },
            Message::Ping {},
            Message::Have { function: function.clone(), call: call.clone() },
            Message::Clients {
                function: function.clone(),
                call: call.clone(),
                before: 3,
                clients: vec![(name("ann"), Digest([3; 32]))],
                last: true,
            },
            Message::Agreed {
                function: function.clone(),
                call: call.clone(),
                set: Digest([4; 32]),
            },
            Message::Refused {
                function: function.clone(),
                call: call.clone(),
                reason: Reason::Budget,
            },
            Message::Withdraw { function: function.clone(), call: call.clone() },
            Message::Withdrawn { function: function.clone(), call: call.clone() },
            Message::Open { function: function.clone(), session },
            Message::Fill { session, count: 3 },
            Message::Assign { function, call, session },
            Message::Closed { session },
            Message::Draining {},
        ];
        for message in all {
            assert_eq!(Message::decode(&message.encode()), Ok(message));
        }
    }

    #[test]
    fn a_full_list_of_clients_is_a_message() {
        let name: Name = "n".repeat(crate::name::MAX_NAME).parse().unwrap();
        let clients = vec![(name.clone(), Digest([0xff; 32])); crate::clients::MAX_LIST];
        let (function, call, before) = (name.clone(), name, usize::MAX);
        let full = Message::Clients { function, call, before, clients, last: false };
        assert_eq!(Message::decode(&full.encode()), Ok(full));
    }

    #[test]
    fn other_bytes_are_no_message() {
        for text in [
            "",
            "[]",
            r#"{"is":"hello","version":1,"functions":1,"relation":{"drawn":"07","names":[]}}"#,
            r#"{"is":"ping","more":1}"#,
            r#"{"is":"have","function":"f"}"#,
            r#"{"is":"have","function":"f","call":"a b"}"#,
            r#"{"is":"fill","session":"07","count":1}"#,
            r#"{"is":"agreed","function":"f","call":"c","set":"07"}"#,
            r#"{"is":"clients","function":"f","call":"c","before":0,"clients":[["a","07"]],"last":true}"#,
            r#"{"is":"fill","session":"07070707070707070707070707070707","count":-1}"#,
        ] {
            assert_eq!(Message::decode(text.as_bytes()), Err(NoMessage), "{text}");
        }
        assert_eq!(Message::decode(&vec![b' '; MAX_MESSAGE + 1]), Err(NoMessage));
    }

    #[test]
    fn openings_come_back() {
        for purpose in [Purpose::FromDialler, Purpose::ToDialler, Purpose::Lane(300)] {
            let opening = Opening { purpose, tag: Tag([9; 16]) };
            assert_eq!(Opening::decode(&opening.encode()), Some(opening));
        }
        let mut bytes = Opening { purpose: Purpose::ToDialler, tag: Tag([9; 16]) }.encode();
        bytes[17] = 1;
        assert_eq!(Opening::decode(&bytes), None);
        bytes[0] = 3;
        assert_eq!(Opening::decode(&bytes), None);
    }
}
