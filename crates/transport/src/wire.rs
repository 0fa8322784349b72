//! The wire format of a message: an eight-byte header, then the payload.
//!
//! ```text
//! 0..4  payload length, u32 little-endian
//! 4..8  tag: 32-bit FNV-1a of the message's kind, little-endian
//! 8..   payload
//! ```
//! Both sides know from public parameters which kind and length come next. The header carries no
//! information; it turns a mistake or a cheat into a clear error at the first affected message.

/// The size of a message's header, in bytes.
pub(crate) const HEADER: usize = 8;

/// The maximum length of an abort notice, in bytes.
pub(crate) const ABORT_MAX: usize = 200;

/// Returns the tag of a message kind: 32-bit FNV-1a of its name.
pub const fn tag(kind: &str) -> u32 {
    let bytes = kind.as_bytes();
    let mut hash = 0x811c_9dc5_u32;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
}

/// A message's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of payload bytes that the sender claims will follow.
    pub len: u32,
    /// The tag of its kind.
    pub tag: u32,
}

impl Header {
    /// Encodes the header.
    pub fn encode(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&self.len.to_le_bytes());
        bytes[4..].copy_from_slice(&self.tag.to_le_bytes());
        bytes
    }

    /// Decodes a header; any eight bytes are valid.
    pub fn decode(bytes: &[u8; HEADER]) -> Self {
        let [a, b, c, d, e, f, g, h] = *bytes;
        Header { len: u32::from_le_bytes([a, b, c, d]), tag: u32::from_le_bytes([e, f, g, h]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_vectors() {
        // From the test vectors of the FNV reference distribution.
        assert_eq!(tag(""), 0x811c_9dc5);
        assert_eq!(tag("a"), 0xe40c_292c);
        assert_eq!(tag("foobar"), 0xbf9c_f968);
    }

    #[test]
    fn header_round_trip() {
        let header = Header { len: 0x0102_0304, tag: 0xa0b0_c0d0 };
        assert_eq!(header.encode(), [4, 3, 2, 1, 0xd0, 0xc0, 0xb0, 0xa0]);
        assert_eq!(Header::decode(&header.encode()), header);
    }
}
