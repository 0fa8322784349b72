//! A hook for the test that searches a process's memory for secrets (feature `watch`); without the
//! feature it does nothing.
//!
//! The test must know what to search for, but must not leave copies of it in the memory it
//! searches. So each secret is written to a pipe when it is made, masked with [`MASK`], byte by
//! byte.

/// The value that each byte of a record is XORed with.
pub const MASK: u8 = 0xa5;

/// The size of a record: 16 bytes for a name, padded with zeros, and 16 bytes of the secret,
/// masked.
pub const RECORD: usize = 32;

#[cfg(feature = "watch")]
static PIPE: std::sync::OnceLock<std::sync::Mutex<std::fs::File>> = std::sync::OnceLock::new();

/// Writes secrets to this file from now on.
#[cfg(feature = "watch")]
pub fn start(pipe: std::fs::File) {
    PIPE.set(std::sync::Mutex::new(pipe)).expect("started once");
}

/// Writes every 16 bytes of a secret, under a name of at most 16 bytes. Omits remaining bytes, and
/// groups of 16 with few different bytes, which would be found everywhere.
#[cfg(feature = "watch")]
#[inline(never)]
pub fn tell(name: &str, secret: &[u8]) {
    use std::io::Write;

    let Some(pipe) = PIPE.get() else { return };
    for bytes in secret.as_chunks::<16>().0 {
        let mut record = [0; RECORD];
        record[..name.len()].copy_from_slice(name.as_bytes());
        for (masked, byte) in record[16..].iter_mut().zip(bytes) {
            // This copies one byte at a time: 16 at once would be in a register, and perhaps on the
            // stack.
            *masked = std::hint::black_box(byte ^ MASK);
        }
        let mut seen = record[16..].to_vec();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() >= 8 {
            let mut pipe = pipe.lock().expect("nothing panics under this lock");
            pipe.write_all(&record).expect("the test reads the pipe to its end");
        }
    }
}

/// The name for a value that a protocol has opened, so that it is no longer secret.
pub const OPENED: &str = "opened";

/// Reports that a protocol has opened these secrets to the peer, so that they need not be wiped.
pub fn tell_opened(secret: &[u8]) {
    tell(OPENED, secret);
}

/// What a search looks up at all: a set of patterns of 16 bytes, by their last bits. It is here, as
/// tests build this crate with optimisation, and the search looks at each byte of a process.
#[cfg(feature = "watch")]
#[derive(Debug)]
pub struct Filter {
    bits: Vec<u64>,
}

/// Lets no pattern pass.
#[cfg(feature = "watch")]
impl Default for Filter {
    fn default() -> Filter {
        Filter { bits: vec![0; 1 << (Filter::WIDTH - 6)] }
    }
}

#[cfg(feature = "watch")]
impl Filter {
    const WIDTH: u32 = 20;

    fn place(pattern: u128) -> (usize, u32) {
        let bit = pattern as u32 & ((1 << Filter::WIDTH) - 1);
        (bit as usize / 64, bit % 64)
    }

    /// Lets a pattern pass, a number in little-endian order.
    pub fn add(&mut self, pattern: u128) {
        let (word, bit) = Filter::place(pattern);
        self.bits[word] |= 1 << bit;
    }

    /// Returns each place whose 16 bytes pass, and these.
    pub fn passed(&self, memory: &[u8]) -> Vec<(usize, u128)> {
        let number = |bytes: &[u8]| u128::from_le_bytes(bytes.try_into().expect("16 bytes"));
        let patterns = memory.windows(16).map(number);
        let passes = |pattern| {
            let (word, bit) = Filter::place(pattern);
            self.bits[word] >> bit & 1 == 1
        };
        (0..).zip(patterns).filter(|(_, pattern)| passes(*pattern)).collect()
    }
}

/// Does nothing.
#[cfg(not(feature = "watch"))]
#[inline(always)]
pub fn tell(_: &str, _: &[u8]) {}
