//! All messages and checks of the library, crate by crate and protocol by protocol.

use symbolon_protocols::Protocol;
use symbolon_transport::{Check, Message};

/// The messages of one crate or protocol.
pub struct Section {
    /// The heading.
    pub title: String,
    /// The messages, in about the order in which they are sent.
    pub messages: &'static [Message],
    /// The checks.
    pub checks: &'static [Check],
}

/// Lists all messages that the parties send, and all checks.
pub fn sections() -> Vec<Section> {
    let section = |title: &str, messages, checks| {
        let title = title.to_string();
        Section { title, messages, checks }
    };
    let mut all = vec![
        section(
            "Connection and handshake",
            symbolon_transport::messages::ALL,
            symbolon_transport::checks::ALL,
        ),
        section("Session", crate::messages::ALL, crate::checks::ALL),
        section(
            "Commitments, coins and broadcasts",
            symbolon_interaction::messages::ALL,
            symbolon_interaction::checks::ALL,
        ),
        section("Oblivious transfer", symbolon_ot::messages::ALL, symbolon_ot::checks::ALL),
        section(
            "Cut-and-choose",
            symbolon_cutchoose::messages::ALL,
            symbolon_cutchoose::checks::ALL,
        ),
        section(
            "Preprocessing and the dealer",
            symbolon_preprocessing::messages::ALL,
            symbolon_preprocessing::checks::ALL,
        ),
        section("All protocols", &[], symbolon_engine::checks::ALL),
        section(
            "Protocols on AND gates",
            symbolon_authenticated::messages::ALL,
            symbolon_authenticated::checks::ALL,
        ),
    ];
    all.extend(Protocol::ALL.iter().map(|protocol| {
        let title = format!("Protocol `{}`", protocol.name());
        Section { title, messages: protocol.messages(), checks: protocol.checks() }
    }));
    all
}
