//! A man in the middle of two memory channels that works on raw messages.
//!
//! [`super::Adversary`] is a cheating party whose messages are well framed. An interposer tampers
//! with the bytes themselves, including headers, as a broken network or a hostile peer would.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use symbolon_common::PartyId;

use crate::outlet::Outlet;
use crate::pipe::{Chunk, Pipe, PipeSource};
use crate::raw::Source;
use crate::wire::{HEADER, Header};
use crate::{Channel, Meter};

/// What to do with a message: the pieces to send on, in order.
pub enum Verdict {
    /// Sends these on, and waits for the next message.
    GoOn(Vec<Vec<u8>>),
    /// Sends these on, and cuts the connection.
    Cut(Vec<Vec<u8>>),
}

/// What an interposer does to one direction.
pub trait Tamper: Send {
    /// Receives the `index`-th message (header and payload) of this direction.
    fn message(&mut self, index: usize, bytes: Vec<u8>) -> Verdict;
}

impl<F: FnMut(usize, Vec<u8>) -> Verdict + Send> Tamper for F {
    fn message(&mut self, index: usize, bytes: Vec<u8>) -> Verdict {
        self(index, bytes)
    }
}

/// Common tampers.
pub mod tampers {
    use super::Tamper;
    use super::Verdict::{Cut, GoOn};

    /// Passes everything on.
    pub fn honest() -> Box<dyn Tamper> {
        Box::new(|_, bytes| GoOn(vec![bytes]))
    }

    /// Cuts the connection instead of passing on the `n`-th message.
    pub fn cut_at(n: usize) -> Box<dyn Tamper> {
        Box::new(move |index, bytes| if index == n { Cut(vec![]) } else { GoOn(vec![bytes]) })
    }

    /// Passes on the first half of the `n`-th message, and then cuts the connection.
    pub fn truncate_at(n: usize) -> Box<dyn Tamper> {
        Box::new(move |index, mut bytes: Vec<u8>| {
            if index < n {
                return GoOn(vec![bytes]);
            }
            bytes.truncate(bytes.len() / 2);
            Cut(vec![bytes])
        })
    }

    /// Passes on the `n`-th message twice.
    pub fn duplicate_at(n: usize) -> Box<dyn Tamper> {
        Box::new(move |index, bytes: Vec<u8>| {
            GoOn(if index == n { vec![bytes.clone(), bytes] } else { vec![bytes] })
        })
    }

    /// Swaps the `n`-th message and the one after it.
    pub fn reorder_at(n: usize) -> Box<dyn Tamper> {
        let mut held = None;
        Box::new(move |index, bytes: Vec<u8>| {
            if index == n {
                held = Some(bytes);
                return GoOn(vec![]);
            }
            GoOn(std::iter::once(bytes).chain(held.take()).collect())
        })
    }

    /// Replaces the `n`-th message by other bytes of any length.
    pub fn replace_at(n: usize, with: Vec<u8>) -> Box<dyn Tamper> {
        Box::new(move |index, bytes| GoOn(vec![if index == n { with.clone() } else { bytes }]))
    }

