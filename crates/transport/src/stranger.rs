//! Guesses who connected, if it was no peer.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::{Stranger, TransportReason};

/// Peeks at the first bytes of a connection; empty if none arrive in time.
pub(crate) fn first_bytes(socket: &TcpStream, deadline: Instant) -> Vec<u8> {
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let mut bytes = [0; 8];
    let read = socket.set_read_timeout(Some(left)).and_then(|()| socket.peek(&mut bytes));
    let _ = socket.set_read_timeout(None);
    bytes[..read.unwrap_or(0)].to_vec()
}

/// Guesses who made a failed connection, from its first bytes and the reason.
pub(crate) fn stranger(first: &[u8], expects_tls: bool, reason: &TransportReason) -> Stranger {
    const HTTP: [&[u8]; 8] =
        [b"GET ", b"POST ", b"HEAD ", b"PUT ", b"OPTIONS ", b"DELETE ", b"CONNECT ", b"PRI "];
    let http = HTTP.iter().any(|method| {
        let length = method.len().min(first.len());
        length > 2 && first[..length] == method[..length]
    });
    let (tls, plain) = (first.starts_with(&[0x16, 0x03]), first.starts_with(b"SYMBOLON"));
    match reason {
        TransportReason::WrongKey { .. } | TransportReason::KeyExpired { .. } => Stranger::WrongKey,
        TransportReason::OwnKeyRefused | TransportReason::OwnKeyExpired => Stranger::KeyRefused,
        _ if first.is_empty() => Stranger::Silent,
        _ if http => Stranger::Http,
        _ if tls && !expects_tls => Stranger::Tls,
        _ if plain && expects_tls => Stranger::PlainTcp,
        TransportReason::Closed | TransportReason::TimedOut(_) => Stranger::Silent,
        _ => Stranger::OtherProtocol,
    }
}
