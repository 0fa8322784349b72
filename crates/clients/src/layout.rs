//! What a circuit's clients and parties must know, and what they do with it.

use symbolon_circuit::{Circuit, ClientPorts, Field, Input, PartyId, parse_value};
use symbolon_primitives::BitVec;
use zeroize::Zeroizing;

use crate::answer::{Opened, Receipt};
use crate::blocks::{to_blocks, to_bytes};
use crate::digest::Hashes;
use crate::error::ClientError;
use crate::share::{BLINDING, Share, Submission};

const BLOCK: usize = 64;

/// The layout of clients' messages in one circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    ports: ClientPorts,
}

impl Layout {
    /// Returns the layout of a circuit, if it has clients.
    pub fn of(circuit: &Circuit) -> Option<Layout> {
        ClientPorts::of(circuit).map(|ports| Layout { ports })
    }

    /// Returns the layout with these ports.
    ///
    /// # Errors
    /// When there are no clients, fewer than two parties, or values of no bits or too many.
    pub fn new(ports: ClientPorts) -> Result<Layout, ClientError> {
        let wrong = |reason: &str| Err(ClientError::Layout(reason.into()));
        if ports.clients == 0 || ports.parties < 2 {
            return wrong("there are no clients, or fewer than two parties");
        }
        if !ports.is_small() {
            return wrong("clients give no bits, or more than 2^20");
        }
        Ok(Layout { ports })
    }

    /// Returns the names and types of values and answers, and how many clients and parties there
    /// are.
    pub fn ports(&self) -> &ClientPorts {
        &self.ports
    }

    /// Returns the bytes of a share.
    pub fn share_len(&self) -> usize {
        BLINDING + 8 * self.ports.share_blocks() as usize
    }

    /// Returns the bytes of an answer; 0 if there are none.
    pub fn answer_len(&self) -> usize {
        match self.ports.answer_blocks() as usize {
            0 => 0,
            blocks => 8 * (blocks + 1),
        }
    }

    /// Returns the bytes of a receipt.
    pub fn receipt_len(&self) -> usize {
        match self.ports.answer_blocks() as usize {
            0 => 0,
            blocks => 8 * (blocks + 2),
        }
    }

    /// Returns a client's values as bits, from names and texts in the
    /// [forms of all values](symbolon_circuit::value). If there is one value, its name may be empty.
    ///
    /// # Errors
    /// [`ClientError::Value`].
    pub fn values(&self, given: &[(&str, &str)]) -> Result<BitVec, ClientError> {
        let wrong = |reason: String| Err(ClientError::Value(reason));
        let all = &self.ports.values;
        let is = |given: &str, name: &str| given == name || given.is_empty() && all.len() == 1;
        for (i, (name, _)) in given.iter().enumerate() {
            if !all.iter().any(|(known, _)| is(name, known)) {
                let known: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
                return wrong(format!(
                    "clients give no value of that name, but {}",
                    known.join(", ")
                ));
            }
            if given[..i].iter().any(|(earlier, _)| is(earlier, name) || is(name, earlier)) {
                return wrong(format!("`{name}` is given twice"));
            }
        }
        let mut bits = BitVec::zeros(0);
        for (name, ty) in all {
            let Some((_, text)) = given.iter().find(|(given, _)| is(given, name)) else {
                return wrong(format!("no value for `{name}` ({ty})"));
            };
            let input = Input { name: name.clone(), ty: ty.clone(), owner: PartyId::new(0) };
            let value = parse_value(&input, text);
            let value =
                Zeroizing::new(value.map_err(|error| ClientError::Value(error.to_string()))?);
            bits.extend_from(&BitVec::from_bools(&value));
        }
        Ok(bits)
    }

    /// Makes the shares of a client's values, given as bits in the order of the layout.
    ///
    /// # Errors
    /// When there are not as many bits as the values have, or the system gives no random numbers.
    pub fn encode(&self, values: &BitVec) -> Result<Submission, ClientError> {
        self.encode_with(values, &mut |bytes| {
            getrandom::fill(bytes).map_err(|_| ClientError::Random)
        })
    }

