//! Hashes of all opened tags: of this party's MACs, and of the expected MACs of the peer.

use symbolon_primitives::{Block, Challenge, PolyHash, SelectedSums, UniversalMacHash};
use zeroize::Zeroize;

use super::{entries::Records, opened::OpenedEntries, prepared::ScrambledCircuit, tag::Tag};
use crate::tinytable::options::MacLength;

/// The number of tags hashed at a time.
const PIECE: usize = 1024;

/// The hashes of some lists of tags, under the same keys.
pub(super) struct Sums<T: Tag, const LISTS: usize> {
    hash: Hash<LISTS>,
    buffers: [Vec<T>; LISTS],
}

/// The hash for tags of one word, and the hash for any tags.
enum Hash<const LISTS: usize> {
    Words(UniversalMacHash<LISTS>),
    Blocks(Box<[PolyHash; LISTS]>),
}

impl<T: Tag, const LISTS: usize> Sums<T, LISTS> {
    /// Starts the hashes at a point that the challenge determines.
    pub fn new(challenge: Challenge) -> Self {
        let mut prg = challenge.into_prg();
        let hash = match T::LENGTH {
            MacLength::Bits64 => Hash::Words(UniversalMacHash::new(&mut prg)),
            _ => {
                let chi = prg.block();
                Hash::Blocks(Box::new(std::array::from_fn(|_| PolyHash::new(chi))))
            }
        };
        Sums { hash, buffers: std::array::from_fn(|_| Vec::with_capacity(PIECE)) }
    }

    /// Adds a tag to each list.
    pub fn push(&mut self, tags: [T; LISTS]) {
        self.buffers.iter_mut().zip(tags).for_each(|(buffer, tag)| buffer.push(tag));
        if self.room() == 0 {
            self.flush();
        }
    }

    fn room(&self) -> usize {
        PIECE - self.buffers[0].len()
    }

    fn flush(&mut self) {
        match &mut self.hash {
            Hash::Words(hash) => {
                let words = |buffer| T::as_words(buffer).expect("tags of one word are words");
                hash.update(self.buffers.each_ref().map(|buffer| words(&buffer[..])));
            }
            Hash::Blocks(hashes) => {
                for (hash, buffer) in hashes.iter_mut().zip(&self.buffers) {
                    let mut blocks: Vec<Block> = buffer.iter().map(|tag| tag.widen()).collect();
                    hash.update(&blocks);
                    blocks.zeroize();
                }
            }
        }
        self.buffers.iter_mut().for_each(Vec::clear);
    }

    /// Returns the hashes.
    ///
    /// Paper: DNNR17, Fig. 5, 5
    pub fn finish(mut self) -> [Block; LISTS] {
        self.flush();
        self.buffers.iter_mut().for_each(Zeroize::zeroize);
        match self.hash {
            Hash::Words(hash) => hash.finish(),
            Hash::Blocks(hashes) => hashes.map(PolyHash::finish),
        }
    }
}

/// The hashes of this party's MACs, and of the expected MACs of the peer.
impl<T: Tag> Sums<T, 2> {
    /// Adds the tags of the opened entries of AND gates, by position, with `delta` added to the
    /// peer's tags where its bit in `theirs` is set. AND gates come before look-ups.
    ///
    /// Paper: DNNR17, Fig. 5, 5 | MACs of all opened bits
    pub fn gates(
        &mut self,
        ready: &ScrambledCircuit<T>,
        opened: &OpenedEntries,
        theirs: &[u64],
        delta: T,
    ) {
        let rows = ready.gates.each_ref();
        let rows = [rows.map(|rows| &rows.macs[..]), rows.map(|rows| &rows.keys[..])];
        let bits = [opened.c.words(), opened.d.words()];
        if let (Hash::Words(hash), [[Some(p), Some(v), Some(u)], [Some(q), Some(w), Some(x)]]) =
            (&mut self.hash, rows.map(|rows| rows.map(T::as_words)))
            && let Some(&[delta]) = T::as_words(&[delta])
        {
            let tags = SelectedSums { rows: [[p, v, u], [q, w, x]], bits, flips: theirs, delta };
            match ready.shared {
                false => hash.update_selected(tags, opened.c.len()),
                true => each_for_all(hash, tags, ready.executions),
            }
            return;
        }
        let bit = |words: &[u64], k: usize| words[k / 64] >> (k % 64) & 1 == 1;
        let times = ready.executions / ready.stock();
        for k in 0..opened.c.len() {
            let [mac, key] = rows.map(|rows| {
                let [row, beta, alpha] = rows.map(|row| row[k / times]);
                row ^ beta.select(bit(bits[0], k)) ^ alpha.select(bit(bits[1], k))
            });
            self.push([mac, key ^ delta.select(bit(theirs, k))]);
        }
    }

    /// Adds the tags of the opened entries of look-ups, with the product of Δ and the peer's entry
    /// added to the peer's tag.
    ///
    /// Paper: DNNR17, Fig. 5, 5
    pub fn entries(&mut self, ready: &ScrambledCircuit<T>, opened: &OpenedEntries, delta: T) {
        let program = &ready.program;
        let widest = (0..program.lookups()).map(|number| ready.records(number).width).max();
        let multiples = Multiples::of(delta, widest.unwrap_or(0));
        let mut entries = &opened.entries[..];
        for (number, indices) in opened.indices.chunks(ready.executions).enumerate() {
            let records = ready.records(number);
            let (sent, rest) = entries.split_at(records.width * ready.executions);
            entries = rest;
            match multiples.single() {
                Some(table) => {
                    self.records(indices, records, sent, |entry| table[usize::from(entry[0])]);
                }
                None => self.records(indices, records, sent, |entry| multiples.times(entry)),
            }
        }
    }

