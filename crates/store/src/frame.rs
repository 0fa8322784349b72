//! Section files: a header, then frames. Each frame is checked (and decrypted) before any byte of
//! it is released.
//!
//! ```text
//! header   magic 8 · format 4 · sealing 4 · store 16 · item 16 · section 4 · frame size 4 ·
//!          salt 32 · tag 32
//! frame    frame-size bytes (the last one fewer, and at least one frame) · tag
//! ```
//! Numbers are little-endian. The keys of a file are derived from the store's root key and all
//! header fields before the tag, so a frame fits one position in one file of one item of one store.
//! Every file has a fresh salt, so keys never repeat even if an item is begun twice. The nonce of a
//! frame contains its index and whether it is the last one: swapped, repeated or missing frames,
//! even at the end, are detected.
//!
//! Without protection the root key is public and a tag is a keyed BLAKE3 hash: it detects damage
//! and mistakes, not forgery. With protection frames are sealed with ChaCha20-Poly1305.
//! (AES-256-GCM is one and a half times as fast with hardware support, but far slower or not
//! constant-time without it. Both are faster than a disk.)

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit};
use symbolon_primitives::stack::{self, ShallowGuard};
use symbolon_primitives::{Secret, watch};
use zeroize::{Zeroize, Zeroizing};

use crate::ItemId;
use crate::keys::RootKey;

/// The length of a section file's header, in bytes.
pub const HEADER: usize = FIELDS + 32;
/// The length of the header without its tag.
const FIELDS: usize = 88;
const MAGIC: [u8; 8] = *b"symbstor";
/// The format of section files that this program writes and reads.
const FORMAT: u32 = 1;

/// How the frames of a file are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealing {
    /// A checksum of 32 bytes.
    Checksum,
    /// Encryption with a tag of 16 bytes.
    Encryption,
}

impl Sealing {
    /// Returns the number of bytes that sealing adds to a frame.
    pub const fn overhead(self) -> usize {
        match self {
            Sealing::Checksum => 32,
            Sealing::Encryption => 16,
        }
    }
}

/// The header of a section file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// How its frames are protected.
    pub sealing: Sealing,
    /// The store it belongs to.
    pub store: [u8; 16],
    /// The item it belongs to.
    pub item: ItemId,
    /// Which section of the item it is.
    pub section: u32,
    /// The size of its frames, in bytes, without their tags.
    pub frame: u32,
    /// Fresh for every file.
    pub salt: [u8; 32],
}

impl Header {
    fn fields(&self) -> [u8; FIELDS] {
        let sealing: u32 = match self.sealing {
            Sealing::Checksum => 0,
            Sealing::Encryption => 1,
        };
        let mut out = [0; FIELDS];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        out[12..16].copy_from_slice(&sealing.to_le_bytes());
        out[16..32].copy_from_slice(&self.store);
        out[32..48].copy_from_slice(&self.item.0);
        out[48..52].copy_from_slice(&self.section.to_le_bytes());
        out[52..56].copy_from_slice(&self.frame.to_le_bytes());
        out[56..].copy_from_slice(&self.salt);
        out
    }

    /// Decodes a header. [`FileKeys::expects`] checks its tag.
    ///
    /// # Errors
    /// The bytes are not a header in the format of this program.
    pub fn decode(bytes: &[u8; HEADER]) -> Result<Self, &'static str> {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let array = |at: usize| -> [u8; 16] { std::array::from_fn(|i| bytes[at + i]) };
        if bytes[..8] != MAGIC {
            return Err("this is not a file of a store");
        }
        if word(8) != FORMAT {
            return Err("the file has a format that this program does not know");
        }
        let sealing = match word(12) {
            0 => Sealing::Checksum,
            1 => Sealing::Encryption,
            _ => return Err("the file is protected in a way that this program does not know"),
        };
        if !crate::meta::FRAMES.contains(&word(52)) {
            return Err("the file has frames of an impossible size");
        }
        Ok(Header {
            sealing,
            store: array(16),
            item: ItemId(array(32)),
            section: word(48),
            frame: word(52),
            salt: std::array::from_fn(|i| bytes[56 + i]),
        })
    }
}

/// The keys of one section file, derived from the store's root key and the file's header.
pub struct FileKeys {
    frames: Secret<[u8; 32]>,
    /// Present if and only if the file is encrypted.
    cipher: Option<Box<ChaCha20Poly1305>>,
    /// The tag of the header, which nobody can compute without the root key.
    tag: [u8; 32],
    fields: [u8; FIELDS],
}

impl FileKeys {
    /// Derives the keys of the file with this header.
    pub fn new(root: &RootKey, header: &Header) -> Self {
        // Hashes and ciphers leave keys on the stack. Values built there later may carry such bytes
        // to the heap, in the unused part of an enum, before the end of a session wipes the stack.
        stack::wiped(|| Self::derive(root, header))
    }

