//! Faults of a message in transit, including its header, from a broken or hostile network.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use symbolon_transport::adversary::Verdict::{self, Cut, GoOn};
use symbolon_transport::adversary::{Tamper, tampers};
use symbolon_transport::tag;

/// The size of a header in bytes: the payload's length, then the kind's tag, both little-endian.
pub const HEADER: usize = 8;

/// How long [`Fault::Delayed`] holds a message back: far below any time-out.
const DELAY: Duration = Duration::from_millis(30);

/// What happens to one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is dropped.
    Dropped,
    /// Its second half is missing; the next message takes its place.
    Truncated,
    /// Bytes without a header follow it.
    Extended,
    /// Its last byte is missing, and its header is consistent.
    Short,
    /// Only a consistent header is left of it.
    Empty,
    /// It has one more byte, and its header is consistent.
    Long,
    /// It arrives twice.
    Doubled,
    /// It and the next one are swapped.
    Swapped,
    /// It arrives late, but in time.
    Delayed,
    /// Other bytes of the same length follow the same header.
    Garbage,
    /// One bit is flipped, by this number modulo the number of bits; the header's come first.
    Flipped(usize),
    /// The connection ends in place of it.
    Cut,
    /// The connection ends in the middle of it.
    CutInside,
    /// All of the sender's connections end before their next message, starting with this one.
    Death,
    /// Neither it nor anything later arrives, but the connection stays open.
    Silence,
}

impl Fault {
    /// Every kind of fault; of flipped bits, two in the header and some after it.
    pub const ALL: [Fault; 20] = [
        Fault::Dropped,
        Fault::Truncated,
        Fault::Extended,
        Fault::Short,
        Fault::Empty,
        Fault::Long,
        Fault::Doubled,
        Fault::Swapped,
        Fault::Delayed,
        Fault::Garbage,
        Fault::Flipped(3),
        Fault::Flipped(45),
        Fault::Flipped(64),
        Fault::Flipped(311),
        Fault::Flipped(4_099),
        Fault::Flipped(usize::MAX / 3),
        Fault::Cut,
        Fault::CutInside,
        Fault::Death,
        Fault::Silence,
    ];

    /// Returns whether it only ends connections, so nobody may be accused of anything.
    pub fn is_innocent(self) -> bool {
        matches!(
            self,
            Fault::Delayed | Fault::Cut | Fault::CutInside | Fault::Death | Fault::Silence
        )
    }

    /// Returns whether waiting may be all that a party can do about it. Nobody needs to wait for
    /// others to end.
    pub fn needs_time_out(self) -> bool {
        matches!(
            self,
            Fault::Dropped
                | Fault::Truncated
                | Fault::Swapped
                | Fault::Silence
                // The header may announce a longer hello than arrives.
                | Fault::Flipped(_)
        )
    }

    /// Returns whether the receiver of such a message cannot end successfully. A doubled message
    /// did arrive. There are bits whose change has no effect, such as a right guess. And nobody
    /// reads the payload of messages that only take time.
    pub fn must_be_noticed(self, message: Message) -> bool {
        match self {
            Fault::Extended | Fault::Doubled | Fault::Delayed | Fault::Flipped(_) => false,
            Fault::Swapped => !message.is_filler(),
            Fault::Garbage => message.payload > 0 && !message.is_filler(),
            Fault::Short | Fault::Empty => message.payload > 0,
            _ => true,
        }
    }

    /// Returns whether messages of the right length arrive in the right order, with other bytes.
    pub fn keeps_framing(self) -> bool {
        matches!(self, Fault::Garbage | Fault::Swapped)
    }

    /// Returns whether the receiver sees from the header alone that this is not its message.
    pub fn breaks_framing(self, Message { payload, .. }: Message) -> bool {
        match self {
            Fault::Long => true,
            Fault::Short | Fault::Empty => payload > 0,
            Fault::Flipped(bit) => bit % (8 * (HEADER + payload)) < 8 * HEADER,
            _ => false,
        }
    }
}