    /// Flips one bit of the `n`-th message, counted from the header's first bit and wrapped around.
    pub fn flip_at(n: usize, bit: usize) -> Box<dyn Tamper> {
        Box::new(move |index, mut bytes: Vec<u8>| {
            if index == n {
                let bit = bit % (8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            GoOn(vec![bytes])
        })
    }
}

/// Returns two connected channels in memory, of parties `a` and `b`, with an interposer between
/// them.
pub fn interposed_pair(
    (a, meter_a): (impl Into<PartyId>, Arc<Meter>),
    (b, meter_b): (impl Into<PartyId>, Arc<Meter>),
    from_a: Box<dyn Tamper>,
    from_b: Box<dyn Tamper>,
) -> (Channel, Channel) {
    let (a, b) = (a.into(), b.into());
    let (out_a, in_a, out_b, in_b) = (Pipe::new(), Pipe::new(), Pipe::new(), Pipe::new());
    let channel = |ids: (PartyId, PartyId), out: &Arc<Pipe>, into: &Arc<Pipe>, meter| {
        let source = Box::new(PipeSource::new(into.clone()));
        Channel::new(ids, source, Outlet::direct(out.clone(), into.clone()), meter, None)
    };
    let pair = (channel((a, b), &out_a, &in_a, meter_a), channel((b, a), &out_b, &in_b, meter_b));
    for (from, to, tamper) in [(out_a, in_b, from_a), (out_b, in_a, from_b)] {
        thread::spawn(move || pass_on(PipeSource::new(from), &to, tamper));
    }
    pair
}

fn pass_on(mut source: PipeSource, to: &Pipe, mut tamper: Box<dyn Tamper>) {
    for index in 0.. {
        let Some(message) = read_message(&mut source) else { break };
        let (pieces, cut) = match tamper.message(index, message) {
            Verdict::GoOn(pieces) => (pieces, false),
            Verdict::Cut(pieces) => (pieces, true),
        };
        for piece in pieces {
            if to.push(Chunk::new(piece)).is_err() {
                return;
            }
        }
        if cut {
            break;
        }
    }
    to.end();
}

fn read_message(source: &mut PipeSource) -> Option<Vec<u8>> {
    let mut message = vec![0; HEADER];
    fill(source, &mut message)?;
    let header = Header::decode(message.first_chunk()?);
    message.resize(HEADER + header.len as usize, 0);
    fill(source, &mut message[HEADER..])?;
    Some(message)
}

fn fill(source: &mut PipeSource, mut buf: &mut [u8]) -> Option<()> {
    while !buf.is_empty() {
        let n = source.read(buf, Duration::from_secs(600)).ok()?;
        buf = &mut buf[n..];
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Culprit, Error, Hello, Result, SessionId, TransportReason, handshake};

    /// Runs a small protocol with an honest party 0: handshake, then three fixed messages from
    /// party 1.
    fn run(from_1: Box<dyn Tamper>) -> Result<Vec<u8>> {
        let (mut a, mut b) =
            interposed_pair((0, Meter::new()), (1, Meter::new()), tampers::honest(), from_1);
        a.set_timeout(Duration::from_millis(400));
        b.set_timeout(Duration::from_millis(800));
        let hello = Hello::new([0, 1]).term("circuit", "c");
        thread::scope(|scope| {
            let hello = &hello;
            scope.spawn(move || -> Result<SessionId> {
                let id = handshake(&mut b, hello)?;
                for (i, kind) in ["first", "second", "third"].into_iter().enumerate() {
                    b.send(kind, &[i as u8; 10])?;
                }
                b.flush()?;
                b.recv("done", 0)?;
                Ok(id)
            });
            handshake(&mut a, hello)?;
            let mut all = a.recv("first", 10)?;
            all.extend(a.recv("second", 10)?);
            all.extend(a.recv("third", 10)?);
            a.send("done", b"")?;
            a.close()?;
            Ok(all)
        })
    }

    #[test]
    fn honest_runs_pass() {
        assert_eq!(run(tampers::honest()).unwrap().len(), 30);
        assert_eq!(run(tampers::cut_at(5)).unwrap().len(), 30);
    }

    #[test]
    fn death_at_every_message_is_noticed() {
        for n in 0..5 {
            for tamper in [tampers::cut_at(n), tampers::truncate_at(n)] {
                let error = run(tamper).unwrap_err();
                assert_eq!(error, Error::transport(1, TransportReason::Closed), "message {n}");
            }
        }
    }

    #[test]
    fn reordered_and_duplicated_messages_are_noticed() {
        for n in 0..4 {
            for tamper in [tampers::reorder_at(n), tampers::duplicate_at(n)] {
                let error = run(tamper).unwrap_err();
                assert!(
                    matches!(error, Error::PeerMisbehaved { culprit: Culprit::Party(party), .. } if party == 1),
                    "{n}: {error}"
                );
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn flipped_headers_are_noticed(n in 0_usize..5, bit in 0_usize..64) {
            let error = run(tampers::flip_at(n, bit)).unwrap_err();
            let accused = matches!(error, Error::PeerMisbehaved { culprit: Culprit::Party(party), .. } if party == 1);
            // Only the hello's length is not known beforehand: if it grows, the rest never comes.
            let hello_length = n == 1 && bit < 32;
            prop_assert!(accused || hello_length, "{}", error);
        }

        #[test]
        fn random_bytes_never_pass(
            n in 0_usize..5,
            noise in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            prop_assert!(run(tampers::replace_at(n, noise)).is_err());
        }
    }
}