    fn derive(root: &RootKey, header: &Header) -> Self {
        let fields = header.fields();
        let mut hasher = blake3::Hasher::new_derive_key("symbolon store section file v1");
        hasher.update(root.bytes());
        hasher.update(&fields);
        let mut output = Zeroizing::new([0; 64]);
        let mut reader = hasher.finalize_xof();
        reader.fill(&mut *output);
        reader.zeroize();
        hasher.zeroize();
        let mut frames = Secret::new([0; 32]);
        frames.copy_from_slice(&output[..32]);
        watch::tell("key of a file", &*frames);
        let mut tag = [0; 32];
        tag.copy_from_slice(&output[32..]);
        let cipher = match header.sealing {
            Sealing::Checksum => None,
            Sealing::Encryption => ChaCha20Poly1305::new_from_slice(&*frames).ok().map(Box::new),
        };
        FileKeys { frames, cipher, tag, fields }
    }

    /// Returns the header as stored in the file.
    pub fn header(&self) -> [u8; HEADER] {
        let mut out = [0; HEADER];
        out[..FIELDS].copy_from_slice(&self.fields);
        out[FIELDS..].copy_from_slice(&self.tag);
        out
    }

    /// Returns whether `header` is the header that these keys were derived for, with the right tag.
    pub fn expects(&self, header: &[u8; HEADER]) -> bool {
        // The comparison is constant-time, so that a tag cannot be guessed byte by byte.
        let wrong = self.header().iter().zip(header).fold(0, |sum, (a, b)| sum | (a ^ b));
        wrong == 0
    }

    fn nonce(index: u64, last: bool) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&index.to_le_bytes());
        nonce[8] = u8::from(last);
        nonce
    }

    fn checksum(&self, index: u64, last: bool, bytes: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.frames);
        hasher.update(&Self::nonce(index, last));
        hasher.update(bytes);
        hasher.finalize()
    }

    /// Seals a frame in place, into its form in the file.
    pub fn seal(&self, index: u64, last: bool, frame: &mut Vec<u8>) -> Result<(), &'static str> {
        let _guard = ShallowGuard;
        self.seal_on_stack(index, last, frame)
    }

    /// Not inlined, so that its stack frame is among what is wiped.
    #[inline(never)]
    fn seal_on_stack(
        &self,
        index: u64,
        last: bool,
        frame: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        match &self.cipher {
            None => {
                let tag = self.checksum(index, last, frame);
                frame.extend_from_slice(tag.as_bytes());
            }
            Some(cipher) => {
                let nonce = Self::nonce(index, last).into();
                let tag = cipher
                    .encrypt_inout_detached(&nonce, &[], frame.as_mut_slice().into())
                    .map_err(|_| "the frame is too long")?;
                frame.extend_from_slice(&tag);
            }
        }
        Ok(())
    }

    /// Checks a frame as stored in the file, and restores its plaintext in place, without the tag.
    ///
    /// # Errors
    /// It is not this frame of this file. The content of `frame` is then meaningless.
    pub fn open(&self, index: u64, last: bool, frame: &mut Vec<u8>) -> Result<(), &'static str> {
        let _guard = ShallowGuard;
        self.open_on_stack(index, last, frame)
    }

    /// Not inlined, so that its stack frame is among what is wiped.
    #[inline(never)]
    fn open_on_stack(
        &self,
        index: u64,
        last: bool,
        frame: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        const WRONG: &str = "the frame is damaged, or not the one that belongs here";
        let overhead = if self.cipher.is_some() { Sealing::Encryption } else { Sealing::Checksum };
        let length = frame.len().checked_sub(overhead.overhead()).ok_or(WRONG)?;
        let (bytes, tag) = frame.split_at_mut(length);
        match &self.cipher {
            None => {
                let found: [u8; 32] = (&*tag).try_into().map_err(|_| WRONG)?;
                // `Hash` compares in constant time.
                if self.checksum(index, last, bytes) != blake3::Hash::from_bytes(found) {
                    return Err(WRONG);
                }
            }
            Some(cipher) => {
                let nonce = Self::nonce(index, last).into();
                let tag = (&*tag).try_into().map_err(|_| WRONG)?;
                cipher.decrypt_inout_detached(&nonce, &[], bytes.into(), tag).map_err(|_| WRONG)?;
            }
        }
        frame.truncate(length);
        Ok(())
    }
}

/// The layout of a section in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// The size of the section, in bytes.
    pub bytes: u64,
    /// The size of a frame, in bytes.
    pub frame: u32,
    pub overhead: usize,
}

impl Geometry {
    /// Returns the number of frames; at least one.
    pub fn frames(&self) -> u64 {
        self.bytes.div_ceil(u64::from(self.frame)).max(1)
    }

    /// Returns the length of the file; `None` if it exceeds 64 bits.
    pub fn file(&self) -> Option<u64> {
        let overhead = self.frames().checked_mul(self.overhead as u64)?;
        self.bytes.checked_add(overhead)?.checked_add(HEADER as u64)
    }