    /// Makes shares like [`encode`](Self::encode) with random bytes from elsewhere: for tests and
    /// for what must be repeated. The bytes are asked for in this order: s, the pad and the keys
    /// together if there are answers, each share but the last, the random bytes of the last share.
    ///
    /// # Errors
    /// Those of [`encode`](Self::encode).
    pub fn encode_with(
        &self,
        values: &BitVec,
        random: &mut dyn FnMut(&mut [u8]) -> Result<(), ClientError>,
    ) -> Result<Submission, ClientError> {
        let expected = self.ports.value_bits() as usize;
        if values.len() != expected {
            let reason = format!("a client gives {expected} bits, not {}", values.len());
            return Err(ClientError::Value(reason));
        }
        let mut s = Zeroizing::new([0; 8]);
        random(&mut *s)?;
        let s = Zeroizing::new(u64::from_le_bytes(*s));
        let mut receipt = Zeroizing::new(vec![0; self.receipt_len()]);
        if !receipt.is_empty() {
            random(&mut receipt)?;
        }
        clear_beyond(&mut receipt, self.ports.answer_bits() as usize);
        let mut blocks = Zeroizing::new(Vec::with_capacity(self.ports.share_blocks() as usize));
        blocks.extend_from_slice(values.words());
        let tag = Zeroizing::new(Field::BLOCKS.amd_tag(&blocks, *s));
        blocks.extend([*s, *tag]);
        blocks.extend_from_slice(&to_blocks(&receipt));
        let mut rest = to_bytes(&blocks);
        let mut shares = Vec::with_capacity(usize::from(self.ports.parties));
        for _ in 1..self.ports.parties {
            let mut share = Zeroizing::new(vec![0; self.share_len()]);
            random(&mut share)?;
            rest.iter_mut().zip(&share[BLINDING..]).for_each(|(rest, byte)| *rest ^= byte);
            shares.push(Share::new(share));
        }
        let mut last = Zeroizing::new(vec![0; self.share_len()]);
        random(&mut last[..BLINDING])?;
        last[BLINDING..].copy_from_slice(&rest);
        shares.push(Share::new(last));
        let hashes = Hashes::of(shares.iter().map(Share::as_bytes));
        Ok(Submission { shares, hashes, receipt: Receipt::new(receipt) })
    }

    /// Takes a party's share, as it came, if it is the one that the client made.
    ///
    /// # Errors
    /// When the bytes have another length, or do not fit the hash of this party's share.
    pub fn accept(
        &self,
        party: PartyId,
        hashes: &Hashes,
        share: &[u8],
    ) -> Result<Share, ClientError> {
        let expected = self.share_len();
        if share.len() != expected {
            return Err(ClientError::Length { what: "share", expected, given: share.len() });
        }
        if hashes.parties() != usize::from(self.ports.parties) || !hashes.fits(party, share) {
            return Err(ClientError::Hash);
        }
        Ok(Share::new(Zeroizing::new(share.to_vec())))
    }

    /// Returns the bits of a party's input [`ClientPorts::shares`], from its shares of the clients
    /// in their order, which all parties have to agree on. `None` makes a client absent, as do
    /// places that are left over.
    ///
    /// # Errors
    /// When there are more shares than clients.
    pub fn input(&self, shares: &[Option<&Share>]) -> Result<BitVec, ClientError> {
        let clients = self.ports.clients as usize;
        if shares.len() > clients {
            return Err(ClientError::Number { what: "client", number: clients });
        }
        let width = self.ports.share_type().width() as usize;
        let mut bits = BitVec::with_capacity(clients * width);
        for share in shares.iter().copied().chain(std::iter::repeat(None)).take(clients) {
            let Some(share) = share else {
                bits.extend_from(&BitVec::zeros(width));
                continue;
            };
            let blocks = to_blocks(share.blocks());
            bits.push(true);
            let mut push = |blocks: &[u64], width: usize| {
                let mut left = width;
                for &block in blocks {
                    let some = left.min(BLOCK);
                    // Shares of bits that are always 0 do not matter.
                    bits.push_word(
                        if some < BLOCK { block & ((1 << some) - 1) } else { block },
                        some,
                    );
                    left -= some;
                }
            };
            let (values, rest) = blocks.split_at(self.ports.value_blocks() as usize);
            push(values, self.ports.value_bits() as usize);
            push(&rest[..2], 2 * BLOCK);
            if let [pad @ .., a, b] = &rest[2..] {
                push(pad, self.ports.answer_bits() as usize);
                push(&[*a, *b], 2 * BLOCK);
            }
        }
        Ok(bits)
    }

