//! Options about the live page.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use crate::common::error::{CliError, CliResult};

/// The options about the page.
#[derive(Args, Debug, Default, Clone)]
pub struct LiveArgs {
    /// Show what happens on a page for browsers at http://127.0.0.1:PORT, as it happens; port 0
    /// picks a free one. ADDR:PORT, with an IP address, serves other machines, too, which need the
    /// token that is printed
    #[arg(long, value_name = "[ADDR:]PORT", help_heading = "Progress and log")]
    pub live: Option<LiveAddress>,
    /// Keep the page for this many seconds after the end, or until Ctrl-C [default: 0]
    #[arg(long, value_name = "SECONDS", help_heading = "Progress and log")]
    pub live_linger: Option<f64>,
}

impl LiveArgs {
    /// Returns these options, with those of `other` where they are not set.
    pub fn or(&self, other: LiveArgs) -> LiveArgs {
        LiveArgs {
            live: self.live.clone().or(other.live),
            live_linger: self.live_linger.or(other.live_linger),
        }
    }

    /// Returns how long the page stays after the end.
    ///
    /// # Errors
    /// A usage failure when the time is out of range, or there is no page.
    pub fn linger(&self) -> CliResult<Duration> {
        let seconds = self.live_linger.unwrap_or(0.0);
        if !(0.0..=604_800.0).contains(&seconds) {
            return Err(CliError::usage("--live-linger takes seconds, up to a week's"));
        }
        if self.live.is_none() && self.live_linger.is_some() {
            return Err(CliError::usage("--live-linger is for --live"));
        }
        Ok(Duration::from_secs_f64(seconds))
    }
}

/// Where the page is served.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "PortOrText")]
pub struct LiveAddress(pub SocketAddr);

#[derive(Deserialize)]
#[serde(untagged)]
enum PortOrText {
    Port(u16),
    Text(String),
}

impl TryFrom<PortOrText> for LiveAddress {
    type Error = String;

    fn try_from(given: PortOrText) -> Result<Self, String> {
        match given {
            PortOrText::Port(port) => Ok(LiveAddress((Ipv4Addr::LOCALHOST, port).into())),
            PortOrText::Text(text) => text.parse(),
        }
    }
}

impl std::str::FromStr for LiveAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.strip_prefix("localhost:").unwrap_or(text).parse::<u16>();
        let address = port.map(|port| (Ipv4Addr::LOCALHOST, port).into());
        let address = address.or_else(|_| text.parse()).map(LiveAddress);
        address.map_err(|_| "a port, or an IP address and a port".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_of_loopback_or_an_ip_address_with_a_port() {
        let parsed = |text: &str| text.parse::<LiveAddress>().map(|LiveAddress(at)| at.to_string());
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            ("localhost:1", "127.0.0.1:1"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:9", "[::1]:9"),
        ] {
            assert_eq!(parsed(text).as_deref(), Ok(address));
        }
        for wrong in ["", "65536", "example.org:80", "::1", "127.0.0.1", "-1"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