    /// Returns the offset of frame `index` in the file, and its length there with the tag.
    pub fn place(&self, index: u64) -> (u64, usize) {
        let frame = u64::from(self.frame);
        let start = HEADER as u64 + index * (frame + self.overhead as u64);
        let bytes = (self.bytes - index * frame).min(frame) as usize;
        (start, bytes + self.overhead)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(sealing: Sealing) -> Header {
        let (store, item, salt) = ([1; 16], ItemId([2; 16]), [3; 32]);
        Header { sealing, store, item, section: 4, frame: 64, salt }
    }

    fn keys(header: &Header) -> FileKeys {
        FileKeys::new(&RootKey::derive(b"secret", &header.store), header)
    }

    #[test]
    fn the_format_is_pinned() {
        // Later versions must read today's files: if these digests change, change the format
        // number.
        let digest = |sealing| {
            let keys = keys(&header(sealing));
            let mut file = keys.header().to_vec();
            let mut frame = b"content".to_vec();
            keys.seal(7, true, &mut frame).unwrap();
            file.extend(frame);
            blake3::hash(&file).to_hex()[..16].to_string()
        };
        assert_eq!(digest(Sealing::Checksum), "be9092ed05d7ddf6");
        assert_eq!(digest(Sealing::Encryption), "a87a5ce66db261a1");
    }

    #[test]
    fn a_frame_fits_one_place_only() {
        for sealing in [Sealing::Checksum, Sealing::Encryption] {
            let right = header(sealing);
            let mut sealed = b"content".to_vec();
            keys(&right).seal(7, false, &mut sealed).unwrap();
            assert_eq!(sealed.len(), 7 + sealing.overhead());
            let fits = |keys: &FileKeys, index, last| {
                let mut frame = sealed.clone();
                keys.open(index, last, &mut frame).is_ok_and(|()| frame == b"content")
            };
            assert!(fits(&keys(&right), 7, false));
            assert!(!fits(&keys(&right), 7, true) && !fits(&keys(&right), 8, false));
            let others = [
                Header { store: [9; 16], ..right.clone() },
                Header { item: ItemId([9; 16]), ..right.clone() },
                Header { section: 9, ..right.clone() },
                Header { frame: 99, ..right.clone() },
                Header { salt: [9; 32], ..right.clone() },
            ];
            for other in others {
                assert!(!fits(&keys(&other), 7, false), "{other:?}");
                assert!(!keys(&other).expects(&keys(&right).header()));
            }
            let stranger = FileKeys::new(&RootKey::derive(b"another", &right.store), &right);
            assert!(!fits(&stranger, 7, false));
            assert!(!stranger.expects(&keys(&right).header()));
            for at in 0..sealed.len() {
                let mut frame = sealed.clone();
                frame[at] ^= 1;
                assert!(keys(&right).open(7, false, &mut frame).is_err(), "changed at {at}");
            }
            for length in 0..sealed.len() {
                let mut frame = sealed[..length].to_vec();
                assert!(keys(&right).open(7, false, &mut frame).is_err(), "cut to {length}");
            }
        }
    }

    /// Every bit of a header's tag counts, even where two differences would cancel in a sum.
    #[test]
    fn every_bit_of_a_header_s_tag_counts() {
        let keys = keys(&header(Sealing::Checksum));
        let right = keys.header();
        assert!(keys.expects(&right));
        for one in 0..HEADER {
            let mut changed = right;
            changed[one] ^= 1;
            assert!(!keys.expects(&changed), "byte {one}");
            let mut changed = right;
            changed[one] ^= 1;
            changed[(one + 1) % HEADER] ^= 1;
            assert!(!keys.expects(&changed), "byte {one} and the next");
        }
    }

    #[test]
    fn headers_are_read_back() {
        for sealing in [Sealing::Checksum, Sealing::Encryption] {
            let header = header(sealing);
            let bytes = keys(&header).header();
            assert_eq!(Header::decode(&bytes), Ok(header.clone()));
            assert!(keys(&header).expects(&bytes));
        }
    }

    proptest! {
        #[test]
        fn frames_lie_one_after_another(bytes in 0..5000_u64, frame in 16..400_u32) {
            let geometry = Geometry { bytes, frame, overhead: 16 };
            let mut at = HEADER as u64;
            let mut content = 0;
            for index in 0..geometry.frames() {
                let (start, length) = geometry.place(index);
                prop_assert_eq!(start, at);
                at += length as u64;
                content += length as u64 - 16;
            }
            prop_assert_eq!(Some(at), geometry.file());
            prop_assert_eq!(content, bytes);
        }
    }

    #[test]
    fn impossible_lengths_overflow_nothing() {
        let geometry = Geometry { bytes: u64::MAX, frame: 16, overhead: 32 };
        assert_eq!(geometry.file(), None);
    }
}