    /// Returns which clients were counted, from the output [`ClientPorts::COUNTED`]. A client of
    /// which all parties have a share, and which was not counted, was refused: it or a party did
    /// not use the shares that it made.
    pub fn counted(&self, output: &BitVec) -> Vec<bool> {
        output.to_bools()
    }

    /// Returns the answer to a client, which only it can read, from the output
    /// [`ClientPorts::ANSWERS`].
    ///
    /// # Errors
    /// When there is no such client, or the output is another one.
    pub fn answer(&self, output: &BitVec, client: usize) -> Result<Vec<u8>, ClientError> {
        let bits = self.ports.answer_bits() as usize;
        let width = bits + BLOCK;
        let clients = self.ports.clients as usize;
        if client >= clients || bits == 0 || output.len() != clients * width {
            return Err(ClientError::Number { what: "answer", number: client });
        }
        let start = client * width;
        let mut bytes = to_bytes(output.slice(start..start + bits).words()).to_vec();
        bytes.extend_from_slice(&to_bytes(output.slice(start + bits..start + width).words()));
        Ok(bytes)
    }

    /// Reads a receipt that a client kept.
    ///
    /// # Errors
    /// When the bytes have another length.
    pub fn receipt(&self, bytes: &[u8]) -> Result<Receipt, ClientError> {
        let expected = self.receipt_len();
        if bytes.len() != expected {
            return Err(ClientError::Length { what: "receipt", expected, given: bytes.len() });
        }
        Ok(Receipt::new(Zeroizing::new(bytes.to_vec())))
    }

    /// Reads an answer.
    ///
    /// Check: clients | `answer tag`, at the client: a polynomial hash of the answer
    /// under keys that it shared with its values | an answer, a pad or keys that a party changed |
    /// q / 2^64, q the power of two above the answer's blocks
    ///
    /// # Errors
    /// When it has another length, says that the client was not counted, or was changed.
    pub fn open(&self, receipt: &Receipt, answer: &[u8]) -> Result<Opened, ClientError> {
        let expected = self.answer_len();
        if answer.len() != expected || expected == 0 {
            return Err(ClientError::Length { what: "answer", expected, given: answer.len() });
        }
        if answer.iter().all(|byte| *byte == 0) {
            return Err(ClientError::NotCounted);
        }
        let (keys, answer) = (to_blocks(receipt.as_bytes()), to_blocks(answer));
        let (masked, tag) = answer.split_at(answer.len() - 1);
        let (pad, keys) = keys.split_at(masked.len());
        let opened = masked.iter().zip(pad).map(|(y, pad)| y ^ pad);
        let opened: Zeroizing<Vec<u64>> = Zeroizing::new(opened.collect());
        if Field::BLOCKS.amd_tag(&opened, keys[0]) ^ keys[1] != tag[0] {
            return Err(ClientError::Changed);
        }
        let bytes = to_bytes(&opened);
        let width = self.ports.answer_bits() as usize;
        let bits = BitVec::from_bytes(width, &bytes[..BitVec::byte_len(width)]);
        let bits = bits.ok_or(ClientError::Changed)?;
        let mut opened = Opened { answers: Vec::new(), failure: None };
        let mut start = 0;
        for (name, ty) in &self.ports.answers {
            let end = start + ty.width() as usize;
            let part = bits.slice(start..end);
            start = end;
            if name == ClientPorts::FAILURE {
                let number = part.words().first().copied().unwrap_or(0);
                opened.failure = (number != 0).then_some(number);
            } else {
                opened.answers.push((name.clone(), ty.clone(), part));
            }
        }
        Ok(opened)
    }
}

/// Clears the bits from `width` on in the last of the blocks that `width` bits fill.
fn clear_beyond(bytes: &mut [u8], width: usize) {
    let end = 8 * width.div_ceil(BLOCK);
    for (place, byte) in bytes[..end].iter_mut().enumerate() {
        let kept = width.saturating_sub(8 * place).min(8);
        *byte &= (0xffu16 >> (8 - kept)) as u8;
    }
}