    /// Adds the tags of the entries with these indices, with `times` of the entry that the peer
    /// sent added to the peer's tag.
    fn records(
        &mut self,
        mut indices: &[u8],
        records: Records<'_, T>,
        sent: &[u8],
        times: impl Fn(&[u8]) -> T,
    ) {
        let mut sent = sent.chunks_exact(records.width);
        let mut executions = 0..;
        while !indices.is_empty() {
            let (now, rest) = indices.split_at(indices.len().min(self.room()));
            indices = rest;
            executions
                .clone()
                .zip(now)
                .for_each(|(execution, index)| records.prefetch(execution, *index));
            let old = self.buffers[0].len();
            self.buffers.iter_mut().for_each(|tags| tags.resize(old + now.len(), T::default()));
            let [own, expected] = &mut self.buffers;
            let into = own[old..].iter_mut().zip(&mut expected[old..]);
            for ((own, expected), ((index, execution), entry)) in
                into.zip(now.iter().zip(executions.by_ref()).zip(sent.by_ref()))
            {
                let [mac, key] = records.tags(execution, *index);
                (*own, *expected) = (mac, key ^ times(entry));
            }
            if self.room() == 0 {
                self.flush();
            }
        }
    }
}

/// Adds the tags of gates whose material all executions share.
fn each_for_all(hash: &mut UniversalMacHash<2>, tags: SelectedSums<'_>, executions: usize) {
    let words = executions / 64;
    for gate in 0..tags.rows[0][0].len() {
        let range = gate * words..(gate + 1) * words;
        let tags = SelectedSums {
            rows: tags.rows.map(|rows| rows.map(|row| &row[gate..=gate])),
            bits: tags.bits.map(|bits| &bits[range.clone()]),
            flips: &tags.flips[range],
            delta: tags.delta,
        };
        hash.update_selected(tags, executions);
    }
}

/// The products of Δ with all bytes, at each position of a byte in an entry. Public bytes index
/// them.
struct Multiples<T: Tag>(Vec<[T; 256]>);

impl<T: Tag> Multiples<T> {
    /// Computes the products for entries of this many bytes.
    fn of(delta: T, width: usize) -> Self {
        let mut power = delta;
        let tables = (0..width).map(|_| {
            let powers: [T; 8] = std::array::from_fn(|_| {
                let now = power;
                power = power.times_x();
                now
            });
            let mut table = [T::default(); 256];
            for byte in 1..256usize {
                let lowest = byte.trailing_zeros() as usize;
                table[byte] = table[byte & (byte - 1)] ^ powers[lowest];
            }
            table
        });
        Multiples(tables.collect())
    }

    /// Returns the products for an entry's only byte, if it has only one.
    fn single(&self) -> Option<&[T; 256]> {
        match &self.0[..] {
            [table] => Some(table),
            _ => None,
        }
    }

    fn times(&self, entry: &[u8]) -> T {
        let products = self.0.iter().zip(entry).map(|(table, byte)| table[usize::from(*byte)]);
        products.fold(T::default(), |sum, product| sum ^ product)
    }
}

impl<T: Tag> Drop for Multiples<T> {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use symbolon_primitives::Prg;

    use super::*;

    /// Material that all executions share counts as a copy for each.
    #[test]
    fn shared_material_is_hashed_as_if_everybody_had_it() {
        let (gates, executions, delta) = (3, 128, 0x1234_5678_9abc_def1);
        let mut prg = Prg::from_seed(Block(5));
        let seed = prg.block();
        let mut words = |n: usize| -> Vec<u64> { (0..n).map(|_| prg.u64()).collect() };
        let rows = [(); 2].map(|()| [(); 3].map(|()| words(gates)));
        let [c, d, flips] = [(); 3].map(|()| words(gates * executions / 64));
        let rows = rows.each_ref().map(|rows| rows.each_ref().map(|row| &row[..]));
        let tags = SelectedSums { rows, bits: [&c, &d], flips: &flips, delta };
        let mut hash = UniversalMacHash::new(&mut Prg::from_seed(seed));
        each_for_all(&mut hash, tags, executions);

        let bit = |words: &[u64], k: usize| words[k / 64] >> (k % 64) & 1;
        let of = |rows: [&[u64]; 3], delta: u64| -> Vec<u64> {
            let tag = |k: usize| {
                let [row, beta, alpha] = rows.map(|row| row[k / executions]);
                row ^ (beta * bit(&c, k)) ^ (alpha * bit(&d, k)) ^ (delta * bit(&flips, k))
            };
            (0..gates * executions).map(tag).collect()
        };
        let mut plain = UniversalMacHash::new(&mut Prg::from_seed(seed));
        plain.update([&of(rows[0], 0), &of(rows[1], delta)]);
        assert_eq!(hash.finish(), plain.finish());
    }

    proptest! {
        #[test]
        fn multiples_are_products(delta: u64, entry: u64, width in 1usize..=8) {
            let bytes = &entry.to_le_bytes()[..width];
            let whole = bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
            let product = Multiples::of(delta, width).times(bytes);
            prop_assert_eq!(product, delta.times(whole));
            let delta = u128::from(delta) << 64 | u128::from(entry);
            prop_assert_eq!(Multiples::of(delta, width).times(bytes), delta.times(whole));
        }
    }
}
