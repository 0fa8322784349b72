//! The syntax of addresses.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV6};

use crate::{Error, Result};

/// The maximum length of a domain name, in bytes.
const LONGEST_NAME: usize = 253;

/// Checks the form of an address to dial, HOST:PORT, without a look-up: HOST is a name, an IPv4
/// address or an IPv6 address in brackets, PORT is 1 to 65535. A malformed address will never be
/// reached, so nobody should wait for it.
///
/// # Errors
/// [`Error::InvalidInput`], which says which part is wrong.
pub fn check_address(address: &str) -> Result<()> {
    match check(address)? {
        0 => Err(Error::invalid_input("port 0 cannot be dialled: HOST:PORT needs 1 to 65535")),
        _ => Ok(()),
    }
}

/// Checks an address to listen at in the same way; port 0 takes any free port.
///
/// # Errors
/// As [`check_address`].
pub fn check_listening(address: &str) -> Result<()> {
    check(address).map(drop)
}

/// Returns the port if the address is well-formed. The error does not repeat the text, which may be
/// anything given in the wrong place.
fn check(address: &str) -> Result<u16> {
    let refuse = |why: &str| Err(Error::invalid_input(format!("an address is HOST:PORT: {why}")));
    if address.starts_with('[') {
        return match address.parse::<SocketAddrV6>() {
            Ok(parsed) => Ok(parsed.port()),
            Err(_) => refuse("this is no IPv6 address in brackets with a port"),
        };
    }
    let Some((host, port)) = address.rsplit_once(':') else {
        return refuse("the port is missing");
    };
    let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let Some(port) = port.parse::<u16>().ok().filter(|_| digits) else {
        return refuse("the port must be a number up to 65535");
    };
    if host.parse::<Ipv6Addr>().is_ok() {
        return refuse("put an IPv6 address into brackets");
    }
    if !is_name(host) {
        return refuse("the host is neither a name nor an IP address");
    }
    Ok(port)
}

fn is_name(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let mut labels = name.split('.');
    let whole = labels.all(|label| (1..=63).contains(&label.len()) && label.bytes().all(plain));
    // No top-level domain is a number, so this is an IPv4 address or malformed.
    let last = name.rsplit('.').next().unwrap_or_default();
    let number = last.bytes().all(|byte| byte.is_ascii_digit());
    whole && name.len() <= LONGEST_NAME && (!number || host.parse::<Ipv4Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_reached_is_an_address() {
        let good = [
            "localhost:7000",
            "127.0.0.1:1",
            "[::1]:65535",
            "[fe80::1%3]:80",
            "a-b_c.example.org:80",
            "example.org.:80",
            "3com:80",
        ];
        for address in good {
            assert_eq!(check_address(address), Ok(()), "{address}");
            assert_eq!(check_listening(address), Ok(()), "{address}");
        }
        let long = format!("{}x:80", "x.".repeat(127));
        let bad = [
            "",
            ":",
            "host",
            "host:",
            ":80",
            "host:port",
            "host:65536",
            "host:-1",
            "host:+1",
            "host: 80",
            "ho st:80",
            "host:80\n",
            "http://host:80",
            "user@host:80",
            "host:80/x",
            "::1:80",
            "[::1]",
            "[::1:80",
            "[host]:80",
            "256.1.1.1:80",
            "1.2.3:80",
            "1.2.3.4.:80",
            "a..b:80",
            "é.example:80",
            &long,
        ];
        for address in bad {
            assert!(matches!(check_address(address), Err(Error::InvalidInput(_))), "{address}");
            assert!(check_listening(address).is_err(), "{address}");
        }
        assert!(check_address("host:0").is_err() && check_listening("host:0").is_ok());
    }
}
