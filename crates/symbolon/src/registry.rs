//! All messages and checks of the library, crate by crate and protocol by protocol.

use symbolon_protocols::Protocol;
use symbolon_transport::{Check, Message};

/// The messages of one crate or protocol.
pub struct Section {
    /// What it is about, as a heading.
    pub title: String,
    /// Its messages, in about the order in which they are sent.
    pub messages: &'static [Message],
    /// Its checks.
    pub checks: &'static [Check],
}

/// Everything that the parties send each other, and everything that they check.
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
        section(
            "All protocols",
            symbolon_protocols::messages::ALL,
            symbolon_protocols::checks::ALL,
        ),
    ];
    all.extend(Protocol::ALL.iter().map(|protocol| {
        let title = format!("Protocol `{}`", protocol.name());
        Section { title, messages: protocol.messages(), checks: protocol.checks() }
    }));
    all
}

/// The check with this code, if there is one.
pub fn check_by_code(code: &str) -> Option<Check> {
    sections().iter().flat_map(|section| section.checks).find(|check| check.code() == code).copied()
}