/// A message, according to its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The tag of its kind.
    pub tag: u32,
    /// The payload's size in bytes.
    pub payload: usize,
}

impl Message {
    pub fn of(bytes: &[u8]) -> Message {
        let tag = u32::from_le_bytes(bytes[4..HEADER].try_into().expect("four bytes"));
        Message { tag, payload: bytes.len() - HEADER }
    }

    /// Returns whether the length of such a message is not known beforehand.
    pub fn has_any_length(self) -> bool {
        self.is_hello() || self.tag == tag("stored items")
    }

    /// Returns whether this is the hello, which parties compare as text.
    pub fn is_hello(self) -> bool {
        self.tag == tag("handshake hello")
    }

    /// Returns whether this is a message that measures a link.
    fn is_filler(self) -> bool {
        ["link ping", "link pong", "link burst"].iter().any(|kind| self.tag == tag(kind))
    }
}

/// The state of a sender's fault, shared by all of its connections.
#[derive(Clone, Default)]
pub struct Struck {
    dead: Arc<AtomicBool>,
    message: Arc<Mutex<Option<Message>>>,
}

impl Struck {
    /// Returns the faulty message, if there was one.
    pub fn message(&self) -> Option<Message> {
        *self.message.lock().unwrap()
    }
}

/// Applies `fault` to message number `at` of one direction; never for `None`.
pub fn tamper(fault: Fault, at: Option<usize>, struck: Struck) -> Box<dyn Tamper> {
    let mut reorder = at.map(tampers::reorder_at);
    Box::new(move |index, bytes: Vec<u8>| {
        if struck.dead.load(Ordering::SeqCst) {
            return Cut(vec![]);
        }
        if at == Some(index) && Message::of(&bytes).tag != tag("symbolon abort notice") {
            *struck.message.lock().unwrap() = Some(Message::of(&bytes));
        }
        match (&mut reorder, at) {
            (Some(reorder), _) if fault == Fault::Swapped => reorder.message(index, bytes),
            (_, Some(at)) if index == at => strike(fault, bytes, &struck.dead),
            (_, Some(at)) if index > at && fault == Fault::Silence => GoOn(vec![]),
            _ => GoOn(vec![bytes]),
        }
    })
}

fn strike(fault: Fault, mut bytes: Vec<u8>, dead: &AtomicBool) -> Verdict {
    match fault {
        Fault::Dropped | Fault::Silence => return GoOn(vec![]),
        Fault::Doubled => return GoOn(vec![bytes.clone(), bytes]),
        Fault::Cut => return Cut(vec![]),
        Fault::Death => {
            dead.store(true, Ordering::SeqCst);
            return Cut(vec![]);
        }
        Fault::CutInside => {
            bytes.truncate(bytes.len() / 2);
            return Cut(vec![bytes]);
        }
        Fault::Truncated => bytes.truncate(bytes.len() / 2),
        Fault::Extended => bytes.extend([0x5a; 5]),
        Fault::Short if bytes.len() > HEADER => {
            bytes.pop();
            reframe(&mut bytes);
        }
        Fault::Empty => {
            bytes.truncate(HEADER);
            reframe(&mut bytes);
        }
        Fault::Long => {
            bytes.push(0x5a);
            reframe(&mut bytes);
        }
        Fault::Garbage => {
            for (byte, i) in bytes[HEADER..].iter_mut().zip(0u64..) {
                *byte ^= 1 | (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8;
            }
        }
        Fault::Flipped(bit) => {
            let bit = bit % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        Fault::Delayed => std::thread::sleep(DELAY),
        // There is nothing to shorten; and a swap needs two messages.
        Fault::Short | Fault::Swapped => {}
    }
    GoOn(vec![bytes])
}

/// Sets the header's length to that of the payload.
fn reframe(bytes: &mut [u8]) {
    let length = (bytes.len() - HEADER) as u32;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
}
